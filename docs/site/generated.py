"""The parts of the guide made from the program: tables, commands, outcomes, pages, formats.

A page holds a part between `<!-- tables -->` and `<!-- /tables -->`. `make docs` writes the parts, so the
files read on GitHub as on the site; a test compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from mirage import schema
from mirage.cli import app
from mirage.explorer.kit.page_list import PAGES
from mirage.io.formats.registry import formats


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


def commands() -> Iterator[str]:
    """Every command with its options."""

    def shown(words: tuple[str, ...], node: Any) -> Iterator[str]:
        if children := getattr(node, "commands", None):
            for name in sorted(children):
                yield from shown((*words, name), children[name])
            return
        yield f"## {' '.join(words)}\n\n{_cell(node.help or '')}\n"
        yield "| option | meaning | default |\n|---|---|---|"
        for one in node.params:
            names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts) if name.startswith("-"))
            default = one.default if isinstance(one.default, str | int | float) and one.default is not False else ""
            yield (
                f"| {names or f'`{one.metavar or one.name.upper()}`'} | {_cell(getattr(one, 'help', '') or '')} "
                f"| {_cell(default)} |"
            )
        yield ""

    for name, node in sorted(get_command(app).commands.items()):
        yield from shown(("mirage", name), node)


def outcomes() -> Iterator[str]:
    """The accuracy of the rules for free answers."""
    file = Path(__file__).parents[2] / "benchmarks" / "outcome_accuracy.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    half = content["half"]
    yield f"| language | answers ({half}) | wrong | 95% interval | unparsed | any phrase: wrong | length: wrong |"
    yield "|---|---|---|---|---|---|---|"
    for row in content["rows"]:
        yield (
            f"| {row['language']} | {row['n']:,} | {row['wrong']:.1%} | {row['wrong_low']:.1%} to "
            f"{row['wrong_high']:.1%} | {row['unparsed']:.1%} | {row['phrase_wrong']:.1%} | {row['length_wrong']:.1%} |"
        )


def pages() -> Iterator[str]:
    """The pages of the explorer."""
    yield "| page | the question it answers |\n|---|---|"
    for entry in PAGES:
        if entry.file.is_file():
            yield f"| {entry.title} | {entry.question} |"


_REPOSITORY = re.compile(r"\b(?!docs/)[\w.-]+/[\w.-]+\b")


def imports() -> Iterator[str]:
    """The formats of files, the general one first, each with its section in this page or that of logs."""
    folder = Path(__file__).parents[1]
    anchors = {}
    for name in ("logs.md", "data.md"):
        for heading, entry in re.findall(r"^##+ (.*`([\w-]+)`)$", (folder / name).read_text("utf-8"), re.MULTILINE):
            slug = re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-")
            anchors[entry] = f"{'' if name == 'data.md' else name}#{slug}"
    yield "| Name | Format | Source | Tables | Export |\n|---|---|---|---|---|"
    for entry in sorted(formats().values(), key=lambda entry: entry.name != "rag"):
        source = _REPOSITORY.search(entry.source)
        shown = f"`{source[0]}`" if source else _plain(entry.source)
        tables = ", ".join(f"`{table}`" for table in entry.gives)
        export = "yes" if entry.write else "no"
        yield f"| [`{entry.name}`]({anchors[entry.name]}) | {entry.title} | {shown} | {tables} | {export} |"


def coverage() -> Iterator[str]:
    """Coverage of corrected levels in every simulated design, by the last run of the benchmark."""
    yield "| design | corrected | labels alone | other intervals | width beside labels alone |\n|---|---|---|---|---|"
    for what, ours, against, ratio in _levels():
        if what.startswith("corrected level, "):
            design = what.removeprefix("corrected level, ").removesuffix(": 95% intervals hold")
            alone, _, others = against.removeprefix("labels alone ").partition("; ")
            yield f"| {design} | {ours.partition(';')[0]} | {alone} | {others} | {ratio.partition(' ')[0]} |"
    yield "\n| test or difference | result | beside |\n|---|---|---|"
    for what, ours, against, ratio in _levels():
        if what.startswith(("a judge wrong", "corrected difference")):
            beside = against if what.startswith("a judge") else f"{ratio.partition(' ')[0]} of the width; {against}"
            yield f"| {what} | {ours} | {beside} |"


def widths() -> Iterator[str]:
    """Widths of corrected levels on real labels, by the last run of the benchmark."""
    yield "| labels | width, of the range | labels alone | relative width, lambda |\n|---|---|---|---|"
    for what, ours, against, ratio in _levels():
        if re.search(r": \d+ labels of", what):
            width, alone = ours.partition(" of the range")[0], against.removeprefix("labels alone ")
            yield f"| {what} | {width.removeprefix('width ')} | {alone} | {ratio.partition(';')[0]} |"


def _levels() -> Iterator[tuple[str, str, str, str]]:
    """Rows of the benchmark of corrected levels."""
    text = (Path(__file__).parents[2] / "benchmarks" / "README.md").read_text(encoding="utf-8")
    section = text.partition("\n## levels\n")[2].partition("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith(("| what", "| ---")):
            what, ours, against, ratio, *_ = (cell.strip() for cell in line.strip("| ").split(" | "))
            yield what, ours, against, ratio


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
    "coverage": coverage,
    "widths": widths,
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
    files = sorted(Path(__file__).parents[1].glob("*.md"))
    return [file for file in files if any(f"<!-- {name} -->" in file.read_text(encoding="utf-8") for name in PARTS)]


if __name__ == "__main__":
    for file in pages_with_parts():
        file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
