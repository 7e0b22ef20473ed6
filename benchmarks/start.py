"""Seconds to import the package and to show the command line's help, in new processes (median of 7)."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
from common import keep

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import bayesbias": [sys.executable, "-c", "import bayesbias"],
    "bayesbias --help": [str(Path(sys.executable).with_name("bayesbias")), "--help"],
}


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main():
    rows = [(name, statistics.median(seconds(command) for _ in range(7))) for name, command in COMMANDS.items()]
    keep(pd.DataFrame(rows, columns=["what", "seconds"]).round(3), "start")


if __name__ == "__main__":
    main()
