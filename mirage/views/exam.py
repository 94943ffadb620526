"""View of the exam: can I trust the judge? Agreement of each judge with people, known answers, its biases and cost."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

import pyarrow as pa

from mirage.battles.judge import UNORDERED, judges_alone, people_judges, verdict_judges
from mirage.battles.verdict_rows import COLUMNS, OF_KNOWN, REPEATED, programs
from mirage.errors import MirageError, NotEnoughData
from mirage.people.exam import MEASURES, MEASURES_ALONE, SEED, ExamResult, JudgeExam, Measure, exam
from mirage.people.votes.agreement import judges_agreement
from mirage.people.votes.belonging import VoteLog, log_votes
from mirage.people.votes.kinds import IMPORTED, Vote
from mirage.people.votes.stage import votes_that_count
from mirage.ranking.board import style_of
from mirage.ranking.bootstrap import DRAWN
from mirage.ranking.control import control_style
from mirage.ranking.judges import VerdictJudge, battles_of, verdicts_of
from mirage.schema import PEOPLE
from mirage.stages.judge.family import family_preferences
from mirage.stages.judge.faults import has_items, passport_path
from mirage.stages.judge.passport import PassportRow, judges_of, passport
from mirage.stages.judge.stats import JudgeStats, judge_stats
from mirage.stats.jackknife import Estimate
from mirage.store.arena import Arena, open_arena
from mirage.store.ledger import kept_ledger
from mirage.store.makers import makers_of
from mirage.text.languages import in_language, in_order, name_of
from mirage.text.segmentation import MANY, join_or_count
from mirage.views.cache import cached_view, memoize

ALL = "all"
"""Language of the mean over languages."""
KNOWN, LENGTH = "known", "length"
TRUST = ("agree", KNOWN)
"""Measures of a judge's reliability: agreement with people, and known answers."""
FEW = 10_000
"""Maximum number of verdicts to fit length slopes by default; fits of more take seconds."""
NOT_FITTED = "choose it under Columns to fit it"
"""Reason for a slope that was not requested."""
_RATES = ("flip", "first", "tie", "unparsed")
"""Rates among the measures without people (`JudgeStats`)."""
NO_VOTES: VoteLog[Vote] = log_votes(())


@dataclass(frozen=True, slots=True)
class ExamChoice:
    """Choices of an exam."""

    languages: tuple[str, ...] = ()
    """Codes; empty for all."""
    judges: tuple[str, ...] = ()
    """Judges compared with people; empty for every judge that is not a person."""
    ratings: str | None = None
    """Measure whose scores count as people's (`mirage.people.exam.exam`)."""
    seed: int = SEED
    """Seed of the draws for the intervals of the systems' order."""
    lengths: bool = False
    """Whether to fit the length slopes of more than `FEW` verdicts too."""


EVERY = ExamChoice()
"""All judges in all languages."""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """Every measure of one judge in one language."""

    judge: str
    """The judge; `people`: people among themselves, the reference row."""
    language: str
    """Language of the queries, or `all`."""
    n: int | None
    """Verdicts; for people, battles decided by at least two people, null if none."""
    battles: int
    """Battles decided by people and the judge."""
    measures: Mapping[str, Estimate]
    """By the names of `ExamView.measures`."""
    calls: int | None = None
    """Calls behind the verdicts; null if unknown."""
    tokens_in: int | None = None
    """Their prompt tokens; null if unknown."""
    tokens_out: int | None = None
    """Their reply tokens."""

    def cost(self, price_in: float | None, price_out: float | None) -> float | None:
        """Return the cost per 1,000 battles in agreement with people, or per 1,000 verdicts without votes; null if
        tokens or prices (per million) are unknown.
        """
        if self.tokens_in is None or not self.calls or price_in is None or price_out is None:
            return None
        money = (self.tokens_in * price_in + (self.tokens_out or 0) * price_out) / 1e6
        verdicts = money / self.calls * 1000
        agree = self.measures.get("agree")
        return verdicts * self.measures["first"].n / self.battles / agree.value if agree and agree.value else verdicts


@dataclass(frozen=True, eq=False)
class ExamView:
    """The exam of the judges of an arena in some languages."""

    rows: tuple[JudgeRow, ...]
    """By judge, the best first, and language, `all` after the languages; people last."""
    measures: tuple[Measure, ...]
    """The measures of the rows: agreement with people if people decided battles, and those that need no people."""
    lead: str
    """The measure that orders the judges and decides the conclusion: of agreement with people, known answers and flips
    the first with an interval, else the first with a value; empty if none has one."""
    exams: tuple[JudgeExam, ...]
    """The measures that depend on people or labels only; none without decisions by people and known answers."""
    languages: tuple[str, ...]
    """Codes with verdicts, among those chosen."""
    n: int
    """Verdicts in these languages."""
    judges: tuple[str, ...]
    """Judges with verdicts in these languages that are not people."""
    annotators: tuple[str, ...]
    """People among the judges, or the scale from which their verdicts are derived."""
    fitted: bool
    """Whether the length slopes were fitted."""
    remarks: tuple[str, ...]
    """Votes by language, and votes that do not count; none if the arena has neither answers nor votes."""
    where: str
    """The languages in words, such as "over all languages"."""
    conclusion: str
    """The best judge, and those not clearly worse; empty if nothing is known."""

    @property
    def scope(self) -> str:
        """The only language, else `all`."""
        return self.languages[0] if len(self.languages) == 1 else ALL

    @property
    def missing(self) -> Mapping[str, tuple[str, ...]]:
        """Titles of the measures without any value, by reason."""
        reasons: dict[str, tuple[str, ...]] = {}
        for measure in self.measures:
            marks = [row.measures[measure.name] for row in self.rows]
            if all(mark.value is None for mark in marks):
                reason = next((mark.reason for mark in marks if mark.reason), None) or "not measured"
                reasons[reason] = (*reasons.get(reason, ()), measure.title)
        return reasons

    def table(self) -> pa.Table:
        """Return the rows as a table: of each measure its value, `_low`, `_high`, `_n` and `_reason`."""
        parts = {"": "value", "_low": "low", "_high": "high", "_n": "n", "_reason": "reason"}
        kinds = {"_n": pa.int64(), "_reason": pa.string()}
        names = [measure.name for measure in self.measures]
        fields = [("judge", pa.string()), ("language", pa.string()), ("n", pa.int64())]
        fields += [(name + end, kinds.get(end, pa.float64())) for name in names for end in parts]
        fields += [(name, pa.int64()) for name in ("calls", "tokens_in", "tokens_out")]
        records = [
            {name: getattr(row, name, None) for name, _ in fields}
            | {name + end: getattr(mark, of) for name, mark in row.measures.items() for end, of in parts.items()}
            for row in self.rows
        ]
        return pa.Table.from_pylist(records, schema=pa.schema(fields))

    def exam_table(self) -> pa.Table:
        """Return the exams as rows of `mirage.people.exam.ExamMeasure`."""
        return ExamResult(self.exams).table()


@cached_view
def exam_view(arena: Arena, choice: ExamChoice = EVERY, votes: VoteLog[Vote] = NO_VOTES) -> ExamView:
    """Examine the judges of an arena.

    Args:
        arena: an arena with judgments.
        choice: which judges and languages.
        votes: the votes on the arena.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if there is no such judge, language or measure.
    """
    stats = statistics(arena, choice.languages)
    languages = tuple(code for code in in_order(row.language for row in stats) if code != ALL)
    fitted = choice.lengths or "features" not in arena.tables or arena.rows("judgments") <= FEW
    people = people_judges(arena)
    exams = _exams(arena, replace(choice, lengths=False), votes)
    alone = _own_rows(arena, stats, choice.languages, fitted=fitted)
    heard = any(row.judge == PEOPLE for row in exams)
    rows, measures = alone, dict(MEASURES_ALONE)
    if heard:
        rows = _beside_people(alone, exams, people)
        measures = MEASURES | {name: measure for name, measure in measures.items() if name not in MEASURES}
    elif exams:
        rows = _with_known(alone, exams)
        measures = {KNOWN: MEASURES[KNOWN]} | measures
    scope = languages[0] if len(languages) == 1 else ALL
    number = len(languages) if len(languages) < len(arena.languages("judgments")) else "all"
    where = f"over {number} languages" if scope == ALL else in_language(scope)
    names = tuple(dict.fromkeys(row.judge for row in alone))
    judged = [row for row in rows if row.language == scope and row.judge not in {PEOPLE, *people}]
    lead = _lead(judged)
    # Ends in the order of the judges, best first; then people, and judges without a value.
    best = {
        row.judge: _merit(row.measures[lead], lead) for row in judged if lead and row.measures[lead].value is not None
    }

    def place(row: JudgeRow | JudgeExam) -> tuple[bool, float, str]:
        return row.judge == PEOPLE or row.judge in people, -best.get(row.judge, -math.inf), row.judge

    return ExamView(
        rows=tuple(sorted(rows, key=place)),
        lead=lead,
        measures=tuple(measures.values()),
        exams=tuple(sorted(exams, key=place)),
        languages=languages,
        n=sum(row.n or 0 for row in alone if row.language != ALL),
        judges=tuple(name for name in names if name not in people),
        annotators=tuple(sorted(people.intersection(names))),
        fitted=fitted,
        remarks=_vote_remarks(arena, votes, languages),
        where=where,
        conclusion=_conclude(judged, where, lead) if lead else "",
    )


@cached_view
def statistics(arena: Arena, languages: tuple[str, ...] = ()) -> tuple[JudgeStats, ...]:
    """Return rates and calls of every judge in these languages and over them, all if empty.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if it has no such language.
    """
    with kept_ledger(arena.path) as ledger:
        return tuple(judge_stats(_judgments(arena, languages), ledger, alone=judges_alone(arena)))


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Agreement of two judges, or of people with a judge or each other, on the battles that both decided."""

    one: str
    """The first."""
    other: str
    """The second; the same name where people are compared with each other."""
    agree: float
    """Share of equal decisions."""
    low: float | None
    """Lower end of its 95% interval."""
    high: float | None
    """Upper end."""
    n: int
    """Pairs of decisions."""
    kappa: float | None
    """Cohen's kappa."""


@cached_view
def pairs_view(arena: Arena, choice: ExamChoice = EVERY, votes: VoteLog[Vote] = NO_VOTES) -> tuple[JudgePair, ...]:
    """Compare every two judges, and people with each judge and each other: over the languages, else in the first
    language that both decided in. Pairs without a value are left out.
    """
    pairs: dict[tuple[str, str], JudgePair] = {}

    def add(language: str, pair: JudgePair) -> None:
        if language == ALL or (pair.one, pair.other) not in pairs:
            pairs[pair.one, pair.other] = pair

    if len(verdict_judges(arena)) > 1:
        columns, codes = (*COLUMNS, "person"), choice.languages or None
        judgments = programs(arena.read("judgments", columns=columns, languages=codes))
        for one, row in judges_agreement(judgments):
            if row.raw is not None:
                pair = JudgePair(one, row.judge, row.raw, row.raw_low, row.raw_high, row.n, row.kappa)
                add(row.language, pair)
    for record in exam_view(arena, choice, votes).exams:
        mark, kappa = record.measures["agree"], record.measures["kappa"].value
        if mark.value is not None:
            add(record.language, JudgePair(PEOPLE, record.judge, mark.value, mark.low, mark.high, mark.n, kappa))
    return tuple(pairs.values())


def _passport_items(arena: Arena, judge: str) -> Arena:
    """Return the arena of the planted faults.

    Raises:
        NotEnoughData: if there is none.
    """
    if not has_items(arena.path):
        arena.need("answers")
        raise NotEnoughData(
            "no judge has verdicts on planted faults here",
            do=f"run: {arena.fill(f'mirage judge passport DIR --judge {quote(judge)}')}",
        )
    return open_arena(passport_path(arena.path))


def passport_judges(arena: Arena) -> tuple[str, ...]:
    """Return the judges with a passport; none if only some queries are selected."""
    return () if arena.tags or not has_items(arena.path) else judges_of(open_arena(passport_path(arena.path)))


@memoize
def passport_view(arena: Arena, judge: str, languages: tuple[str, ...] = ()) -> tuple[PassportRow, ...]:
    """Return how often a judge detects each planted fault, by language and over these languages; all if empty.

    Raises:
        NotEnoughData: if the arena has no planted faults, or the judge has decided none in these languages.
        UnknownName: if the judge has decided none.
    """
    return tuple(passport(_passport_items(arena, judge), judge, languages=languages or None))


# --- parts ------------------------------------------------------------------------------------------------------------


def _judgments(arena: Arena, languages: tuple[str, ...]) -> pa.Table:
    """Return the verdicts in some languages; all if empty."""
    arena.need("judgments")
    codes = arena.known_languages("judgments", languages) or None
    return arena.read("judgments", columns=(*COLUMNS, "call"), encoded=REPEATED, languages=codes)


@memoize
def _exams(arena: Arena, choice: ExamChoice, votes: VoteLog[Vote]) -> tuple[JudgeExam, ...]:
    """Return the exams; none without decisions by people and known answers."""
    try:
        return exam(
            arena,
            votes=votes.votes,
            judges=choice.judges or None,
            languages=choice.languages or None,
            ratings=choice.ratings,
            seed=choice.seed,
        ).exams
    except NotEnoughData:
        return ()


def _no_value(reason: str | None) -> Estimate:
    return Estimate(None, None, None, 0, 0, reason)


def _own_rows(arena: Arena, stats: Sequence[JudgeStats], languages: tuple[str, ...], *, fitted: bool) -> list[JudgeRow]:
    """Return the measures without people, people among the judges last."""
    people, alone = people_judges(arena), judges_alone(arena)
    slopes = _slopes(arena, languages) if fitted else {}
    families = _families(arena, languages)
    rows = []
    for of in stats:
        measures = {name: _rate(of, name) for name in _RATES}
        if of.judge in alone:
            measures |= dict.fromkeys(("flip", "first"), _no_value(UNORDERED))
        key = of.judge, of.language
        measures[LENGTH] = slopes.get(key) or _no_value(_no_slope(arena, of.judge) if fitted else NOT_FITTED)
        measures["family"] = families[key]
        if of.judge in people:
            measures["family"] = replace(families[key], reason="people have no maker")
        rows.append(JudgeRow(of.judge, of.language, of.n, 0, measures, of.calls, of.tokens_in, of.tokens_out))
    return sorted(rows, key=lambda row: row.judge in people)


def _rate(stats: JudgeStats, name: str) -> Estimate:
    value, low, high = (getattr(stats, f"{name}_{part}") for part in ("rate", "low", "high"))
    n = stats.n if name == "unparsed" else getattr(stats, f"{name}_n")
    return Estimate(value, low, high, n, None, None if n else MEASURES_ALONE[name].none)


@memoize
def _slopes(arena: Arena, languages: tuple[str, ...]) -> dict[tuple[str, str], Estimate]:
    """Return the length slope by judge and language, in logits per doubling."""
    slopes: dict[tuple[str, str], Estimate] = {}
    try:
        known = style_of(arena, ("length",))
    except MirageError:
        return slopes
    for name in verdict_judges(arena):
        by_language = {
            code: battles
            for code, battles in battles_of(arena, VerdictJudge(name)).items()
            if (not languages or code in languages) and len(battles.systems) <= DRAWN
            if code in known and known[code].cover(battles)
        }
        if not by_language:
            continue
        result = control_style(by_language, known)
        for code, (slope,) in result.coefficients.items():
            n = result.n_battles.get(code, sum(result.n_battles.values()))
            slopes[name, code] = Estimate(slope.value, slope.low, slope.high, n, None, None)
    return slopes


def _no_slope(arena: Arena, judge: str) -> str:
    """Return the reason why there is no slope."""
    # A judge with only known-answer pairs has no battles to rank by.
    verdicts = verdicts_of(arena, judge) if judge in verdict_judges(arena) else {}
    if any(len(of_language.systems) > DRAWN for of_language in verdicts.values()):
        return f"more than {DRAWN} systems, too many for this page: use mirage rank --control length"
    return MEASURES_ALONE[LENGTH].none


@memoize
def _families(arena: Arena, languages: tuple[str, ...]) -> dict[tuple[str, str], Estimate]:
    """Return each judge's preference for its own maker's systems, by judge and language."""
    return {
        (row.judge, row.language): Estimate(row.difference, row.low, row.high, row.battles, row.queries, row.reason)
        for row in family_preferences(_judgments(arena, languages), makers_of(arena))
    }


def _with_known(alone: Sequence[JudgeRow], exams: Sequence[JudgeExam]) -> list[JudgeRow]:
    """Return the rows with the results on known-answer pairs."""
    known = {(row.judge, row.language): row.measures[KNOWN] for row in exams}
    none = _no_value(MEASURES[KNOWN].none)
    return [
        replace(
            row, measures={KNOWN: known.get((row.judge.removeprefix(OF_KNOWN), row.language), none), **row.measures}
        )
        for row in alone
    ]


def _beside_people(alone: Sequence[JudgeRow], exams: Sequence[JudgeExam], people: frozenset[str]) -> list[JudgeRow]:
    """Return the rows of the exams with the measures without people, then the languages without people's decisions."""
    # A judge's results on known-answer pairs are in a column of its own row.
    by_key = {
        (row.judge, row.language): row
        for row in alone
        if row.judge not in people and not row.judge.startswith(OF_KNOWN)
    }
    records = list(exams)
    if len({record.language for record in records}) == 1 and any(row.language == ALL for row in alone):
        # If people decided in one language only, the overall result is that language's.
        records += [replace(record, language=ALL) for record in records]
    nothing = dict.fromkeys(MEASURES_ALONE, _no_value(None))
    rows = []
    for of in records:
        row = by_key.pop((of.judge, of.language), JudgeRow(of.judge, of.language, of.battles or None, 0, nothing))
        rows.append(replace(row, battles=of.battles, measures={**row.measures, **of.measures}))
    unvoted = dict.fromkeys(MEASURES, _no_value("no votes by people in this language"))
    rows += [replace(row, measures={**row.measures, **unvoted}) for row in by_key.values()]
    return sorted(rows, key=lambda row: (row.judge == PEOPLE, row.judge))


_WORDS = {
    "agree": "agrees with people in {} of votes",
    KNOWN: "finds the right answer in {} of known pairs",
    "flip": "flips its verdict with the answer order in {} of pairs",
}
"""Verb phrases of the conclusion, with a place for the value."""


def _lead(rows: Sequence[JudgeRow]) -> str:
    """Return the most informative measure of some judges (`ExamView.lead`)."""
    marks = {name: [row.measures[name] for row in rows if name in row.measures] for name in _WORDS}
    known = [name for name, own in marks.items() if any(mark.value is not None for mark in own)]
    bounded = [name for name in known if any(mark.low is not None for mark in marks[name])]
    return next(iter(bounded or known), "")


def _merit(mark: Estimate, measure: str) -> float:
    """Return a value that is higher for better judges."""
    value = mark.value or 0.0
    return -value if measure == "flip" else value


def _conclude(rows: Sequence[JudgeRow], where: str, measure: str) -> str:
    """Name the best judge by a measure, and those not clearly worse."""
    known = {row.judge: mark for row in rows if (mark := row.measures[measure]).value is not None}
    best = max(sorted(known), key=lambda judge: _merit(known[judge], measure))
    mark = known.pop(best)
    low, high = mark.low, mark.high
    alike = [name for name, other in sorted(known.items()) if _overlap(mark, other)]
    lead = f", not clearly better than {join_or_count(alike, 'judge')}" if alike else ", clearly better than the others"
    interval = "no interval" if low is None or high is None else f"95% CI {low:.1%} to {high:.1%}"
    facts = f"{_WORDS[measure].format(f'{mark.value:.1%}')} ({interval}, n = {mark.n:,})"
    if known:
        return f"{'Steadiest' if measure == 'flip' else 'Best'} judge {where}: {best} {facts}{lead}."
    unknown = "" if measure == "agree" else " Agreement with people is unknown without votes."
    return f"{best} {facts} {where}.{unknown}"


def _overlap(one: Estimate, other: Estimate) -> bool:
    """Return whether two intervals overlap; an estimate without one overlaps with all."""
    ends = one.low, one.high, other.low, other.high
    return None in ends or (ends[0] <= ends[3] and ends[2] <= ends[1])  # type: ignore[operator]


def _vote_remarks(arena: Arena, votes: VoteLog[Vote], languages: Sequence[str]) -> tuple[str, ...]:
    """List the languages with random votes and their counts, the languages without, and the votes that count only here
    or nowhere.
    """
    log = votes_that_count(arena, votes.votes)
    came = sum(vote.why == IMPORTED and vote.language in languages for vote in log)
    others: tuple[str, ...] = (
        (f"Verdicts by people that came with the data, not drawn here: {came:,}.",) if came else ()
    )
    others += votes.notes
    counts = Counter(vote.language for vote in log if vote.control)
    have = [f"{name_of(code)} {counts[code]:,}" for code in languages if counts[code]]
    none = [name_of(code) for code in languages if not counts[code]]
    if not have:
        return ("No votes on randomly drawn battles yet.", *others) if "answers" in arena.tables else others
    words = f"Random votes: {', '.join(have)}."
    if none:
        words += f" No votes in {len(none)} of {len(languages)} languages"
        words += f": {', '.join(none)}." if len(none) <= MANY else "."
    return (words, *others)
