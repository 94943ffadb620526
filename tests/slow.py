"""Write tests/slow.txt, the tests that `make test-fast` leaves out, from the times of a whole run.

Entries `file::*`, for files whose fixtures take long, are written by hand and stay.

make test ARGS=--junitxml=/tmp/times.xml
.venv/bin/python tests/slow.py /tmp/times.xml
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

FILE = Path(__file__).with_name("slow.txt")
SECONDS = 0.2
"""A test that takes longer, with its fixtures, is left out."""


def slow(times: Path) -> list[str]:
    """The test functions of a run that took long with any of their parameters: `file::function`."""
    names = set()
    for case in ET.parse(times).getroot().iter("testcase"):  # a file of pytest's own
        if float(case.get("time", 0)) >= SECONDS:
            module = case.get("classname", "").split(".")[-1]
            names.add(f"{module}.py::{case.get('name', '').split('[')[0]}")
    return sorted(names)


def whole(names: set[str]) -> set[str]:
    """The entries `file::*`: files whose fixtures take long, whichever of their tests comes first."""
    return {name for name in names if name.endswith("::*")}


if __name__ == "__main__":
    files = whole(set(FILE.read_text(encoding="utf-8").split()))
    rest = [name for name in slow(Path(sys.argv[1])) if f"{name.partition('::')[0]}::*" not in files]
    FILE.write_text("".join(f"{name}\n" for name in sorted({*files, *rest})), encoding="utf-8")
