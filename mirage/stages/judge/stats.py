"""Judge statistics without reference verdicts: flips, position bias, ties, unparsed replies, and the cost."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, WINNERS, VerdictColumns, read_verdicts
from mirage.llm.calls import Limits
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.intervals import mean_interval
from mirage.stats.rows import group
from mirage.store.ledger import Ledger, price_share
from mirage.text.languages import place


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
    verdicts = read_verdicts(judgments, grades=False)
    shape = len(verdicts.judges), len(verdicts.languages)
    of = verdicts.judge * shape[1] + verdicts.language
    cells = _count(verdicts, of, shape[0] * shape[1]).reshape(*shape, len(_RATES), 2)
    cells[[name in alone for name in verdicts.judges], :, :2] = 0
    called = judgments["call"].is_valid().to_numpy()
    calls = group(zip(of[called].tolist(), judgments["call"].drop_null().to_pylist(), strict=True))
    tokens = _token_counts({call for made in calls.values() for call in made}, ledger) if ledger else {}
    rows = []
    for judge, j in sorted((name, j) for j, name in enumerate(verdicts.judges)):
        own = sorted(np.flatnonzero(cells[j, :, -1, 1]).tolist(), key=lambda code: place(verdicts.languages[code]))
        scopes = [(verdicts.languages[code], [code]) for code in own]
        for language, codes in [*scopes, *([("all", own)] if len(own) > 1 else [])]:
            made = {call for code in codes for call in calls.get(j * shape[1] + code, ())}
            rows.append(_row(judge, language, cells[j, codes], made, tokens, limits))
    return rows


def _count(verdicts: VerdictColumns, of: NDArray[np.intp], groups: int) -> NDArray[np.intp]:
    """Return successes and trials of each of `_RATES` in each group of verdicts."""
    kinds = len(WINNERS)
    labels = np.bincount(of * kinds + verdicts.shown, minlength=groups * kinds).reshape(groups, kinds).T
    decided = verdicts.decide()
    in_both_orders = (decided.n_read > 0) & (np.abs(decided.order) < 1)
    of_pair = of[decided.head]
    pairs, flips = (
        np.bincount(of_pair[rows], minlength=groups) for rows in (in_both_orders, in_both_orders & ~decided.consistent)
    )
    won = labels[FIRST] + labels[SECOND]
    read = won + labels[TIE]
    trials = pairs, won, read, read + labels[UNPARSED]
    return np.stack([(flips, labels[FIRST], labels[TIE], labels[UNPARSED]), trials]).transpose(2, 1, 0)


_TokenCounts = dict[str, tuple[int, int, float]]
"""By call with reported counts: tokens of prompt and reply, and its price as a share of that of a single call."""


def _token_counts(calls: set[str], ledger: Ledger) -> _TokenCounts:
    return {
        call: (reply["tokens_in"] or 0, reply["tokens_out"] or 0, price_share(reply))
        for call in sorted(calls)
        if (reply := ledger.get(call)) and (reply["tokens_in"], reply["tokens_out"]) != (None, None)
    }


def _row(
    judge: str, language: str, cells: NDArray[np.intp], calls: set[str], counts: _TokenCounts, limits: Limits | None
) -> JudgeStats:
    values: dict[str, Any] = {}
    for name, of_rate in zip(_RATES, cells.transpose(1, 0, 2).tolist(), strict=True):
        known = [(k, n) for k, n in of_rate if n]
        ends = mean_interval(known) if known else (None, None, None)
        values |= dict(zip((f"{name}_rate", f"{name}_low", f"{name}_high"), ends, strict=True))
        values["n" if name == "unparsed" else f"{name}_n"] = sum(n for _, n in of_rate)
    told = [counts[call] for call in sorted(calls) if call in counts]
    tokens = [sum(count[side] for count in told) if told else None for side in (0, 1)]
    billed = (sum(count[side] * count[2] for count in told) for side in (0, 1))
    money = limits.cost(*billed) if limits and told else None
    values |= {"calls": len(calls) or None, "tokens_in": tokens[0], "tokens_out": tokens[1], "money": money}
    return JudgeStats(judge=judge, language=language, **values)
