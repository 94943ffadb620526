"""The parts of the guide made from the program: tables, commands, outcomes, pages, formats, services.

A page holds a part between `<!-- tables -->` and `<!-- /tables -->`. `make docs` writes the parts, so the
files read on GitHub as on the site; a test compares them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from mirage import schema
from mirage.cli import app
from mirage.cli.common import DEFAULT, is_service_option
from mirage.explorer.kit.page_list import PAGES
from mirage.io.formats.registry import formats
from mirage.stats.intervals import wilson


def _cell(text: object) -> str:
    """Text as a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def tables() -> Iterator[str]:
    """Every table with its columns."""
    for name in schema.TABLES:
        cls = schema.table_class(name)
        yield f"## {name}\n\n{' '.join((cls.__doc__ or '').split())}\n\nKey: {', '.join(schema.key(name))}.\n"
        yield "| column | type | null | meaning |\n|---|---|---|---|"
        for column in schema.columns(name):
            null = "may be" if column.nullable else "never"
            kind = f"{column.kind}: {', '.join(column.choices)}" if column.choices else column.kind
            yield f"| `{column.name}` | {_cell(kind)} | {null} | {_cell(column.meaning)} |"
        yield ""


SHARED = 4
"""Least number of commands with the same line of an option that make it a shared option."""


def commands() -> Iterator[str]:
    """Every command with its options; shared options once, and those of a model's service once."""
    found = list(leaves(("mirage",), get_command(app)))
    service = {one.name: one for _, node in found for one in node.params if is_service_option(node, one)}
    own = {words: [_option(one) for one in node.params if not is_service_option(node, one)] for words, node in found}
    counts = Counter(line for lines in own.values() for line in lines)
    yield "## Shared options\n\nA command lists them by name.\n"
    yield from _options([line for line, n in counts.items() if n >= SHARED])
    for words, node in found:
        shared = [line.split(" |")[0].removeprefix("| ") for line in own[words] if counts[line] >= SHARED]
        yield f"\n## {' '.join(words)}\n\n{_cell(node.help or '')}\n"
        if shared:
            yield f"Shared: {', '.join(shared)}.\n"
        if lines := [line for line in own[words] if counts[line] < SHARED]:
            yield from _options(lines)
    yield "\n## Options of a model's service\n\nEvery command with `--settings` and `--help-service` takes them.\n"
    yield from _options(map(_option, service.values()))


def leaves(words: tuple[str, ...], node: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that can be run, by its words; the default command of a group has the words of the group."""
    children = getattr(node, "commands", None)
    if children is None:
        yield words, node
    else:
        for name in sorted(children, key=lambda name: (name != DEFAULT, name)):
            yield from leaves(words if name == DEFAULT else (*words, name), children[name])


def _options(lines: Iterable[str]) -> Iterator[str]:
    """A table of arguments and options."""
    yield "| option | meaning | default |\n|---|---|---|"
    yield from lines


def _option(one: Any) -> str:
    """The line of an argument or option."""
    names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts) if name.startswith("-"))
    default = one.default if isinstance(one.default, str | int | float) and one.default is not False else ""
    shown = names or f"`{one.metavar or one.name.upper()}`"
    return f"| {shown} | {_cell(getattr(one, 'help', '') or '')} | {_cell(default)} |"


FEWEST = 20
"""Least answers of a row."""


def outcomes() -> Iterator[str]:
    """The accuracy of the rules for free answers."""
    rows = json.loads((Path(__file__).parents[2] / "benchmarks" / "outcome_accuracy.json").read_text(encoding="utf-8"))
    yield "| source | language | answers | abstained: precision | recall | wrong | prose read as abstained |"
    yield "|---|---|---|---|---|---|---|"
    prose = {row["language"]: _share(row["read"], row["n"]) for row in rows if row["source"] == "passages"}
    for row in rows:
        source, code, n = row["source"], row["language"], row["n"]
        if source == "passages" or n < FEWEST or (source.startswith("mtrag") and code == "all"):
            continue
        shares = (row["right"], row["read"]), (row["right"], row["abstained"]), (row["wrong"], n)
        shown = " | ".join(_share(*share) for share in shares)
        yield f"| {source} | {code} | {n:,} | {shown} | {prose.get(code, '') if source == 'written held' else ''} |"


def _share(k: int, n: int) -> str:
    """A share with its 95% interval."""
    if not n:
        return ""
    low, high = wilson(k, n)
    return f"{k / n:.1%} ({low:.0%}-{high:.0%})"


def pages() -> Iterator[str]:
    """The pages of the explorer."""
    yield "| page | the question it answers |\n|---|---|"
    for entry in PAGES:
        if entry.file.is_file():
            yield f"| {entry.title} | {entry.question} |"


_RUNS = {
    "answer": "one call",
    "warning": "one call, and a warning",
    "row": "one call",
    "other parameters": "asks again without the parameter",
    "retry": "retries",
    "wait": "waits as long",
    "stop": "stops",
}


def services() -> Iterator[str]:
    """What a run does with what services send, by the cases of a test."""
    file = Path(__file__).parents[2] / "tests" / "fixtures" / "services.json"
    sent: dict[tuple[str, str], list[str]] = {}
    for case in json.loads(file.read_text(encoding="utf-8")):
        sent.setdefault((_RUNS[case["run"]], case["status"]), []).append(case["sends"])
    yield "| the run | the row | the service sends |\n|---|---|---|"
    for (run, status), cases in sent.items():
        yield f"| {run} | {status} | {_cell('; '.join(cases))} |"


_REPOSITORY = re.compile(r"\b(?!docs/)[\w.-]+/[\w.-]+\b")


def imports() -> Iterator[str]:
    """The formats of files, the general one first."""
    yield "| Name | Format | Source |\n|---|---|---|"
    for entry in sorted(formats().values(), key=lambda entry: entry.name != "rag"):
        source = _REPOSITORY.search(entry.source)
        shown = f"`{source[0]}`" if source else _plain(entry.source)
        yield f"| `{entry.name}` | {entry.title} | {shown} |"


def _plain(source: str) -> str:
    """The source of a format that no repository defines: what is behind a colon, or the module that is named."""
    module = re.search(r"mirage[.\w]+", source)
    return f"`{module[0]}`" if module else source.partition(": ")[2].partition(";")[0]


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "tables": tables,
    "commands": commands,
    "outcomes": outcomes,
    "pages": pages,
    "imports": imports,
    "services": services,
}


def page(text: str) -> str:
    """Return the text of a page with today's parts."""
    for name, part in PARTS.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if marked.search(text):
            written = "\n".join(part()).strip("\n")
            text = marked.sub(lambda mark, written=written: f"{mark[1]}\n{written}\n\n{mark[2]}", text)
    return text


def pages_with_parts() -> list[Path]:
    """Return the pages of the guide that hold parts."""
    folder = Path(__file__).parents[1]
    files = [folder.parent / "README.md", *sorted(folder.glob("*.md"))]
    return [file for file in files if any(f"<!-- {name} -->" in file.read_text(encoding="utf-8") for name in PARTS)]


if __name__ == "__main__":
    for file in pages_with_parts():
        file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
