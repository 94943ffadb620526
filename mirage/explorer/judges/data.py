"""Data of the Judges page: verdicts, biases and agreement of the judges by language.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.battles.counts import Battles
from mirage.battles.judge import Judge, verdict_judges
from mirage.battles.verdict_rows import COLUMNS, OF_SCORES, REPEATED
from mirage.errors import MirageError
from mirage.ranking.board import battles_of, style_of
from mirage.ranking.bootstrap import DRAWN
from mirage.ranking.control import Coefficient, control_style
from mirage.stages import judge
from mirage.store import kept_ledger, makers_of

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena
    from mirage.text.makers import Makers


LENGTH = "length"
"""The slow measure, which takes seconds to fit (`judge_rows`)."""
FEW = 10_000
"""Number of verdicts up to which slopes are fitted without asking."""
NOT_FITTED = "choose it as the figure to fit it"
"""Reason for a slope that was not requested."""


@dataclass(frozen=True, slots=True)
class JudgeMeasure:
    """One measure of a judge: its column stem in `judge_rows` and its meaning."""

    name: str
    """Column of the value; `_low`, `_high` and `_n` are columns too."""
    title: str
    """Display name."""
    meaning: str
    """Definition and interpretation."""
    fair: float | None
    """The value of a perfect judge; null if there is none."""
    unit: str
    """`rate`, or `logits`."""


MEASURES: dict[str, JudgeMeasure] = {
    measure.name: measure
    for measure in (
        JudgeMeasure(
            "flip",
            "Flip rate",
            "Share of pairs with different winners in the two orders. Lower is better.",
            0.0,
            "rate",
        ),
        JudgeMeasure(
            "first",
            "First-position wins",
            "Share of decided battles won by the answer shown first; 50% is unbiased if both orders were judged.",
            0.5,
            "rate",
        ),
        JudgeMeasure("tie", "Ties", "Share of readable verdicts that are ties.", None, "rate"),
        JudgeMeasure("unparsed", "Unparsed", "Share of verdicts that could not be parsed.", 0.0, "rate"),
        JudgeMeasure(
            "length",
            "Length slope",
            "Length bias in logits per doubling of answer length, at equal system strength. Above 0 favours longer "
            "answers.",
            0.0,
            "logits",
        ),
        JudgeMeasure(
            "family",
            "Self-preference",
            "How much more often a judge favours its own maker's systems than other judges do, on the same battles.",
            0.0,
            "rate",
        ),
    )
}
"""Measures of a judge without people's votes, by name."""


@lru_cache(maxsize=32)
def judge_rows(arena: Arena, *, slopes: bool = True) -> pa.Table:
    """Return every measure of every judge in every language, and `all` if a judge has several.

    Args:
        arena: an arena with judgments.
        slopes: fit the length slopes, which takes seconds; otherwise they have a reason.

    Columns: judge, language, n, and for each of `MEASURES` its name, `_low`, `_high`, `_n` and `_reason` (why it has no
    value); then calls, tokens_in, tokens_out.

    Raises:
        TableMissing: if the arena has no judgments.
    """
    import pyarrow as pa

    arena.need("judgments")
    judgments = arena.read("judgments", columns=(*COLUMNS, "call"), encoded=REPEATED)
    by_length, families = _slopes(arena) if slopes else {}, _families(judgments, makers_of(arena))
    with kept_ledger(arena.path) as ledger:
        summaries = judge.judge_stats(judgments, ledger)
    records: list[dict[str, Any]] = []
    for summary in summaries:
        row: dict[str, Any] = {"judge": summary.judge, "language": summary.language, "n": summary.n}
        values = asdict(summary)
        for name in ("flip", "first", "tie", "unparsed"):
            n = summary.n if name == "unparsed" else values[f"{name}_n"]
            reason = None if n else "no pair was judged in both orders" if name == "flip" else "no battles count"
            row |= {name: values[f"{name}_rate"], f"{name}_n": n, f"{name}_reason": reason}
            row |= {f"{name}_{end}": values[f"{name}_{end}"] for end in ("low", "high")}
        key = summary.judge, summary.language
        row |= _part(LENGTH, by_length.get(key) or {"reason": _no_slope(arena, key[0]) if slopes else NOT_FITTED})
        row |= _part("family", families[key])
        if summary.judge in people(arena):
            row["family_reason"] = "people have no maker"
        records.append(row | {name: values[name] for name in ("calls", "tokens_in", "tokens_out")})
    # People come last, as the reference.
    records.sort(key=lambda record: record["judge"] in people(arena))
    return pa.Table.from_pylist(records, schema=_schema())


@lru_cache(maxsize=32)
def people(arena: Arena) -> frozenset[str]:
    """Return the judge names under which people decided, or whose verdicts are derived from people's scores."""
    rows = arena.sql("SELECT DISTINCT judge FROM judgments WHERE person OR starts_with(judge, ?)", [OF_SCORES])
    return frozenset(rows["judge"].to_pylist())


def cost(row: dict[str, Any], price_in: float | None, price_out: float | None) -> float | None:
    """Return the cost of 1,000 verdicts at prices per million tokens; null if tokens or prices are unknown."""
    if row["tokens_in"] is None or not row["calls"] or price_in is None or price_out is None:
        return None
    money = (row["tokens_in"] * price_in + (row["tokens_out"] or 0) * price_out) / 1e6
    return float(money / row["calls"] * 1000)


def _part(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """The columns of one measure."""
    ends = {f"{name}_{part}": values.get(part) for part in ("low", "high", "n", "reason")}
    return {name: values.get("value"), **ends}


def has_lengths(arena: Arena) -> bool:
    """Return whether the lengths of answers are measured, so that slopes can be fitted."""
    return "features" in arena.tables


def _slopes(arena: Arena) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the length slope by judge and language: value (logits per doubling), low, high, n, reason."""
    return {
        (name, code): {
            "value": coefficient.value,
            "low": coefficient.low,
            "high": coefficient.high,
            "n": n,
            "reason": coefficient.reason,
        }
        for name, code, coefficient, n in _coefficients(arena)
    }


def _coefficients(arena: Arena) -> Iterator[tuple[str, str, Coefficient, int]]:
    """Return judge, language, coefficient and number of battles."""
    if not has_lengths(arena):
        return
    try:
        known = style_of(arena, ("length",))
    except MirageError:
        return
    for name in verdict_judges(arena):
        battles_by_language = {
            code: language_battles
            for code, language_battles in battles_of(arena, Judge.single(name)).items()
            if len(language_battles.systems) <= DRAWN and _has_covariates(language_battles, known.get(code))
        }
        if not battles_by_language:
            continue
        result = control_style(battles_by_language, known)
        for code, (coefficient,) in result.coefficients.items():
            yield name, code, coefficient, result.n_battles.get(code, sum(result.n_battles.values()))


def _no_slope(arena: Arena, judge: str) -> str:
    """Return the reason why there is no slope."""
    # A judge with only known-answer pairs has no battles to rank by.
    battles = battles_of(arena, Judge.single(judge)) if judge in verdict_judges(arena) else {}
    if any(len(language_battles.systems) > DRAWN for language_battles in battles.values()):
        return f"more than {DRAWN} systems, too many for this page: use mirage rank --control length"
    return "no battle has a winner and known answer lengths"


def _has_covariates(language_battles: Battles, known: Any) -> bool:
    """Return whether a language has a decided battle with known covariates of both answers."""
    import numpy as np

    if known is None:
        return False
    measured = np.isfinite(known.of(language_battles)).all(axis=2)
    return bool((language_battles.wins * (measured[:, :, None] & measured[:, None, :])).any())


def _families(judgments: pa.Table, makers: Makers) -> dict[tuple[str, str], dict[str, Any]]:
    """Return each judge's preference for its own maker's systems, by judge and language."""
    return {
        (preference.judge, preference.language): {
            "value": preference.difference,
            "low": preference.low,
            "high": preference.high,
            "n": preference.battles,
            "reason": preference.reason,
        }
        for preference in judge.family_preferences(judgments, makers)
    }


def _schema() -> pa.Schema:
    import pyarrow as pa

    fields = [("judge", pa.string()), ("language", pa.string()), ("n", pa.int64())]
    for name in MEASURES:
        fields += [(name, pa.float64()), (f"{name}_low", pa.float64()), (f"{name}_high", pa.float64())]
        fields += [(f"{name}_n", pa.int64()), (f"{name}_reason", pa.string())]
    fields += [("calls", pa.int64()), ("tokens_in", pa.int64()), ("tokens_out", pa.int64())]
    return pa.schema(fields)
