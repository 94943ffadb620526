"""Where the explorer's script, its pages, its settings and the bundled arenas lie."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def shipped() -> Path:
    """The folder with `app.py`, `pages/`, `.streamlit/` and `data/`: the top level of a checkout, else the copy that a
    wheel carries inside the package.
    """
    package = Path(__file__).resolve().parent
    packaged = package / "_explorer"
    return packaged if packaged.is_dir() else package.parent
