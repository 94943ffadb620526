"""Data of the Compare page: two systems by a measure of the arena, with the verdict in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mirage.battles.judge import judges
from mirage.errors import MirageError, NotEnoughData
from mirage.explorer.leaderboard import data as leaderboard
from mirage.publish.charts.palette import FORMATS
from mirage.ranking import pair_tests
from mirage.ranking.compare.comparing import compare_ratings, compare_systems
from mirage.ranking.compare.measures import NUGGETS, OF_FEATURE, RATE, RATING, measured_systems
from mirage.ranking.compare.records import ComparisonReport
from mirage.ranking.judges import Judge, size
from mirage.ranking.records import JOINT
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import CompareSettings
from mirage.stages.features.families import FEATURES
from mirage.text.languages import name_of, scope_name
from mirage.text.segmentation import count_text, signed

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.ranking.bootstrap import RankingReport
    from mirage.stats.label_errors import QueryLabels
    from mirage.store import Arena


@dataclass(frozen=True, slots=True)
class Choice:
    """Systems and measure to compare."""

    first: str
    second: str
    measure: str
    judge: Judge | None
    """Judge of the battles; None unless ratings are compared."""
    margin: float
    against: Arena | None = None
    """The arena of the second system, if different."""


WIN_RATES: Final = {"win_rate": "difference", "win_low": "low", "win_high": "high"}
"""The first system's win rate against the second and its interval, by the number in logits."""
MOVED: Final = 20
"""Maximum number of changed queries shown."""
_WORDS: Final = {
    "better": "is better than",
    "worse": "is worse than",
    "equivalent": "is equivalent to",
    "inconclusive": "is not significantly different from",
}

_NAMED: Final = 6
"""Maximum number of languages to name; more are counted."""


def rests_on_labels(choice: Choice) -> bool:
    """Return whether the compared measure depends on the labels of the queries."""
    return choice.measure == RATE or (choice.judge is not None and choice.judge.rests_on_labels)


@lru_cache(maxsize=16)
def with_values(arena: Arena) -> frozenset[tuple[str, str]]:
    """Return the pairs of system and feature that have a value in an arena."""
    rows = arena.sql("SELECT DISTINCT system, feature FROM features WHERE value IS NOT NULL")
    return frozenset(zip(rows["system"].to_pylist(), rows["feature"].to_pylist(), strict=True))


@lru_cache(maxsize=16)
def measures(arena: Arena) -> tuple[str, ...]:
    """Return the measures that two systems can be compared by: `rating`, `rate`, `nuggets`, `feature:NAME`. Features
    must be declared and have a value.
    """
    names = _of_tables(arena)
    if "features" in arena.tables:
        measured = {feature for _, feature in with_values(arena)}
        names += [OF_FEATURE + name for name in FEATURES if name in measured]
    return tuple(names)


def has_measure(arena: Arena, measure: str) -> bool:
    """Return whether two systems can be compared by a measure; read rows only if necessary."""
    return measure in (measures(arena) if measure.startswith(OF_FEATURE) else _of_tables(arena))


def _of_tables(arena: Arena) -> list[str]:
    """Return the measures that are not features."""
    tables = set(arena.tables)
    names = [RATING] if "outcomes" in tables or judges(arena) else []
    names += [RATE] if "outcomes" in tables else []
    names += [NUGGETS] if {"nuggets", "nugget_assignments", "answers"} <= tables else []
    return names


@lru_cache(maxsize=32)
def systems(arena: Arena, measure: str, judge: Judge | None) -> tuple[str, ...]:
    """Return the systems that have the measure, sorted by name; for ratings, those that the judge rates."""
    if measure == RATING and judge is not None:
        return tuple(sorted(size(arena, judge).systems))
    return measured_systems(arena, measure)


@lru_cache(maxsize=32)
def in_rank_order(arena: Arena, judge: Judge | None, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rated systems, best first; empty without ratings.

    Args:
        arena: the arena.
        judge: judge of the battles; None for the arena's first.
        languages: codes; all if empty.
    """
    if judge is None:
        if not (names := judges(arena)):
            return ()
        judge = Judge.from_name(names[0])
    try:
        row = [*ranking_by(arena, judge, languages).languages.values()][-1]
    except MirageError:
        return ()
    return tuple(row.systems[k] for k in pair_tests.in_rank_order(row))


@lru_cache(maxsize=64)
def report(
    arena: Arena, choice: Choice, languages: tuple[str, ...], labels: QueryLabels | None = None
) -> ComparisonReport:
    """Compare two systems.

    Args:
        arena: the arena.
        choice: the systems and the measure.
        languages: codes to narrow to; empty for all.
        labels: what is known about the labels of the queries.

    Raises:
        MirageError: as `compare_systems` does.
    """
    first, second, margin = choice.first, choice.second, choice.margin
    judge = choice.judge
    if judge is not None and choice.against is None:
        return compare_ratings(ranking_by(arena, judge, languages), first, second, margin=margin, moved=MOVED)
    settings = CompareSettings(choice.measure, judge.name if judge else None, margin, languages or None, moved=MOVED)
    return compare_systems(arena, first, second, settings, against=choice.against, labels=labels)


def ranking_by(arena: Arena, judge: Judge, languages: tuple[str, ...]) -> RankingReport:
    """Rank the systems by a judge over those of the given languages with battles; over all languages if none are
    given.

    Raises:
        NotEnoughData: if there is no such language.
    """
    codes = tuple(code for code in size(arena, judge).languages if not languages or code in languages)
    if not codes:
        raise NotEnoughData(f"{judge.name} decided no battles in these languages", do="choose other languages")
    return leaderboard.board(arena, judge, codes).ranking


def verdict_words(shown: ComparisonReport) -> str:
    """Return the overall verdict without the systems' names: `is better than`."""
    return _WORDS[shown.overall.verdict]


def evidence(shown: ComparisonReport) -> str:
    """Return the evidence for the verdict as sentences."""
    row = shown.overall
    where = "over all languages" if row.language == JOINT else f"in {name_of(row.language)}"
    if row.difference is None:
        return f"No difference {where}: {row.reason}."
    label, numbers = "Difference", (row.difference, row.low, row.high)
    value, low, high = ("unbounded" if number is None else signed(number) for number in numbers)
    if shown.measure == RATING:
        label = f"Win rate against {shown.second}"
        value, low, high = ("unbounded" if n is None else FORMATS["rate"].write(win_rate(n)) for n in numbers)
    on = f"n = {count_text(row.n_queries, 'query')}"
    value += f" {shown.unit}" if shown.unit and shown.measure != RATING else ""
    parts = [f"{label} {where}: {value} (95% CI {low} to {high}, {on})"]
    if row.unpaired:
        more = count_text(row.unpaired, "query")
        parts.append(f"{more} answered by only one system {'is' if row.unpaired == 1 else 'are'} excluded")
    parts += [f"{text[0].upper()}{text[1:]}" for text in _short_of(shown)]
    for verdict in ("better", "worse"):
        codes = [other.language for other in shown.rows if other.verdict == verdict and other.language != JOINT]
        if row.language == JOINT and codes:
            named = ", ".join(name_of(code) for code in codes)
            among = named if len(codes) <= _NAMED else f"{len(codes)} of {len(shown.rows) - 1} languages"
            parts.append(f"{verdict.capitalize()} in {among} (Holm-corrected)")
    return ". ".join(parts) + "."


def _short_of(shown: ComparisonReport) -> list[str]:
    """Explain why the overall row is inconclusive, and how many queries would suffice."""
    row = shown.overall
    if row.verdict != "inconclusive":
        return []
    parts = [row.reason] if row.reason else []
    if row.detectable is not None:
        least = f"difference: {row.detectable:.3f} {shown.unit}".rstrip()
        if shown.measure == RATING:
            least = f"win rate: {FORMATS['rate'].write(win_rate(row.detectable))}"
        parts.append(f"minimum detectable {least} (80% power)")
    if row.more:
        end = "unbounded" if row.more_high is None else f"{row.more_high:,}"
        ends = f"range {row.more_low:,} to {end}"
        parts.append(f"about {count_text(row.more, 'more query')} needed ({ends})")
    elif row.more is None and (row.more_low or 0) > 1:
        parts.append(f"at least {row.more_low:,} more queries needed")
    return parts


def rows(shown: ComparisonReport) -> pa.Table:
    """Return the rows as a table, all languages first: the fields of `Comparison`, the language's name in `where`, the
    corrected p-value as text in `p_text`, and of ratings the first system's win rate with its interval (`WIN_RATES`).
    """
    import pyarrow as pa

    ordered = sorted(shown.rows, key=lambda row: row.language != JOINT)
    records = [asdict(row) | {"where": where(row.language), "p_text": _p_text(row.p_holm)} for row in ordered]
    if shown.measure == RATING:
        for record in records:
            record |= {name: win_rate(record[of]) for name, of in WIN_RATES.items()}
    return pa.Table.from_pylist(records, schema=_schema())


def _p_text(p: float | None) -> str | None:
    return None if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


@lru_cache(maxsize=64)
def moved_queries(shown: ComparisonReport) -> pa.Table:
    """Return the queries with the largest changes as a table: the fields of `MovedQuery`, with the language's name in
    `where`.
    """
    import pyarrow as pa

    columns: list[tuple[str, pa.DataType]] = [(name, pa.string()) for name in ("where", "language", "query_id")]
    columns += [(name, pa.float64()) for name in ("first", "second", "difference")]
    records = [asdict(row) | {"where": where(row.language)} for row in shown.moved]
    return pa.Table.from_pylist(records, schema=pa.schema(columns))


def where(language: str) -> str:
    """Return the display name of a row's language."""
    return scope_name(language)


def _schema() -> pa.Schema:
    import pyarrow as pa

    numbers = ("difference", "low", "high", "p", "p_holm", "detectable", *WIN_RATES)
    counts = ("n_queries", "unpaired", "differing", "more", "more_low", "more_high")
    kinds = dict.fromkeys(("where", "language", "verdict", "p_text", "reason"), pa.string())
    kinds |= dict.fromkeys(numbers, pa.float64()) | dict.fromkeys(counts, pa.int64())
    return pa.schema(list(kinds.items()))
