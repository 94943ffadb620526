"""Words and facts that are data: TOML files beside the code that reads them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load_words(name: str, package: str = "mirage.text") -> dict[str, Any]:
    """Return the tables of `NAME.toml` in the folder of a package; each file says what they hold."""
    return tomllib.loads((files(package) / f"{name}.toml").read_text(encoding="utf-8"))
