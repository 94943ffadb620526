"""An arena as one HTML file that opens anywhere: ratings, rates, two charts and, where the licences allow, its texts.

The file holds its figures as JSON too, with the arena's content id and the settings, so that `check_report` can compute
them from the arena again and compare.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.battles.judge import Judge, judges
from mirage.errors import ArenaError, BadInput, NotEnoughData, UnknownName
from mirage.pipeline.recompute import TOLERANCE, Mismatch, Recomputed, compare_rows
from mirage.publish.html_page import DATA_END, DATA_START, QueryTexts, page
from mirage.ranking.board import leaderboard, rank_arena
from mirage.ranking.settings import DRAWS, SEED, RankSettings
from mirage.stages.outcomes import rates, sample_outcomes
from mirage.stats.intervals import MOST_DRAWS
from mirage.store.files import chunks
from mirage.store.labels import has_automatic_labels

if TYPE_CHECKING:
    from mirage.store import Arena

FORMAT = "mirage report 1"
"""Version of the figures and the markup; a change of either needs another."""
TABLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ratings": (("judge", "language", "system"), tuple(column.name for column in schema.columns("ratings"))),
    "rates": (
        ("language", "subset", "system"),
        (
            *("language", "subset", "system", "n", "answered", "abstained", "rate", "rate_low", "rate_high"),
            *("rate_as_published", "undecided"),
        ),
    ),
}
"""Tables of a report, each with its key and its columns."""
_FACTS = ("arena", "methods", "texts")
_MOST_QUERIES = 100_000
_TEXTS = ("queries", "passages", "answers")
"""Tables with copyrightable texts."""
_OPEN = re.compile(
    r"\b(apache(?:[- ]licen[cs]e)?[- ]2(?:\.0)?|mit|bsd(?:-[23]-clause)?|unlicense|cc0(?:[- ]1\.0)?|public domain"
    r"|pddl|odc-by|odbl|cc[- ]by(?:[- ]sa)?(?:[- ][34]\.0)?|gpl-3\.0|mpl-2\.0)\b",
    re.IGNORECASE,
)
"""Licences that allow redistribution for any purpose."""
_CLOSED = re.compile(r"\b(nc|nd|non-?commercial|no ?derivatives|proprietary|all rights reserved)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """Settings of a report."""

    languages: tuple[str, ...] | None = None
    """Language codes; None for all."""
    texts: bool | None = None
    """Whether to show texts; None to decide by the licences."""
    queries: int = 3
    """Maximum number of queries per language shown with texts."""
    draws: int = DRAWS
    """Bootstrap draws for the intervals of ratings."""
    seed: int = SEED
    """Random seed."""


@dataclass(frozen=True, slots=True)
class TextPermission:
    """Decision on showing the texts of an arena, with the reason."""

    allowed: bool
    """Whether texts may be shown."""
    reason: str
    """The reason: the licences."""


def text_permission(arena: Arena, stated: bool | None = None) -> TextPermission:
    """Return whether the licences of an arena's texts allow redistribution.

    Every source of queries, passages and answers that names a licence must name one that allows redistribution; if no
    source of a table names a licence, the arena's licence decides.

    Args:
        arena: the arena.
        stated: the publisher's statement; None to decide by the licences.
    """
    if not any(_has_texts(arena, table) for table in ("queries", "answers") if table in arena.tables):
        return TextPermission(False, "the arena has no texts")
    if stated is not None:
        return TextPermission(stated, f"the publisher states that texts may {'' if stated else 'not '}be shown")
    names: dict[str, None] = {}
    for table in _TEXTS:
        if table in arena.tables:
            sources = arena.manifest["made"][table]["from"]
            licences = [str(source["licence"]) for source in sources if source.get("licence")]
            names.update(dict.fromkeys(licences or [str(arena.manifest["licence"])]))
    for name in names:
        if not _OPEN.search(name) or _CLOSED.search(name):
            return TextPermission(False, f"licence {name!r}" if name.strip() else "no licence is recorded")
    return TextPermission(True, "licence " + ", ".join(names))


def write_report(arena: Arena, path: Path, settings: ReportSettings = ReportSettings()) -> TextPermission:
    """Write the report of an arena into one self-contained HTML file, and return whether it shows texts.

    The file needs no network and runs no script. Names of voters, thoughts and keys of the ledger are never written.

    Raises:
        ArenaError: if the arena has no outcomes and no judgments.
        UnknownName: if it has no such language.
        BadInput: if the file cannot be written.
    """
    figures = _figures(arena, settings)
    store.write_whole(path, page(figures, _texts(arena, figures)).encode("utf-8"))
    return TextPermission(**figures["texts"])


def check_report(path: Path, arena: Arena) -> Iterator[Recomputed]:
    """Compute the figures of a report from its arena again, part by part, and compare.

    Parts: the arena's identity, each table, the other facts, and the page itself, which must be the one that the
    figures and the arena's texts make; it is compared only if the others agree.

    Args:
        path: a file of `write_report`.
        arena: the arena it was made from.

    Raises:
        BadInput: if the file is not a report.
        ArenaError: if a file of the arena does not match the manifest.
    """
    content = "".join(chunks(path))
    stored = _parse(content, path)
    fresh = _figures(arena, _settings(stored["settings"]))
    differs = False
    for name, (keys, _) in TABLES.items():
        rows = stored["tables"][name]
        found = tuple(compare_rows(name, keys, rows, fresh["tables"][name], tolerance=TOLERANCE))
        differs = differs or bool(found)
        yield Recomputed(name, len(rows), None, found)
    facts = [(name, fact) for name in _FACTS for fact in sorted(stored[name].keys() | fresh[name].keys())]
    values = [(name, fact, stored[name].get(fact), fresh[name].get(fact)) for name, fact in facts]
    changed = [Mismatch(name, fact, fact, str(old), str(new)) for name, fact, old, new in values if old != new]
    yield Recomputed("arena, methods and texts", len(facts), None, tuple(changed))
    if changed or differs:
        yield Recomputed("page", 0, "its figures differ")
        return
    ours, theirs = content.splitlines(), page(stored, _texts(arena, stored)).splitlines()
    longest = max(len(ours), len(theirs))
    pairs = zip(*(lines + [""] * (longest - len(lines)) for lines in (ours, theirs)), strict=True)
    lines = [Mismatch("page", f"line {n}", "HTML", a[:200], b[:200]) for n, (a, b) in enumerate(pairs, 1) if a != b]
    yield Recomputed("page", len(ours), None, tuple(lines))


def _figures(arena: Arena, settings: ReportSettings) -> dict[str, Any]:
    """Compute everything a report shows besides texts, as JSON holds it."""
    if not {"outcomes", "judgments"} & set(arena.tables):
        raise ArenaError("the arena has no outcomes and no judgments to report", where=arena.address,
                         do=f"run: {arena.command('outcomes')}")  # fmt: skip
    ratings: list[dict[str, Any]] = []
    methods: dict[str, list[str]] = {}
    for name in judges(arena):
        chosen = RankSettings(languages=settings.languages, draws=settings.draws, seed=settings.seed)
        try:
            result = rank_arena(arena, Judge.from_name(name), chosen)
        except (NotEnoughData, UnknownName) as error:
            methods[name] = [f"not ranked: {error.what}", *([error.where] if error.where else [])]
            continue
        ratings += leaderboard(result.ranking).to_pylist()
        methods[name] = [result.ranking.method, *result.remarks]
    shown: list[dict[str, Any]] = []
    if "outcomes" in arena.tables:
        table = rates(arena.read("outcomes"), samples=sample_outcomes(arena), languages=settings.languages)
        shown = table.select(TABLES["rates"][1]).to_pylist()
    figures = {
        "format": FORMAT,
        "arena": {
            "title": arena.title,
            "label": arena.label,
            "licence": str(arena.manifest["licence"]),
            "version": arena.version,
            "labels": "made by a program" if has_automatic_labels(arena) else "made by people",
        },
        "settings": asdict(settings),
        "methods": methods,
        "texts": asdict(text_permission(arena, settings.texts)),
        "tables": {"ratings": ratings, "rates": shown},
    }
    return dict(json.loads(json.dumps(figures)))


def _texts(arena: Arena, figures: Mapping[str, Any]) -> list[tuple[str, int, list[QueryTexts]]]:
    """Return the queries to show by language, with their answers, outcomes and verdicts, and how many there are."""
    if not figures["texts"]["allowed"] or "queries" not in arena.tables:
        return []
    chosen, most = figures["settings"]["languages"], figures["settings"]["queries"]
    found = []
    for code in arena.languages("queries"):
        if chosen is None or code in chosen:
            rows = arena.read("queries", columns=["query_id", "subset", "text"], languages=[code]).to_pylist()
            shown = rows[:most]
            ids = [row["query_id"] for row in shown]
            answers = _by_query(arena, "answers", ("query_id", "system", "text", "status"), code, ids)
            verdicts = _by_query(
                arena, "judgments", ("query_id", "judge", "system_a", "system_b", "verdict", "rationale"), code, ids
            )
            outcomes = {
                (row["query_id"], row["system"]): row["outcome"]
                for of in _by_query(arena, "outcomes", ("query_id", "system", "parser", "outcome"), code, ids).values()
                for row in of
                if row["parser"] == "strict"
            }
            texts = [
                QueryTexts(
                    row["query_id"],
                    row["subset"],
                    row["text"],
                    [
                        answer | {"outcome": outcomes.get((row["query_id"], answer["system"]), answer["status"])}
                        for answer in answers.get(row["query_id"], [])
                    ],
                    verdicts.get(row["query_id"], []),
                )
                for row in shown
            ]
            found.append((code, len(rows), texts))
    return found


def _by_query(
    arena: Arena, table: str, columns: Sequence[str], code: str, ids: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a table on some queries of a language, by query; none if the arena lacks them."""
    found: dict[str, list[dict[str, Any]]] = {}
    if table in arena.tables and code in arena.languages(table):
        wanted = set(ids)
        for row in arena.read(table, columns=columns, languages=[code]).to_pylist():
            if row["query_id"] in wanted:
                found.setdefault(row["query_id"], []).append(row)
    return found


def _has_texts(arena: Arena, table: str) -> bool:
    return len(arena.sql(f'SELECT 1 FROM "{table}" WHERE text IS NOT NULL LIMIT 1')) > 0  # noqa: S608  # a table's name


def _parse(content: str, path: Path) -> dict[str, Any]:
    """Return the figures of a report."""
    again = f"write it again: mirage export html DIR --into {path.name}"
    block = content.partition(DATA_START)[2].partition(DATA_END)[0]
    if not block:
        raise BadInput(f"{path.name} is not a report: it has no figures as JSON", where=str(path), do=again)
    try:
        data = json.loads(block)
        if data["format"] != FORMAT:
            raise ValueError(f"its format is {data['format']!r}, not {FORMAT!r}")
        names = ("settings", *_FACTS)
        if not all(isinstance(data[name], dict) for name in names):
            raise ValueError("a part of it has another type")
        _settings(data["settings"])
        for name, (_, columns) in TABLES.items():
            for row in data["tables"][name]:
                if row.keys() != set(columns) or not all(_is_plain(value) for value in row.values()):
                    raise ValueError(f"a row of {name} has other columns or values")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"the figures of the report cannot be read: {error}", where=str(path), do=again) from None
    return dict(data)


def _settings(stored: Mapping[str, Any]) -> ReportSettings:
    """Return the settings of a report from its JSON.

    Raises:
        ValueError: if they are not settings of a report.
    """
    languages, most = stored["languages"], {"queries": _MOST_QUERIES, "draws": MOST_DRAWS, "seed": 2**32}
    valid = (
        stored.keys() == {field.name for field in fields(ReportSettings)}
        and (languages is None or all(isinstance(code, str) for code in languages))
        and stored["texts"] in (None, True, False)
        and all(type(stored[name]) is int and 0 <= stored[name] <= limit for name, limit in most.items())
    )
    if not valid:
        raise ValueError("its settings are not those of a report")
    return ReportSettings(**{**stored, "languages": None if languages is None else tuple(languages)})


def _is_plain(value: Any) -> bool:
    """Return whether a value is null, text, a flag or a finite number."""
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
