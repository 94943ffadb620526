"""Write the table of packages in docs/architecture.md: what each owns, by the README's tree, and what it may import, by
the import contract in pyproject.toml.

`make docs` writes the table between the marks; a test compares them.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "architecture.md"
MARKED = re.compile(r"(<!-- rooms -->\n).*?(<!-- /rooms -->)", re.DOTALL)


def layers() -> list[str]:
    """Return the packages of `mirage` in the order of the contract, the uppermost first."""
    (contract,) = [entry for entry in _contracts() if entry["type"] == "layers"]
    return list(contract["layers"])


def purposes() -> dict[str, str]:
    """Return what each package owns, from the tree in README.md."""
    tree = (ROOT / "README.md").read_text(encoding="utf-8")
    return {
        name.rstrip("/").removesuffix(".py"): purpose for name, purpose in re.findall(r"^  (\S+) {2,}(.+)$", tree, re.M)
    }


def allowed_outside(package: str) -> list[str]:
    """Return the restricted libraries that a package may import, by the contracts that restrict them."""
    return [
        library
        for entry in _contracts()
        if entry["type"] == "forbidden"
        for library in entry["forbidden_modules"]
        if any(line.startswith(f"mirage.{package}.") for line in entry.get("ignore_imports", ()))
    ]


def table() -> str:
    """Return the table: a row per package, the uppermost layer first."""
    order, purpose = layers(), purposes()
    lines = ["| room | what it owns | may import |", "|---|---|---|"]
    for place, package in enumerate(order):
        below = order[place + 1 :]
        named = f"`{below[0]}` and all rooms below it" if len(below) > 1 else f"`{below[0]}`" if below else "none"
        outside = "".join(f"; `{library}`" for library in allowed_outside(package))
        lines.append(f"| `{package}` | {purpose[package]} | {named}{outside} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return docs/architecture.md with today's table."""
    return MARKED.sub(lambda mark: mark[1] + table() + mark[2], FILE.read_text(encoding="utf-8"))


def _contracts() -> list[dict[str, object]]:
    """Return the contracts of the import linter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["importlinter"]["contracts"]


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
