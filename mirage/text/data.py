"""Words and facts of languages, answers and makers: the TOML files of this folder."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def load_words(name: str) -> dict[str, Any]:
    """Return the tables of `NAME.toml`; each file says what they hold."""
    return tomllib.loads((files("mirage.text") / f"{name}.toml").read_text(encoding="utf-8"))
