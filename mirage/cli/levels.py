"""Commands for levels corrected by people's labels: `mirage votes label`, `mirage votes levels`, `mirage plan`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, BorrowMargin, File, How, IntoArena, Languages, app, codes
from mirage.cli.output import note, show
from mirage.cli.voting import votes
from mirage.errors import BadInput
from mirage.text.segmentation import count_text

LEVELS = (
    *("measure", "language", "subset", "system", "uncorrected", "n", "corrected", "low", "high", "labels", "lam"),
    *("width", "status", "reason"),
)
"""Columns of `mirage votes levels`."""
PLAN = ("measure", "language", "add", "labels", "answers", "error_sd", "width", "width_after", "cost")
"""Columns of `mirage plan`."""

Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="rate|nuggets|feature:NAME|score:NAME",
        help="Measure; default all with labels. Repeatable.",
    ),
]
Predictors = Annotated[
    list[str] | None,
    typer.Option("--predictor", metavar="FEATURE", help="Feature to use as a predictor of the labels. Repeatable."),
]


@votes.command("label")
def label(file: File, into: IntoArena) -> None:
    """Import people's labels on answers from a file.

    A record has query_id, system, rater and value; language if the arena has several; measure, by default `answered`: 1
    if the answer answers the question, 0 if it abstains. For other measures than `answered` and bounded features also
    low and high, the ends of the scale. Label answers drawn at random within each language and system, or corrected
    levels are biased. If a record has the labelled text in `answer`, its label is left out when the arena's answer has
    changed since. Reads FILE, and the table answers or outcomes. Writes the table scores; one invalid record rejects
    the file.
    """
    from mirage.people.levels import import_labels

    result = import_labels(into, file, made_by="mirage votes label")
    if result.changed:
        note(f"left out: {count_text(result.changed, 'label')} on answers that have changed since")
    note(f"{result.arena.address}: {count_text(result.labels, 'label')} of people's scores")


@votes.command("levels")
def levels(
    dir_: ArenaDir,
    measures: Measures = None,
    predictors: Predictors = None,
    languages: Languages = None,
    borrow_margin: BorrowMargin = 0.1,
    output_format: How = "table",
) -> None:
    """Print levels corrected by people's labels, next to the uncorrected levels.

    Prediction-powered inference with 95% intervals clustered by query: rates, nugget scores, citation support, other
    bounded features, and scores on any scale. All programs' values of the measure, and their scores on other scales,
    are combined into one cross-fitted prediction. A language with fewer than 10 labels of a system borrows the error of
    the others only if a test finds it equal, with 80% power for --borrow-margin; else it is not checked. Reads the
    votes on citations and nuggets, and the tables of the measures. Writes nothing.
    """
    from mirage import store
    from mirage.people.levels import correct_levels, labels_of, read_log

    arena = store.open_arena(dir_)
    found = labels_of(arena, measures, read_log(), languages=codes(languages), predictors=predictors or ())
    results = [correct_levels(of, margin=borrow_margin) for of in found]
    columns = LEVELS if output_format != "table" else LEVELS[:-1]
    show([dataclasses.asdict(row) for result in results for row in result.rows], columns, output_format)
    for result in results:
        for line in result.notes():
            note(f"{result.labels.measure.name}: {line}")


@app.command()
def plan(
    dir_: ArenaDir,
    labels: Annotated[int, typer.Option(min=1, help="Number of labels to add; with costs, the budget.")] = 100,
    measures: Measures = None,
    predictors: Predictors = None,
    languages: Languages = None,
    costs: Annotated[
        list[str] | None,
        typer.Option("--cost", metavar="CODE=COST", help="Cost of a label in a language; default 1. Repeatable."),
    ] = None,
    output_format: How = "table",
) -> None:
    """Print where further labels help most, by measure and language. Each label goes where it reduces the variance of a
    measure's mean over languages most for its cost. width and width_after predict a system's 95% interval in the
    language, as a share of the measure's range, now and with the labels added. Reads the votes on citations and
    nuggets, and the tables of the measures. Writes nothing.
    """
    from mirage import store
    from mirage.people.levels import labels_of, plan_labels, read_log

    arena = store.open_arena(dir_)
    found = labels_of(arena, measures, read_log(), languages=codes(languages), predictors=predictors or ())
    rows = plan_labels(found, labels, costs=_costs(costs))
    show([dataclasses.asdict(row) for row in rows], PLAN, output_format)
    note("draw the answers to label at random within each language and system")


def _costs(given: list[str] | None) -> dict[str, float]:
    """Parse the costs of labels.

    Raises:
        BadInput: if a cost is not `CODE=NUMBER`.
    """
    costs = {}
    for text in given or []:
        code, _, number = text.partition("=")
        try:
            costs[code] = float(number)
        except ValueError:
            raise BadInput(f"{text!r} is not a cost", do="write it as CODE=NUMBER: sw=2") from None
    return costs
