"""An arena as a dataset of the Hugging Face Hub.

An arena is already a dataset: a folder of Parquet files by table and language, to which a card is added that makes each
table a configuration (huggingface/hub-docs `datasetcard.md`). The same folder remains an arena.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mirage import schema
from mirage.errors import ArenaError
from mirage.llm.calls import describe
from mirage.store import copies
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.export import write_whole
from mirage.store.extras import extra
from mirage.text.data import load_words
from mirage.text.printing import markdown_text, single_line
from mirage.text.segmentation import count_text

CARD = "README.md"
SPLIT = "test"
"""Name of the only split of every table: systems are tested on it."""
_LICENCES: list[str] = load_words("licences", "mirage.publish")["hub"]
"""Licences known to the Hub, including those of data."""
_SOURCES = 60
"""Maximum number of sources listed in a card."""


def export_dataset(arena: Arena, into: Path) -> Path:
    """Copy an arena into a folder with a dataset card, ready for `hf upload NAME FOLDER --repo-type dataset`.

    `datasets.load_dataset(FOLDER, "answers")` reads a table of it, and `mirage` opens it as an arena. The ledger and
    other files next to the tables are not copied.

    Args:
        arena: the arena.
        into: a new or empty folder, or one with the same arena, whose card is then rewritten.

    Returns:
        The card.

    Raises:
        ArenaError: if the folder has something else, or cannot be written.
        BadInput: if `huggingface_hub` is not installed.
    """
    card = dataset_card(arena)
    if is_arena(into) and open_arena(into).version != arena.version:
        raise ArenaError(f"{into} has another arena, or another version", do="use a new or empty folder")
    copies.copy(arena, into)
    write_whole(into / CARD, card.encode("utf-8"))
    return into / CARD


def dataset_card(arena: Arena) -> str:
    """Return the dataset card of an arena: YAML for the Hub, then contents, sources and how to load it.

    Raises:
        BadInput: if `huggingface_hub` is not installed.
    """
    with extra("hub", "a data set's card"):
        from huggingface_hub import DatasetCardData

    tables = [table for table in arena.tables if arena.rows(table)]
    codes = sorted({code for table in tables for code in arena.languages(table)})
    licence = arena.manifest["licence"].strip() or "unknown"
    known = licence.lower() in _LICENCES
    bases = list(dict.fromkeys(code.partition("-")[0] for code in codes))
    data = DatasetCardData(
        pretty_name=single_line(arena.title),
        language=bases or None,
        language_details=codes if bases != codes else None,
        license=licence.lower() if known else "other",
        license_name=None if known else re.sub(r"[^a-z0-9.]+", "-", licence.lower()).strip("-")[:60] or "other",
        task_categories=["question-answering", "text-generation"],
        tags=["retrieval-augmented-generation", "evaluation"],
        configs=[
            {"config_name": table, "data_files": [{"split": SPLIT, "path": f"{table}/*.parquet"}]} for table in tables
        ],
    )
    body = "\n".join(_body(arena, tables, codes, licence))
    return f"---\n{data.to_yaml()}\n---\n\n{body}"


def _body(arena: Arena, tables: Sequence[str], codes: Sequence[str], licence: str) -> Iterator[str]:
    manifest = arena.manifest
    yield f"# {markdown_text(arena.title)}\n"
    if manifest["about"]:
        yield f"{markdown_text(manifest['about'])}\n"
    spoken = f" {count_text(len(codes), 'language')}: {', '.join(codes)}." if codes else ""
    yield f"Numbers: {markdown_text(arena.label)}. Licence: {markdown_text(licence)}.{spoken}\n"
    yield "## Tables\n"
    yield "| configuration | rows | one row is |\n| --- | ---: | --- |"
    for table in tables:
        meaning = (schema.table_class(table).__doc__ or "").strip().split("\n\n")[0]
        yield f"| `{table}` | {arena.rows(table):,} | {markdown_text(meaning)} |"
    first = "answers" if "answers" in tables else next(iter(tables), "answers")
    yield "\n```python\nfrom datasets import load_dataset\n"
    yield f'{first} = load_dataset("NAME", "{first}", split="{SPLIT}")\n```\n'
    yield "A clone of this folder opens as it is with `mirage app FOLDER`, and from Python with `mirage.open_arena`.\n"
    for table in tables:
        yield f"### {table}\n"
        for column in schema.columns(table):
            yield f"- `{column.name}`: {markdown_text(column.meaning)}"
        yield f"\nMade by: {markdown_text(manifest['made'][table]['by'])}\n"
        for note in manifest["made"][table]["notes"]:
            yield f"- {markdown_text(note)}"
        for owner, made in manifest["made"][table].get("settings", {}).items():
            yield f"- {markdown_text(f'{owner}: {describe(made)}')}"
        yield ""
    yield "## Sources\n"
    origins = (source for origin in manifest["made"].values() for source in origin["from"])
    facts = ([str(source[name]) for name in ("name", "url", "licence") if source.get(name)] for source in origins)
    sources = list(dict.fromkeys("- " + ", ".join(map(markdown_text, known)) for known in facts))
    yield from sources[:_SOURCES]
    if len(sources) > _SOURCES:
        yield f"- and {len(sources) - _SOURCES:,} more, in `manifest.json`"
    yield ""
