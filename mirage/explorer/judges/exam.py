"""Exam of the judges: one row per judge, with and without votes by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.battles.verdict_rows import OF_KNOWN
from mirage.errors import NotEnoughData
from mirage.explorer.judges import data as judges
from mirage.explorer.judges.data import JudgeMeasure
from mirage.explorer.kit import votes as people
from mirage.people.exam import MEASURES, Estimate, ExamResult, exam
from mirage.people.votes import PEOPLE
from mirage.store import Arena

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = ("agree", "kappa", "sensitivity", "tie_sensitivity", "tau_b", "known", "first", "length", "family")
"""Exam measures on the page; measures without people follow."""
ALONE = ("flip", "tie", "unparsed")
"""Measures without people that no exam measure replaces."""
TRUST = ("agree", "known")
"""Measures that say whether to trust a judge: agreement with people, and known answers."""
KNOWN = "known"
"""The exam measure that needs no people."""
_DRAWS = 200


def exam_at(arena: Arena) -> ExamResult | None:
    """Evaluate an arena's judges with the current votes; None without human decisions and answers of known correctness.

    Raises:
        Unreachable: if the votes cannot be read.
    """
    return _exam(arena, people.version())


@lru_cache(maxsize=16)
def _exam(arena: Arena, _version: tuple[str, int]) -> ExamResult | None:
    try:
        return exam(arena, votes=people.log(arena), draws=_DRAWS)
    except NotEnoughData:
        return None


def has_people(result: ExamResult | None) -> bool:
    """Return whether people decided battles."""
    return result is not None and any(row.judge == PEOPLE for row in result.exams)


def measures_of(result: ExamResult | None) -> dict[str, JudgeMeasure]:
    """Return the page's columns: agreement with people if there are human decisions, else the other measures."""
    if result is None:
        return judges.MEASURES
    beside = {
        name: JudgeMeasure(
            name, measure.title, measure.meaning, measure.best if measure.group == "leaning" else None, "rate"
        )
        for name, measure in MEASURES.items()
        if name in SHOWN
    }
    if not has_people(result):
        return {KNOWN: beside[KNOWN]} | judges.MEASURES
    ordered = {name: beside[name] for name in SHOWN}
    return ordered | {name: judges.MEASURES[name] for name in ALONE}


def rows_of(arena: Arena, result: ExamResult | None, *, slopes: bool = True) -> list[dict[str, Any]]:
    """Return one row per judge and language with the columns of `judge_rows`, replaced by the exam's where they exist.

    People are one row, the last, where there is an exam; those whose verdicts came with the arena are part of it.

    Args:
        arena: an arena with judgments.
        result: its exam, where there is one.
        slopes: fit the length slopes (`judge_rows`).
    """
    alone: list[dict[str, Any]] = judges.judge_rows(arena, slopes=slopes).to_pylist()
    if result is None:
        return alone
    if not has_people(result):
        known = {(row.judge, row.language): row.measures[KNOWN] for row in result.exams}
        none = Estimate(None, None, None, 0, 0, MEASURES[KNOWN].none)
        return [
            row | _columns(KNOWN, known.get((row["judge"].removeprefix(OF_KNOWN), row["language"]), none))
            for row in alone
        ]
    by_key = {
        (row["judge"], row["language"]): row
        for row in alone
        # A judge's results on known-answer pairs are in a column of its own row.
        if row["judge"] not in judges.people(arena) and not row["judge"].startswith(OF_KNOWN)
    }
    records = list(result.exams)
    if len({record.language for record in records}) == 1:
        # If people decided in one language only, the overall result is that language's.
        records += [
            replace(record, language="all") for record in records if any(row["language"] == "all" for row in alone)
        ]
    rows = []
    for record in records:
        key = record.judge, record.language
        row = by_key.pop(key, {"judge": record.judge, "language": record.language, "n": record.battles})
        row |= {"battles": record.battles}
        for name in SHOWN:
            row |= _columns(name, record.measures[name])
        rows.append(row)
    # Languages without decisions by people: only the measures that need none.
    none = Estimate(None, None, None, 0, 0, "no votes by people in this language")
    for row in by_key.values():
        for name in SHOWN:
            row |= _columns(name, none)
        rows.append(row)
    empty = {f"{name}{end}": None for name in (*SHOWN, *ALONE) for end in ("", "_low", "_high", "_reason")}
    counts = {f"{name}_n": 0 for name in (*SHOWN, *ALONE)}
    whole = [
        empty | counts | {"calls": None, "tokens_in": None, "tokens_out": None, "battles": 0} | row for row in rows
    ]
    return sorted(whole, key=lambda row: (row["judge"] == PEOPLE, row["judge"]))


def rows_in(rows: Sequence[dict[str, Any]], *, languages: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of some languages, which may include `all`."""
    return [row for row in rows if row["language"] in languages]


def with_costs(rows: Sequence[dict[str, Any]], *, prices: tuple[float | None, float | None]) -> pa.Table:
    """Return the rows as a table with the cost of 1,000 of `cost`, at prices per million prompt and reply tokens."""
    import pyarrow as pa

    return pa.Table.from_pylist([row | {"cost": cost(row, *prices)} for row in rows])


def people_pairs(result: ExamResult | None, language: str) -> list[dict[str, Any]]:
    """Return the agreement of people with each judge and each other, as `charts.judges.agreement_matrix` expects it."""
    records = [] if result is None else [row for row in result.exams if row.language == language]
    return [
        {
            "one": PEOPLE,
            "judge": record.judge,
            "raw": agree.value,
            "raw_low": agree.low,
            "raw_high": agree.high,
            "kappa": record.measures["kappa"].value,
            "n": agree.n,
        }
        for record in records
        for agree in [record.measures["agree"]]
    ]


def cost(row: Mapping[str, Any], price_in: float | None, price_out: float | None) -> float | None:
    """Return the cost per 1,000 battles in agreement with people, or per 1,000 verdicts without votes."""
    verdicts = judges.cost(dict(row), price_in, price_out)
    if verdicts is None or not row.get("agree"):
        return verdicts
    return float(verdicts * row["first_n"] / row["battles"] / row["agree"])


def _columns(name: str, mark: Estimate) -> dict[str, Any]:
    return {
        name: mark.value,
        f"{name}_low": mark.low,
        f"{name}_high": mark.high,
        f"{name}_n": mark.n,
        f"{name}_reason": mark.reason,
    }
