"""Command that recommends a system: `mirage decide`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import typer

from mirage.cli.common import ArenaDir, Corrected, How, Tags, app, select_tagged
from mirage.cli.output import note, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput
from mirage.ranking.settings import DecideSettings, Requirements

BY_LANGUAGE = (
    *("language", "choice", "best", "contenders", "p_right", "regret", "regret_low", "regret_high"),
    *("one_regret", "one_low", "one_high", "n_queries", "reason"),
)
BY_SYSTEM = (
    *("system", "worth", "low", "high", "price", "seconds", "p_best", "contender", "on_front", "p_front"),
    *("licence", "open_weights", "context_length", "tokens_in", "tokens_out", "n_calls", "refused", "price_reason"),
)
BY_WEIGHT = ("measure", "weight", "choice", "p_right")


@app.command()
@expand_settings
def decide(
    dir_: ArenaDir,
    settings: DecideSettings,
    requirements: Requirements,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            metavar="MEASURE=W",
            help="Weight of a measure: rating, rate, nuggets or feature:NAME. Repeatable.",
            show_default="rating=1",
        ),
    ] = None,
    licences: Annotated[list[str] | None, typer.Option("--licence", help="An acceptable licence. Repeatable.")] = None,
    by: Annotated[
        Literal["language", "system", "weight"], typer.Option(help="One row per language, system or weighting.")
    ] = "language",
    corrected: Corrected = False,
    tags: Tags = None,
    output_format: How = "table",
) -> None:
    """Choose a system: the cheapest that does not differ significantly from the best.

    In every language and over all: the systems that may be the best (a set with 95% confidence), the cheapest of these,
    the probability that no other is better, and the loss per language from using one system for all. --by system shows
    worth, price, latency and the Pareto front; --by weight how the choice depends on the weights. Prices are those of
    the cards (`mirage import systems`), tokens and seconds those of the ledger. --corrected: worth by people's labels
    on answers (`mirage votes label`), for other weights than rating, and also for score:NAME. Reads the tables of the
    measures, systems and answers, and the ledger; writes nothing.
    """
    from mirage import store
    from mirage.ranking.decide import choose_systems
    from mirage.ranking.decide.reports import language_records, notes, option_records, weight_records

    requirements = replace(requirements, licences=tuple(licences or ()))
    settings = replace(settings, weights=_weights(weights), requirements=requirements)
    arena = select_tagged(store.open_arena(dir_), tags)
    if corrected:
        from mirage.people.levels import choose_labelled, read_log

        report = choose_labelled(arena, settings, read_log())
    else:
        report = choose_systems(arena, settings)
    records, columns = {
        "language": (language_records, BY_LANGUAGE),
        "system": (option_records, BY_SYSTEM),
        "weight": (weight_records, BY_WEIGHT),
    }[by]
    rows = records(report)
    if output_format != "json":
        rows = [row | {"contenders": ", ".join(row["contenders"])} if "contenders" in row else row for row in rows]
    show(rows, columns, output_format)
    for line in notes(report):
        note(line)
    if corrected:
        note("worth is corrected by people's labels; languages with too few labels of two systems are left out")


def _weights(given: list[str] | None) -> dict[str, float] | None:
    """Parse the weights of measures.

    Raises:
        BadInput: if a weight is not `MEASURE=NUMBER`.
    """
    if not given:
        return None
    weights = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise BadInput(f"{text!r} is not a weight", do="write it as MEASURE=NUMBER: rating=2")
    return weights
