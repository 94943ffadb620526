"""Contamination of a test set: near-duplicates in training data, and questions that are answered without passages.

training = read_training([Path("train.jsonl")])
leaks = find_leaks(arena, training)          # pairs of a text of the arena and one of the training data
count_leaks(arena, leaks)                    # by language and part, with an example
flag_leaks(path, leaks, made_by="...")       # tag `leaked`: yes or no, for rates without the leaked questions
closed_book(arena, ["gpt-4 without passages"])
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from mirage import schema, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.intervals import clustered_proportion, wilson
from mirage.text.duplicates import JACCARD, near_duplicates_between
from mirage.text.languages import in_order
from mirage.text.segmentation import words

Part = Literal["query", "passage", "reference", "answer"]
"""Parts of an arena that are compared with training data."""
LEAKED = "leaked"
"""Tag of queries: `yes` if the query or its reference answer has a near-duplicate in training data, else `no`."""
FEWEST = 5
"""Minimum words of a text to compare; shorter texts repeat by chance."""
_TABLES: dict[Part, tuple[str, str]] = {
    "query": ("queries", "''"),
    "passage": ("passages", "passage_id"),
    "reference": ("references", "''"),
    "answer": ("answers", "system"),
}
"""Table of each part, and the column that identifies a text within its query."""


@dataclass(frozen=True, slots=True)
class TrainingText:
    """A text of training data."""

    where: str
    """File and line."""
    text: str
    """A field's text, or one of its lines."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A text of an arena with its nearest text in training data."""

    key = ("language", "query_id", "part", "name")

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    part: Part
    """Part of the arena: the query, a passage, the reference answer, or a system's answer."""
    name: str
    """The passage, or the system; empty for a query and a reference answer."""
    similarity: Share
    """Jaccard similarity of word 5-grams."""
    where: str
    """File and line of the training text."""
    text: str
    """The arena's text."""
    training: str
    """The training text."""


@dataclass(frozen=True, slots=True)
class LeakCount:
    """Near-duplicates of one part of an arena in one language."""

    key = ("part", "language")

    part: Part
    """Part of the arena."""
    language: CodeOrAll
    """Language of the queries; `all`: every language pooled."""
    texts: Count
    """Texts with at least 5 words."""
    leaked: Count
    """Texts with a near-duplicate in the training data."""
    share: Share
    """leaked / texts."""
    low: Share | None
    """Lower end of the 95% interval, with the query as the unit; null with one query."""
    high: Share | None
    """Upper end."""
    example: str | None
    """The text most similar to a training text; null if there is none."""
    where: str | None
    """File and line of that training text."""


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Questions that a system answers without passages."""

    key = ("system", "language")

    system: str
    """The system, asked without passages."""
    language: CodeOrAll
    """Language of the queries; `all`: every language pooled."""
    n: Count
    """Answerable queries with a decided answer of the system."""
    answered: Count
    """Queries that it answers."""
    rate: Share | None
    """answered / n; null if n is 0."""
    rate_low: Share | None
    """Lower end of the 95% interval (Wilson's)."""
    rate_high: Share | None
    """Upper end."""
    checked: Count
    """Answerable queries with vital nuggets assigned to the system's answer."""
    known: Count
    """Queries whose answer states all vital nuggets: the system knows the answer without passages."""
    known_rate: Share | None
    """known / checked; null if none is checked."""
    known_low: Share | None
    """Lower end of its 95% interval (Wilson's)."""
    known_high: Share | None
    """Upper end."""


def read_training(paths: Iterable[Path]) -> list[TrainingText]:
    """Read the texts of training files: every text of every record, at any depth, and each of its lines.

    Args:
        paths: JSON, JSON Lines, CSV or Parquet files, which may be compressed.

    Raises:
        BadInput: if a file cannot be read, or the files have no text of at least `FEWEST` words.
    """
    texts: dict[str, str] = {}
    named = list(paths)
    for path in named:
        for line in store.records(path):
            for text in _strings(line.value):
                for piece in {text, *text.split("\n")}:
                    if piece not in texts and len(words(piece)) >= FEWEST:
                        texts[piece] = line.where
    if not texts:
        files = ", ".join(map(str, named))
        raise BadInput(f"no text has {FEWEST} words", where=files, do="give files of a model's training data")
    return [TrainingText(where, text) for text, where in texts.items()]


def find_leaks(
    arena: store.Arena,
    training: Sequence[TrainingText],
    *,
    parts: Sequence[Part] = get_args(Part),
    threshold: float = JACCARD,
) -> list[Leak]:
    """Return the texts of an arena that have a near-duplicate in training data, each with the nearest one.

    Args:
        arena: the arena; parts whose table it lacks are omitted.
        training: texts of training data.
        parts: parts of the arena to compare.
        threshold: smallest Jaccard similarity of word 5-grams, above 0 and at most 1.

    Raises:
        NotEnoughData: if the arena has no text to compare.
    """
    rows = [row for part in parts for row in _texts(arena, part)]
    if not rows:
        raise NotEnoughData(f"{arena.name} has no texts to compare", do="import an arena with texts")
    pairs = near_duplicates_between([row[4] for row in rows], [entry.text for entry in training], threshold=threshold)
    nearest: dict[int, tuple[float, int]] = {}
    for first, second, similarity in pairs:
        if first not in nearest or similarity > nearest[first][0]:
            nearest[first] = (similarity, second)
    return [
        Leak(*rows[place][:4], similarity, training[other].where, rows[place][4], training[other].text)
        for place, (similarity, other) in sorted(nearest.items())
    ]


def count_leaks(
    arena: store.Arena, leaks: Sequence[Leak], *, parts: Sequence[Part] = get_args(Part)
) -> list[LeakCount]:
    """Count near-duplicates by part and language, `all` last, with 95% intervals clustered by query.

    Args:
        arena: the arena.
        leaks: result of `find_leaks` on it.
        parts: as for `find_leaks`.
    """
    rows = []
    for part in parts:
        texts = [(language, query) for language, query, *_ in _texts(arena, part)]
        if not texts:
            continue
        found = [leak for leak in leaks if leak.part == part]
        totals, hits = Counter(texts), Counter((leak.language, leak.query_id) for leak in found)
        codes = in_order({language for language, _ in texts})
        for language in codes if len(codes) == 1 else (*codes, "all"):
            keys = [key for key in totals if language in (key[0], "all")]
            nearest = max(
                (leak for leak in found if language in (leak.language, "all")),
                key=lambda leak: leak.similarity,
                default=None,
            )
            rows.append(_count(part, language, [(hits[key], totals[key]) for key in keys], nearest))
    return rows


def flag_leaks(path: Path, leaks: Sequence[Leak], *, made_by: str) -> store.Arena:
    """Tag the queries of an arena: `leaked` is `yes` if the query or its reference answer leaked, else `no`.

    Tags of an earlier check are replaced.

    Args:
        path: the arena's folder.
        leaks: result of `find_leaks` on it.
        made_by: the command, for the manifest.

    Raises:
        ArenaError: if the arena cannot be written.
    """
    import pyarrow as pa

    arena = store.open_arena(path)
    keys = arena.read("queries", columns=["language", "query_id"]).to_pylist()
    leaked = {(leak.language, leak.query_id) for leak in leaks if leak.part in ("query", "reference")}
    tags = [
        schema.Tag(
            row["language"], row["query_id"], LEAKED, "yes" if (row["language"], row["query_id"]) in leaked else "no"
        )
        for row in keys
    ]
    new = schema.sort("tags", schema.from_rows("tags", tags))
    rows = {"tags": store.NewRows(new, pa.table({"tag": [LEAKED]}))}
    return store.upsert(path, rows, made_by=made_by).arena


def closed_book(arena: store.Arena, systems: Sequence[str], *, parser: schema.Parser = "strict") -> list[ClosedBook]:
    """Count the questions that systems answer without passages.

    Args:
        arena: with outcomes of the systems; with nuggets and assignments, known answers are counted too.
        systems: systems that were asked without passages.
        parser: parser whose outcomes count.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if a system has no outcome.
    """
    arena.need("outcomes")
    table = arena.sql(
        "SELECT system, language, query_id, outcome FROM outcomes "
        "WHERE parser = ? AND subset = 'relevant' AND outcome IN ('answered', 'abstained')",
        [parser],
    )
    present = sorted(set(arena.sql("SELECT DISTINCT system FROM outcomes")["system"].to_pylist()))
    for system in systems:
        if system not in present:
            raise UnknownName("system", system, present, where=f"{arena.address} (outcomes)")
    answers: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    for row in table.to_pylist():
        answers[row["system"]][row["language"], row["query_id"]] = row["outcome"] == "answered"
    known = _known_answers(arena)
    rows = []
    for system in dict.fromkeys(systems):
        codes = in_order({language for language, _ in answers[system]})
        for language in codes if len(codes) == 1 else (*codes, "all"):
            own = {key: value for key, value in answers[system].items() if language in (key[0], "all")}
            stated = [known[system][key] for key in own if key in known.get(system, {})]
            rows.append(
                ClosedBook(
                    system,
                    language,
                    len(own),
                    sum(own.values()),
                    *_share(sum(own.values()), len(own)),
                    len(stated),
                    sum(stated),
                    *_share(sum(stated), len(stated)),
                )
            )
    return rows


def _known_answers(arena: store.Arena) -> Mapping[str, Mapping[tuple[str, str], bool]]:
    """Return by system and query whether the answer states every vital nugget, by the assigner with the most rows."""
    found: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    if not {"nuggets", "nugget_assignments"} <= set(arena.tables):
        return found
    rows = arena.sql(
        "WITH best AS (SELECT assigner FROM nugget_assignments GROUP BY ALL ORDER BY count(*) DESC, assigner LIMIT 1) "
        "SELECT a.system, a.language, a.query_id, bool_and(coalesce(a.assignment = 'support', false)) AS known "
        "FROM nugget_assignments a JOIN nuggets n USING (language, query_id, nugget_id) "
        "WHERE n.importance = 'vital' AND a.assigner IN (SELECT assigner FROM best) GROUP BY ALL"
    )
    for row in rows.to_pylist():
        found[row["system"]][row["language"], row["query_id"]] = row["known"]
    return found


def _count(part: Part, language: str, cells: Sequence[tuple[int, int]], nearest: Leak | None) -> LeakCount:
    leaked, texts = sum(k for k, _ in cells), sum(n for _, n in cells)
    low = high = None
    if len(cells) > 1:
        _, low, high = clustered_proportion(cells)
    where, example = (nearest.where, nearest.text) if nearest else (None, None)
    return LeakCount(part, language, texts, leaked, leaked / texts, low, high, example, where)


def _share(k: int, n: int) -> tuple[float | None, float | None, float | None]:
    return (k / n, *wilson(k, n)) if n else (None, None, None)


def _texts(arena: store.Arena, part: Part) -> list[tuple[str, str, Part, str, str]]:
    """Return the texts of a part with enough words: language, query, part, name, text."""
    table, column = _TABLES[part]
    if table not in arena.tables:
        return []
    rows = arena.sql(
        f'SELECT language, query_id, {column} AS name, text FROM "{table}" '  # noqa: S608  # both are named above
        "WHERE text IS NOT NULL ORDER BY language, query_id, name"
    ).to_pylist()
    return [
        (row["language"], row["query_id"], part, row["name"], row["text"])
        for row in rows
        if len(words(row["text"])) >= FEWEST
    ]


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in a record, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _strings(entry)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for entry in value:
            yield from _strings(entry)
