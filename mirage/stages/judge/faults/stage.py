"""The items of an arena's passports, stored as a separate arena in its folder, so that no ranking counts them.

Its systems are `original` and the fault families: each query has one answer of the arena under `original`, and the same
answer with each fault. Its battles are ordinary battles: judges decide them, people can vote on them, and paid replies
are in its ledger. A fault that cannot be planted is a missing answer with the reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mirage import schema, store
from mirage.errors import NotEnoughData
from mirage.stages.judge.faults.planting import (
    FAMILIES,
    ORIGINAL,
    AnswerToChange,
    CannotPlant,
    is_statement,
    plant,
)
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.shown import ShownPassages
from mirage.text.answers import is_numbered
from mirage.text.segmentation import sentences

if TYPE_CHECKING:
    import pyarrow as pa

PASSPORT = "passport"
"""Name of the subfolder of the arena."""
QUERIES = 30
"""Queries per language, by default."""
_SYSTEMS = 8
"""Maximum number of answers per query to consider as the original."""
_FOREIGN = 200
"""Maximum number of sentences of other queries to choose from."""
_TEXTS = ("queries", "passages", "retrieved", "turns", "references")
"""Tables to copy the chosen queries' rows of."""


def passport_path(path: Path) -> Path:
    """Return the folder of an arena's items."""
    return path / PASSPORT


def has_items(path: Path) -> bool:
    """Return whether an arena has items."""
    return store.is_arena(passport_path(path))


def draw_items(
    path: Path, *, queries: int | None = None, seed: int = 0, languages: Sequence[str] | None = None, made_by: str
) -> store.Arena:
    """Plant every fault in one answer to each of some queries, and store the items; existing items stay as they are.

    The queries are those with the lowest hashes, the same in every language that has their ids. The original is the
    answer in which most faults can be planted.

    Args:
        path: the arena's folder.
        queries: queries per language; None for 30, or for the existing items of a language that has some.
        seed: seed of the draw.
        languages: codes; None for all with answers.
        made_by: the command, for the manifest.

    Returns:
        The arena of the items.

    Raises:
        TableMissing: if the arena lacks queries, passages or answers.
        NotEnoughData: if no query has an answer and the texts to judge it.
    """
    arena = store.open_arena(path)
    for table in ("queries", "answers"):
        arena.need(table)
    if "retrieved" not in arena.tables:
        arena.need("passages")
    there = _existing(path)
    drawn = _draw(arena, queries, seed, there)
    new = {
        code: [name for name in ids if name not in there.get(code, ())]
        for code, ids in drawn.items()
        if languages is None or code in languages
    }
    if any(new.values()) and (rows := _plant_all(arena, {code: ids for code, ids in new.items() if ids}, drawn, seed)):
        parts = {name: store.by_key(name, table) for name, table in rows.items() if len(table)}
        texts = {
            "title": f"Passport of {arena.title}",
            "label": "planted faults",
            "about": "Answers of the arena beside copies with a planted fault, to test judges.",
            "licence": str(arena.manifest.get("licence", "")),
        }
        return store.upsert(passport_path(path), parts, made_by=made_by, texts=lambda _: texts).arena
    if not there:
        raise NotEnoughData(
            "no query has an answer with the texts of the query and of a passage",
            do="add them: mirage import FILE --into DIR",
        )
    return store.open_arena(passport_path(path))


def item_pairs(items: store.Arena, languages: Sequence[str] | None = None) -> list[OrderedPair]:
    """Return the battles of the items: each original against each of its faulty copies and its exact copy.

    Raises:
        NotEnoughData: if there are none in these languages.
    """
    rows = items.sql(
        "SELECT language, query_id, system FROM answers WHERE status = 'ok' AND list_contains($families, system) "
        "ORDER BY language, query_id, system",
        {"families": list(FAMILIES)},
    ).to_pylist()
    pairs = [
        OrderedPair(row["language"], row["query_id"], ORIGINAL, row["system"])
        for row in rows
        if languages is None or row["language"] in languages
    ]
    if not pairs:
        raise NotEnoughData("no fault can be planted in these languages", do="name other languages")
    return pairs


def _existing(path: Path) -> dict[str, list[str]]:
    """Return the ids of the queries with items, by language."""
    return _queries(store.open_arena(passport_path(path))) if has_items(path) else {}


def _queries(arena: store.Arena) -> dict[str, list[str]]:
    """Return the ids of the queries with a usable answer, by language."""
    queries: dict[str, list[str]] = {}
    rows = arena.sql("SELECT DISTINCT language, query_id FROM answers WHERE status = 'ok' ORDER BY ALL")
    for row in rows.to_pylist():
        queries.setdefault(row["language"], []).append(row["query_id"])
    return queries


def _draw(
    arena: store.Arena, queries: int | None, seed: int, there: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the ids of the queries to use, by language."""
    return {
        code: sorted(ids, key=lambda name: _hash(seed, name))[: queries or len(there.get(code, ())) or QUERIES]
        for code, ids in _queries(arena).items()
    }


def _hash(*about: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, about)).encode()).digest()


@dataclass(frozen=True)
class _Source:
    """Texts of the drawn queries of one language."""

    code: str
    tables: dict[str, pa.Table]
    """Rows of the tables `_TEXTS`."""
    answers: list[dict[str, Any]]
    shown: ShownPassages

    def foreign(self, query: str, seed: int) -> tuple[str, ...]:
        """Return sentences from the passages of other queries."""
        rows = self.tables["passages" if "passages" in self.tables else "retrieved"].to_pylist()
        own = {row["text"] for row in rows if row["query_id"] == query}
        others = [row for row in rows if row["query_id"] != query and row["text"] and row["text"] not in own]
        others.sort(key=lambda row: _hash(seed, query, row["passage_id"]))
        texts = (row["text"] for row in others[:_FOREIGN])
        found = (text[start:end] for text in texts for start, end in sentences(text, self.code))
        return tuple(dict.fromkeys(text for text in found if is_statement(text, self.code)))[:_FOREIGN]


def _read(arena: store.Arena, code: str, ids: Iterable[str]) -> _Source:
    """Read the texts of some queries of a language."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(sorted(ids), pa.string())
    tables = {
        name: table.filter(pc.is_in(table["query_id"], wanted))
        for name in (*_TEXTS, "answers")
        if (table := arena.read_optional(name, languages=[code])) is not None
    }
    answers = [row for row in tables.pop("answers").to_pylist() if row["status"] == "ok" and row["text"].strip()]
    passages = tables.get("passages", schema.arrow_schema("passages").empty_table())
    shown = ShownPassages(passages, tables.get("retrieved"), columns=("passage_id", "text"))
    return _Source(code, tables, answers, shown)


def _plant_all(
    arena: store.Arena, new: Mapping[str, Sequence[str]], drawn: Mapping[str, Sequence[str]], seed: int
) -> dict[str, pa.Table]:
    """Return the rows of the items of new queries, by table; empty if no query can be judged."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sources = {code: _read(arena, code, ids) for code, ids in drawn.items() if ids}
    every = [row for source in sources.values() for row in source.answers]
    answers: list[schema.Answer] = []
    copied: dict[str, list[pa.Table]] = {}
    for code, ids in new.items():
        source = sources[code]
        elsewhere = [row for row in every if row["language"] != code]
        items = [row for query in ids for row in _items(source, query, elsewhere, seed)]
        answers += items
        planted = pa.array(list({row.query_id for row in items}), pa.string())
        for name, table in source.tables.items():
            copied.setdefault(name, []).append(table.filter(pc.is_in(table["query_id"], planted)))
    if not answers:
        return {}
    tables = {name: pa.concat_tables(parts) for name, parts in copied.items()}
    return tables | {"answers": schema.from_rows("answers", answers)}


def _items(source: _Source, query: str, elsewhere: Sequence[Mapping[str, Any]], seed: int) -> list[schema.Answer]:
    """Return the original and the faulty answers to a query; empty if it cannot be judged."""
    if not any(row["query_id"] == query and row["text"] for row in source.tables["queries"].to_pylist()):
        return []
    foreign = source.foreign(query, seed)
    rows = sorted(
        (row for row in source.answers if row["query_id"] == query),
        key=lambda row: _hash(seed, query, row["system"]),
    )
    best: list[schema.Answer] = []
    for row in rows[:_SYSTEMS]:
        passages = dict(source.shown.of((source.code, query), row["retriever"], row["depth"]))
        if any(passages.values()):
            answer = AnswerToChange(
                source.code,
                row["text"],
                passages,
                is_numbered(row["template"], row["numbered"]),
                foreign,
                _translations(row, elsewhere),
            )
            best = max(best, _plant(row, answer), key=lambda planted: sum(item.status == "ok" for item in planted))
    return best


def _translations(answer: Mapping[str, Any], elsewhere: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the system's answers to the query in other languages, then the answer closest in length."""
    key = answer["query_id"], answer["system"]
    parallel = [row["text"] for row in elsewhere if (row["query_id"], row["system"]) == key]
    closest = min(elsewhere, key=lambda row: abs(len(row["text"]) - len(answer["text"])), default=None)
    return (*parallel, *([closest["text"]] if closest else []))


def _plant(row: Mapping[str, Any], answer: AnswerToChange) -> list[schema.Answer]:
    """Return an answer and its copies with each fault; those without a place for the fault are missing."""
    names = ("language", "query_id", "template", "numbered", "retriever", "depth")
    same = {name: row[name] for name in names if name in row}
    items = [schema.Answer(**same, system=ORIGINAL, text=answer.text, status="ok", reason=None, call=None)]
    for name in FAMILIES:
        text, reason = None, None
        try:
            text = plant(name, answer)
        except CannotPlant as error:
            reason = str(error)
        status: Literal["missing", "ok"] = "missing" if text is None else "ok"
        items.append(schema.Answer(**same, system=name, text=text, status=status, reason=reason, call=None))
    return items
