"""The items of an arena's passports, stored as a separate arena in its folder, so that no ranking counts them.

Its systems are `original` and the fault families: each query has one answer of the arena under `original`, and the same
answer with each fault. Its battles are ordinary battles: judges decide them, people can vote on them, and paid replies
are in its ledger. A fault that cannot be planted is a missing answer with the reason.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import NotEnoughData
from mirage.stages.features.assessed import decider
from mirage.stages.judge.faults.answer import AnswerToChange, FaultPassage, sentences_of
from mirage.stages.judge.faults.families import FAMILIES, ORIGINAL, CannotPlant, apply_fault
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.shown import ShownPassages
from mirage.text.answers import is_numbered

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
    answer in which most faults can be planted, preferably an answer known to state a vital fact.

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
    drawn = {code: ids for code, ids in _draw(arena, queries, seed, there).items() if ids}
    new = {
        code: [name for name in ids if name not in there.get(code, ())]
        for code, ids in drawn.items()
        if languages is None or code in languages
    }
    if any(new.values()):
        rows = _plant_all(arena, {code: ids for code, ids in new.items() if ids}, drawn, seed)
        if rows:
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


def _existing(path: Path) -> dict[str, set[str]]:
    """Return the ids of the queries with items, by language."""
    there: dict[str, set[str]] = {}
    if has_items(path):
        items = store.open_arena(passport_path(path))
        for row in items.sql("SELECT DISTINCT language, query_id FROM answers").to_pylist():
            there.setdefault(row["language"], set()).add(row["query_id"])
    return there


def _draw(
    arena: store.Arena,
    queries: int | None,
    seed: int,
    there: Mapping[str, set[str]],
) -> dict[str, list[str]]:
    """Return the ids of the queries to use, by language."""
    answered: dict[str, list[str]] = {}
    rows = arena.sql("SELECT DISTINCT language, query_id FROM answers WHERE status = 'ok' ORDER BY ALL").to_pylist()
    for row in rows:
        answered.setdefault(row["language"], []).append(row["query_id"])
    return {
        code: sorted(ids, key=lambda name: _hash(seed, name))[: queries or len(there.get(code, ())) or QUERIES]
        for code, ids in answered.items()
    }


def _hash(*about: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, about)).encode()).digest()


@dataclass(frozen=True)
class _Texts:
    """Texts of the drawn queries of one language."""

    tables: dict[str, pa.Table]
    answers: list[dict[str, Any]]
    shown: ShownPassages
    facts: dict[tuple[str, str], tuple[str, ...]]
    """Vital facts stated by each answer, by query and system."""

    def passages(self, language: str, answer: Mapping[str, Any]) -> tuple[tuple[FaultPassage, ...], tuple[str, ...]]:
        """Return the passages with text shown to an answer's system, and the ids of all passages shown."""
        rows = self.shown.of((language, answer["query_id"]), answer["retriever"], answer["depth"])
        return tuple(FaultPassage(name, text) for name, text in rows if text), tuple(name for name, _ in rows)


@dataclass(frozen=True)
class Elsewhere:
    """Answers in other languages."""

    by_length: tuple[str, ...]
    """Texts, by length."""
    lengths: tuple[int, ...]
    """Their lengths, ascending."""
    parallel: dict[tuple[str, str], list[str]]
    """Texts by query and system."""

    @classmethod
    def of(cls, every: Iterable[tuple[str, str, str, str]], code: str) -> Elsewhere:
        """Select the answers in other languages than this."""
        rows = sorted((row for row in every if row[0] != code), key=lambda row: (len(row[3]), row))
        parallel: dict[tuple[str, str], list[str]] = {}
        for _, query, system, text in rows:
            parallel.setdefault((query, system), []).append(text)
        return cls(tuple(row[3] for row in rows), tuple(len(row[3]) for row in rows), parallel)

    def translations(self, query: str, system: str, length: int) -> tuple[str, ...]:
        """Return the system's answers to the query in other languages, then the answers closest in length."""
        k = bisect_left(self.lengths, length)
        return (*self.parallel.get((query, system), ()), *self.by_length[k : k + 1], *self.by_length[max(k - 1, 0) : k])


def _read(arena: store.Arena, code: str, ids: Iterable[str]) -> _Texts:
    """Read the texts of some queries of a language."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(sorted(ids), pa.string())

    def rows(name: str) -> pa.Table | None:
        table = arena.read_optional(name, languages=[code])
        return None if table is None else table.filter(pc.is_in(table["query_id"], wanted))

    tables = {name: table for name in _TEXTS if (table := rows(name)) is not None}
    passages = tables.get("passages", schema.arrow_schema("passages").empty_table())
    shown = ShownPassages(passages, tables.get("retrieved"), columns=("passage_id", "text"))
    nuggets, assigned = rows("nuggets"), rows("nugget_assignments")
    facts: dict[tuple[str, str], tuple[str, ...]] = {}
    if nuggets is not None and assigned is not None:
        vital = {
            (row["query_id"], row["nugget_id"]): row["text"]
            for row in nuggets.to_pylist()
            if row["importance"] == "vital"
        }
        chosen = decider(assigned, "assigner")
        for row in assigned.to_pylist():
            key = row["query_id"], row["nugget_id"]
            if row["assigner"] == chosen and row["assignment"] == "support" and key in vital:
                about = row["query_id"], row["system"]
                facts[about] = (*facts.get(about, ()), vital[key])
    return _Texts(tables, _answers(arena, code, ids), shown, facts)


def _answers(arena: store.Arena, code: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the answers to some queries of a language."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = arena.read("answers", languages=[code])
    wanted = pc.is_in(rows["query_id"], pa.array(sorted(ids), pa.string()))
    answers: list[dict[str, Any]] = rows.filter(pc.and_(wanted, pc.equal(rows["status"], "ok"))).to_pylist()
    return answers


def _plant_all(
    arena: store.Arena, new: Mapping[str, Sequence[str]], drawn: Mapping[str, Sequence[str]], seed: int
) -> dict[str, pa.Table]:
    """Return the rows of the items of new queries, by table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = {code: _read(arena, code, drawn[code]) for code in new}
    every = [
        (code, row["query_id"], row["system"], row["text"])
        for code, ids in drawn.items()
        for row in (texts[code].answers if code in texts else _answers(arena, code, ids))
    ]
    answers: list[schema.Answer] = []
    copied: dict[str, list[pa.Table]] = {name: [] for name in _TEXTS}
    for code, ids in new.items():
        elsewhere = Elsewhere.of(every, code)
        kept = []
        for query in ids:
            if rows := _items(code, query, texts[code], elsewhere, seed):
                answers += rows
                kept.append(query)
        for name, table in texts[code].tables.items():
            copied[name].append(table.filter(pc.is_in(table["query_id"], pa.array(kept, pa.string()))))
    if not answers:
        return {}
    tables = {name: pa.concat_tables(parts) for name, parts in copied.items() if parts}
    return tables | {"answers": schema.from_rows("answers", answers)}


def _items(code: str, query: str, texts: _Texts, elsewhere: Elsewhere, seed: int) -> list[schema.Answer]:
    """Return the original and the faulty answers to a query; empty if it cannot be judged."""
    known = [row for row in texts.tables["queries"].to_pylist() if row["query_id"] == query and row["text"]]
    foreign = _foreign(code, query, texts, seed)
    best: tuple[tuple[Any, ...], Mapping[str, Any], dict[str, str | CannotPlant]] | None = None
    rows = sorted(
        (row for row in texts.answers if row["query_id"] == query and row["text"].strip()),
        key=lambda row: _hash(seed, query, row["system"]),
    )
    # Answers that state a vital fact come first, so that the limit keeps them.
    rows.sort(key=lambda row: (query, row["system"]) not in texts.facts)
    for row in rows[:_SYSTEMS] if known else ():
        shown, ids = texts.passages(code, row)
        if not shown:
            continue
        answer = AnswerToChange(
            code,
            row["text"],
            row["system"],
            query,
            shown,
            ids,
            is_numbered(row["template"], row["numbered"]),
            texts.facts.get((query, row["system"]), ()),
            foreign,
            elsewhere.translations(query, row["system"], len(row["text"])),
        )
        planted: dict[str, str | CannotPlant] = {}
        for family in FAMILIES.values():
            try:
                planted[family.name] = apply_fault(family, answer)
            except CannotPlant as reason:
                planted[family.name] = reason
        made = sum(isinstance(result, str) for result in planted.values())
        rank = answer.by_fact, made
        if best is None or rank > best[0]:
            best = rank, row, planted
    if best is None:
        return []
    _, chosen, planted = best
    same = {
        name: chosen[name]
        for name in ("language", "query_id", "template", "numbered", "retriever", "depth")
        if name in chosen
    }
    original = schema.Answer(**same, system=ORIGINAL, text=chosen["text"], status="ok", reason=None, call=None)
    return [
        original,
        *(
            schema.Answer(**same, system=name, text=result, status="ok", reason=None, call=None)
            if isinstance(result, str)
            else schema.Answer(**same, system=name, text=None, status="missing", reason=str(result), call=None)
            for name, result in planted.items()
        ),
    ]


def _foreign(code: str, query: str, texts: _Texts, seed: int) -> tuple[str, ...]:
    """Return sentences from the passages of other queries."""
    passages = texts.tables.get("passages")
    if passages is None:
        passages = texts.tables["retrieved"]
    columns = (passages[name].to_pylist() for name in ("query_id", "passage_id", "text"))
    rows = [FaultPassage(name, text) for other, name, text in zip(*columns, strict=True) if other != query and text]
    own = {
        text
        for other, text in zip(passages["query_id"].to_pylist(), passages["text"].to_pylist(), strict=True)
        if other == query and text
    }
    rows = sorted((row for row in rows if row.text not in own), key=lambda row: _hash(seed, query, row.passage_id))
    return tuple(sentences_of(rows[:_FOREIGN], code))[:_FOREIGN]
