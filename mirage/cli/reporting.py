"""Commands that report numbers of an arena, such as `mirage report rates`; `mirage report --help` lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from mirage.cli.common import (
    ArenaDir,
    How,
    Languages,
    OpenArena,
    Parser,
    arena_labels,
    arena_log,
    command_group,
)
from mirage.cli.completion import complete_judges
from mirage.cli.output import Format, columns_of, note, show
from mirage.errors import BadInput, UnknownName
from mirage.store.arena import Arena, open_arena
from mirage.store.writing import claim_arena
from mirage.text.segmentation import as_sentence

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.stages.judge.stats import JudgeStats
    from mirage.stats.label_errors import QueryLabels

report = command_group("report", "Print rates, retrieval measures, failures, the reliability of judges and more.")

CHANGE = ("change", "change_low", "change_high", "pairs")
"""Columns of a template's change from the prompt vanilla."""


@report.command()
def rates(
    arena: OpenArena,
    parser: Parser = "strict",
    languages: Languages = None,
    by: Annotated[
        Literal["system", "template"],
        Option(help="template: one row per prompt template of a system."),
    ] = "system",
    confusion: Annotated[bool, Option("--confusion", help="Print the confusion matrix of each row instead.")] = False,
    output_format: How = "table",
) -> None:
    """Print hallucination and error rates.

    The hallucination rate is over the subset non_relevant, the error rate over relevant, with 95% Wilson intervals.
    Reads the table outcomes. Writes nothing. `rate` is over classified answers to `n` queries in `languages` languages;
    `rate_as_published` is 1 - accuracy by the published parser, as in the papers; `unclassified` is a share of
    `answers`. If people audited the labels of the queries (mirage votes audit), `corrected` is the rate corrected for
    the errors they found; rates on a program's labels without an audit are marked. --by template also reads the table
    answers, and groups a system asked with several prompts under names with the template's suffix: `m@vanilla`,
    `m@role`. `change` is the rate minus that of the prompt vanilla on the same queries. --confusion: a relevant query
    answered is a true positive, a non-relevant one a false positive.
    """
    from mirage.stages.outcomes.confusion import Confusion
    from mirage.stages.outcomes.rates import Rate
    from mirage.views import rates as views

    choice = views.RateChoice(arena.known_languages("outcomes", languages), parser)
    labels = arena_labels(arena)
    view = views.prompts_view(arena, choice) if by == "template" else views.rates_view(arena, choice, labels)
    note(*filter(None, [view.conclusion]))
    if confusion:
        left_out = () if by == "template" else ("template",)
        show(view.confusion, columns_of(Confusion, *left_out), output_format, of=Confusion)
    else:
        show(view.cells, _rate_columns(by, output_format, labels), output_format, of=Rate)
    note(*view.remarks)
    _note_labels(labels, view.cells)


def _rate_columns(by: str, output_format: Format, labels: QueryLabels) -> tuple[str, ...]:
    """Return the columns of a table of rates; a table for people leaves out what the others show."""
    from mirage.stages.outcomes.corrected import AUDIT_COLUMNS
    from mirage.stages.outcomes.rates import Rate

    names = columns_of(Rate)
    keys, n, counts, rate, published = names[:3], (*names[3:5], "languages"), names[5:12], names[12:15], names[15:20]
    if output_format == "table":
        more = ("template", *rate, *CHANGE) if by == "template" else rate
        audited = () if labels.audit is None else AUDIT_COLUMNS[1:6]
        return (*keys, *more, *audited, "n", "unclassified", "rate_as_published", "answers", "languages")
    return (*keys, "template", *n, *counts, *rate, *published, *CHANGE) if by == "template" else names


def note_unclassified(rates: pa.Table) -> None:
    """Warn if many answers are unclassified."""
    from mirage.stages.outcomes.rates import unclassified_note

    if text := unclassified_note(rates):
        note(as_sentence(text))


def _note_labels(labels: QueryLabels, rates: pa.Table) -> None:
    """Print the remarks on automatic labels and their audit."""
    from mirage.views.labels import LabelsView

    note(*LabelsView(labels).remarks)
    if labels.audit is not None:
        note(*dict.fromkeys(value for value in rates["label_reason"].to_pylist() if value))


By = Annotated[
    Literal["all", "language"], Option(help="all: only the mean over languages; language: also each language.")
]


@report.command()
def retrieval(
    arena: OpenArena,
    measures: Annotated[
        str | None,
        Option(metavar="NAME,..", help="nDCG@10, R@10, R@100, RR@10, AP@100, judged@10, or other cutoffs."),
    ] = None,
    by: By = "all",
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Evaluate each retriever by relevance labels, with 95% intervals over queries.

    Reads the tables passages, documents (for grades) and retrieved; `given` is the passages supplied with the queries.
    Unlabelled passages count as not relevant: judged@k, printed with every measure at k, is the labelled share. Writes
    nothing.
    """
    from mirage.stages.retrieve.measures import MEASURES, RetrievalMean
    from mirage.views.retrieval import RetrievalChoice, retrieval_view

    names = MEASURES if measures is None else tuple(name.strip() for name in measures.split(","))
    means = retrieval_view(arena, RetrievalChoice(tuple(languages or ()), names)).means.to_pylist()
    shown = [row for row in means if by == "language" or row["language"] == "all"]
    show(shown, columns_of(RetrievalMean, "unit"), output_format, of=RetrievalMean, value="mean")


@report.command()
def failures(
    arena: OpenArena,
    by: By = "all",
    languages: Languages = None,
    answers: Annotated[bool, Option("--answers", help="One row per answer, with its evidence.")] = False,
    output_format: How = "table",
) -> None:
    """Attribute failures to the retriever or the model: right, not_retrieved, ignored, unsupported, right_refusal.

    Reads the tables answers, outcomes, passages, documents and retrieved. The cause of an answer follows from the
    labels of passages, the passages shown to its system, and its outcome and citations. `right` and `right_refusal` are
    correct decisions, to answer and to abstain: the labels do not say whether an answer is true. Shares have 95%
    intervals over queries. Writes nothing.
    """
    from mirage.stages.retrieve.attribution import Attribution, CauseShare
    from mirage.views.causes import CauseChoice, answer_causes, causes_view

    arena.need("outcomes")
    choice = CauseChoice(arena.known_languages("outcomes", languages))
    if answers:
        show(answer_causes(arena, choice), (), output_format, of=Attribution)
    else:
        rows = causes_view(arena, choice).shares.to_pylist()
        shown = [row for row in rows if by == "language" or row["language"] == "all"]
        show(shown, (), output_format, of=CauseShare, value="share")


@report.command()
def languages(
    dir_: ArenaDir,
    detect: Annotated[
        bool, Option("--detect", help="First detect and store the languages of passages that have none.")
    ] = False,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Report correct decisions by language of the query and of the relevant passages shown, with 95% intervals.

    Reads the tables of `mirage report failures`. Writes nothing, except the column passage_language of passages and
    retrieved with --detect.
    """
    from mirage.stages.across import DecisionShare, detect_passage_languages
    from mirage.views.causes import CauseChoice, decisions_view

    if detect:
        result = detect_passage_languages(claim_arena(dir_), made_by="mirage report languages --detect")
        note(f"Languages of {result.detected:,} passages detected; {result.unknown:,} unknown.")
    arena = open_arena(dir_)
    arena.need("answers")
    arena.need("outcomes")
    found = decisions_view(arena, CauseChoice(arena.known_languages("outcomes", languages)))
    show(found, (), output_format, of=DecisionShare, value="share")


@report.command()
def noise(
    arena: OpenArena,
    judge_names: Annotated[
        list[str] | None,
        Option(
            "--judge",
            metavar="NAME",
            autocompletion=complete_judges,
            help="Split the noise of this judge's verdicts; several are averaged.",
        ),
    ] = None,
    output_format: How = "table",
) -> None:
    """Split the noise of a rate, or of a difference between systems, into its sources.

    Without --judge: hallucination and error rates, into queries and samples (tables outcomes and samples). With it: the
    difference of two systems in points, into queries, judges, orders and repeats (table judgments). Components by the
    method of moments, the query as the unit, averaged over systems or pairs of systems. A judge's preference for a
    position or a system is bias, which repeats do not remove; it is excluded. Writes nothing.
    """
    from mirage.ranking.variance import NoiseSource
    from mirage.views.noise import NoiseChoice, noise_view

    view = noise_view(arena, NoiseChoice(tuple(judge_names or ())))
    show(view.rows, (), output_format, of=NoiseSource)
    note(*view.remarks)


RATES = ("flip", "first", "tie", "unparsed")
"""Rates of a judge."""


@report.command()
def judges(
    dir_: ArenaDir,
    judge_names: Annotated[
        list[str] | None,
        Option("--judge", metavar="NAME", autocompletion=complete_judges, help="A judge. Repeatable; default all."),
    ] = None,
    against_people: Annotated[
        bool, Option("--against-people", help="Print each judge's agreement with people instead.")
    ] = False,
    passport: Annotated[
        bool,
        Option("--passport", help="Print how often a judge detects each planted fault instead."),
    ] = False,
    languages: Languages = None,
    ratings: Annotated[
        str | None,
        Option(metavar="MEASURE", help="With --against-people: measure whose scores count as people's verdicts."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print the reliability and cost of each judge, or its agreement with people.

    Flip, first-position, tie and unparsed rates with 95% intervals and n, calls and tokens, by judge and language. With
    --against-people: agreement, kappa, known answers, position bias and the order of systems, with 95% intervals over
    queries; agreement among people last. Reads the table judgments, the arena's ledger, and for --against-people the
    votes on the arena, and scores if present. With --passport: the share of items in which the original wins over its
    copy with a planted fault, by fault and language (`mirage judge passport` judges them). Writes nothing.
    """
    from mirage.views.exam import statistics

    if against_people and passport:
        raise BadInput("--against-people and --passport print different tables", do="choose one of them")
    if ratings is not None and not against_people:
        raise BadInput("--ratings needs --against-people", do="add --against-people")
    arena, codes = open_arena(dir_), tuple(languages or ())
    if passport:
        if judge_names is None or len(judge_names) != 1:
            raise BadInput("--passport is of one judge", do="name it with --judge")
        print_passport(arena, judge_names[0], codes, output_format)
    elif against_people:
        _against_people(arena, tuple(judge_names or ()), codes, ratings, output_format=output_format)
    else:
        rows = statistics(arena, codes)
        known = {row.judge for row in rows}
        for name in judge_names or ():
            if name not in known:
                raise UnknownName("judge", name, known)
        show_judges([row for row in rows if not judge_names or row.judge in judge_names], output_format)


def print_passport(arena: Arena, judge: str, languages: tuple[str, ...], output_format: Format) -> None:
    """Print the passport of a judge: as a table over all languages, or in those that were named."""
    from mirage.stages.judge.passport import PassportRow
    from mirage.views.exam import passport_view

    rows = passport_view(arena, judge, languages)
    shown = [row for row in rows if output_format != "table" or languages or row.language == "all"]
    show(shown, (), output_format, of=PassportRow)
    note("detected: the original wins in both orders, a half for a split or a tie; chance level is 0.50")


def _against_people(
    arena: Arena,
    judges: tuple[str, ...],
    languages: tuple[str, ...],
    ratings: str | None,
    *,
    output_format: Format,
) -> None:
    """Print the agreement of judges with people on the same battles."""
    from mirage.people.exam import MEASURES, ExamMeasure, nobody_decided
    from mirage.people.votes.kinds import Vote
    from mirage.views.exam import ExamChoice, exam_view

    view = exam_view(arena, ExamChoice(languages, judges, ratings), arena_log(arena, Vote))
    if not view.exams:
        raise nobody_decided()
    note(*filter(None, [view.conclusion]))
    if output_format == "table":
        marks = [
            {name: _with_interval(mark.value, mark.low, mark.high) for name, mark in row.measures.items()}
            for row in view.exams
        ]
        rows = [asdict(row) | own for row, own in zip(view.exams, marks, strict=True)]
        show(rows, ("judge", "language", "battles", *MEASURES))
    else:
        show(view.exam_table(), (), output_format, of=ExamMeasure)


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Format a value with its interval for people."""
    if value is None:
        return "-"
    return f"{value:.2f}" + ("" if low is None else f" ({low:.2f} to {high:.2f})")


def show_judges(stats: Sequence[JudgeStats], output_format: Format) -> None:
    """Print the rates and costs of judges."""
    from mirage.stages.judge.stats import JudgeStats

    if output_format != "table":
        show(stats, (), output_format, of=JudgeStats)
        return
    costs = ("calls", "tokens_in", "tokens_out", *(["money"] if any(row.money is not None for row in stats) else []))
    rows = [asdict(row) | {name: _share(asdict(row), name) for name in RATES} for row in stats]
    show(rows, ("judge", "language", "n", *RATES, *costs))


def _share(row: Mapping[str, Any], name: str) -> str:
    """Format a rate with its interval and n for people."""
    rate, low, high = (row[f"{name}_{part}"] for part in ("rate", "low", "high"))
    of = row["n" if name == "unparsed" else f"{name}_n"]
    return "-" if rate is None else f"{rate:.1%} ({low:.1%} to {high:.1%}) of {of:,}"


@report.command()
def levels(
    arena: OpenArena,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measure", metavar="rate|feature:NAME|score:NAME", help="Measure; default all with labels. Repeatable."
        ),
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print levels corrected by people's labels, next to the uncorrected levels.

    Prediction-powered inference with 95% intervals clustered by query: rates, nugget scores, citation support, other
    bounded features, and scores on any scale. A language with fewer than 10 labels of a system is not checked, and all
    is the mean of the others. Reads the votes on citations, and the tables of the measures. Writes nothing.
    """
    from mirage.people.levels.levels import CorrectedLevel, read_log
    from mirage.people.votes.belonging import log_votes
    from mirage.views.votes import all_levels

    views = all_levels(arena, measures, log_votes(read_log()), tuple(languages or ()))
    reason = ("reason",) if output_format == "table" else ()
    rows = [row for view in views for row in view.rows]
    show(rows, columns_of(CorrectedLevel, *reason), output_format, of=CorrectedLevel)
    for view in views:
        note(*(f"{view.measure}: {line}" for line in view.remarks))
