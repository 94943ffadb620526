"""Arenas with few tables: what somebody has who brings verdicts, numbers or answers alone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import rich_arena

from mirage import store

KINDS: dict[str, tuple[str, ...]] = {
    "numbers": ("outcomes",),
    "measures": ("features",),
    "ratings": ("ratings",),
    "verdicts": ("judgments",),
    "verdicts-on-queries": ("queries", "judgments"),
    "verdicts-with-tags": ("tags", "judgments"),
    "scores": ("scores",),
    "answers-alone": ("answers",),
    "answers": ("queries", "answers"),
    "answers-verdicts": ("queries", "answers", "judgments"),
    "answers-passages": ("queries", "passages", "answers"),
    "answers-references": ("queries", "answers", "references", "scores"),
    "queries": ("queries",),
    "passages": ("queries", "passages", "documents"),
    "unlabelled": ("queries", "passages", "answers", "judgments", "features"),
    "unreferenced": ("queries", "passages", "answers", "outcomes", "features", "judgments"),
    "cards": ("systems",),
    "words": ("turns", "tags", "references", "documents"),
}
"""Tables by the kind of arena."""
LANGUAGES = ("en", "sw")


def write(folder: Path) -> dict[str, store.Arena]:
    """Write an arena of every kind into a folder, from two languages of the sample."""
    rich = rich_arena.write(folder / "rich")
    arenas = {}
    for kind, names in KINDS.items():
        tables = {name: _part(rich.read(name)) for name in names}
        if kind == "unlabelled":
            tables["queries"] = _null(tables["queries"], "subset")
            tables["passages"] = _null(tables["passages"], "relevant")
        arenas[kind] = store.write(folder / "few" / kind, tables, title=kind, label="own data", made_by="a test")
    return arenas


def _part(table: pa.Table) -> pa.Table:
    if "language" not in table.column_names:
        return table
    return table.filter(pc.is_in(table["language"], value_set=pa.array([*LANGUAGES, "all"])))


def _null(table: pa.Table, column: str) -> pa.Table:
    k = table.column_names.index(column)
    field: pa.Field = table.schema.field(column)
    return table.set_column(k, field, pa.nulls(len(table), field.type))
