"""View of a comparison: is A better than B? Two systems by a measure of one arena or two, by language and over all."""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.judge import judges
from mirage.errors import MirageError, NotEnoughData
from mirage.ranking import pair_tests
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.compare.comparing import compare_ratings, compare_systems
from mirage.ranking.compare.measures import NUGGETS, OF_FEATURE, RATE, RATING, measured_systems
from mirage.ranking.compare.records import LOGITS, Comparison, ComparisonReport, MovedQuery
from mirage.ranking.judges import Judge, size
from mirage.ranking.records import JOINT
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import CompareSettings
from mirage.stages.features.families import FEATURES
from mirage.stats.label_errors import QueryLabels
from mirage.stats.units import name_unit
from mirage.store.arena import Arena
from mirage.text.languages import in_language, name_of
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import as_sentence, count_text, signed
from mirage.views.board import BoardChoice, board_view
from mirage.views.cache import cached_view, memoize

_VERDICTS: Final = {
    "better": "is better than",
    "worse": "is worse than",
    "higher": "has higher values than",
    "lower": "has lower values than",
    "equivalent": "is equivalent to",
    "inconclusive": "is not significantly different from",
}
_MOVED: Final = 20
"""Maximum number of changed queries listed for a reader."""
_NAMED: Final = 6
"""Maximum number of languages to name; more are counted."""
_POINT: Final = 0.01
"""Smallest difference of two win rates for which both are stated."""


@dataclass(frozen=True)
class ComparisonView(ComparisonReport):
    """The comparison of two systems, with its conclusion in words."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages with a difference."""
        return tuple(row.language for row in self.rows if row.language != JOINT and row.n_queries > 0)

    @property
    def table(self) -> pa.Table:
        """The rows as a table of `Comparison`."""
        return schema.from_rows(Comparison, self.rows)

    @property
    def moved_table(self) -> pa.Table:
        """The queries with the largest differences, as a table of `MovedQuery`."""
        return schema.from_rows(MovedQuery, self.moved)

    @property
    def conclusion(self) -> str:
        """The conclusion over all languages, or in the only one."""
        margin = f" within {self.margin:g}" if self.overall.verdict == "equivalent" else ""
        return f"{self.first} {_VERDICTS[self.overall.verdict]} {self.second_name}{margin}{self.labels}."

    @property
    def evidence(self) -> str:
        """Sentences with the numbers behind the conclusion."""
        parts = [self.row_sentence(self.overall)]
        parts += self._by_ratings()
        for verdict in ("better", "worse", "higher", "lower"):
            codes = [row.language for row in self.rows if row.verdict == verdict and row.language != JOINT]
            if self.overall.language == JOINT and codes:
                named = ", ".join(name_of(code) for code in codes)
                among = named if len(codes) <= _NAMED else f"{len(codes)} of {len(self.rows) - 1} languages"
                parts.append(f"{verdict.capitalize()} in {among}.")
        return " ".join([*parts, *map(as_sentence, self.notes)])

    @property
    def unit_name(self) -> str:
        """The unit of the intervals, in words."""
        return name_unit(self.query_unit)

    @property
    def p_head(self) -> str:
        """Head of the column of p-values, with their correction."""
        return "p" if self.n_tests < 2 else f"p (languages × {self.n_tests})"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks to show with the rows."""
        intervals = f"95% intervals with the {self.unit_name} as the unit"
        lines = [f"difference: {self.first} minus {self.second}, {self.title}; {intervals}"]
        if self.measure == RATING and self.unit == LOGITS:
            lines.append("the two never meet: their ratings are compared through others, and cannot be equivalent")
        if self.n_tests > 1:
            lines.append(
                f"p-values and intervals of languages are corrected for the {self.n_tests} asked about (Bonferroni)"
            )
        return tuple(lines)

    def rate(self, value: float | None) -> float | None:
        """Return a difference of ratings as the first system's win rate against the second."""
        return value if value is None else win_rate(value) if self.unit == LOGITS else (1 + value) / 2

    def row_sentence(self, row: Comparison) -> str:
        """Return the numbers of a row in sentences, and why it is inconclusive."""
        measured, asked = len(self.languages), len(self.rows) - 1
        several = "over all languages" if measured == asked else f"over {measured} of {asked} languages"
        where = several if row.language == JOINT else in_language(row.language)
        if row.difference is None:
            return f"No difference {where}: {row.reason}."
        value, low, high = (self._text(number) for number in (row.difference, row.low, row.high))
        label = f"Win rate against {self.second}" if self.measure == RATING else "Difference"
        unit = f" {self.unit}" if self.unit and self.measure != RATING else ""
        parts = [f"{label} {where}: {value}{unit} (95% CI {low} to {high}, n = {count_text(row.n_queries, 'query')})"]
        if row.unpaired:
            more = count_text(row.unpaired, "query")
            without = "without a battle of the two" if self.measure == RATING else "answered by only one system"
            parts.append(f"{more} {without} {'is' if row.unpaired == 1 else 'are'} excluded")
        parts += [row.reason] if row.reason else []
        parts += self._short_of(row) if row.verdict == "inconclusive" else []
        return " ".join(map(as_sentence, parts))

    def _by_ratings(self) -> list[str]:
        """Return the win rate by the leaderboard's ratings, which battles with others determine too, if it differs by a
        point from that of the battles of the two.
        """
        if self.measure != RATING:
            return []
        by_all, by_two = win_rate(self.overall.board), self.rate(self.overall.difference)
        if by_all is None or by_two is None or abs(by_all - by_two) < _POINT:
            return []
        return [f"By the leaderboard's ratings, which use every battle: {FORMATS['rate'].write(by_all)}."]

    def _text(self, number: float | None) -> str:
        if number is None:
            return "unbounded"
        return FORMATS["rate"].write(self.rate(number)) if self.measure == RATING else signed(number)

    def _short_of(self, row: Comparison) -> list[str]:
        """Return the minimum detectable difference of a row, and the number of queries that would suffice."""
        parts = []
        if row.detectable is not None:
            rating = self.measure == RATING
            least = (
                f"win rate: {self._text(row.detectable)}" if rating else f"difference: {row.detectable:.3f} {self.unit}"
            )
            parts.append(f"minimum detectable {least.rstrip()} (80% power)")
        if text := needed_text(row):
            parts.append(f"queries needed: {text}")
        return parts


def needed_text(row: Comparison) -> str:
    """Return how many queries would decide a row; empty if that is unknown or it is decided."""
    return f"about {row.queries_needed:,} in all, if the difference is real" if row.queries_needed else ""


@cached_view
def comparison_view(
    arena: Arena,
    first: str,
    second: str | None = None,
    settings: CompareSettings = CompareSettings(),
    against: Arena | None = None,
    labels: QueryLabels | None = None,
) -> ComparisonView:
    """Compare two systems; arguments and errors as of `compare_systems`."""
    return _of_report(compare_systems(arena, first, second, settings, against=against, labels=labels))


def ranking_comparison(ranking: RankingReport, first: str, second: str, settings: CompareSettings) -> ComparisonView:
    """Compare two systems of a ranking; errors as of `compare_ratings`."""
    return _of_report(compare_ratings(ranking, first, second, margin=settings.margin, moved=settings.moved))


def _of_report(report: ComparisonReport) -> ComparisonView:
    return ComparisonView(**{field.name: getattr(report, field.name) for field in fields(report)})


@dataclass(frozen=True, slots=True)
class PairChoice:
    """Two systems and the measure to compare them by, as a reader picks them."""

    first: str
    second: str
    measure: str
    judge: Judge | None
    """Judge of the battles; None unless ratings are compared."""
    margin: float
    against: Arena | None = None
    """The arena of the second system, if different."""

    def settings(self, arena: Arena, languages: tuple[str, ...]) -> CompareSettings:
        """Return the settings of the comparison in some languages; all if empty.

        Raises:
            NotEnoughData: if the judge decided no battles in them.
        """
        if self.judge is None:
            return CompareSettings(self.measure, None, self.margin, languages or None, moved=_MOVED)
        codes = rated_languages(arena, self.judge, languages)
        return CompareSettings(self.measure, self.judge.name, self.margin, codes, moved=_MOVED)


# --- what can be compared ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def compared_measures(arena: Arena) -> tuple[str, ...]:
    """Return the measures that two systems can be compared by: `rating`, `rate`, `nuggets`, `feature:NAME`. Features
    must be declared and have a value.
    """
    names = _of_tables(arena)
    if "features" in arena.tables:
        rows = arena.read("features", columns=["feature", "value"])
        measured = set(pc.unique(rows.filter(pc.is_valid(rows["value"]))["feature"]).to_pylist())
        names += [OF_FEATURE + name for name in FEATURES if name in measured]
    return tuple(names)


def has_measure(arena: Arena, measure: str) -> bool:
    """Return whether two systems can be compared by a measure; read rows only if necessary."""
    return measure in (compared_measures(arena) if measure.startswith(OF_FEATURE) else _of_tables(arena))


def _of_tables(arena: Arena) -> list[str]:
    """Return the measures that are not features."""
    tables = set(arena.tables)
    names = [RATING] if "outcomes" in tables or judges(arena) else []
    names += [RATE] if "outcomes" in tables else []
    names += [NUGGETS] if {"nuggets", "nugget_assignments", "answers"} <= tables else []
    return names


@memoize
def compared_systems(arena: Arena, measure: str, judge: Judge | None) -> tuple[str, ...]:
    """Return the systems that have the measure, sorted by name; for ratings, those that the judge rates."""
    if measure == RATING and judge is not None:
        return tuple(sorted(size(arena, judge).systems))
    return measured_systems(arena, measure)


def rated_languages(arena: Arena, judge: Judge, languages: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return those of some languages in which a judge decided battles; None for all.

    Raises:
        NotEnoughData: if there is none.
    """
    if not languages:
        return None
    codes = tuple(code for code in size(arena, judge).languages if code in languages)
    if not codes:
        raise NotEnoughData(f"{judge.name} decided no battles in these languages", do="choose other languages")
    return codes


@cached_view
def systems_in_rank_order(arena: Arena, judge: Judge | None, languages: tuple[str, ...] = ()) -> tuple[str, ...]:
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
        codes = rated_languages(arena, judge, languages)
        row = [*board_view(arena, BoardChoice((judge.name,), codes or ())).ranking.languages.values()][-1]
    except MirageError:
        return ()
    return tuple(row.systems[k] for k in pair_tests.in_rank_order(row))
