"""Command that recommends a system: `mirage decide`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from mirage.cli.common import ArenaDir, Corrected, How, Languages, Parser, Seed, Tags, app, codes, select_tagged
from mirage.cli.output import note, show
from mirage.errors import BadInput

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
def decide(
    dir_: ArenaDir,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="relevance|nuggets|JUDGE|pooled",
            help="Referee of the battles, for ratings.",
            show_default="the only one",
        ),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            metavar="MEASURE=W",
            help="Weight of a measure: rating, rate, nuggets or feature:NAME. Repeatable.",
            show_default="rating=1",
        ),
    ] = None,
    budget: Annotated[float | None, typer.Option(help="Maximum US dollars per 1,000 answers.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Maximum median latency, in seconds.")] = None,
    licences: Annotated[list[str] | None, typer.Option("--licence", help="An acceptable licence. Repeatable.")] = None,
    open_weights: Annotated[bool, typer.Option("--open-weights", help="Only systems with open weights.")] = False,
    context_length: Annotated[int | None, typer.Option("--context", help="Minimum context length, in tokens.")] = None,
    tokens_in: Annotated[
        float | None, typer.Option(help="Prompt tokens per answer, if the ledger has no calls.")
    ] = None,
    tokens_out: Annotated[
        float | None, typer.Option(help="Output tokens per answer, if the ledger has no calls.")
    ] = None,
    margin: Annotated[float, typer.Option(help="Equivalence margin.")] = 0.0,
    by: Annotated[
        Literal["language", "system", "weight"], typer.Option(help="One row per language, system or weighting.")
    ] = "language",
    languages: Languages = None,
    parser: Parser = "strict",
    assigner: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Assigner of nuggets; by default the one with the most assignments."),
    ] = None,
    corrected: Corrected = False,
    tags: Tags = None,
    seed: Seed = 0,
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
    from mirage.ranking.decide import DecideSettings, Requirements, choose_systems
    from mirage.ranking.decide.reports import language_records, notes, option_records, weight_records

    settings = DecideSettings(
        weights=_weights(weights),
        judge=judge,
        requirements=Requirements(budget, seconds, tuple(licences or ()), open_weights, context_length),
        margin=margin,
        languages=codes(languages),
        parser=parser,
        assigner=assigner,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        seed=seed,
    )
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
