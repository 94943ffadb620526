"""View of a comparison: is A better than B? Two systems by a measure of one arena or two, by language and over all."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mirage import schema
from mirage.battles.judge import choose_judge, judges
from mirage.errors import MirageError, NotEnoughData
from mirage.ranking import pair_tests
from mirage.ranking.board import rank_arena
from mirage.ranking.compare.comparing import compare_ratings, compare_systems, need_two_systems
from mirage.ranking.compare.measures import NUGGETS, OF_FEATURE, RATE, RATING, measured_systems
from mirage.ranking.compare.records import Comparison, ComparisonReport, MovedQuery
from mirage.ranking.judges import Judge, size
from mirage.ranking.records import JOINT
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import CompareSettings, RankSettings
from mirage.stages.features.families import FEATURES
from mirage.stats.units import name_unit
from mirage.store.labels import source_phrase
from mirage.text.languages import name_of
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import as_sentence, count_text, signed
from mirage.views.cache import cached_view

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.ranking.bootstrap import RankingReport
    from mirage.stats.label_errors import QueryLabels
    from mirage.store.arena import Arena

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


@dataclass(frozen=True)
class ComparisonView(ComparisonReport):
    """The comparison of two systems, and what it says."""

    judge: str | None = None
    """Judge of the battles; None unless ratings are compared."""
    against: str | None = None
    """Arena of the second system, if different."""
    second_name: str = ""
    """The second system in sentences: with its arena, if different."""
    judge_name: str | None = None
    """The judge in sentences."""
    labels: str = ""
    """The source of the labels that it rests on, with a space before it; empty for relevance labels."""

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
        """The answer, of all languages or the only one."""
        margin = f" within {self.margin:g}" if self.overall.verdict == "equivalent" else ""
        return f"{self.first} {_VERDICTS[self.overall.verdict]} {self.second_name}{margin}{self.labels}."

    @property
    def evidence(self) -> str:
        """What the answer rests on, in sentences."""
        parts = [self.row_sentence(self.overall)]
        for verdict in ("better", "worse", "higher", "lower"):
            codes = [row.language for row in self.rows if row.verdict == verdict and row.language != JOINT]
            if self.overall.language == JOINT and codes:
                named = ", ".join(name_of(code) for code in codes)
                among = named if len(codes) <= _NAMED else f"{len(codes)} of {len(self.rows) - 1} languages"
                parts.append(f"{verdict.capitalize()} in {among} (Holm-corrected).")
        return " ".join(parts)

    @property
    def unit_name(self) -> str:
        """The unit of the intervals, in words."""
        return name_unit(self.query_unit)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader needs besides the rows."""
        intervals = f"95% intervals with the {self.unit_name} as the unit"
        lines = [f"difference: {self.first} minus {self.second}, {self.title}; {intervals}"]
        if self.measure == RATING:
            lines.append(
                "intervals are of this pair alone, verdicts after Holm's correction over all pairs of the ranking"
            )
        if self.overall.language == JOINT:
            lines.append("the verdict of a language is after Holm's correction over the languages")
        return tuple(lines)

    def row_sentence(self, row: Comparison) -> str:
        """Return the numbers of a row in sentences, and why it is inconclusive."""
        where = "over all languages" if row.language == JOINT else f"in {name_of(row.language)}"
        if row.difference is None:
            return f"No difference {where}: {row.reason}."
        numbers = (row.difference, row.low, row.high)
        if self.measure == RATING:
            label = f"Win rate against {self.second}"
            value, low, high = ("unbounded" if n is None else _rate(n) for n in numbers)
        else:
            label = "Difference"
            value, low, high = ("unbounded" if n is None else signed(n) for n in numbers)
            value += f" {self.unit}" if self.unit else ""
        parts = [f"{label} {where}: {value} (95% CI {low} to {high}, n = {count_text(row.n_queries, 'query')})"]
        if row.unpaired:
            more = count_text(row.unpaired, "query")
            parts.append(f"{more} answered by only one system {'is' if row.unpaired == 1 else 'are'} excluded")
        parts += self._short_of(row) if row.verdict == "inconclusive" else []
        return " ".join(map(as_sentence, parts))

    def _short_of(self, row: Comparison) -> list[str]:
        """Explain why a row is inconclusive, and how many queries would suffice."""
        parts = [row.reason] if row.reason else []
        if row.detectable is not None:
            rating = self.measure == RATING
            least = f"win rate: {_rate(row.detectable)}" if rating else f"difference: {row.detectable:.3f} {self.unit}"
            parts.append(f"minimum detectable {least.rstrip()} (80% power)")
        if more := more_text(row):
            parts.append(f"{more} more queries needed")
        return parts


def more_text(row: Comparison) -> str:
    """Return how many more queries would decide a row, with the range; empty if that is unknown."""
    if row.more:
        high = "unbounded" if row.more_high is None else f"{row.more_high:,}"
        return f"about {row.more:,} (range {row.more_low:,} to {high})"
    return f"at least {row.more_low:,}" if row.more is None and (row.more_low or 0) > 1 else ""


def _rate(logits: float) -> str:
    return FORMATS["rate"].write(win_rate(logits))


@cached_view
def comparison_view(
    arena: Arena,
    first: str,
    second: str | None = None,
    settings: CompareSettings = CompareSettings(),
    against: Arena | None = None,
    labels: QueryLabels | None = None,
) -> ComparisonView:
    """Compare two systems.

    Args:
        arena: holds the first system, and the second unless `against` is given.
        first: the system to compare.
        second: the reference system; None for the system of the same name in `against`.
        settings: the measure, the judge, the languages and the margin.
        against: holds the second system, on the same queries.
        labels: what is known about the labels of the queries, for the measure `rate`.

    Raises:
        MirageError: as `compare_systems` does.
    """
    if against is None:
        need_two_systems(first, second or first)
    judge = None
    if settings.measure == RATING:
        name = choose_judge(arena, settings.judge)
        judge = Judge.from_name(name, parser=settings.parser, failures=settings.failures)
    if judge is not None and against is None:
        ranking = _ranking(arena, judge, settings.ranking)
        report = compare_ratings(ranking, first, second or first, margin=settings.margin, moved=settings.moved)
    else:
        report = compare_systems(arena, first, second, settings, against=against, labels=labels)
    if against is None:
        return _of_report(report, second or first, arena, judge)
    return _of_report(report, f"{second or first} ({against.name})", arena, judge, against.name)


def ranking_comparison(ranking: RankingReport, first: str, second: str, settings: CompareSettings) -> ComparisonView:
    """Compare two systems of a ranking; errors as for `compare_ratings`."""
    report = compare_ratings(ranking, first, second, margin=settings.margin, moved=settings.moved)
    return replace(_of_report(report, second), judge=ranking.judge, judge_name=ranking.judge)


def _of_report(
    report: ComparisonReport,
    second_name: str,
    arena: Arena | None = None,
    judge: Judge | None = None,
    against: str | None = None,
) -> ComparisonView:
    values = {field.name: getattr(report, field.name) for field in fields(report)}
    view = ComparisonView(**values, against=against, second_name=second_name)
    if arena is None:
        return view
    by_labels = report.measure == RATE or (judge is not None and judge.rests_on_labels)
    view = replace(view, labels=source_phrase(arena) if by_labels else "")
    return view if judge is None else replace(view, judge=judge.name, judge_name=judge.phrase(arena))


@lru_cache(maxsize=8)
def _ranking(arena: Arena, judge: Judge, settings: RankSettings) -> RankingReport:
    return rank_arena(arena, judge, settings).ranking


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
        import pyarrow.compute as pc

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


@lru_cache(maxsize=32)
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
        row = [*_ranking(arena, judge, RankSettings(languages=codes)).languages.values()][-1]
    except MirageError:
        return ()
    return tuple(row.systems[k] for k in pair_tests.in_rank_order(row))
