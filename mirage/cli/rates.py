"""Commands about outcomes and what the papers print: `mirage outcomes`, `mirage rates`, `mirage published`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mirage.cli.common import ArenaDir, How, Languages, Parser, Share, app, codes, located, rows
from mirage.cli.merging import part_of
from mirage.cli.output import note, show
from mirage.errors import ArenaError, BadInput

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = (
    *("language", "subset", "system", "n", "answered", "abstained", "clarification", "unparsed", "empty", "api_error"),
    "missing",
)
"""Columns of `outcomes`."""
RATES = (*COUNTS, "rate", "rate_low", "rate_high", "rate_as_published", "undecided")
"""Columns of `rates`."""
BY_TEMPLATE = (
    *("language", "subset", "system", "template"),
    *RATES[3:],
    *("change", "change_low", "change_high", "pairs"),
)
"""Columns of `rates --by template`; the counts of outcomes are not in the table for people."""
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
"""Those of the table for people, in which the printed text stands in for a figure that is none."""
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
"""Heads of the confusion matrix in the table for people."""


@app.command()
def outcomes(
    dir_: ArenaDir,
    parser: Parser = "strict",
    templates: Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            metavar="FILE",
            help="A prompt file whose header states the phrases for yes and no. May be repeated.",
        ),
    ] = None,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Decide what every answer amounts to.

    It is answered, abstained, clarification, unparsed, empty, api_error or missing. Reads the tables queries and
    answers. Writes the table outcomes, by both parsers. Prints the counts by --parser.

    An answer to a prompt of NoMIRACL (template vanilla, role, repeat or explanation) has the rules of its formulas,
    any other the rules of free answers.
    """
    from mirage import outcomes as rules
    from mirage import prompts
    from mirage.outcomes.stage import OUTCOMES
    from mirage.stage import run

    dir_, _ = part_of(dir_, share)
    phrases = {
        template.name: rules.TemplatePhrases(template.answered_phrases, template.abstained_phrases)
        for template in map(prompts.load_template, templates or ())
    }
    notes = [f"phrases of the template {name} decide its outcomes" for name in sorted(phrases)]
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
        typer.Option(help="template: a row for each prompt that a system was asked with."),
    ] = "system",
    confusion: Annotated[bool, typer.Option("--confusion", help="The confusion matrix of each row instead.")] = False,
    output_format: How = "table",
) -> None:
    """Print hallucination and error rates.

    The first on the subset non_relevant, the second on relevant, with 95% Wilson intervals. Reads the table
    outcomes. Writes nothing. `rate` is over decided answers, `rate_as_published` is 1 - accuracy; `undecided` is
    the share between them.

    --by template reads the table answers too, and sets a system together that was asked with several prompts under
    names that end in the template's: `m@vanilla`, `m@role`. `change` is the rate less that of the prompt vanilla on
    the same queries. --confusion: a relevant query answered is a true positive, a non-relevant one a false
    positive.
    """
    from mirage import outcomes as rules
    from mirage import store

    arena = store.open_arena(dir_)
    selection = codes(languages)
    columns: tuple[str, ...] = RATES
    if by == "template":
        answers = arena.read("answers", columns=["language", "query_id", "system", "template"])
        table = rules.template_rates(arena.read("outcomes"), answers, parser=parser, languages=selection)
        columns = BY_TEMPLATE
    else:
        table = rules.rates(arena.read("outcomes"), parser=parser, languages=selection)
    counted = table
    if confusion:
        table = rules.confusion(table)
        columns = CONFUSION if by == "system" else (*CONFUSION[:2], "template", *CONFUSION[2:])
    records = rows(table, columns)
    _note_unparsed(counted)
    if output_format == "table":
        if columns is BY_TEMPLATE:
            columns = (*columns[:5], *columns[len(COUNTS) + 1 :])
        records = [{_HEADS.get(name, name): value for name, value in row.items()} for row in records]
        columns = tuple(_HEADS.get(name, name) for name in columns)
    show(records, columns, output_format)


@app.command()
def published(
    dir_: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", parser=located, help="An arena, whose own figures stand beside the printed ones."
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="PAPER", help="NoMIRACL or MIRAGE-Bench; both if absent.")
    ] = None,
    item: Annotated[str | None, typer.Option(metavar="ITEM", help="The table or figure, such as 'Table 3'.")] = None,
    languages: Languages = None,
    parser: Parser = "published",
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--as", metavar="PRINTED=SYSTEM", help="The arena's system that a printed name means. May be repeated."
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(metavar="NAME|DIR", help="Counts tokens for MIRAGE-Bench's Table 1, if on this machine."),
    ] = "estimate",
    output_format: How = "table",
) -> None:
    """Print the figures of the two papers, each beside what an arena gives.

    Reads the bundled figures, and of DIR what a figure rests on: queries, passages, answers, outcomes. Writes nothing.
    Rates are those that the papers print, 1 - accuracy, with 95% intervals; `remark` says why there is none. MIRAGE-
    Bench's Tables 2 to 5 and its figures come from `mirage reproduce`.
    """
    from mirage import llm, store
    from mirage.reproduce.printed import printed_figures

    path = store.bundled().get("published")
    if path is None:
        raise ArenaError("the bundled figures are not here", do="run this from a checkout, or make them: make data")
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
    """Say so where many answers are unparsed."""
    from mirage.outcomes import unparsed_note

    if text := unparsed_note(rates):
        note(text[0].upper() + text[1:] + ".")


def _pairs(names: list[str]) -> dict[str, str]:
    """What `--as` maps."""
    pairs = {}
    for pair in names:
        printed, mark, system = pair.rpartition("=")
        if not (printed and mark and system):
            raise BadInput(f"--as {pair} is no pair", do="write: --as 'PRINTED NAME=SYSTEM'")
        pairs[printed] = system
    return pairs
