"""Judge statistics without reference verdicts: flips, position bias, ties, unparsed replies, and the cost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, WINNERS, read_verdicts
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.intervals import mean_interval
from mirage.store.ledger import price_share
from mirage.text.languages import place

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.llm.calls import Limits
    from mirage.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class JudgeStats:
    """Consistency of one judge in one language: flips, first-position wins, ties, unparsed verdicts, and the cost.

    A rate is null if its denominator is 0. Its 95% interval is Wilson's; for `all` that of a mean of independent
    proportions (`mirage.stats.intervals`). The intervals ignore that battles on one query are correlated, so they are
    somewhat too narrow.
    """

    key = ("judge", "language")

    judge: str
    """The judge."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have the rate, with equal weights. Its counts
    are sums.
    """
    n: Count
    """Number of judged battles, each order counted separately."""
    flip_rate: Share | None
    """Share of the pairs judged in both orders whose two verdicts disagree about the winner. A tie has no winner: two
    ties agree, a tie and a win do not.
    """
    flip_low: Share | None
    """Lower end of the interval of `flip_rate`."""
    flip_high: Share | None
    """Upper end."""
    flip_n: Count
    """Pairs judged in both orders with both verdicts parsed."""
    first_rate: Share | None
    """Share of the battles with a winner that the answer shown first won; 0.5 is unbiased if both orders were
    judged.
    """
    first_low: Share | None
    """Lower end of the interval of `first_rate`."""
    first_high: Share | None
    """Upper end."""
    first_n: Count
    """Number of battles with a winner."""
    tie_rate: Share | None
    """Share of the parsed verdicts that are ties."""
    tie_low: Share | None
    """Lower end of the interval of `tie_rate`."""
    tie_high: Share | None
    """Upper end."""
    tie_n: Count
    """Number of parsed verdicts."""
    unparsed_rate: Share | None
    """Share of the `n` battles whose verdict is unparsed."""
    unparsed_low: Share | None
    """Lower end of the interval of `unparsed_rate`."""
    unparsed_high: Share | None
    """Upper end."""
    calls: Count | None
    """Distinct calls behind the verdicts; null if no verdict has one (imported, or made without a model)."""
    tokens_in: Count | None
    """Their prompt tokens, as reported by the service; null if the ledger or the count is unavailable."""
    tokens_out: Count | None
    """Their reply tokens."""
    money: float | None
    """Cost of these tokens at the given prices, those of calls in batches at half; null without prices."""


_RATES = ("flip", "first", "tie", "unparsed")


@dataclass
class _Tally:
    """Counts of one judge in one language."""

    labels: Sequence[int]
    """4: number of verdicts by label, from the side of the answer shown first."""
    flips: int
    """Pairs judged in both orders whose verdicts disagree."""
    both: int
    """Pairs with parsed verdicts in both orders."""
    calls: set[str] = field(default_factory=set)
    ordered: bool = True
    """Whether the judge sees an order: one of single answers has no flips and no first place."""

    @property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """Return successes and trials of each of `_RATES`."""
        won = self.labels[FIRST] + self.labels[SECOND]
        read = won + self.labels[TIE]
        return (
            (self.flips, self.both) if self.ordered else (0, 0),
            (self.labels[FIRST], won) if self.ordered else (0, 0),
            (self.labels[TIE], read),
            (self.labels[UNPARSED], read + self.labels[UNPARSED]),
        )


def judge_stats(
    judgments: pa.Table,
    ledger: Ledger | None = None,
    limits: Limits | None = None,
    alone: Collection[str] = (),
) -> list[JudgeStats]:
    """Compute judge statistics from verdicts.

    Args:
        judgments: `schema.Judgment` rows.
        ledger: has the calls; without it tokens are null.
        limits: prices; without them costs are null.
        alone: the judges of single answers, which have no flips and no first place.

    Returns:
        One row per judge and language, languages in the order of their codes, and `all` if there are several.
    """
    tallies = _tallies(judgments)
    calls = {call for by_language in tallies.values() for tally in by_language.values() for call in tally.calls}
    counts = _token_counts(calls, ledger) if ledger else {}
    rows = []
    for judge, by_language in sorted(tallies.items()):
        for tally in by_language.values():
            tally.ordered = judge not in alone
        ordered = sorted(by_language.items(), key=lambda item: place(item[0]))
        rows += [_row(judge, language, [tally], counts, limits) for language, tally in ordered]
        if len(ordered) > 1:
            rows.append(_row(judge, "all", [tally for _, tally in ordered], counts, limits))
    return rows


def _tallies(judgments: pa.Table) -> dict[str, dict[str, _Tally]]:
    """Return the counts by judge and language."""
    verdicts = read_verdicts(judgments, grades=False)
    judges, languages = verdicts.judges, verdicts.languages
    group = verdicts.judge * len(languages) + verdicts.language
    groups, kinds = len(judges) * len(languages), len(WINNERS)
    labels = np.bincount(group * kinds + verdicts.shown, minlength=groups * kinds).reshape(groups, kinds)

    decided = verdicts.decide()
    in_both_orders = (decided.n_read > 0) & (np.abs(decided.order) < 1)
    group_of = group[decided.head]
    pairs = np.bincount(group_of[in_both_orders], minlength=groups)
    flips = np.bincount(group_of[in_both_orders & ~decided.consistent], minlength=groups)

    tallies: dict[str, dict[str, _Tally]] = {}
    for k in np.flatnonzero(labels.sum(axis=1)).tolist():
        name, code = judges[k // len(languages)], languages[k % len(languages)]
        tallies.setdefault(name, {})[code] = _Tally(labels[k].tolist(), int(flips[k]), int(pairs[k]))
    called = judgments["call"].is_valid().to_numpy()
    for k, call in zip(group[called].tolist(), judgments["call"].drop_null().to_pylist(), strict=True):
        tallies[judges[k // len(languages)]][languages[k % len(languages)]].calls.add(call)
    return tallies


_TokenCounts = dict[str, tuple[int, int, float]]
"""By call with reported counts: tokens of prompt and reply, and its price as a share of that of a single call."""


def _token_counts(calls: set[str], ledger: Ledger) -> _TokenCounts:
    return {
        call: (reply["tokens_in"] or 0, reply["tokens_out"] or 0, price_share(reply))
        for call in sorted(calls)
        if (reply := ledger.get(call)) and (reply["tokens_in"], reply["tokens_out"]) != (None, None)
    }


def _row(
    judge: str, language: str, tallies: Sequence[_Tally], counts: _TokenCounts, limits: Limits | None
) -> JudgeStats:
    values: dict[str, Any] = {}
    for name, cells in zip(_RATES, zip(*(tally.cells for tally in tallies), strict=True), strict=True):
        known = [cell for cell in cells if cell[1]]
        rate, low, high = mean_interval(known) if known else (None, None, None)
        values |= {f"{name}_rate": rate, f"{name}_low": low, f"{name}_high": high}
        values["n" if name == "unparsed" else f"{name}_n"] = sum(n for _, n in cells)
    calls = set[str]().union(*(tally.calls for tally in tallies))
    told = [counts[call] for call in sorted(calls) if call in counts]
    billed = (sum(count[side] * count[2] for count in told) for side in (0, 1))
    return JudgeStats(
        judge=judge,
        language=language,
        **values,
        calls=len(calls) or None,
        tokens_in=sum(count[0] for count in told) if told else None,
        tokens_out=sum(count[1] for count in told) if told else None,
        money=limits.cost(*billed) if limits and told else None,
    )
