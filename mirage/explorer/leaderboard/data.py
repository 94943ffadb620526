"""Data of the Leaderboard page: ratings of the chosen languages with their n, and ranks by language.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.battles import verdict_rows
from mirage.battles.counts import SUBSETS, Battles
from mirage.battles.judge import NUGGETS, Judge, verdict_judges
from mirage.battles.verdict_rows import COLUMNS, REPEATED, Verdicts
from mirage.ranking import sample_size, whatif
from mirage.ranking.bootstrap import RankingReport, rate
from mirage.ranking.control import COVARIATES, Covariates, covariates
from mirage.ranking.leaderboard import leaderboard
from mirage.ranking.ranking import change_lines as change_lines
from mirage.ranking.ranking import counted_lines as counted_lines
from mirage.ranking.ranking import name_absent, unranked_remarks
from mirage.ranking.records import JOINT
from mirage.ranking.settings import RankSettings
from mirage.ranking.whatif import WhatIfResult, compare
from mirage.schema import UNDECIDED
from mirage.store import makers_of
from mirage.text.segmentation import join_first

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.ranking.nugget_battles import NuggetBattles
    from mirage.schema import Skill
    from mirage.store import Arena

BEHIND = ("answers", "undecided")
"""Columns of a board with each row's n."""
_OUTCOMES = ("language", "query_id", "system", "parser", "subset", "outcome", "correct")
"""Columns of `outcomes` that decide battles."""


@dataclass(frozen=True, eq=False)
class Board:
    """A leaderboard with the data behind its numbers."""

    everything: pa.Table
    """The leaderboard (`ranking.leaderboard`), with the `answers` behind each row and `undecided`, their share in
    [0, 1], null if there are none. For a judge: its verdicts, and the unparsed share; for nuggets: battles."""
    rows: pa.Table
    """Its joint ratings, or the ratings of the only language."""
    ranks: pa.Table
    """Ratings by language."""
    languages: tuple[str, ...]
    """Rated languages."""
    lacking: Mapping[str, str]
    """Chosen languages that are not rated, with the reason."""
    left_out: tuple[str, ...]
    """Systems without a battle in some of the languages, hence without a joint rating."""
    unranked: tuple[str, ...]
    """Systems without evidence for a rating, with the reasons and what helps."""
    n_queries: int
    """Number of queries."""
    n_answers: int
    """Number of answers; battles for a judge."""
    method: str
    """How the ratings came about, in a line."""
    ranking: RankingReport
    """The ratings themselves."""
    counted: tuple[str, ...] = ()
    """Verdicts counted and excluded, if verdicts were selected."""
    moved: tuple[str, ...] = ()
    """Changes relative to the plain ranking; empty without a selection."""


@dataclass(frozen=True)
class Size:
    """Size of an arena."""

    answers: int
    queries: int
    systems: tuple[str, ...]
    languages: tuple[str, ...]


def families(arena: Arena) -> tuple[str, ...]:
    """Return the makers of an arena's judges, if there are several."""
    if len(verdict_judges(arena)) < 2:
        return ()
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


@lru_cache(maxsize=64)
def size(arena: Arena, judge: Judge) -> Size:
    """Return the amount of data behind a judge in the whole arena; for a judge, answers are verdicts, for nuggets
    battles.

    Raises:
        TableMissing: if the arena lacks what the judge decides by.
    """
    arena.need(judge.table)
    if judge.name == NUGGETS:
        shown = list(verdicts_of(arena, NUGGETS).items())
        return Size(
            sum(len(verdicts.query) for _, verdicts in shown),
            sum(len(verdicts.queries) for _, verdicts in shown),
            tuple(sorted({system for _, verdicts in shown for system in verdicts.systems})),
            tuple(sorted(code for code, _ in shown)),
        )
    if judge.by_labels:
        counts = arena.sql(
            "SELECT count(*) FILTER (outcome <> 'missing') AS n, count(DISTINCT (language, query_id)) AS q "
            "FROM outcomes WHERE parser = 'strict'"
        )
        systems = arena.sql("SELECT DISTINCT system FROM outcomes ORDER BY system")["system"].to_pylist()
        languages = arena.languages("outcomes")
    else:
        counts = arena.sql(
            "SELECT count(*) AS n, count(DISTINCT (language, query_id)) AS q FROM judgments "
            "WHERE $1 IN (judge, 'pooled')",
            [judge.name],
        )
        systems = arena.sql(
            "SELECT system_a AS system FROM judgments WHERE $1 IN (judge, 'pooled') UNION "
            "SELECT system_b FROM judgments WHERE $1 IN (judge, 'pooled') ORDER BY system",
            [judge.name],
        )["system"].to_pylist()
        languages = tuple(
            arena.sql(
                "SELECT DISTINCT language FROM judgments WHERE $1 IN (judge, 'pooled') ORDER BY language",
                [judge.name],
            )["language"].to_pylist()
        )
    return Size(counts["n"][0].as_py(), counts["q"][0].as_py(), tuple(systems), tuple(languages))


@lru_cache(maxsize=16)
def battles_of(arena: Arena, judge: Judge) -> dict[str, Battles]:
    """Return all battles of a judge by language."""
    if judge.by_labels:
        return judge.battles(arena.read("outcomes", columns=_OUTCOMES))
    return {code: language_verdicts.battles() for code, language_verdicts in verdicts_of(arena, judge.name).items()}


def unranked_of(arena: Arena, judge: Judge, languages: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return by language, of these or all if empty, the systems that relevance labels cannot rank, with the reasons."""
    return {code: row for code, row in _unranked(arena, judge).items() if not languages or code in languages}


@lru_cache(maxsize=16)
def _unranked(arena: Arena, judge: Judge) -> dict[str, dict[str, str]]:
    return judge.find_unranked(arena.read("outcomes", columns=_OUTCOMES))


@lru_cache(maxsize=16)
def verdicts_of(arena: Arena, judge: str) -> dict[str, Verdicts]:
    """Return all verdicts of a judge, or the battles by nuggets, by language."""
    if judge == NUGGETS:
        return verdict_rows.verdicts(nugget_battles(arena).verdicts, judge=judge)
    return verdict_rows.verdicts(arena.read("judgments", columns=COLUMNS, encoded=REPEATED), judge=judge)


@lru_cache(maxsize=16)
def nugget_battles(arena: Arena) -> NuggetBattles:
    """Return the battles by nugget scores, with equal scores as ties."""
    # Deferred: the feature modules are a third of the first page's imports.
    from mirage.ranking import nugget_battles as by_nuggets

    return by_nuggets.nugget_battles(arena)


@lru_cache(maxsize=16)
def style(arena: Arena, names: tuple[str, ...]) -> dict[str, Covariates]:
    """Return the covariates of the answers, by language.

    Raises:
        NotEnoughData: if a feature was not measured for any answer.
    """
    features = [COVARIATES[name].feature for name in names]
    rows = arena.sql(
        "SELECT language, query_id, system, feature, value FROM features "
        "WHERE list_contains($wanted, feature) AND value IS NOT NULL",
        {"wanted": features},
    )
    return covariates(rows, names)


@lru_cache(maxsize=64)
def ranking_of(
    arena: Arena,
    judge: Judge,
    languages: tuple[str, ...],
    choice: RankSettings,
    voted: tuple[str, int] | None,
) -> tuple[RankingReport, WhatIfResult | None]:
    """Rank the systems over the selected languages that have battles; for judges, with the counts of verdicts. `voted`
    is as in `board`.
    """
    if judge.by_labels:
        counted = battles_of(arena, judge)
        unranked = unranked_of(arena, judge, languages)
        return rate({c: counted[c] for c in languages if c in counted}, ties=choice.ties, unranked=unranked), None
    by_judge = _verdict_counts(arena, judge)
    codes = [code for code in languages if any(code in by_language for by_language in by_judge.values())]
    answer_style = style(arena, choice.control) if choice.control else None
    recomputed = whatif.rate_counted(
        [_count_verdicts(arena, judge, code, choice, voted) for code in codes], choice, style=answer_style
    )
    return recomputed.ranking, recomputed


def _verdict_counts(arena: Arena, judge: Judge) -> dict[str, dict[str, Verdicts]]:
    names = verdict_judges(arena) if judge.kind == "panel" else (judge.name,)
    return {name: verdicts_of(arena, name) for name in names}


@lru_cache(maxsize=256)
def _count_verdicts(
    arena: Arena, judge: Judge, code: str, choice: RankSettings, voted: tuple[str, int] | None
) -> whatif.CountedVerdicts:
    """Count the verdicts of one language and rank it, independently of the other languages shown."""
    votes = None
    if voted:
        from mirage.explorer.kit import votes as people

        votes = people.votes_as_verdicts(arena, voted)
    return whatif.count_verdicts(_verdict_counts(arena, judge), choice, code, votes=votes)


@lru_cache(maxsize=64)
def tallies(arena: Arena, judge: Judge) -> pa.Table:
    """Return the numbers of answers and undecided answers by language, subset and system; for a judge, battles and
    unparsed verdicts, with an empty subset.
    """
    if judge.name == NUGGETS:
        return _nugget_tallies(arena)
    if judge.by_labels:
        return arena.sql(
            "SELECT language, subset, system, count(*) FILTER (outcome <> 'missing') AS answers, "
            "count(*) FILTER (list_contains(?, outcome)) AS undecided "
            "FROM outcomes WHERE parser = 'strict' GROUP BY ALL ORDER BY ALL",
            [list(UNDECIDED)],
        )
    return arena.sql(
        "WITH shown AS (SELECT language, system_a AS system, verdict FROM judgments WHERE $1 IN (judge, 'pooled') "
        "UNION ALL SELECT language, system_b, verdict FROM judgments WHERE $1 IN (judge, 'pooled')) "
        "SELECT language, '' AS subset, system, count(*) AS answers, "
        "count(*) FILTER (verdict = 'unparsed') AS undecided FROM shown GROUP BY ALL ORDER BY ALL",
        [judge.name],
    )


def _nugget_tallies(arena: Arena) -> pa.Table:
    import pyarrow as pa

    rows = []
    for code, verdicts in verdicts_of(arena, NUGGETS).items():
        met = verdicts.decision_counts().sum(axis=2)
        answers = (met.sum(axis=0) + met.sum(axis=1)).tolist()
        rows += [
            {"language": code, "subset": "", "system": system, "answers": n, "undecided": 0}
            for system, n in zip(verdicts.systems, answers, strict=True)
        ]
    return pa.Table.from_pylist(rows)


def _behind(
    counts: pa.Table, skill: Skill, languages: tuple[str, ...], scope: str
) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the numbers of answers and undecided answers, by language or `scope` and system."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for row in counts.to_pylist():
        if row["language"] in languages and row["subset"] in ("", *SUBSETS[skill]):
            for code in {row["language"], scope}:
                answers, undecided = sums.get((code, row["system"]), (0, 0))
                sums[code, row["system"]] = answers + row["answers"], undecided + row["undecided"]
    return sums


@lru_cache(maxsize=64)
def board(
    arena: Arena,
    judge: Judge,
    languages: tuple[str, ...],
    choice: RankSettings = RankSettings(),
    voted: tuple[str, int] | None = None,
) -> Board:
    """Rate the systems over the chosen languages.

    Args:
        arena: an arena with what the judge decides by.
        judge: decides the battles, and which queries count.
        languages: codes to rate; those without battles are named in the result.
        choice: which verdicts count, and how; relevance labels use only its tie rule.
        voted: the version of people's votes (`people.version`), if they replace the judges' verdicts on the same
            battles; else None.

    Raises:
        NotEnoughData: if none of the languages can be rated.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if choice.without is not None or choice.exclude_own:
        choice = replace(choice, makers=makers_of(arena))
    counts = tallies(arena, judge)
    ranking, recomputed = ranking_of(arena, judge, languages, choice, voted)
    ranking = name_absent(ranking, arena)
    without = {code: join_first(list(dict.fromkeys(row.values()))) for code, row in ranking.unranked.items()}
    lacking = {code: without.get(code, "no battle") for code in languages if code not in ranking.languages}
    if recomputed is not None:
        lacking |= recomputed.lacking
    shown = tuple(code for code in languages if code in ranking.languages)
    scope = JOINT if JOINT in ranking.languages else shown[0]
    moved: tuple[str, ...] = ()
    other = choice != RankSettings() or voted is not None
    if other:
        different = compare(ranking_of(arena, judge, languages, RankSettings(), None)[0], ranking)
        moved = tuple(change_lines(different, language=scope))
    behind = _behind(counts, judge.skill, shown, scope)
    table = leaderboard(ranking)
    keys = zip(table["language"].to_pylist(), table["system"].to_pylist(), strict=True)
    counted = [behind.get(key, (0, 0)) for key in keys]
    shares = [undecided / answers if answers else None for answers, undecided in counted]
    table = table.append_column(BEHIND[0], pa.array([answers for answers, _ in counted], pa.int64()))
    table = table.append_column(BEHIND[1], pa.array(shares, pa.float64()))
    rows = table.filter(pc.equal(table["language"], scope))
    return Board(
        everything=table,
        rows=rows,
        ranks=table.filter(pc.not_equal(table["language"], JOINT)),
        languages=shown,
        lacking=lacking,
        unranked=tuple(unranked_remarks(ranking)),
        left_out=ranking.left_out,
        n_queries=sum(ranking.languages[code].n_queries for code in shown),
        n_answers=sum(rows["answers"].to_pylist()),
        method=ranking.method if recomputed is None else recomputed.method,
        ranking=ranking,
        counted=(
            *(nugget_battles(arena).lines if judge.name == NUGGETS else ()),
            *(
                counted_lines(recomputed)
                if recomputed is not None and (other or len(recomputed.n_verdicts) > 1)
                else ()
            ),
        ),
        moved=moved,
    )


@lru_cache(maxsize=256)
def sample_sizes(board: Board, system: str) -> tuple[str, ...]:
    """Estimate how many more queries would separate a system from its neighbours in the joint row."""
    order = board.rows["system"].to_pylist()
    tests = board.ranking.tests[board.rows["language"][0].as_py()]
    position = order.index(system)
    return tuple(
        sample_size.sample_sizes(tests, *pair).text
        for pair in ((order[k], order[k + 1]) for k in (position - 1, position) if 0 <= k < len(order) - 1)
    )
