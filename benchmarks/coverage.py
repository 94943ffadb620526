"""How often 95% intervals hold the truth, and how often tests of true hypotheses reject, in designs that are hard: few
queries, many languages, many systems, a system far off, ties, pairs that seldom meet, translated queries, unequal
audits, few voters, a silent judge, rare outcomes. The data come from generators of this file, which share no
code with the library, and the truth is known.

`python -m benchmarks.coverage NAME ...` runs some designs; `--runs N` sets the number of simulations of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import mirage
from benchmarks.harness import Row
from mirage.errors import NotEnoughData
from mirage.people.levels.labels import Labels
from mirage.people.levels.levels import correct_levels
from mirage.people.votes.correct import Correction
from mirage.ranking.compare.measures import RATE, query_measure
from mirage.ranking.compare.paired import LanguageDifferences, estimate_difference
from mirage.ranking.records import LanguageRanking
from mirage.stages.outcomes.corrected import correct_rates
from mirage.stages.outcomes.rates import rates
from mirage.stats.bounded import bounded_mean_intervals
from mirage.stats.jackknife import estimate as estimate_share
from mirage.stats.jackknife import jackknife
from mirage.stats.label_errors import AuditedQuery, LabelAudit, QueryLabels

Array = NDArray[np.float64]
Run = Callable[[np.random.Generator], list[bool] | None]
"""One simulation: for each interval whether it holds the truth, or for a test whether it rejects; None if refused."""
Meets = Callable[[np.random.Generator, int, int], NDArray[np.bool_]]
"""Which pairs of systems meet on each query (queries x pairs, in the order of `numpy.triu_indices`)."""

RUNS = 1_000
BY_QUERY = 0.8
"""Standard deviation of a system's quality between queries, in logits."""


@dataclass(frozen=True, slots=True)
class Design:
    """A design to simulate."""

    what: str
    """Its description."""
    run: Run
    """One simulation."""
    size: bool = False
    """Whether a test is simulated, which should reject at most 5%; else intervals."""
    few: bool = False
    """Whether the sample is so small that more than 97% is the price of never less than 93%."""

    @property
    def target(self) -> str:
        """The figure that the design should reach."""
        return "at most 5%" if self.size else "at least 93%: few" if self.few else "93 to 97%"


def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def ratings(quality: Sequence[float] | Array, spread: float, ties: float = 0.0, shares: Array | None = None) -> Array:
    """Bradley-Terry ratings of an unlimited number of battles.

    Args:
        quality: of each system, in logits.
        spread: standard deviation of the difference of two systems around the difference of their qualities.
        ties: share of ties, whatever the qualities.
        shares: S x S: how often each pair meets; None for all alike.
    """
    x, weight = np.polynomial.hermite_e.hermegauss(61)
    gap = np.subtract.outer(quality, quality)
    won = (sigmoid(gap[..., None] + spread * x) * weight).sum(axis=2) / weight.sum()
    return solve((1 - ties) * won + ties / 2, shares)


def solve(won: Array, shares: Array | None = None) -> Array:
    """Solve for the ratings at which the expected points are those won (S x S), by Newton's method."""
    s = len(won)
    met = np.ones((s, s)) if shares is None else shares
    theta = np.zeros(s)
    for _ in range(50):
        p = sigmoid(np.subtract.outer(theta, theta))
        flow = met * p * (1 - p)
        hessian = np.diag(flow.sum(axis=1)) - flow + 1 / s
        theta = theta + np.linalg.solve(hessian, (met * (won - p)).sum(axis=1))
        theta -= theta.mean()
    return theta


def battles(rng: np.random.Generator, effects: Array, ties: float = 0.0, meets: Meets | None = None) -> tuple[Any, ...]:
    """Query, first and second system, and points of the first, of the pairs that meet on each query.

    Args:
        rng: the generator.
        effects: Q x S: quality of each system on each query.
        ties: share of ties.
        meets: which pairs meet; None for all.
    """
    q, s = effects.shape
    i, j = np.triu_indices(s, 1)
    query, a, b = np.repeat(np.arange(q), len(i)), np.tile(i, q), np.tile(j, q)
    if meets is not None:
        met = meets(rng, q, s).ravel()
        query, a, b = query[met], a[met], b[met]
    points = (rng.random(len(query)) < sigmoid(effects[query, a] - effects[query, b])).astype(float)
    points[rng.random(len(query)) < ties] = 0.5
    return query, a, b, points


def frame(language: Any, query: Any, a: Any, b: Any, points: Array, **more: Any) -> pa.Table:
    """Battles as a table."""
    verdict = np.array(["B", "tie", "A"])[(2 * points).astype(int)]
    names = [f"s{k:02}" for k in range(100)]
    columns = {
        "language": language,
        "query_id": [f"q{k}" for k in query.tolist()],
        "system_a": [names[k] for k in a.tolist()],
        "system_b": [names[k] for k in b.tolist()],
        "verdict": verdict,
    }
    return pa.table({name: pa.array(values) for name, values in (columns | more).items()})


def holds(row: LanguageRanking | Correction, truth: Array) -> list[bool]:
    """Whether the interval of each system's rating holds the truth."""
    low, high = row.interval()
    return ((low <= truth) & (truth <= high)).tolist()


# --- rankings ---------------------------------------------------------------------------------------------------------


def five_pairs(rng: np.random.Generator, queries: int, systems: int) -> NDArray[np.bool_]:
    """Five random pairs meet on a query."""
    return np.asarray(rng.permuted(np.tile(np.arange(systems * (systems - 1) // 2), (queries, 1)), axis=1) < 5)


def ten_battles(rng: np.random.Generator, queries: int, systems: int) -> NDArray[np.bool_]:
    """The third system has ten battles in all, each on another query; the others all meet."""
    i, j = np.triu_indices(systems, 1)
    own = (i == 2) | (j == 2)
    met = np.tile(~own, (queries, 1))
    met[rng.choice(queries, 10, replace=False), rng.choice(np.flatnonzero(own), 10)] = True
    return met


def star(_: np.random.Generator, queries: int, systems: int) -> NDArray[np.bool_]:
    """Every battle is with the first system."""
    return np.tile(np.triu_indices(systems, 1)[0] == 0, (queries, 1))


def ranking(
    quality: Array,
    queries: int,
    *,
    languages: int = 1,
    by_language: float = 0.0,
    by_query: float = BY_QUERY,
    translated: bool = False,
    ties: float = 0.0,
    meets: Meets | None = None,
) -> Run:
    """Rank systems on all queries.

    Args:
        quality: of each system, in logits.
        queries: of each language.
        languages: how many; with several the joint row counts.
        by_language: standard deviation of a system's quality between languages.
        by_query: the same between queries.
        translated: whether the languages share their queries.
        ties: share of ties.
        meets: which pairs meet; None for all.
    """
    s = len(quality)
    shares = np.ones((s, s))
    if meets is not None:
        rng = np.random.default_rng(0)
        shares[np.triu_indices(s, 1)] = np.mean([meets(rng, queries, s).mean(axis=0) for _ in range(200)], axis=0)
        shares = np.triu(shares, 1) + np.triu(shares, 1).T
    qualities = quality + by_language * np.random.default_rng(0).normal(size=(languages, s))
    truth = np.mean([ratings(of, by_query * 2**0.5, ties, shares) for of in qualities], axis=0)

    def run(rng: np.random.Generator) -> list[bool]:
        parts = []
        shared = rng.normal(0, by_query, (queries, s))
        for k, of_language in enumerate(qualities):
            noise = rng.normal(0, by_query, (queries, s))
            # Translations share four fifths of the variance of a query.
            effects = of_language + (np.sqrt(0.8) * shared + np.sqrt(0.2) * noise if translated else noise)
            query, a, b, points = battles(rng, effects, ties, meets)
            start = 0 if translated else k * queries
            parts.append(frame([f"l{k:02}"] * len(query), query + start, a, b, points))
        rows = mirage.rank(pa.concat_tables(parts), draws=200).languages
        return holds([*rows.values()][-1], truth)

    return run


def pair_size(queries: int) -> Run:
    """Test two equal systems that meet once on each query."""

    def run(rng: np.random.Generator) -> list[bool]:
        query = np.arange(queries)
        zero = np.zeros(queries, dtype=int)
        points = (rng.random(queries) < 0.5).astype(float)
        told = mirage.compare(frame(["en"] * queries, query, zero, zero + 1, points), "s00", "s01").to_pandas()
        return (told["p"] <= 0.05).tolist()

    return run


def board_size(systems: int, queries: int) -> Run:
    """Rank equal systems: whether any two of them are separated, so that one cannot share the first rank."""

    def run(rng: np.random.Generator) -> list[bool]:
        query, a, b, points = battles(rng, rng.normal(0, BY_QUERY, (queries, systems)))
        table = mirage.rank(frame(["en"] * len(query), query, a, b, points), draws=1).table()
        return [any(row["rank_low"] > 1 for row in table.to_pylist())]

    return run


def mean_of(values: Sequence[float], shares: Sequence[float], queries: int) -> Run:
    """Take the mean over queries of a measure in [0, 1] that has few values."""
    truth = float(np.dot(values, shares))

    def run(rng: np.random.Generator) -> list[bool]:
        sample = rng.choice(values, queries, p=shares)
        low, high = bounded_mean_intervals(sample, np.zeros(queries, dtype=np.intp), np.zeros(1), np.ones(1))
        return [bool(low[0] <= truth <= high[0])]

    return run


# --- people's votes ---------------------------------------------------------------------------------------------------


def voting(voters: int, votes: int, *, taste: float = 1.0, queries: int = 300) -> Run:
    """Correct a judge by votes of people, each of whom favours some systems; every voter sees random battles."""
    quality = np.linspace(0.6, -0.6, 5)
    spread = (2 * BY_QUERY**2 + 2 * taste**2) ** 0.5
    truth = ratings(quality, spread)

    def run(rng: np.random.Generator) -> list[bool] | None:
        effects = quality + rng.normal(0, BY_QUERY, (queries, 5))
        query, a, b, judged = battles(rng, effects + rng.normal(0, 0.3, 5))
        tastes = rng.normal(0, taste, (voters, 5))
        voter = np.repeat(np.arange(voters), votes)
        at = np.concatenate([rng.choice(len(query), votes, replace=False) for _ in range(voters)])
        gap = effects[query[at], a[at]] - effects[query[at], b[at]] + tastes[voter, a[at]] - tastes[voter, b[at]]
        points = (rng.random(len(at)) < sigmoid(gap)).astype(float)
        log = frame(["en"] * len(at), query[at], a[at], b[at], points, voter=[f"v{k}" for k in voter.tolist()])
        judgments = frame(["en"] * len(query), query, a, b, judged, judge=["judge"] * len(query))
        try:
            return holds(mirage.correct(judgments, log), truth)
        except NotEnoughData:
            return None

    return run


def silent(queries: int = 120) -> Run:
    """Correct a judge that says little on the three queries of ten on which people see the systems in reverse order."""
    quality = np.linspace(0.8, -0.8, 5)
    gap = np.subtract.outer(quality, quality)
    truth = solve(0.7 * sigmoid(gap) + 0.3 * sigmoid(-gap / 2))

    def run(rng: np.random.Generator) -> list[bool]:
        hard = rng.random(queries) < 0.3
        query, a, b, points = battles(rng, np.where(hard[:, None], -quality / 2, quality))
        judged = np.where(rng.random(len(query)) < 0.7, points, rng.random(len(query)) < 0.5)
        said, asked = ~hard[query] | (rng.random(len(query)) < 0.1), rng.random(len(query)) < 0.15

        def rows(of: Any, points: Any, **more: Any) -> pa.Table:
            return frame(["en"] * of.sum(), query[of], a[of], b[of], points[of], **more)

        judgments = rows(said, judged, judge=["judge"] * said.sum())
        log = rows(asked, points, voter=[f"v{k % 12}" for k in range(asked.sum())])
        return holds(mirage.correct(judgments, log), truth)

    return run


# --- audited labels ---------------------------------------------------------------------------------------------------


def audited(
    languages: int,
    queries: int,
    audits: list[int],
    errors: tuple[float, float],
    *,
    own: bool = False,
    shared: bool = False,
) -> Run:
    """Correct the rates of a system for wrong labels, which differ by language as the rates do.

    Args:
        languages: how many.
        queries: with each label, in each language.
        audits: audited queries with each label, for each language in turn.
        errors: least and largest share of wrong labels.
        own: whether the row of the first language counts, else `all`.
        shared: whether the languages share their queries, labels and hard questions.
    """

    def run(rng: np.random.Generator) -> list[bool] | None:
        wrong_share = np.linspace(*errors, languages)
        hallucinates = np.linspace(0.1, 0.45, languages)[::-1]
        answers = np.linspace(0.95, 0.7, languages)
        rows, audit, truths = [], [], []
        common = rng.random((2, queries)), rng.normal(0, 1, (2, queries))
        order = rng.permutation(queries)
        for k in range(languages):
            n_audited = audits[k % len(audits)]
            for label, subset in ((0, "non_relevant"), (1, "relevant")):
                draw, ease = (of[label] if shared else None for of in common)
                wrong = (rng.random(queries) if draw is None else draw) < wrong_share[k]
                chance = np.where(wrong != bool(label), answers[k], hallucinates[k])
                if ease is not None:
                    # A mean of zero over queries keeps the rates.
                    chance = np.clip(chance + 0.1 * np.sign(ease), 0, 1)
                answered = rng.random(queries) < chance
                ids = [f"{label}-{q}" if shared else f"{k}-{label}-{q}" for q in range(queries)]
                rows += [
                    {"language": f"l{k:02}", "query_id": name, "system": "s", "parser": "strict", "subset": subset}
                    | {"outcome": "answered" if told else "abstained", "rule": "simulated"}
                    for name, told in zip(ids, answered.tolist(), strict=True)
                ]
                audit += [
                    AuditedQuery(f"l{k:02}", ids[q], bool(label), bool(wrong[q]))
                    for q in (order if shared else rng.permutation(queries))[:n_audited].tolist()
                ]
            truths.append((hallucinates[k], 1 - answers[k]))
        table = correct_rates(
            rates(pa.Table.from_pylist(rows)), QueryLabels(automatic=True, audit=LabelAudit(tuple(audit)))
        )
        truth = truths[0] if own or languages == 1 else np.mean(truths, axis=0)
        found = {row["subset"]: row for row in table.to_pylist() if row["language"] == ("l00" if own else "all")}
        pairs = [(found[subset], true) for subset, true in zip(("non_relevant", "relevant"), truth, strict=True)]
        if any(row["corrected"] is None for row, _ in pairs):
            return None
        return [row["corrected_low"] <= true <= row["corrected_high"] for row, true in pairs]

    return run


# --- levels -----------------------------------------------------------------------------------------------------------


def levels(shares: Array, queries: int, labelled: list[int], *, bias: float = 0.15, shared: bool = False) -> Run:
    """Correct a measured share by labels, where the program is wrong in another way in each language."""

    def run(rng: np.random.Generator) -> list[bool] | None:
        keys, measured, labels = [], [], []
        ease = rng.normal(0, 1, queries)
        for k, share in enumerate(shares):
            level = share * (1 + 0.8 * np.sign(ease)) if shared else np.full(queries, share)
            truth = rng.random(queries) < level
            off = bias * (-1) ** k
            told = np.where(rng.random(queries) < abs(off), off > 0, truth)
            known = np.full(queries, np.nan)
            at = rng.choice(queries, labelled[k % len(labelled)], replace=False)
            known[at] = truth[at]
            keys += [(f"l{k:02}", f"q{q}" if shared else f"{k}-{q}", "s") for q in range(queries)]
            measured.append(told.astype(float))
            labels.append(known)
        every = np.concatenate(measured)
        found = correct_levels(
            Labels(
                query_measure(RATE), 0.0, 1.0, tuple(keys), ("",) * len(keys), every, np.concatenate(labels),
                every[:, None], ("program",), 0,
            )
        )  # fmt: skip
        row = next(row for row in found.rows if row.language == ("all" if len(shares) > 1 else "l00"))
        if row.low is None or row.high is None:
            return None
        return [row.low <= shares.mean() <= row.high]

    return run


# --- rates and detections ---------------------------------------------------------------------------------------------


def rare_difference(queries: int, first: float, second: float) -> Run:
    """Compare two systems that are seldom wrong, on the same queries."""

    def run(rng: np.random.Generator) -> list[bool]:
        common = rng.random(queries)
        a, b = (np.where(rng.random(queries) < 0.5, common, rng.random(queries)) < share for share in (first, second))
        ids = tuple(map(str, range(queries)))
        differences = LanguageDifferences(ids, a.astype(float) - b, np.zeros(queries, dtype=np.intp))
        found = estimate_difference({"en": differences}, reach=1.0)
        return [found.low is not None and found.high is not None and found.low <= first - second <= found.high]

    return run


def detection(queries: int, share: float, items: int) -> Run:
    """Share of planted faults that a judge detects, several to a query, of which some are easy."""

    def run(rng: np.random.Generator) -> list[bool] | None:
        ease = np.where(rng.random((queries, 1)) < share, 0.95, 0.95 * share)
        level = 0.95 * share + 0.95 * share * (1 - share)
        seen = (rng.random((queries, items)) < ease).sum(axis=1)
        sums = np.column_stack([seen, np.full(queries, items)]).astype(float)
        found = estimate_share([jackknife(sums, lambda s: s[:, 0] / s[:, 1], lambda s: s[:, 1])], none="none")
        if found.low is None or found.high is None:
            return None
        return [found.low <= level <= found.high]

    return run


EQUAL = np.zeros(4)
DESIGNS: dict[str, Design] = {
    "few-queries": Design("5 systems, 5 queries", ranking(np.linspace(0.8, -0.8, 5), 5)),
    "pair": Design("two equal systems, one battle on each of 7 queries: pair test", pair_size(7), size=True),
    "equals": Design("8 equal systems, 30 queries: any two separated", board_size(8, 30), size=True),
    "mean": Design("mean of 20 reciprocal ranks, truly 0.9", mean_of((1, 0.5, 0), (0.85, 0.1, 0.05), 20), few=True),
    "many-systems": Design("40 systems, 40 queries", ranking(np.linspace(1.5, -1.5, 40), 40)),
    "ties": Design("8 systems, 40 queries, 98% ties", ranking(np.linspace(0.8, -0.8, 8), 40, ties=0.98)),
    "translated": Design(
        "5 systems, 20 queries translated into 10 languages, row all",
        ranking(np.linspace(0.8, -0.8, 5), 20, languages=10, translated=True),
    ),
    "many-languages": Design(
        "4 systems, 60 languages of 5 queries, row all", ranking(np.linspace(0.8, -0.8, 4), 5, languages=60), few=True
    ),
    "nearly-separated": Design("4 systems, one at +4 logits, 30 queries", ranking(np.array([4.0, 0.3, 0.0, -0.3]), 30)),
    "far": Design(
        "8 systems, one at -6 logits, 60 queries, no effects of queries",
        ranking(np.r_[np.linspace(1, -1, 7), -6.0], 60, by_query=0.0),
    ),
    "far-languages": Design(
        "8 systems, 18 languages of 10 queries, -3 to 3 logits, row all",
        ranking(np.linspace(3, -3, 8), 10, languages=18, by_language=0.3, by_query=0.0),
    ),
    "five-pairs": Design(
        "19 systems, 100 queries, five random pairs each",
        ranking(np.linspace(1.5, -1.5, 19), 100, by_query=0.0, ties=0.1, meets=five_pairs),
    ),
    "ten-battles": Design(
        "8 systems, 100 queries, one with ten battles",
        ranking(np.linspace(1.5, -1.5, 8), 100, by_query=0.0, ties=0.1, meets=ten_battles),
    ),
    "star": Design(
        "a star of 12 systems, 200 queries",
        ranking(np.linspace(1.5, -1.5, 12), 200, by_query=0.0, ties=0.1, meets=star),
    ),
    "query-effects": Design(
        "8 systems, 100 queries, query effects of sd 3", ranking(np.linspace(3, -3, 8), 100, by_query=3.0, ties=0.1)
    ),
    "voters-10": Design("10 voters x 100 votes, taste of sd 1", voting(10, 100)),
    "voters-20": Design("20 voters x 50 votes, taste of sd 1", voting(20, 50)),
    "voters-100": Design("100 voters x 10 votes, taste of sd 1", voting(100, 10)),
    "silent-judge": Design("votes on 120 queries, the judge silent on 27% of the battles", silent()),
    "audit-all": Design(
        "audited rates, 5 languages, audits of 10 to 60 a label, 0 to 20% wrong, row all",
        audited(5, 100, [10, 20, 60, 15, 40], (0.2, 0.0)),
        few=True,
    ),
    "audit-own": Design(
        "audited rates, the language with 12 audited a label, 15% wrong",
        audited(4, 60, [12, 50, 50, 50], (0.15, 0.0), own=True),
        few=True,
    ),
    "audit-translated": Design(
        "audited rates, 40 queries translated into 10 languages, audits of 20 a label, row all",
        audited(10, 40, [20], (0.1, 0.1), shared=True),
        few=True,
    ),
    "levels-all": Design(
        "corrected levels, 6 languages, 10 to 60 labels, a bias of its own in each, row all",
        levels(np.array([0.2, 0.3, 0.5, 0.4, 0.25, 0.6]), 120, [10, 20, 60, 15, 30, 40]),
    ),
    "rare": Design("corrected level of 4%, 40 labels of 40 queries", levels(np.array([0.04]), 40, [40]), few=True),
    "faults": Design("planted faults, 30 queries with 3 items each, 92% detected", detection(30, 0.8, 3)),
    "rare-difference": Design(
        "rates of 5% and 2% on the same 40 queries: difference", rare_difference(40, 0.05, 0.02), few=True
    ),
}


def simulate(name: str, runs: int) -> Iterator[list[bool] | None]:
    """Simulate a design."""
    for k in range(runs):
        yield DESIGNS[name].run(np.random.default_rng([k, *name.encode()]))


def row(name: str, runs: int) -> Row:
    """Simulate a design and report it."""
    design = DESIGNS[name]
    found = list(simulate(name, runs))
    shares = np.array([np.mean(hits) for hits in found if hits is not None])
    error = shares.std(ddof=1) / len(shares) ** 0.5 if len(shares) > 1 else float("nan")
    verb = "rejects" if design.size else "covers"
    refused = len(found) - len(shares)
    value = f"{verb} {shares.mean():.1%}" if len(shares) else "refused"
    return Row(
        design.what,
        value,
        f"Monte Carlo standard error {error:.1%}",
        f"{runs:,} runs, {refused:,} refused",
        design.target,
    )


def run() -> list[Row]:
    """Simulate every design."""
    return [row(name, RUNS) for name in DESIGNS]
