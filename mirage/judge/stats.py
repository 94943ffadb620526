"""How far a judge can be trusted on its own showing: flips, position, ties, what could not be read, and the cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage.battles.counts import codes
from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS, WINNERS, swap
from mirage.intervals import mean_interval
from mirage.languages import place
from mirage.schema import CodeOrAll, Count, Share

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.llm import Limits
    from mirage.store import Ledger


@dataclass(frozen=True, slots=True)
class JudgeStats:
    """How consistent one judge is in one language: flips, first-position wins, ties, unreadable verdicts, and the cost.

    A rate is null where nothing counts towards it. Its 95% interval is Wilson's; for `all` that of a mean of
    independent proportions (`mirage.intervals`). Battles on one query share its difficulty, which the intervals do
    not know: they are rather too narrow.
    """

    key = ("judge", "language")

    judge: str
    """The judge."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have the rate, each weighing the same. Its
    counts are sums."""
    n: Count
    """Battles judged, each order by itself."""
    flip_rate: Share | None
    """Share of the pairs judged in both orders whose two verdicts disagree about the winner. A tie has no winner: two
    ties agree, a tie and a win do not."""
    flip_low: Share | None
    """Lower end of the interval of `flip_rate`."""
    flip_high: Share | None
    """Upper end."""
    flip_n: Count
    """Pairs judged in both orders, both verdicts readable."""
    first_rate: Share | None
    """Share of the battles with a winner that the answer shown first won; 0.5 is fair where both orders were judged."""
    first_low: Share | None
    """Lower end of the interval of `first_rate`."""
    first_high: Share | None
    """Upper end."""
    first_n: Count
    """Battles with a winner."""
    tie_rate: Share | None
    """Share of the readable verdicts that are ties."""
    tie_low: Share | None
    """Lower end of the interval of `tie_rate`."""
    tie_high: Share | None
    """Upper end."""
    tie_n: Count
    """Readable verdicts."""
    unparsed_rate: Share | None
    """Share of the `n` battles whose verdict could not be read."""
    unparsed_low: Share | None
    """Lower end of the interval of `unparsed_rate`."""
    unparsed_high: Share | None
    """Upper end."""
    calls: Count | None
    """Different calls behind the verdicts; null where no verdict names one (imported, or made without a model)."""
    tokens_in: Count | None
    """Their prompt tokens, as the service counted; null where the ledger or the count is not at hand."""
    tokens_out: Count | None
    """Their reply tokens."""
    money: float | None
    """What these tokens cost at the prices given; null without prices."""


_RATES = ("flip", "first", "tie", "unparsed")


@dataclass
class _Tally:
    """Counts of one judge in one language."""

    labels: Sequence[int]
    """4: verdicts by what they come to, seen from the answer shown first."""
    flips: int
    """Pairs judged in both orders whose verdicts disagree."""
    both: int
    """Pairs of which both orders were judged and could be read."""
    calls: set[str] = field(default_factory=set)
    tokens: tuple[int, int] | None = None

    @property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """Successes and trials of each of `_RATES`."""
        won = self.labels[FIRST] + self.labels[SECOND]
        read = won + self.labels[TIE]
        return (
            (self.flips, self.both),
            (self.labels[FIRST], won),
            (self.labels[TIE], read),
            (self.labels[UNPARSED], read + self.labels[UNPARSED]),
        )


def judge_stats(judgments: pa.Table, ledger: Ledger | None = None, limits: Limits | None = None) -> list[JudgeStats]:
    """What a judge's verdicts say about the judge.

    Args:
        judgments: `schema.Judgment` rows.
        ledger: where the calls are; without it tokens are not known.
        limits: holds the prices; without it the money is not known.

    Returns:
        A row for each judge and language, languages in the order of their codes, and `all` where there are several.
    """
    tallies = _tallies(judgments)
    rows = []
    for judge, by_language in sorted(tallies.items()):
        ordered = sorted(by_language.items(), key=lambda item: place(item[0]))
        for _, tally in ordered:
            tally.tokens = _tokens(tally.calls, ledger)
        rows += [_row(judge, language, [tally], limits) for language, tally in ordered]
        if len(ordered) > 1:
            rows.append(_row(judge, "all", [tally for _, tally in ordered], limits))
    return rows


def _tallies(judgments: pa.Table) -> dict[str, dict[str, _Tally]]:
    """The counts by judge and language."""
    n = len(judgments)
    judges, judge = codes(judgments["judge"])
    languages, language = codes(judgments["language"])
    queries, query = codes(judgments["query_id"])
    systems, both = codes(judgments["system_a"], judgments["system_b"])
    words, word = codes(judgments["verdict"])
    shown_first = np.array([VERDICTS[name] for name in words], dtype=np.intp)[word]
    group = judge * len(languages) + language
    groups, kinds = len(judges) * len(languages), len(WINNERS)
    labels = np.bincount(group * kinds + shown_first, minlength=groups * kinds).reshape(groups, kinds)

    rows = np.flatnonzero(shown_first != UNPARSED)
    a, b = both[:n][rows], both[n:][rows]
    swapped = a > b
    turned = np.array([swap(kind) for kind in (FIRST, SECOND, TIE)])
    winner = np.where(swapped, turned[shown_first[rows]], shown_first[rows])
    key = (group[rows].astype(np.int64) * len(queries) + query[rows]) * len(systems) + np.minimum(a, b)
    key = key * len(systems) + np.maximum(a, b)
    order = np.argsort(key, kind="stable")
    key, swapped, winner, group_of = key[order], swapped[order], winner[order], group[rows][order]
    pair = np.flatnonzero((key[1:] == key[:-1]) & (swapped[1:] != swapped[:-1]))
    pairs = np.bincount(group_of[pair], minlength=groups)
    flips = np.bincount(group_of[pair[winner[pair] != winner[pair + 1]]], minlength=groups)

    tallies: dict[str, dict[str, _Tally]] = {}
    for k in np.flatnonzero(labels.sum(axis=1)).tolist():
        name, code = judges[k // len(languages)], languages[k % len(languages)]
        tallies.setdefault(name, {})[code] = _Tally(labels[k].tolist(), int(flips[k]), int(pairs[k]))
    called = judgments["call"].is_valid().to_numpy()
    for k, call in zip(group[called].tolist(), judgments["call"].drop_null().to_pylist(), strict=True):
        tallies[judges[k // len(languages)]][languages[k % len(languages)]].calls.add(call)
    return tallies


def _tokens(calls: set[str], ledger: Ledger | None) -> tuple[int, int] | None:
    """Prompt and reply tokens of the calls, of those the service counted."""
    replies = [reply for call in sorted(calls) if (reply := ledger.get(call))] if ledger else []
    counted = [(reply["tokens_in"], reply["tokens_out"]) for reply in replies]
    counted = [(a or 0, b or 0) for a, b in counted if a is not None or b is not None]
    return (sum(a for a, _ in counted), sum(b for _, b in counted)) if counted else None


def _row(judge: str, language: str, tallies: Sequence[_Tally], limits: Limits | None) -> JudgeStats:
    values: dict[str, Any] = {}
    for name, cells in zip(_RATES, zip(*(tally.cells for tally in tallies), strict=True), strict=True):
        known = [cell for cell in cells if cell[1]]
        rate, low, high = mean_interval(known) if known else (None, None, None)
        values |= {f"{name}_rate": rate, f"{name}_low": low, f"{name}_high": high}
        values["n" if name == "unparsed" else f"{name}_n"] = sum(n for _, n in cells)
    calls = len(set().union(*(tally.calls for tally in tallies)))
    tokens = [tally.tokens for tally in tallies if tally.tokens]
    tokens_in, tokens_out = (sum(pair[side] for pair in tokens) if tokens else None for side in (0, 1))
    money = limits.cost(tokens_in or 0, tokens_out or 0) if limits and tokens else None
    return JudgeStats(
        judge=judge,
        language=language,
        **values,
        calls=calls or None,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        money=money,
    )
