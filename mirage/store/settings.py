"""Settings from environment variables and TOML files."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage.errors import BadInput

FRAMES = "MIRAGE_FRAME_ANCESTORS"
"""Environment variable: sites whose pages may frame the explorer, separated by spaces."""
METRICS = "MIRAGE_METRICS"
"""Environment variable: 1 to serve Streamlit's metrics."""


def frame_ancestors(environ: Mapping[str, str]) -> str:
    """Return the sites that may frame the explorer, as a source list of a Content-Security-Policy; by default none.

    Raises:
        BadInput: if one is not an origin.
    """
    sites = environ.get(FRAMES, "").split() or ["'none'"]
    for site in sites:
        if not re.fullmatch(r"'none'|'self'|(https?://)?[\w*.-]+(:[\d*]+)?|https?:", site):
            raise BadInput(f"{site!r} is not a site", where=FRAMES, do="write sites as https://portal.example.org")
    return " ".join(sites)


def megabytes(name: str, default: int, *, least: int = 1) -> int:
    """Return the bytes allowed by an environment variable.

    Args:
        name: the variable, a whole number of megabytes.
        default: megabytes if it is not set.
        least: the smallest number allowed.

    Raises:
        BadInput: if it is not a whole number from there on.
    """
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdecimal() or int(text) < least:
        raise BadInput(f"{name} is {text!r}", do=f"set {name} to a whole number of megabytes, and restart")
    return int(text) * 1_000_000


def read_toml(path: Path) -> dict[str, Any]:
    """Return the entries of a TOML file.

    Raises:
        BadInput: if it is not one.
        OSError: if it cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(
            f"not a TOML file: {error}", where=str(path), do="write lines such as: concurrency = 16"
        ) from None
