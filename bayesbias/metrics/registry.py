"""All metrics by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from bayesbias.errors import InputError
from bayesbias.metrics import db_wa, direct_bias, ect, mac, nbm, ripa, rnd, rnsb, same, semaxis, weat
from bayesbias.metrics.base import Metric

if TYPE_CHECKING:
    import pandas as pd

MODULES = (weat, rnd, rnsb, mac, ect, ripa, direct_bias, db_wa, nbm, same, semaxis)
METRICS: dict[str, Metric] = {metric.name: metric for module in MODULES for metric in module.METRICS}


def find_metric(name: object) -> Metric:
    """A metric by name.

    Raises
    ------
    InputError
        There is none of that name.
    """
    if isinstance(name, str) and name in METRICS:
        return METRICS[name]
    near = get_close_matches(str(name).lower().replace(" ", "_"), METRICS, 1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    raise InputError(f"there is no metric {name!r}{meant}: valid are {', '.join(METRICS)}")


def list_metrics() -> pd.DataFrame:
    """The metrics: ``name``, ``title``, sets of ``targets`` and ``attributes``, ``optimum``, ``options``, origin.

    Examples
    --------
    >>> bb.list_metrics()["name"].tolist()[:3]
    ['weat', 'weat_effect_size', 'rnd']
    """
    import pandas as pd

    rows = [
        (m.name, m.title, _shown(m.targets), _shown(m.attributes), m.optimum, ", ".join(m.options), m.source, m.doi)
        for m in METRICS.values()
    ]
    return pd.DataFrame(rows, columns=["name", "title", "targets", "attributes", "optimum", "options", "source", "doi"])


def _shown(sets: tuple[int, int | None]) -> str:
    least, most = sets
    return f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
