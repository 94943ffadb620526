"""Check the size of the program against its budgets (`.ci/budgets.toml`); `make lint` runs it.

python .ci/budgets.py           # print what is over its budget; exit 1 if anything is
python .ci/budgets.py --table   # print every figure beside its budget

Code is measured in tokens without comments, docstrings and layout, since lines can be packed and prose deleted; data
files of `mirage/` in bytes. A budget is what was reached: it is lowered with the code, and raised only with a decision
(docs/decisions). A figure may be `SLACK` above it, so that a recipe of docs/extend.md fits.
"""

from __future__ import annotations

import ast
import io
import math
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SLACK = 0.02
"""Share of a budget by which a figure may exceed it, rounded up."""
CODE = ("mirage", "pages", "tests", "benchmarks")
"""Folders of code."""
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
"""Types of tokens that do not count."""


def docstring_lines(tree: ast.AST) -> set[int]:
    """Return the numbers of the lines of docstrings, also of those below an assignment."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for place, child in enumerate(body if isinstance(body, list) else ()):
            text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant) and child.value.value
            if isinstance(text, str) and (place == 0 or isinstance(body[place - 1], ast.Assign | ast.AnnAssign)):
                lines.update(range(child.lineno, (child.end_lineno or child.lineno) + 1))
    return lines


def count_tokens(source: str) -> int:
    """Return the number of code tokens of a Python source."""
    prose = docstring_lines(ast.parse(source))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type not in LAYOUT and token.start[0] not in prose for token in tokens)


def room_of(path: Path) -> str:
    """Return the room of a file below the root: `mirage/store`, `mirage` for a file at its top, `pages`, `tests` ..."""
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] == "mirage" and len(parts) > 2 else parts[0]


def measure_code() -> Iterator[tuple[str, int]]:
    """Yield tokens by room, and the number of modules of `mirage/`."""
    tokens: Counter[str] = Counter()
    modules = 0
    for root in CODE:
        for path in (ROOT / root).rglob("*.py"):
            tokens[room_of(path.relative_to(ROOT))] += count_tokens(path.read_text(encoding="utf-8"))
            modules += root == "mirage"
    tokens["mirage and pages"] = sum(n for room, n in tokens.items() if room.startswith(("mirage", "pages")))
    yield from ((f"tokens {room}", n) for room, n in sorted(tokens.items()))
    yield "modules", modules


def measure_data() -> Iterator[tuple[str, int]]:
    """Yield the bytes of data files (vocabularies, prompts, styles ...) by room of `mirage/`."""
    sizes: Counter[str] = Counter()
    for path in (ROOT / "mirage").rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            sizes[room_of(path.relative_to(ROOT))] += path.stat().st_size
    yield from ((f"bytes {room}", n) for room, n in sorted(sizes.items()))


def measure_docs() -> Iterator[tuple[str, int]]:
    """Yield the words that a user reads (README and guide), the lines of the changelog and the number of decisions."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    yield "words", sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    yield "changelog lines", len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines())
    yield "decisions", len(list((ROOT / "docs/decisions").glob("[0-9]*.md")))
    yield "pages", len(list((ROOT / "pages").glob("*.py")))


def measure_commands() -> Iterator[tuple[str, int]]:
    """Yield the number of commands at the top, and of options over all commands besides those of the model service."""
    import typer

    from mirage.cli import app
    from mirage.cli.common import is_service_option
    from mirage.cli.connection import ABOUT_SERVICE

    def options(command: Any) -> int:
        below = getattr(command, "commands", None)
        if below is not None:
            return sum(map(options, below.values()))
        own = [
            each for each in command.params if each.param_type_name == "option" and not is_service_option(command, each)
        ]
        return len([each for each in own if each.name not in ("help", *ABOUT_SERVICE)])

    top: Any = typer.main.get_command(app)
    yield "commands", len(top.commands)
    yield "options", options(top)


def ceiling(budget: int) -> int:
    """Return the largest figure that a budget allows."""
    return budget + math.ceil(budget * SLACK)


def main(*, table: bool) -> int:
    """Print the figures over their budgets, or all; return the exit status."""
    budgets = tomllib.loads((ROOT / ".ci/budgets.toml").read_text(encoding="utf-8"))
    figures = dict([*measure_code(), *measure_data(), *measure_docs(), *measure_commands()])
    wrong = [f"no budget: {name}" for name in figures if name not in budgets]
    wrong += [f"no such figure: {name}" for name in budgets if name not in figures]
    for name, figure in figures.items():
        limit = budgets.get(name, 0)
        if table:
            sys.stdout.write(f"{name:32}{figure:>12,}{limit:>12,}\n")
        if figure > ceiling(limit):
            wrong.append(f"{name}: {figure:,} is over {ceiling(limit):,}, the budget of {limit:,} and its slack")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return bool(wrong)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(table="--table" in sys.argv[1:]))
