"""Data of the Judges page: verdicts, biases and agreement of the judges by language, exams and passports.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.battles.counts import Battles
from mirage.battles.judge import Judge, people_judges, verdict_judges
from mirage.battles.verdict_rows import COLUMNS, OF_KNOWN, REPEATED, programs
from mirage.errors import MirageError, NotEnoughData
from mirage.explorer.kit import votes as voting
from mirage.people.exam import MEASURES, ExamResult, exam
from mirage.people.votes.agreement import Agreement, judges_agreement
from mirage.ranking.board import battles_of, style_of, verdicts_of
from mirage.ranking.bootstrap import DRAWN
from mirage.ranking.control import control_style
from mirage.schema import PEOPLE
from mirage.stages.judge.family import family_preferences
from mirage.stages.judge.faults import has_items, passport_path
from mirage.stages.judge.passport import PassportRow, passport
from mirage.stages.judge.stats import judge_stats
from mirage.stats.jackknife import Estimate
from mirage.store import Arena, kept_ledger, makers_of, open_arena

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.text.makers import Makers


LENGTH = "length"
"""The slow measure, which takes seconds to fit (`judge_rows`)."""
FEW = 10_000
"""Number of verdicts up to which slopes are fitted without asking."""
NOT_FITTED = "choose it under Columns to fit it"
"""Reason for a slope that was not requested."""
SHOWN = ("agree", "kappa", "tau_b", "known", "first")
"""Exam measures on the page; measures without people follow."""
ALONE = ("flip", "tie", "unparsed", "length", "family")
"""Measures without people that no exam measure replaces."""
TRUST = ("agree", "known")
"""Measures that say whether to trust a judge: agreement with people, and known answers."""
KNOWN = "known"
"""The exam measure that needs no people."""
FAIR = {KNOWN: 0.5, "first": 0.0}
"""Reference values: of known answers that of judging at random, of position that of a fair judge."""
_DRAWS = 200


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
    """Reference value, drawn as a dotted line: that of a perfect judge, or of chance; null if there is none."""
    unit: str
    """`rate`, or `logits`."""


ALONE_MEASURES: dict[str, JudgeMeasure] = {
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

    Columns: judge, language, n, and for each of `ALONE_MEASURES` its name, `_low`, `_high`, `_n` and `_reason` (why it
    has no value); then calls, tokens_in, tokens_out.

    Raises:
        TableMissing: if the arena has no judgments.
    """
    import pyarrow as pa

    arena.need("judgments")
    judgments = arena.read("judgments", columns=(*COLUMNS, "call"), encoded=REPEATED)
    by_length, families = _slopes(arena) if slopes else {}, _families(judgments, makers_of(arena))
    with kept_ledger(arena.path) as ledger:
        summaries = judge_stats(judgments, ledger)
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
        if summary.judge in people_judges(arena):
            row["family_reason"] = "people have no maker"
        records.append(row | {name: values[name] for name in ("calls", "tokens_in", "tokens_out")})
    # People come last, as the reference.
    records.sort(key=lambda record: record["judge"] in people_judges(arena))
    return pa.Table.from_pylist(records, schema=_schema())


def _part(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """The columns of one measure."""
    ends = {f"{name}_{part}": values.get(part) for part in ("low", "high", "n", "reason")}
    return {name: values.get("value"), **ends}


def _slopes(arena: Arena) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the length slope by judge and language: value (logits per doubling), low, high, n, reason."""
    slopes: dict[tuple[str, str], dict[str, Any]] = {}
    try:
        known = style_of(arena, ("length",))
    except MirageError:
        return slopes
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
            n = result.n_battles.get(code, sum(result.n_battles.values()))
            slopes[name, code] = asdict(coefficient) | {"n": n}
    return slopes


def _no_slope(arena: Arena, judge: str) -> str:
    """Return the reason why there is no slope."""
    # A judge with only known-answer pairs has no battles to rank by.
    verdicts = verdicts_of(arena, judge) if judge in verdict_judges(arena) else {}
    if any(len(language_verdicts.systems) > DRAWN for language_verdicts in verdicts.values()):
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
        (row.judge, row.language): asdict(row) | {"value": row.difference, "n": row.battles}
        for row in family_preferences(judgments, makers)
    }


def _schema() -> pa.Schema:
    import pyarrow as pa

    fields = [("judge", pa.string()), ("language", pa.string()), ("n", pa.int64())]
    for name in ALONE_MEASURES:
        fields += [(name, pa.float64()), (f"{name}_low", pa.float64()), (f"{name}_high", pa.float64())]
        fields += [(f"{name}_n", pa.int64()), (f"{name}_reason", pa.string())]
    fields += [("calls", pa.int64()), ("tokens_in", pa.int64()), ("tokens_out", pa.int64())]
    return pa.schema(fields)


def exam_at(arena: Arena) -> ExamResult | None:
    """Evaluate an arena's judges with the current votes; None without human decisions and answers of known correctness.

    Raises:
        Unreachable: if the votes cannot be read.
    """
    return _exam(arena, voting.version())


@lru_cache(maxsize=16)
def _exam(arena: Arena, _version: tuple[str, int]) -> ExamResult | None:
    try:
        return exam(arena, votes=voting.log(arena), draws=_DRAWS)
    except NotEnoughData:
        return None


def has_people(result: ExamResult | None) -> bool:
    """Return whether people decided battles."""
    return result is not None and any(row.judge == PEOPLE for row in result.exams)


def measures_of(result: ExamResult | None) -> dict[str, JudgeMeasure]:
    """Return the page's columns: agreement with people if there are human decisions, else the other measures."""
    if result is None:
        return ALONE_MEASURES
    beside = {
        name: JudgeMeasure(name, MEASURES[name].title, MEASURES[name].meaning, FAIR.get(name), "rate") for name in SHOWN
    }
    if not has_people(result):
        return {KNOWN: beside[KNOWN]} | ALONE_MEASURES
    return beside | {name: ALONE_MEASURES[name] for name in ALONE}


@lru_cache(maxsize=16)
def rows_of(arena: Arena, result: ExamResult | None, *, slopes: bool) -> list[dict[str, Any]]:
    """Return one row per judge and language with the columns of `judge_rows`, replaced by the exam's where they exist.

    People are one row, the last, where there is an exam; those whose verdicts came with the arena are part of it.

    Args:
        arena: an arena with judgments.
        result: its exam, where there is one.
        slopes: fit the length slopes (`judge_rows`).
    """
    alone: list[dict[str, Any]] = judge_rows(arena, slopes=slopes).to_pylist()
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
        if row["judge"] not in people_judges(arena) and not row["judge"].startswith(OF_KNOWN)
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
    """Return the cost per 1,000 battles in agreement with people, or per 1,000 verdicts without votes; null if tokens
    or prices (per million) are unknown.
    """
    if row["tokens_in"] is None or not row["calls"] or price_in is None or price_out is None:
        return None
    money = (row["tokens_in"] * price_in + (row["tokens_out"] or 0) * price_out) / 1e6
    verdicts = float(money / row["calls"] * 1000)
    return float(verdicts * row["first_n"] / row["battles"] / row["agree"]) if row.get("agree") else verdicts


def _columns(name: str, mark: Estimate) -> dict[str, Any]:
    return {
        name: mark.value,
        f"{name}_low": mark.low,
        f"{name}_high": mark.high,
        f"{name}_n": mark.n,
        f"{name}_reason": mark.reason,
    }


def votes_by_language(arena: Arena, languages: Sequence[str]) -> dict[str, int]:
    """Return the number of random votes by language; 0 for languages without votes.

    Raises:
        Unreachable: if the votes cannot be read.
    """
    counts = _random_votes(arena, voting.version())
    return {code: counts[code] for code in languages}


@lru_cache(maxsize=16)
def _random_votes(arena: Arena, _version: tuple[str, int]) -> Counter[str]:
    return Counter(vote.language for vote in voting.log(arena) if vote.control)


@lru_cache(maxsize=16)
def between(arena: Arena, languages: tuple[str, ...]) -> tuple[tuple[str, Agreement], ...]:
    """Return the agreement of every two judges on the battles both decided, keyed by the first; the second is the
    judge. People are compared by their votes.
    """
    if len(verdict_judges(arena)) < 2:
        return ()
    codes = [code for code in languages if code in arena.languages("judgments")]
    judgments = arena.read("judgments", columns=(*COLUMNS, "person"), languages=codes)
    return tuple(judges_agreement(programs(judgments)))


def items_of(arena: Arena) -> Arena | None:
    """Return the arena of the planted faults; None if there is none, or only some queries are selected."""
    if arena.tags or not has_items(arena.path):
        return None
    return open_arena(passport_path(arena.path))


@lru_cache(maxsize=16)
def passport_at(items: Arena, judge: str) -> tuple[PassportRow, ...]:
    """Return the passport of a judge; empty if it cannot be computed."""
    try:
        return tuple(passport(items, judge))
    except MirageError:
        return ()
