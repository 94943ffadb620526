"""Commands that report numbers of an arena, such as `mirage report rates`; `mirage report --help` lists them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage import schema
from mirage.cli.common import (
    ArenaDir,
    Corrected,
    How,
    Languages,
    Parser,
    arena_labels,
    arena_log,
    codes,
    command_group,
    existing_arena,
    local_path,
    rows,
)
from mirage.cli.output import Format, note, show
from mirage.errors import ArenaError, BadInput, NotEnoughData, UnknownName
from mirage.text.segmentation import as_sentence

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.stages.judge import JudgeStats
    from mirage.stats.label_errors import QueryLabels
    from mirage.store import Arena

report = command_group("report", "Print rates, retrieval measures, failures, the reliability of judges and more.")

COUNTS = (
    *("language", "subset", "system", "n", "answered", "abstained", "clarification", "unparsed", "empty", "api_error"),
    "missing",
)
"""Columns of `outcomes`."""
PLAIN = (*COUNTS, "rate", "rate_low", "rate_high", "rate_as_published", "undecided")
"""Columns of `rates`, without the audit columns."""
CORRECTED = (
    *("language", "subset", "system", "n", "rate", "rate_low", "rate_high", "undecided"),
    *("labels", "corrected", "corrected_low", "corrected_high", "lam", "width", "status", "reason"),
)
"""Columns of `rates --corrected`."""
BY_TEMPLATE = (
    *("language", "subset", "system", "template"),
    *PLAIN[3:],
    *("change", "change_low", "change_high", "pairs"),
)
"""Columns of `rates --by template`; the human-readable table omits the counts of outcomes."""
CONFUSION = (
    *("language", "system", "true_positives", "false_negatives", "relevant_undecided", "relevant_missing"),
    *("error_rate", "error_low", "error_high"),
    *("false_positives", "true_negatives", "non_relevant_undecided", "non_relevant_missing"),
    *("hallucination_rate", "hallucination_low", "hallucination_high"),
)
"""Columns of `rates --confusion`."""
FIGURES = (
    *("source", "item", "metric", "setting", "system", "language", "unit"),
    *("printed", "text", "ours", "difference", "ours_low", "ours_high", "n", "remark", "reference"),
)
"""Columns of `report paper`."""
ITEMS = ("source", "item", "figures", "compared", "equal", "averages", "largest", "remark")
"""Columns of the table of both papers' tables and figures."""
SHORT = (*FIGURES[1:8], "ours", "difference", "ours_low", "ours_high", "n", "remark")
"""Columns of the human-readable table, in which printed text replaces a non-numeric figure."""
_HEADS = {
    "true_positives": "TP",
    "false_negatives": "FN",
    "relevant_undecided": "undecided",
    "relevant_missing": "missing",
    "false_positives": "FP",
    "true_negatives": "TN",
    "non_relevant_undecided": "undecided ",
    "non_relevant_missing": "missing ",
}
"""Headers of the confusion matrix in the human-readable table."""


@report.command()
def rates(
    dir_: ArenaDir,
    parser: Parser = "strict",
    languages: Languages = None,
    by: Annotated[
        Literal["system", "template"],
        typer.Option(help="template: one row per prompt template of a system."),
    ] = "system",
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Print the confusion matrix of each row instead.")
    ] = False,
    corrected: Corrected = False,
    output_format: How = "table",
) -> None:
    """Print hallucination and error rates.

    The hallucination rate is over the subset non_relevant, the error rate over relevant, with 95% Wilson intervals.
    Reads the table outcomes. Writes nothing. `rate` is over decided answers, `rate_as_published` is 1 - accuracy, with
    --parser published as in the papers; `undecided` is the share between them. If people audited the labels of the
    queries (mirage votes audit), `corrected` is the rate corrected for the label errors they found, with a wider
    interval; rates on a program's labels without an audit are marked. --by template also reads the table answers, and
    groups a system asked with several prompts under names with the template's suffix: `m@vanilla`, `m@role`. `change`
    is the rate minus that of the prompt vanilla on the same queries. --confusion: a relevant query answered is a true
    positive, a non-relevant one a false positive. --corrected: also each rate corrected by people's labels (`mirage
    votes import --kind answers`), with the parsers as predictors; also reads the table scores.
    """
    from mirage import store
    from mirage.stages import outcomes as rules

    arena = store.open_arena(dir_)
    selection = codes(languages)
    if corrected:
        if by != "system" or confusion:
            raise BadInput("--corrected is for rates by system", do="omit --by and --confusion")
        _print_corrected(arena, parser, selection, output_format)
        return
    audit = rules.AUDIT_COLUMNS
    everything = (*PLAIN, *audit)
    columns: tuple[str, ...] = everything
    if by == "template":
        answers = arena.read("answers", columns=["language", "query_id", "system", "template"])
        table = rules.template_rates(arena.read("outcomes"), answers, parser=parser, languages=selection)
        columns = BY_TEMPLATE
    else:
        samples = rules.sample_outcomes(arena)
        table = rules.rates(arena.read("outcomes"), samples=samples, parser=parser, languages=selection)
    labels = arena_labels(arena)
    if by == "system":
        table = rules.correct_rates(table, labels)
    counted = table
    if confusion:
        table = rules.confusion(table)
        columns = CONFUSION if by == "system" else (*CONFUSION[:2], "template", *CONFUSION[2:])
    records = rows(table, columns)
    note_unparsed(counted)
    if output_format == "table":
        if columns is BY_TEMPLATE:
            columns = (*columns[:5], *columns[len(COUNTS) + 1 :])
        if columns is everything:
            columns = PLAIN if labels.audit is None else (*PLAIN[:4], *PLAIN[11:14], *audit[1:6], *PLAIN[14:])
        records = [{_HEADS.get(name, name): value for name, value in row.items()} for row in records]
        columns = tuple(_HEADS.get(name, name) for name in columns)
    show(records, columns, output_format)
    _note_labels(labels, counted)


def _print_corrected(
    arena: Arena, parser: schema.Parser, languages: tuple[str, ...] | None, output_format: Format
) -> None:
    """Print the rates, uncorrected and corrected by people's labels."""
    from mirage.people.levels import corrected_rates

    table, notes = corrected_rates(arena, parser=parser, languages=languages)
    columns = CORRECTED if output_format != "table" else CORRECTED[:-1]
    show(rows(table, columns), columns, output_format)
    for line in notes:
        note(line)


@report.command()
def paper(
    dir_: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", parser=existing_arena, help="An arena to compare with the printed figures."),
    ] = None,
    source: Annotated[str | None, typer.Option(metavar="PAPER", help="NoMIRACL or MIRAGE-Bench; default both.")] = None,
    item: Annotated[str | None, typer.Option(metavar="ITEM", help="The table or figure, such as 'Table 3'.")] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--as", metavar="PRINTED=SYSTEM", help="The arena's system for a printed name. Repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=local_path, help="Write every figure: .csv, .jsonl or .parquet."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print the figures of the two papers next to an arena's.

    Prints a row per table and figure; with --item, or in another --format, a row per printed number. Reads the bundled
    figures, and from DIR the tables behind a figure: queries, passages, answers, outcomes. Writes only --out. Rates
    are as printed in the papers, 1 - accuracy, with 95% intervals; `remark` explains a missing figure. `mirage rank
    paper` computes MIRAGE-Bench's Tables 2 to 5 and its figures.
    """
    from mirage import llm, store
    from mirage.papers.printed import PrintedFigure, printed_figures, summarise_items

    path = store.bundled_arenas().get("published")
    if path is None:
        raise ArenaError("the bundled figures are not installed", do="run from a checkout, or build them: make data")
    comparisons = printed_figures(
        store.open_arena(path).read("published"),
        None if dir_ is None else store.open_arena(dir_),
        source=source,
        item=item,
        parser="published",
        names=_pairs(names or []),
        tokens=llm.tokens_of("estimate", "estimate"),
    )
    if out is not None:
        store.export_rows(schema.from_rows(PrintedFigure, comparisons), out)
        note(f"{len(comparisons):,} printed figures are in {out}")
    if output_format == "table" and item is None:
        items = [dataclasses.asdict(row) for row in summarise_items(comparisons)]
        show(items, ITEMS if dir_ is not None else ITEMS[:3], output_format)
        note("One table: --item NAME. Every figure: --out FILE, or --format csv.")
        return
    records: list[dict[str, Any]] = [dataclasses.asdict(figure) for figure in comparisons]
    if output_format != "table":
        show(records, FIGURES, output_format)
        return
    for record in records:
        if record["printed"] is None:
            record["printed"] = record["text"]
        elif record["unit"] == "count":
            record["printed"] = int(record["printed"])
    show(records, SHORT if dir_ is not None else SHORT[:7], output_format)
    for reference in dict.fromkeys(figure.reference for figure in comparisons):
        note(f"printed in: {reference}")


def note_unparsed(rates: pa.Table) -> None:
    """Warn if many answers are unparsed."""
    from mirage.stages.outcomes import unparsed_note

    if text := unparsed_note(rates):
        note(as_sentence(text))


def _note_labels(labels: QueryLabels, rates: pa.Table) -> None:
    """Print what is known about automatic labels."""
    from mirage.stats.label_errors import NOT_AUDITED

    if labels.unaudited:
        note(f"{NOT_AUDITED}: a program decided which queries are answerable; audit them: mirage votes audit DIR")
    if labels.audit is not None:
        n, unclear = len(labels.audit.queries), labels.audit.unclear
        note(f"corrected: for label errors found in {n:,} audited queries ({unclear:,} more unclear)")
        for reason in dict.fromkeys(value for value in rates["label_reason"].to_pylist() if value):
            note(reason)


def _pairs(names: list[str]) -> dict[str, str]:
    """Parse `--as` into a mapping."""
    pairs = {}
    for pair in names:
        printed, mark, system = pair.rpartition("=")
        if not (printed and mark and system):
            raise BadInput(f"--as {pair} is not a pair", do="write it as --as 'PRINTED NAME=SYSTEM'")
        pairs[printed] = system
    return pairs


MEASURED = ("language", "retriever", "measure", "mean", "mean_low", "mean_high", "n", "total")
"""Columns of `report retrieval`."""
CAUSES = ("language", "system", "cause", "k", "n", "share", "share_low", "share_high")
"""Columns of `report failures`."""
OF_PAIRS = ("query_language", "passage_language", "retriever", "measure", "mean", "mean_low", "mean_high", "n")
"""Columns of `retrieval` by language pair."""
By = Annotated[
    Literal["all", "language"], typer.Option(help="all: only the mean over languages; language: also each language.")
]


@report.command()
def retrieval(
    dir_: ArenaDir,
    measures: Annotated[
        str | None,
        typer.Option(metavar="NAME,..", help="nDCG@10, R@10, R@100, RR@10, AP@100, judged@10, or other cutoffs."),
    ] = None,
    by: Annotated[
        Literal["all", "language", "language-pair"],
        typer.Option(
            help="all: only the mean over languages; language: also each language; language-pair: the languages of"
            " query and passage, where only passages in one language count as relevant."
        ),
    ] = "all",
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Evaluate each retriever by human labels, with 95% intervals over queries.

    Reads the tables passages, documents (for grades) and retrieved; `given` is the passages supplied with the queries.
    Unlabelled passages count as not relevant: judged@k, printed with every measure at k, is the labelled share. Writes
    nothing.
    """
    from mirage import api, store

    names = None if measures is None else [name.strip() for name in measures.split(",")]
    arena = store.open_arena(dir_)
    measured = partial(api.retrieval_measures, arena, measures=names, languages=codes(languages))
    if by == "language-pair":
        pairs = measured(by=by)
        show(_ends(pairs, "mean"), OF_PAIRS, output_format)
        return
    rows = list(measured())
    show(_by(rows, by, "mean"), MEASURED, output_format)
    few = [row for row in _by(rows, "all", "mean") if row["measure"].startswith("judged@") and (row["mean"] or 0) < 1]
    for row in few:
        share = 1 - (row["mean"] or 0)
        note(f"{row['retriever']}: {share:.0%} of the top {row['measure'].partition('@')[2]} passages are unlabelled.")


@report.command()
def failures(
    dir_: ArenaDir,
    by: By = "all",
    languages: Languages = None,
    answers: Annotated[bool, typer.Option("--answers", help="One row per answer, with its evidence.")] = False,
    output_format: How = "table",
) -> None:
    """Attribute failures to the retriever or the model: right, not_retrieved, ignored, unsupported, right_refusal.

    Where passages are in other languages than their query, also other_language (found in another language only) and
    unused_language (shown in a language that the system does not use). Reads the tables answers, outcomes, passages,
    documents and retrieved. The cause of an answer follows from the human labels of passages, the passages shown to its
    system, and its outcome and citations. `right` and `right_refusal` are correct decisions, to answer and to abstain:
    the labels do not say whether an answer is true. Shares have 95% intervals over queries. Writes nothing.
    """
    from mirage import api, store

    arena = store.open_arena(dir_)
    rows = list(api.attribution(arena, languages=codes(languages), answers=answers))
    if answers:
        show(rows, ("language", "query_id", "system", "cause", "evidence"), output_format)
        return
    show(_by(rows, by, "share"), CAUSES, output_format)


def _by(rows: Sequence[Mapping[str, Any]], by: str, value: str) -> list[dict[str, Any]]:
    """Return the rows over all languages, or with `language` every row, with interval columns named after the value."""
    return _ends([row for row in rows if by == "language" or row["language"] == "all"], value)


PREFERENCE = (
    *("name", "query_language", "passage_language", "share", "expected"),
    *("preference", "preference_low", "preference_high", "n", "units"),
)
"""Columns of `language_preference`."""
CONSISTENCY = (
    *("name", "measure", "first", "second", "agreement", "agreement_low", "agreement_high"),
    *("independent", "n", "units"),
)
"""Columns of `language_consistency`."""
ANSWERS = ("system", "query_language", "answer_language", "k", "n", "share", "share_low", "share_high")
"""Columns of `answer_languages`."""


@report.command()
def languages(
    dir_: ArenaDir,
    of: Annotated[
        Literal["retrievers", "systems", "answers", "consistency", "judges"],
        typer.Option(
            help="retrievers, systems: languages of passages that they prefer; answers: languages of answers;"
            " consistency: systems over the languages of a query; judges: their verdicts over the languages of a query."
        ),
    ] = "retrievers",
    detect: Annotated[
        bool, typer.Option("--detect", help="First detect and store the languages of passages that have none.")
    ] = False,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Report preferences for languages, and consistency over languages, with 95% intervals.

    Reads the tables passages, retrieved, answers, outcomes, nuggets and judgments. Intervals are over queries; a query
    asked in several languages, with one id, is one unit. Passages without a known language are left out. Writes
    nothing, except the column passage_language with --detect.
    """
    from mirage import api, store
    from mirage.stages.across import summary

    if detect:
        from mirage.stages.across.detection import detect_passage_languages

        result = detect_passage_languages(dir_, made_by="mirage report languages --detect")
        note(f"Languages of {result.detected:,} passages detected; {result.unknown:,} unknown.")
    arena = store.open_arena(dir_)
    chosen = codes(languages)
    if of in ("retrievers", "systems"):
        unknown, total = summary.count_unknown(arena)
        if unknown == total:
            raise BadInput(
                "no passage has a language", where=arena.address, do=f"mirage report languages {dir_} --detect"
            )
        whose: Any = of
        rows = api.language_preference(arena, of=whose, languages=chosen)
        show(_ends(rows, "preference"), PREFERENCE, output_format)
        if unknown:
            note(f"{unknown:,} of {total:,} passages have no known language and are left out.")
    elif of == "answers":
        show(_ends(api.answer_languages(arena, languages=chosen), "share"), ANSWERS, output_format)
    else:
        own: Any = "systems" if of == "consistency" else "judges"
        rows = api.language_consistency(arena, of=own, languages=chosen)
        show(_ends(rows, "agreement"), CONSISTENCY, output_format)
        if not rows:
            note("No query is asked in several languages with one id.")


def _ends(rows: Iterable[Mapping[str, Any]], value: str) -> list[dict[str, Any]]:
    """Return rows with interval columns named after the value."""
    return [{**row, f"{value}_low": row["low"], f"{value}_high": row["high"]} for row in rows]


@report.command()
def risk(
    dir_: ArenaDir,
    signal: Annotated[str, typer.Option(metavar="NAME", help="A feature, or a measure in the table scores.")],
    loss: Annotated[
        str, typer.Option(metavar="NAME", help="Loss: hallucination, wrong, or a measure in the table scores.")
    ] = "hallucination",
    output_format: How = "table",
) -> None:
    """Compute the risk-coverage trade-off of a signal: the error of the answers kept, by the share withheld.

    Reads the tables features or scores, and outcomes or scores. Writes nothing. Answers are sorted by the signal:
    `area` is the mean risk over all coverages, `excess` its distance to the optimum.
    """
    from mirage import store
    from mirage.stages import abstain

    curves = abstain.risk_coverage(store.open_arena(dir_), signal, abstain.RiskSettings(loss=loss))
    show([row.flat() for row in curves], abstain.SHOWN, output_format)


NOISE = ("target", "source", "variance", "share", "n", "reason")
"""Columns of `report noise`."""


@report.command()
def noise(
    dir_: ArenaDir,
    judge_names: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="NAME", help="Split the noise of this judge's verdicts; several are averaged."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Split the noise of a rate, or of a difference between systems, into its sources.

    Without --judge: hallucination and error rates, into queries and samples (tables outcomes and samples). With it: the
    difference of two systems in points, into queries, judges, orders and repeats (table judgments). Components by the
    method of moments, the query as the unit, averaged over systems or pairs of systems. A judge's preference for a
    position or a system is bias, which repeats do not remove; it is excluded. Writes nothing.
    """
    from mirage import store
    from mirage.ranking.variance import judge_variance, rate_variance

    arena = store.open_arena(dir_)
    reports = [judge_variance(arena, judges=judge_names)] if judge_names else rate_variance(arena)
    show([dataclasses.asdict(source) for each in reports for source in each.sources], NOISE, output_format)
    for each in reports:
        note(each.sentence)


RATES = ("flip", "first", "tie", "unparsed")
COLUMNS = (
    *("judge", "language", "n", "flip_rate", "flip_low", "flip_high", "flip_n"),
    *("first_rate", "first_low", "first_high", "first_n", "tie_rate", "tie_low", "tie_high", "tie_n"),
    *("unparsed_rate", "unparsed_low", "unparsed_high", "calls", "tokens_in", "tokens_out", "money"),
)
"""Columns of `report judges`."""
SHOWN = ("judge", "language", "n", *RATES, "calls", "tokens_in", "tokens_out", "money")
"""Columns of the human-readable table, with each rate and its interval in one."""


@report.command()
def judges(
    dir_: ArenaDir,
    judge_names: Annotated[
        list[str] | None, typer.Option("--judge", metavar="NAME", help="A judge. Repeatable; default all.")
    ] = None,
    against_people: Annotated[
        bool, typer.Option("--against-people", help="Print each judge's agreement with people instead.")
    ] = False,
    passport: Annotated[
        bool,
        typer.Option("--passport", help="Print how often a judge detects each planted fault instead."),
    ] = False,
    languages: Languages = None,
    ratings: Annotated[
        str | None,
        typer.Option(metavar="MEASURE", help="With --against-people: measure whose scores count as people's verdicts."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print the reliability and cost of each judge, or its agreement with people.

    Flip, first-position, tie and unparsed rates with 95% intervals and n, calls and tokens, by judge and language. With
    --against-people: agreement, kappa, sensitivity and specificity of “better” and of “tie”, the judge's biases, and
    the order of systems, with 95% intervals over queries; agreement among people last. Reads the table judgments, the
    arena's ledger, and for --against-people the votes on the arena, scores and lengths if present. With --passport: the
    share of items in which the original wins over its copy with a planted fault, by fault and language (`mirage judge
    passport` judges them), beside people's votes on the same items. Writes nothing.
    """
    from mirage.stages.judge import stage

    only = codes(languages)
    if against_people and passport:
        raise BadInput("--against-people and --passport print different tables", do="choose one of them")
    if ratings is not None and not against_people:
        raise BadInput("--ratings needs --against-people", do="add --against-people")
    if passport:
        if len(judge_names or ()) != 1:
            raise BadInput("--passport is of one judge", do="name it with --judge")
        print_passport(dir_, (judge_names or [""])[0], only, output_format)
        return
    if against_people:
        _against_people(dir_, judge_names, only, ratings, output_format=output_format)
        return
    rows = stage.judge_statistics(dir_)
    known = {row.judge for row in rows}
    for name in judge_names or ():
        if name not in known:
            raise UnknownName("judge", name, known)
    show_judges(
        [
            row
            for row in rows
            if (not judge_names or row.judge in judge_names) and (only is None or row.language in only)
        ],
        output_format,
    )


EXAM = ("judge", "language", "measure", "value", "low", "high", "n", "queries", "reason")
"""Columns of `mirage report judges --against-people`, one row per measure."""
PASSPORT = (
    *("judge", "fault", "language", "detected", "low", "high", "n", "queries"),
    *("split", "split_low", "split_high", "unread", "unmade", "reason"),
)
"""Columns of `mirage report judges --passport`."""


def print_passport(path: Path, judge_name: str, languages: Sequence[str] | None, output_format: Format) -> None:
    """Print the passport of a judge: for people all languages together, or those that were named."""
    from mirage import store
    from mirage.people.exam.passport import passport
    from mirage.people.votes import Vote
    from mirage.stages.judge.faults import has_items, passport_path

    if not has_items(path):
        raise NotEnoughData(
            "no judge has verdicts on planted faults here", do=f"mirage judge passport {path} --judge {judge_name}"
        )
    items = store.open_arena(passport_path(path))
    result = passport(items, judge_name, votes=arena_log(items, Vote), languages=languages)
    rows = [dataclasses.asdict(row) for row in result.rows]
    if output_format != "table":
        show(rows, PASSPORT, output_format)
        return
    shown = [row for row in rows if languages is not None or row["language"] == "all"]
    for row in shown:
        row["detected"] = _with_interval(row["detected"], row["low"], row["high"])
        row["split"] = _with_interval(row["split"], row["split_low"], row["split_high"])
    columns = ("judge", "fault", "language", "detected", "n", "queries", "split", "unread", "unmade", "reason")
    show(shown, columns, output_format)
    note("detected: the original wins in both orders, a half for a split or a tie; chance level is 0.50")


def _against_people(
    path: Path,
    judge_names: Sequence[str] | None,
    languages: Sequence[str] | None,
    ratings: str | None,
    *,
    output_format: Format,
) -> None:
    """Print the agreement of judges with people on the same battles."""
    from mirage import store
    from mirage.people.exam import MEASURES
    from mirage.people.exam import exam as examine
    from mirage.people.votes import Vote

    arena = store.open_arena(path)
    log = arena_log(arena, Vote)
    result = examine(arena, votes=log, judges=judge_names, languages=languages, ratings=ratings)
    if output_format == "table":
        columns = ("judge", "language", "battles", *MEASURES, "tokens")
        marks = [
            {name: _with_interval(mark.value, mark.low, mark.high) for name, mark in row.measures.items()}
            for row in result.exams
        ]
        rows = [dataclasses.asdict(row) | own for row, own in zip(result.exams, marks, strict=True)]
        show(rows, columns, output_format)
    else:
        show(result.table().to_pylist(), EXAM, output_format)


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Format a value with its interval for people."""
    if value is None:
        return "-"
    return f"{value:.2f}" + ("" if low is None else f" ({low:.2f} to {high:.2f})")


def show_judges(stats: Sequence[JudgeStats], output_format: Format) -> None:
    """Print the rates and costs of judges."""
    rows = [dataclasses.asdict(row) for row in stats]
    if output_format != "table":
        show(rows, COLUMNS, output_format)
        return
    for row in rows:
        row |= {name: _share(row, name) for name in RATES}
    priced = any(row.money is not None for row in stats)
    show(rows, [name for name in SHOWN if priced or name != "money"], output_format)


def _share(row: Mapping[str, Any], name: str) -> str:
    """Format a rate with its interval and n for people."""
    rate, low, high = (row[f"{name}_{part}"] for part in ("rate", "low", "high"))
    of = row["n" if name == "unparsed" else f"{name}_n"]
    return "-" if rate is None else f"{rate:.1%} ({low:.1%} to {high:.1%}) of {of:,}"


LEVELS = (
    *("measure", "language", "subset", "system", "uncorrected", "n", "corrected", "low", "high", "labels", "lam"),
    *("width", "status", "reason"),
)
"""Columns of `mirage report levels`."""


@report.command()
def levels(
    dir_: ArenaDir,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure", metavar="rate|feature:NAME|score:NAME", help="Measure; default all with labels. Repeatable."
        ),
    ] = None,
    predictors: Annotated[
        list[str] | None,
        typer.Option("--predictor", metavar="FEATURE", help="Feature to use as a predictor of the labels. Repeatable."),
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print levels corrected by people's labels, next to the uncorrected levels.

    Prediction-powered inference with 95% intervals clustered by query: rates, nugget scores, citation support, other
    bounded features, and scores on any scale. All programs' values of the measure, and their scores on other scales,
    are combined into one cross-fitted prediction. A language with fewer than 10 labels of a system is not checked, and
    all is the mean of the others. Reads the votes on citations, and the tables of the measures. Writes nothing.
    """
    from mirage import store
    from mirage.people.levels import correct_levels, labels_of, read_log

    arena = store.open_arena(dir_)
    found = labels_of(arena, measures, read_log(), languages=codes(languages), predictors=predictors or ())
    results = [correct_levels(of) for of in found]
    columns = LEVELS if output_format != "table" else LEVELS[:-1]
    show([dataclasses.asdict(row) for result in results for row in result.rows], columns, output_format)
    for result in results:
        for line in result.notes():
            note(f"{result.labels.measure.name}: {line}")
