"""Data of the Leaderboard page: the board of the chosen languages with each row's n, on a scale, against a reference.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from mirage.battles.counts import SUBSETS
from mirage.battles.judge import verdict_judges
from mirage.ranking import sample_size
from mirage.ranking.board import DIFFERENCES, Board, change_lines, leaderboard, make_board, unranked_remarks
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.control import COVARIATES
from mirage.ranking.graph import apart_lines
from mirage.ranking.judges import Judge, size, tallies
from mirage.ranking.records import JOINT
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import RankSettings
from mirage.store import makers_of
from mirage.text.segmentation import join_first

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.people.votes.belonging import VoteLog
    from mirage.people.votes.kinds import Vote
    from mirage.store import Arena

Shown = Literal["win-rate", "logit", "arena"]
"""Scale of the ratings shown: `win-rate` is against the average system, or against the reference."""
BEHIND = ("answers", "undecided")
"""Columns of a board with each row's n."""


@dataclass(frozen=True, eq=False)
class PageBoard:
    """A board over the chosen languages, with the n behind its numbers."""

    board: Board
    """The board."""
    everything: pa.Table
    """The leaderboard (`ranking.board`), with the `answers` behind each row and `undecided`, their share in
    [0, 1], null if there are none. For a judge: its verdicts, and the unparsed share; for nuggets: battles."""
    languages: tuple[str, ...]
    """Rated languages."""
    lacking: Mapping[str, str]
    """Chosen languages that are not rated, with the reason."""
    moved: tuple[str, ...]
    """Changes relative to the plain ranking; empty without a selection."""
    counted: tuple[str, ...]
    """Remarks on the battles, and with a selection the verdicts counted and excluded."""

    @property
    def ranking(self) -> RankingReport:
        """The ratings themselves."""
        return self.board.ranking

    @property
    def scope(self) -> str:
        """Language of the rows shown: `all`, or the only one."""
        return JOINT if JOINT in self.ranking.languages else self.languages[0]

    @cached_property
    def rows(self) -> pa.Table:
        """Its joint ratings, or the ratings of the only language."""
        import pyarrow.compute as pc

        return self.everything.filter(pc.equal(self.everything["language"], self.scope))

    @cached_property
    def ranks(self) -> pa.Table:
        """Ratings by language."""
        import pyarrow.compute as pc

        return self.everything.filter(pc.not_equal(self.everything["language"], JOINT))

    @property
    def unranked(self) -> tuple[str, ...]:
        """Systems without evidence for a rating, with the reasons and what helps."""
        return tuple(unranked_remarks(self.ranking))

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return sum(self.ranking.languages[code].n_queries for code in self.languages)

    @cached_property
    def apart(self) -> tuple[str, ...]:
        """Parts of the systems that no battle joins, one line each."""
        return tuple(apart_lines(self.ranking.battles))

    @lru_cache(maxsize=64)  # noqa: B019  # boards are kept by `board` anyway
    def shown_rows(self, reference: str | None = None, scale: Shown = "logit") -> pa.Table:
        """Return the displayed rows.

        Args:
            reference: system that the others are compared with; None for ratings.
            scale: of `rating`, `low` and `high`.

        Returns:
            The board's rows with `rating`, `low` and `high` on the scale, of the difference to the reference where
            there is one.

        Raises:
            UnknownName: if the reference has no row.
        """
        import pyarrow as pa

        if reference is not None:
            self.ranking.difference(reference, reference, language=self.scope)
        on = "logit" if scale == "win-rate" else scale
        scaled = leaderboard(self.ranking, self.scope, reference=reference, scale=on)
        shown = [
            row | counts for row, counts in zip(scaled.to_pylist(), self.rows.select(BEHIND).to_pylist(), strict=True)
        ]
        for row in shown:
            if reference is not None:
                row["rating"], row["low"], row["high"] = (row.pop(name) for name in DIFFERENCES)
            if scale == "win-rate":
                row |= {name: win_rate(row[name]) for name in ("rating", "low", "high")}
        return pa.Table.from_pylist(shown, schema=self.rows.schema)

    def all_rows(self, reference: str | None = None) -> pa.Table:
        """Return all data of the page as one table in logits; with a reference, also the differences to it."""
        if reference is None:
            return self.everything
        table = leaderboard(self.ranking, reference=reference)
        for name in BEHIND:
            table = table.append_column(name, self.everything[name])
        return table

    def more_queries(self, system: str) -> list[str]:
        """Estimate how many more queries would separate a system from its neighbours."""
        order = self.rows["system"].to_pylist()
        at = order.index(system)
        pairs = [(order[k], order[k + 1]) for k in (at - 1, at) if 0 <= k < len(order) - 1]
        return [sample_size.sample_sizes(self.ranking.tests[self.scope], *pair).text for pair in pairs]


@lru_cache(maxsize=64)
def board(
    arena: Arena,
    judge: Judge,
    languages: tuple[str, ...],
    choice: RankSettings = RankSettings(),
    voted: VoteLog[Vote] | None = None,
) -> PageBoard:
    """Rate the systems over the chosen languages.

    Args:
        arena: an arena with what the judge decides by.
        judge: decides the battles, and which queries count.
        languages: codes to rate; those without battles are named in the result.
        choice: which verdicts count, and how; relevance labels use only its tie rule.
        voted: people's votes, if they replace the judges' verdicts on the same battles; else None.

    Raises:
        NotEnoughData: if none of the languages can be rated.
    """
    import pyarrow as pa

    every = languages == size(arena, judge).languages
    settings, votes = replace(choice, languages=None if every else languages), None
    if choice.without is not None or choice.exclude_own:
        settings = replace(settings, makers=makers_of(arena))
    if voted:
        from mirage.people.votes.stage import people_verdicts  # deferred import: most boards need no votes

        votes = people_verdicts(arena, voted.votes)
    made = make_board(arena, judge, settings, votes=votes)
    # Only the tests need the battles by query, which take most of a ranking's memory.
    made = replace(made, ranking=replace(made.ranking, tested=made.ranking.tests, layouts={}))
    ranking = made.ranking
    without = {code: join_first(list(dict.fromkeys(row.values()))) for code, row in ranking.unranked.items()}
    lacking = {code: without.get(code, "no battle") for code in languages if code not in ranking.languages}
    shown = tuple(code for code in languages if code in ranking.languages)
    scope = JOINT if JOINT in ranking.languages else shown[0]
    moved, other = list[str](), choice != RankSettings() or voted is not None
    if other:
        moved = change_lines(board(arena, judge, languages).ranking, ranking, language=scope)
    behind = _behind(tallies(arena, judge), judge, shown, scope)
    table = leaderboard(ranking)
    keys = zip(table["language"].to_pylist(), table["system"].to_pylist(), strict=True)
    counts = [behind.get(key, (0, 0)) for key in keys]
    shares = [undecided / answers if answers else None for answers, undecided in counts]
    table = table.append_column(BEHIND[0], pa.array([answers for answers, _ in counts], pa.int64()))
    table = table.append_column(BEHIND[1], pa.array(shares, pa.float64()))
    counted = made.counted if other or len(made.n_verdicts) > 1 else ()
    return PageBoard(made, table, shown, {**lacking, **made.lacking}, tuple(moved), (*made.notes, *counted))


def _behind(
    counts: pa.Table, judge: Judge, languages: tuple[str, ...], scope: str
) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the numbers of answers and undecided answers, by language or `scope` and system."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for row in counts.to_pylist():
        if row["language"] in languages and row["subset"] in ("", *SUBSETS[judge.skill]):
            for code in {row["language"], scope}:
                answers, undecided = sums.get((code, row["system"]), (0, 0))
                sums[code, row["system"]] = answers + row["answers"], undecided + row["undecided"]
    return sums


def families(arena: Arena) -> tuple[str, ...]:
    """Return the makers of an arena's judges, if there are several."""
    makers = makers_of(arena)
    names = sorted({makers.of(judge) for judge in verdict_judges(arena)})
    return tuple(names) if len(names) > 1 else ()


@lru_cache(maxsize=64)
def controls(arena: Arena) -> tuple[str, ...]:
    """Return the style features that ratings can be controlled for: those measured."""
    if "features" not in arena.tables:
        return ()
    measured = arena.sql("SELECT DISTINCT feature FROM features WHERE value IS NOT NULL")["feature"].to_pylist()
    return tuple(name for name, covariate in COVARIATES.items() if covariate.feature in measured)
