"""Write tests/slow.txt: the tests that take long, with the seconds of the slowest case of each.

    make test ARGS="--all --junitxml=build/times.xml"
    .venv/bin/python tests/slow.py build/times.xml

`make test-fast` leaves out all of them, `make test` those of `LONG` seconds and more, CI none (`--all`). Entries
`file::*`, for files whose fixtures take long, are written by hand and stay. A line with a file alone has the seconds of
all its cases: the longest files run first.
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

FILE = Path(__file__).with_name("slow.txt")
SLOW = 0.2
"""Seconds, with fixtures, from which on a test is listed."""
LONG = 0.5
"""Seconds of the list from which on a test is left to CI."""
LONG_FILE = 5.0
"""Seconds of all its cases from which on a file is listed."""


def listed() -> dict[str, float]:
    """Seconds by `file::function`, by `file::*`, and of whole files by `file`."""
    lines = (line.split() for line in FILE.read_text("utf-8").splitlines())
    return {name: float(seconds) for seconds, name in lines}


def left_out(file: str, function: str, seconds: float, times: dict[str, float]) -> bool:
    """Whether a test takes so long, by the list."""
    return any(times.get(name, 0.0) >= seconds for name in (f"{file}::{function}", f"{file}::*"))


def measured(times: Path) -> dict[str, float]:
    """Seconds of the slowest case of every test function of a run that is slow, and of every file that is long."""
    seconds: dict[str, float] = {}
    files: dict[str, float] = {}
    for case in ET.parse(times).getroot().iter("testcase"):  # a file of pytest's own
        module = case.get("classname", "").split(".")[-1]
        name = f"{module}.py::{case.get('name', '').split('[')[0]}"
        seconds[name] = max(seconds.get(name, 0.0), float(case.get("time", 0)))
        files[f"{module}.py"] = files.get(f"{module}.py", 0.0) + float(case.get("time", 0))
    slow = {name: number for name, number in seconds.items() if number >= SLOW}
    return slow | {name: number for name, number in files.items() if number >= LONG_FILE}


if __name__ == "__main__":
    files = {name: seconds for name, seconds in listed().items() if name.endswith("::*")}
    rows = sorted((files | measured(Path(sys.argv[1]))).items())
    FILE.write_text("".join(f"{seconds:.1f} {name}\n" for name, seconds in rows), "utf-8")
