"""Battles as win counts per query: the input of every ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.schema import FAILED, Failures, Parser, Skill, Ties
from mirage.stats.arrays import Flags, Integers, Places
from mirage.stats.encoding import encode, place_names
from mirage.text.languages import name_of
from mirage.text.segmentation import join_first

if TYPE_CHECKING:
    import pyarrow as pa

RELEVANCE = "relevance"
"""Name of the judge that decides by relevance labels."""

SUBSETS: dict[Skill, tuple[str, ...]] = {
    "abstain": ("non_relevant",),
    "answer": ("relevant",),
    "both": ("non_relevant", "relevant"),
}
"""Subsets of queries each skill is measured on."""

QUERIES = {"relevant": "answerable", "non_relevant": "unanswerable"} | {
    "abstain": "unanswerable",
    "answer": "answerable",
    "both": "answerable and unanswerable",
}
"""Words for the queries of a subset, or of a skill."""
CLASSIFIED = ("answered", "abstained", "clarification")
"""Outcomes of answers that a rule or a model could read."""
ABSENT = "no answer"
"""Why a system without answers has no rating."""
CLASSIFY = (
    "let a judge decide (mirage judge) or nuggets (mirage measure nuggets), or classify by a model "
    "(mirage measure outcomes --outcomes-by MODEL)"
)
"""Remedy for unclassified answers."""
UNREAD = "no answer could be classified"
"""Why nothing is known of answers that no rule could read."""
_CLASSIFIED = "answers classified"
"""Words of a reason that a remedy looks for."""
Unranked = Mapping[str, Mapping[str, str]]
"""By language, the systems without a rank, each with the reason."""
_TOO_MANY = "a pair of systems meets more than 255 times on one query"


FEW_VOTERS = 10
"""Number of people below which their votes give no interval over people."""


@dataclass(frozen=True, eq=False)
class PeoplesVotes:
    """The single votes of named people on the battles of one language."""

    voter: Places
    """V: the person, from 0."""
    query: Places
    """V: index of the query."""
    first: Places
    """V: index of the first system."""
    second: Places
    """V: index of the second system."""
    points: NDArray[np.float32]
    """V: points of the first system."""

    @property
    def n_voters(self) -> int:
        """Number of people."""
        return len(np.unique(self.voter))

    @property
    def repeated(self) -> bool:
        """True if a person gave several votes."""
        return self.n_voters < len(self.voter)

    @property
    def clustered(self) -> bool:
        """True if votes of one person are a cluster: someone gave several, and there are enough people."""
        return self.repeated and self.n_voters >= FEW_VOTERS

    def among(self, systems: Sequence[int]) -> PeoplesVotes:
        """Return the votes on battles between some systems, renumbered by their places in the sequence."""
        place = np.full(max(int(self.first.max(initial=0)), int(self.second.max(initial=0)), *systems) + 1, -1)
        place[list(systems)] = np.arange(len(systems))
        first, second = place[self.first], place[self.second]
        rows = (first >= 0) & (second >= 0)
        return PeoplesVotes(self.voter[rows], self.query[rows], first[rows], second[rows], self.points[rows])


@dataclass(frozen=True, eq=False, repr=False)
class Battles:
    """All battles of one language by one judge, counted per query.

    The query is the sampling unit of everything computed from these counts: battles on one query share its passages and
    its difficulty, so they are never treated as independent.
    """

    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    queries: tuple[str, ...]
    """The Q queries, sorted by id."""
    wins: NDArray[np.uint8]
    """Q x S x S: number of wins of the row system over the column system on the query."""
    ties: NDArray[np.uint8]
    """Q x S x S, symmetric: number of ties of the two systems on the query."""
    strata: Places
    """Q: the stratum (0, 1, ...) of each query; every stratum counts for the same share of the total weight."""
    judge: str
    """Name of the judge that decided the battles."""
    skill: Skill
    """Skill the queries measure (`schema.Rating.skill`)."""
    unparsed: int = 0
    """Battles excluded because their verdict is unparsed."""
    points: NDArray[np.float32] | None = None
    """Q x S x S: points the row system won against the column system on the query, where soft verdicts are more precise
    than wins and ties; None where every win is one point and every tie half.
    """
    ballots: PeoplesVotes | None = None
    """The single votes, where people are named; else None."""

    def __post_init__(self) -> None:
        shape = (len(self.queries), len(self.systems), len(self.systems))
        if self.wins.shape != shape or self.ties.shape != shape or self.strata.shape != shape[:1]:
            raise BadInput(
                f"battles of {shape[0]} queries and {shape[1]} systems need arrays of shape {shape}, "
                f"not {self.wins.shape} and {self.ties.shape}"
            )

    def __repr__(self) -> str:
        sizes = f"{len(self.systems)} systems, {len(self.queries):,} queries, {self.n:,} battles"
        return f"Battles({sizes}, judge={self.judge!r}, skill={self.skill!r})"

    @property
    def n(self) -> int:
        """Number of battles with a parsed verdict."""
        return int(self.wins.sum(dtype=np.int64) + self.ties.sum(dtype=np.int64) // 2)

    @property
    def n_queries(self) -> int:
        """Q: number of queries."""
        return len(self.queries)

    def subset(self, systems: Sequence[str]) -> Battles:
        """Return the battles among some of the systems.

        Raises:
            UnknownName: if a system has no battle here.
        """
        for name in systems:
            if name not in self.systems:
                raise UnknownName("system", name, self.systems)
        chosen = tuple(sorted(set(systems)))
        indices = place_names(chosen, self.systems)
        cut = np.ix_(np.arange(len(self.queries)), indices, indices)
        points = None if self.points is None else self.points[cut]
        ballots = None if self.ballots is None else self.ballots.among(indices.tolist())
        return replace(self, systems=chosen, wins=self.wins[cut], ties=self.ties[cut], points=points, ballots=ballots)

    def queries_by_system(self) -> Places:
        """Return the number of queries each system battles on (S)."""
        return np.asarray(self.participation().sum(axis=0), dtype=np.intp)

    def participation(self) -> Flags:
        """Return whether each system battles on each query (Q x S)."""
        return np.asarray(self.wins.any(axis=2) | self.wins.any(axis=1) | self.ties.any(axis=2))

    def shared(self, ties: Ties) -> NDArray[np.float32]:
        """Return the points the row system won against the column system on each query (Q x S x S).

        With ties `half` a tie is half a point and soft verdicts count by their points; otherwise only wins count.
        """
        if ties != "half":
            return self.wins.astype(np.float32)
        if self.points is not None:
            return self.points
        points = self.wins.astype(np.float32)
        points += self.ties * np.float32(0.5)
        return points

    def record(self) -> Integers:
        """Return the wins, ties and losses of each system (S x 3)."""
        wins = self.wins.sum(axis=0, dtype=np.int64)
        ties = self.ties.sum(axis=0, dtype=np.int64)
        return np.stack([wins.sum(axis=1), ties.sum(axis=1), wins.sum(axis=0)], axis=1)


def from_outcomes(
    outcomes: pa.Table, *, skill: Skill = "both", parser: Parser = "strict", failures: Failures = "count"
) -> dict[str, Battles]:
    """Decide battles by relevance labels: on each query every two systems battle, a system with a correct
    decision beats one with a wrong decision, and anything else is a tie.

    An unparsed or failed answer (empty, an API error, or missing) is a wrong decision. A system without evidence has no
    battle (`find_unranked`).

    Args:
        outcomes: table `outcomes`.
        skill: subsets that count; `both` weights the two equally, whatever their sizes. If no language has both, a
            language counts by the one that it has.
        parser: parser whose outcomes to use.
        failures: whether failed answers count, or have no battle.

    Returns:
        Battles by language, without the languages in which fewer than two systems have evidence.

    Raises:
        NotEnoughData: if there is no such language.
    """
    import pyarrow.compute as pc

    outcomes = outcomes.filter(pc.equal(outcomes["parser"], parser))
    rows = outcomes.filter(pc.is_in(outcomes["subset"], value_set=_strings(SUBSETS[skill])))
    without = find_unranked(outcomes, skill=skill, parser=parser)
    languages, language = codes(rows["language"])
    battles_by_language = {}
    for code, name in enumerate(languages):
        language_rows = rows.filter(language == code)
        excluded = without.get(name, {})
        language_rows = language_rows.filter(pc.invert(pc.is_in(language_rows["system"], value_set=_strings(excluded))))
        systems, s = codes(language_rows["system"])
        if not systems:
            continue
        queries, q = codes(language_rows["query_id"])
        right = np.zeros((len(queries), len(systems)), dtype=bool)
        present = np.zeros_like(right)
        right[q, s] = language_rows["correct"].fill_null(False).to_numpy(zero_copy_only=False)
        fails = pc.is_in(language_rows["outcome"], value_set=_strings(FAILED)).to_numpy(zero_copy_only=False)
        present[q, s] = ~fails if failures == "drop" else True
        won = (right & present)[:, :, None] & (~right & present)[:, None, :]
        tied = (right[:, :, None] == right[:, None, :]) & present[:, :, None] & present[:, None, :]
        tied[:, range(len(systems)), range(len(systems))] = False
        strata = np.zeros(len(queries), dtype=np.intp)
        subset = np.asarray(pc.index_in(language_rows["subset"], value_set=_strings(SUBSETS[skill])))
        strata[q] = subset
        battles_by_language[name] = Battles(
            systems, queries, won.view(np.uint8), tied.view(np.uint8), strata, judge=RELEVANCE, skill=skill
        )
    if not battles_by_language:
        raise NotEnoughData(
            _describe_lack(without),
            where="; ".join(unranked_lines(without)),
            do=remedy(without),
        )
    return battles_by_language


def find_unranked(outcomes: pa.Table, *, skill: Skill = "both", parser: Parser = "strict") -> Unranked:
    """Return by language the systems that relevance labels cannot rank, each with the reason as text.

    A system needs at least half of its answers classified, and another such system as an opponent.

    Args:
        outcomes: table `outcomes`.
        skill: subsets that count, as in `from_outcomes`.
        parser: parser whose outcomes to use.
    """
    import pyarrow.compute as pc

    rows = outcomes.filter(pc.equal(outcomes["parser"], parser))
    cells: dict[str, dict[str, Counter[str]]] = {}
    subsets: dict[str, set[str]] = {}
    for row in rows.group_by(["language", "subset", "system", "outcome"]).aggregate([([], "count_all")]).to_pylist():
        subsets.setdefault(row["language"], set()).add(row["subset"])
        counts = cells.setdefault(row["language"], {}).setdefault(row["system"], Counter())
        if row["subset"] in SUBSETS[skill]:
            counts[row["outcome"]] += row["count_all"]
    needed = set(SUBSETS[skill])
    whole = any(needed <= present for present in subsets.values())
    reasons: dict[str, dict[str, str]] = {}
    for language, systems in sorted(cells.items()):
        absent = [QUERIES[subset] for subset in SUBSETS[skill] if subset not in subsets[language]]
        if absent and (whole or not needed & subsets[language]):
            reasons[language] = dict.fromkeys(sorted(systems), "no " + " and no ".join(f"{a} queries" for a in absent))
            continue
        of_language = {system: reason for system in sorted(systems) if (reason := lacks_evidence(systems[system]))}
        if len(systems) - len(of_language) == 1:
            of_language |= {system: "no other system to rank" for system in systems if system not in of_language}
        if of_language:
            reasons[language] = of_language
    return reasons


def lacks_evidence(counts: Mapping[str, int]) -> str:
    """Return why answers with these outcomes are not evidence: all failed, or under half of the others are classified;
    empty if they are.
    """
    made = sum(n for outcome, n in counts.items() if outcome not in FAILED)
    classified = sum(n for outcome, n in counts.items() if outcome in CLASSIFIED)
    if not made:
        return ABSENT
    return f"{classified:,} of {made:,} {_CLASSIFIED}" if 2 * classified < made else ""


def _describe_lack(unranked: Unranked) -> str:
    """Return why labels rank no system in any language, in one clause."""
    reasons = {reason for systems in unranked.values() for reason in systems.values()}
    where = join_first([name_of(code) for code in unranked])
    if reasons and all(reason.startswith("0 of ") for reason in reasons):
        return f"{UNREAD} in {where}"
    if any(_CLASSIFIED in reason for reason in reasons):
        return f"too few answers could be classified in {where}"
    return f"no two systems can be ranked in {where}"


def remedy(unranked: Unranked) -> str:
    """Return the remedy for the reasons of `find_unranked`."""
    if any(_CLASSIFIED in reason for systems in unranked.values() for reason in systems.values()):
        return CLASSIFY
    return "add the missing answers, verdicts or queries, or choose another skill"


def unranked_lines(unranked: Unranked) -> list[str]:
    """Return the systems without a rank in sentences: each system once, with its reasons and their languages."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for language, systems in sorted(unranked.items()):
        for system, reason in systems.items():
            reasons.setdefault(system, {}).setdefault(reason, []).append(language)
    systems_by_form: dict[str, list[str]] = {}
    for system, by_reason in sorted(reasons.items()):
        where = {
            reason: name_of(codes[0]) if len(codes) == 1 else ", ".join(codes) for reason, codes in by_reason.items()
        }
        text = join_first([f"{place}: {reason}" for reason, place in where.items()])
        form = f"not ranked: {{}} ({text})"
        if [*where] == [ABSENT]:
            form = f"no answers in {where[ABSENT]}: {{}}"
        systems_by_form.setdefault(form, []).append(system)
    return [form.format(join_first(systems)) for form, systems in systems_by_form.items()]


def unranked_notes(unranked: Unranked) -> list[str]:
    """Return the systems without a rank in sentences (`unranked_lines`), and what helps where no answer is missing."""
    do = [f"to rank them, {CLASSIFY}"] if unranked and remedy(unranked) == CLASSIFY else []
    return [*unranked_lines(unranked), *do]


def pool_battles(parts: Sequence[Battles], *, judge: str) -> Battles:
    """Add up the battles of several judges, with equal weight for every verdict.

    A judge with twice as many verdicts therefore has twice the weight. The query remains the sampling unit: verdicts of
    several judges on one query are resampled together, so that more judges do not count as more queries.

    Args:
        parts: battles of one language and skill by each judge, with their own systems and queries.
        judge: name of the pooled judge.

    Raises:
        BadInput: if skills or strata differ, or a pair meets more than 255 times on a query.
    """
    systems = tuple(sorted(set().union(*(part.systems for part in parts))))
    queries = tuple(sorted(set().union(*(part.queries for part in parts))))
    sums = np.zeros((2, len(queries), len(systems), len(systems)), dtype=np.uint16)
    strata = np.full(len(queries), -1, dtype=np.intp)
    points = np.zeros(sums.shape[1:], dtype=np.float32) if any(part.points is not None for part in parts) else None
    if len({part.skill for part in parts}) != 1:
        raise BadInput("battles of different skills cannot be pooled", do="pool battles of one skill")
    for judge_battles in parts:
        q, s = place_names(judge_battles.queries, queries), place_names(judge_battles.systems, systems)
        if ((strata[q] >= 0) & (strata[q] != judge_battles.strata)).any():
            raise BadInput("the same query is in different strata", do="pool battles of the same arena")
        strata[q] = judge_battles.strata
        for total, counts in zip(sums, (judge_battles.wins, judge_battles.ties), strict=True):
            total[np.ix_(q, s, s)] += counts
        if points is not None:
            points[np.ix_(q, s, s)] += judge_battles.shared("half")
    if sums.max(initial=0) > np.iinfo(np.uint8).max:
        raise BadInput(_TOO_MANY, do="pool fewer judges")
    wins, ties = sums.astype(np.uint8)
    unparsed = sum(part.unparsed for part in parts)
    return Battles(
        systems,
        queries,
        wins,
        ties,
        strata,
        judge=judge,
        skill=parts[0].skill,
        unparsed=unparsed,
        points=points,
    )


def count_cells(shape: tuple[int, int, int], *cells: tuple[NDArray[Any], ...]) -> NDArray[np.uint8]:
    """Count the occurrences of each cell in an array of this shape, given one or more tuples of index arrays.

    Raises:
        BadInput: if a cell occurs more than 255 times.
    """
    flat = np.concatenate([np.ravel_multi_index(cell, shape) for cell in cells])
    places, counts = np.unique(flat, return_counts=True)
    if counts.size and counts.max() > np.iinfo(np.uint8).max:
        raise BadInput(_TOO_MANY, do="keep one row for each order")
    counted = np.zeros(shape, dtype=np.uint8)
    counted.ravel()[places] = counts
    return counted


def codes(*columns: Any) -> tuple[tuple[str, ...], Places]:
    """Return the sorted distinct values of one or more string columns, and each row's index among them, column after
    column. Columns may be dictionary-encoded.
    """
    names, number = encode(*columns)
    values = np.array(names, dtype=object)
    present = np.flatnonzero(np.bincount(number, minlength=len(values)))
    order = present[np.argsort(values[present], kind="stable")]
    place = np.empty(len(values), dtype=np.intp)
    place[order] = np.arange(len(order))
    return tuple(values[order]), place[number]


def _strings(values: Iterable[str]) -> Any:
    import pyarrow as pa

    return pa.array(list(values), pa.string())
