"""Location of the explorer's script, pages and settings, and of the bundled arenas."""

from functools import cache
from pathlib import Path


@cache
def shipped_folder() -> Path:
    """Return the folder with `app.py`, `pages/`, `.streamlit/`, `data/` and `docs/methods.md`.

    It is the top level of a checkout, or the copy that a wheel has inside the package.
    """
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_explorer"
    return packaged if packaged.is_dir() else package.parent


def methods_text() -> str:
    """Return the definitions of all numbers, `docs/methods.md`."""
    return (shipped_folder() / "docs" / "methods.md").read_text(encoding="utf-8")
