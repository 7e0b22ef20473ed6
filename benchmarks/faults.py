"""Ten faults, each planted in a copy of the package, and the test files that must see them.

``uv run python benchmarks/faults.py`` prints, for each fault, the first test of its file that fails; it ends with 1 if
a fault is not seen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Fault:
    """A change of one line: what it is, where, and the file of tests that must fail, in ``tests``."""

    what: str
    file: str
    right: str
    wrong: str
    tests: str


FAULTS = (
    Fault(
        "sign of a gradient", "numerics/arrays.py", "residual = label - p - alpha", "residual = label - p + alpha",
        "numbers/test_metrics.py",
    ),
    Fault(
        "a posterior sd 1.1 times too large", "checks/summaries.py", '"sd": draws.std(axis=0, ddof=1)',
        '"sd": 1.1 * draws.std(axis=0, ddof=1)', "numbers/test_summaries.py",
    ),
    Fault(
        "ends of intervals swapped", "estimates.py", '"low": self.quantile(tail)',
        '"low": self.quantile(1 - tail)', "numbers/test_summaries.py",
    ),
    Fault(
        "one number too few read of a line", "vectors/readers.py", "= _line_vector(line, dimensions)",
        "= _line_vector(line.rsplit(b' ', 1)[0], dimensions - 1)", "promises/test_embeddings.py",
    ),
    Fault(
        "variance over n in place of n - 1", "numerics/statistics.py", "contribution[rows].var(ddof=1)",
        "contribution[rows].var()", "numbers/test_summaries.py",
    ),
    Fault(
        "groups weighed by their sizes", "models/weights.py", "weights[own] = 1 / (len(present) * own.sum())",
        "weights[own] = 1 / chosen.sum()", "numbers/test_functionals.py",
    ),
    Fault(
        "permutation p-value without the observed partition", "numerics/statistics.py",
        "(count + 1) / (permutations + 1), permutations", "count / permutations, permutations",
        "numbers/test_metrics.py",
    ),
    Fault(
        "direction added in place of removed", "vectors/debiasing/methods.py",
        "np.eye(directions.shape[1]) - directions.T @ directions",
        "np.eye(directions.shape[1]) + directions.T @ directions", "numbers/test_debiasing.py",
    ),
    Fault(
        "half of a log determinant", "numerics/marginal.py",
        "0.5 * constant - log_det", "0.5 * constant - 0.5 * log_det", "numbers/test_marginal.py",
    ),
    Fault(
        "population sd of WEAT's effect size over one set", "numerics/statistics.py",
        "both = np.concatenate([first, second], axis=axis)", "both = np.concatenate([first, first], axis=axis)",
        "numbers/test_metrics.py",
    ),
)  # fmt: skip


def seen(fault: Fault, folder: Path) -> str:
    """The first test that fails with a fault in place; empty if all pass."""
    for part in ("bayesbias", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("benchmarks", "data", "models", "docs", "pyproject.toml", "README.md"):
        (folder / part).symlink_to(ROOT / part)
    file = folder / "bayesbias" / fault.file
    text = file.read_text(encoding="utf-8")
    if text.count(fault.right) != 1:
        raise ValueError(f"{fault.file} holds {fault.right!r} {text.count(fault.right)} times")
    file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
    command = ["-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--rootdir", str(folder)]
    done = subprocess.run(
        [sys.executable, *command, f"tests/{fault.tests}"],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0].rpartition("/")[2] if failed else ""


def main() -> None:
    """Plant each fault in turn."""
    unseen = 0
    for fault in FAULTS:
        with TemporaryDirectory() as folder:
            test = seen(fault, Path(folder))
        unseen += not test
        print(f"{fault.what} | {fault.file} | {test or 'NOT SEEN'}", flush=True)
    sys.exit(bool(unseen))


if __name__ == "__main__":
    main()
