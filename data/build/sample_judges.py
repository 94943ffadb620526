"""Simulated judges of the sample arena, each with one known fault that its exam should find.

Both decide by the facts that the answers are known to state, but for the fault: `simulated/length` prefers the longer
answer in a share of the battles, `simulated/first` the answer shown first. No model and no person judged; each verdict
says so in its rationale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mirage import schema
from mirage.schema import Verdict
from mirage.stages.judge.pairs import OrderedPair, choose_pairs
from mirage.stages.nuggets.bank import POINTS

if TYPE_CHECKING:
    import pyarrow as pa

LENGTH, FIRST = "simulated/length", "simulated/first"
"""The judges by their faults."""
SHARES = {LENGTH: 0.6, FIRST: 0.5}
"""Share of the battles in which each follows its fault."""
PAIRS = 120
"""Pairs of answers that each judges in a language, in both orders."""
_ERRORS = 0.1
"""Share of the other battles that are decided at random."""

_Key = tuple[str, str, str]


def judge_with_faults(tables: Mapping[str, pa.Table], *, assigner: str) -> pa.Table:
    """Return the verdicts of the simulated judges on pairs drawn at random, both orders.

    Args:
        tables: `answers`, `outcomes` and `nugget_assignments`.
        assigner: whose assignments count.
    """
    quality, lengths = _qualities(tables, assigner), _lengths(tables["answers"])
    battles = choose_pairs(tables["answers"], pairs=PAIRS)
    rows = []
    for judge, share in SHARES.items():
        for battle in battles:
            verdict, why = _decide(judge, share, battle, quality, lengths)
            key = battle.language, battle.query_id, judge, battle.system_a, battle.system_b
            rows.append(schema.Judgment(*key, verdict, f"Simulated, by rule: {why}", None, None))
    return schema.from_rows("judgments", rows)


def _decide(
    judge: str, share: float, battle: OrderedPair, quality: Mapping[_Key, float], lengths: Mapping[_Key, int]
) -> tuple[Verdict, str]:
    """Return a judge's verdict and its rule."""
    query = battle.language, battle.query_id
    # A length does not depend on the order shown; a preference for the first does, so each order is drawn anew.
    a, b = (*query, battle.system_a), (*query, battle.system_b)
    pair = sorted((battle.system_a, battle.system_b))
    if judge == LENGTH and _draw(judge, *query, *pair) < share and lengths[a] != lengths[b]:
        return ("A" if lengths[a] > lengths[b] else "B"), "the longer answer, whatever it says."
    if judge == FIRST and _draw(judge, *query, battle.system_a, battle.system_b) < share:
        return "A", "the answer shown first, whatever it says."
    if _draw(judge, "error", *query, *pair) < _ERRORS:
        better = pair[_draw(judge, "side", *query, *pair) < 0.5]
        return ("A" if better == battle.system_a else "B"), "at random, as an error."
    verdict: Verdict = "tie" if quality[a] == quality[b] else "A" if quality[a] > quality[b] else "B"
    return verdict, f"the facts stated, {quality[a]:.2f} of A and {quality[b]:.2f} of B, from 0 to 1."


def _draw(*about: str) -> float:
    """Return a pseudo-random number in [0, 1) from a key."""
    return int.from_bytes(hashlib.sha256("\0".join(about).encode()).digest()[:8], "big") / 2**64


def _qualities(tables: Mapping[str, pa.Table], assigner: str) -> dict[_Key, float]:
    """Return the share of the nuggets that each answer states; without nuggets, whether it rightly abstains."""
    points: dict[_Key, list[float]] = {}
    columns = ("language", "query_id", "system", "assigner", "assignment")
    rows = tables["nugget_assignments"]
    for language, query, system, name, assignment in zip(*(rows[c].to_pylist() for c in columns), strict=True):
        if name == assigner:
            points.setdefault((language, query, system), []).append(POINTS[assignment])
    quality = {key: sum(values) / len(values) for key, values in points.items()}
    columns = ("language", "query_id", "system", "parser", "correct")
    rows = tables["outcomes"]
    for language, query, system, parser, correct in zip(*(rows[c].to_pylist() for c in columns), strict=True):
        if parser == "strict":
            quality.setdefault((language, query, system), float(bool(correct)))
    return quality


def _lengths(answers: pa.Table) -> dict[_Key, int]:
    columns = (answers[name].to_pylist() for name in ("language", "query_id", "system", "text"))
    return {key: len(text) for *key_parts, text in zip(*columns, strict=True) for key in [(*key_parts,)]}
