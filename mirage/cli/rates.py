"""Commands for outcomes and the papers' figures: `mirage outcomes`, `mirage rates`, `mirage paper figures`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage.cli.common import (
    ArenaDir,
    BorrowMargin,
    Corrected,
    How,
    Languages,
    Parser,
    Share,
    Tags,
    app,
    arena_labels,
    codes,
    existing_arena,
    paper,
    rows,
    select_tagged,
)
from mirage.cli.merging import part_of
from mirage.cli.output import Format, note, show
from mirage.errors import ArenaError, BadInput

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage import schema
    from mirage.stats.label_errors import QueryLabels
    from mirage.store import Arena

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
    *("printed", "text", "ours", "ours_low", "ours_high", "n", "remark", "reference"),
)
"""Columns of `published`."""
SHORT = (*FIGURES[1:8], "ours", "ours_low", "ours_high", "n", "remark")
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


@app.command()
def outcomes(
    dir_: ArenaDir,
    parser: Parser = "strict",
    templates: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            metavar="FILE",
            help="A prompt file whose header states the phrases for yes and no. Repeatable.",
        ),
    ] = None,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Classify answers as answered, abstained, clarification, unparsed, empty, api_error or missing.

    Reads the tables queries and answers. Writes the table outcomes, by both parsers. Prints the counts by --parser.
    Answers to NoMIRACL's prompts (template vanilla, role, repeat or explanation) are parsed by their formulas, other
    answers by the rules of free answers.
    """
    from mirage.llm import prompts
    from mirage.stages import outcomes as rules
    from mirage.stages.outcomes.stage import OUTCOMES
    from mirage.stages.stage import run

    dir_, _ = part_of(dir_, share)
    phrases = {
        template.name: rules.TemplatePhrases(template.answered_phrases, template.abstained_phrases)
        for template in map(prompts.load_template, templates or ())
    }
    notes = [f"outcomes of the template {name} use its own phrases" for name in sorted(phrases)]
    arena = run(OUTCOMES, dir_, made_by="mirage outcomes", notes=notes, phrases=phrases)
    table = rules.rates(arena.read("outcomes"), parser=parser)
    show(rows(table, COUNTS), COUNTS, output_format)
    _note_unparsed(table)


@app.command()
def rates(
    dir_: ArenaDir,
    parser: Parser = "strict",
    languages: Languages = None,
    by: Annotated[
        Literal["system", "template"],
        typer.Option(help="template: one row per prompt template of a system."),
    ] = "system",
    tags: Tags = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Print the confusion matrix of each row instead.")
    ] = False,
    corrected: Corrected = False,
    borrow_margin: BorrowMargin = 0.1,
    output_format: How = "table",
) -> None:
    """Print hallucination and error rates.

    The hallucination rate is over the subset non_relevant, the error rate over relevant, with 95% Wilson intervals.
    Reads the table outcomes. Writes nothing. `rate` is over decided answers, `rate_as_published` is 1 - accuracy;
    `undecided` is the share between them. If people audited the labels of the queries (mirage votes audit),
    `corrected` is the rate corrected for the label errors they found, with a wider interval; rates on a program's
    labels without an audit are marked. --by template also reads the table answers, and groups a system asked with
    several prompts under names with the template's suffix: `m@vanilla`, `m@role`. `change` is the rate minus that of
    the prompt vanilla on the same queries. --confusion: a relevant query answered is a true positive, a non-relevant
    one a false positive. --corrected: also each rate corrected by people's labels (`mirage votes label`), with the
    parsers as predictors; also reads the table scores.
    """
    from mirage import store
    from mirage.stages import outcomes as rules

    arena = select_tagged(store.open_arena(dir_), tags)
    selection = codes(languages)
    if corrected:
        if by != "system" or confusion:
            raise BadInput("--corrected is for rates by system", do="omit --by and --confusion")
        _print_corrected(arena, parser, selection, borrow_margin, output_format)
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
    _note_unparsed(counted)
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
    arena: Arena, parser: schema.Parser, languages: tuple[str, ...] | None, margin: float, output_format: Format
) -> None:
    """Print the rates, uncorrected and corrected by people's labels."""
    from mirage.people.levels import corrected_rates

    table, notes = corrected_rates(arena, parser=parser, languages=languages, margin=margin)
    columns = CORRECTED if output_format != "table" else CORRECTED[:-1]
    show(rows(table, columns), columns, output_format)
    for line in notes:
        note(line)


@paper.command("figures")
def print_published_figures(
    dir_: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", parser=existing_arena, help="An arena to compare with the printed figures."),
    ] = None,
    source: Annotated[str | None, typer.Option(metavar="PAPER", help="NoMIRACL or MIRAGE-Bench; default both.")] = None,
    item: Annotated[str | None, typer.Option(metavar="ITEM", help="The table or figure, such as 'Table 3'.")] = None,
    languages: Languages = None,
    parser: Parser = "published",
    names: Annotated[
        list[str] | None,
        typer.Option("--as", metavar="PRINTED=SYSTEM", help="The arena's system for a printed name. Repeatable."),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(metavar="NAME|DIR", help="Tokenizer for MIRAGE-Bench's Table 1, if installed here."),
    ] = "estimate",
    output_format: How = "table",
) -> None:
    """Print the figures of the two papers next to an arena's.

    Reads the bundled figures, and from DIR the tables behind a figure: queries, passages, answers, outcomes. Writes
    nothing. Rates are as printed in the papers, 1 - accuracy, with 95% intervals; `remark` explains a missing figure.
    `mirage paper reproduce` computes MIRAGE-Bench's Tables 2 to 5 and its figures.
    """
    from mirage import llm, store
    from mirage.papers.printed import printed_figures

    path = store.bundled_arenas().get("published")
    if path is None:
        raise ArenaError("the bundled figures are not installed", do="run from a checkout, or build them: make data")
    comparisons = printed_figures(
        store.open_arena(path).read("published"),
        None if dir_ is None else store.open_arena(dir_),
        source=source,
        item=item,
        languages=codes(languages),
        parser=parser,
        names=_pairs(names or []),
        tokens=llm.tokens_of(tokenizer, tokenizer),
    )
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


def _note_unparsed(rates: pa.Table) -> None:
    """Warn if many answers are unparsed."""
    from mirage.stages.outcomes import unparsed_note

    if text := unparsed_note(rates):
        note(text[0].upper() + text[1:] + ".")


def _note_labels(labels: QueryLabels, rates: pa.Table) -> None:
    """Print what is known about automatic labels."""
    from mirage.stats.label_errors import NOT_AUDITED

    if labels.unaudited:
        note(f"{NOT_AUDITED}: a program decided which queries are answerable; audit them: mirage votes audit DIR")
    if labels.audit is not None:
        n, unclear = len(labels.audit.queries), labels.audit.unclear
        note(f"corrected: for label errors found in {n:,} audited queries ({unclear:,} more unclear)")
        for reason in dict.fromkeys(value for value in rates["label_reason"].to_pylist() if value):
            note(f"not corrected: {reason}")


def _pairs(names: list[str]) -> dict[str, str]:
    """Parse `--as` into a mapping."""
    pairs = {}
    for pair in names:
        printed, mark, system = pair.rpartition("=")
        if not (printed and mark and system):
            raise BadInput(f"--as {pair} is not a pair", do="write it as --as 'PRINTED NAME=SYSTEM'")
        pairs[printed] = system
    return pairs
