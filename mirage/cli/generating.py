"""Commands about answers: `mirage generate`, `mirage show answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, app, codes
from mirage.cli.connection import Connection, Engine, EngineArgs, connected, engine_options, tell
from mirage.cli.output import note, progress, show

if TYPE_CHECKING:
    from mirage import llm

COUNTS = (*("language", "questions", "ok", "empty", "truncated", "refused", "api_error", "missing", "not_asked"),)
"""Columns of `generate`."""
ANSWERS = ("language", "query_id", "system", "outcome", "key", "reason", "answer", "citations", "why")
"""Columns of `show answers`."""

shown = typer.Typer(help="Print what an arena holds.", no_args_is_help=True)
app.add_typer(shown, name="show")


@app.command()
@connected
def generate(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option(metavar="NAME", help="Name of the system whose answers these are.")],
    connection: Connection,
    template: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE", help="rag, vanilla, role, repeat or explanation, or a text file with placeholders."
        ),
    ] = "rag",
    languages: Languages = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions a language, the first by id.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the passages' order, where they show ids.")] = 0,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="What cuts passages: the model's own tokenizer if on this machine, else `estimate`.",
        ),
    ] = None,
    engine: Engine = "openai",
    engine_args: EngineArgs = "{}",
    relevant_only: Annotated[
        bool, typer.Option("--relevant-only", help="Show the relevant passages alone: a teacher for `mirage sft`.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Ask again for answers that the system has.")] = False,
    output_format: How = "table",
) -> None:
    """Let a model answer the questions of an arena.

    Reads the tables queries and passages. Writes the table answers, where those of other systems stay, and keeps
    every reply in the arena's ledger: nothing is paid for twice, and the same command goes on where it was stopped.
    A failed call is a row with its reason, and is made again by the next run. With `--replace` every question is asked
    and paid for again, whatever the ledger holds; one that was stopped goes on with the same command. What was measured
    or judged on answers that are replaced is removed. Prints the answers by status.
    """
    from mirage import llm, prompts
    from mirage.generate import stage as generating

    prompt = prompts.load_template(template)
    settings = connection.settings(top_p=prompt.top_p, max_tokens=prompt.max_new_tokens)
    limits = connection.limits()
    request = generating.GenerateOptions(
        system,
        prompt,
        settings,
        llm.tokens_of(settings.model, tokenizer) if tokenizer else None,
        seed=seed,
        languages=codes(languages),
        limit=limit,
        relevant_only=relevant_only,
        replace=replace,
    )
    options = engine_options(engine_args)
    if connection.dry_run:
        tell(generating.plan_generating(dir_, request, limits=limits), planned=True)
        return
    run = connection.engine(engine, options, settings=settings, limits=limits)
    n_replies = 0
    with progress("Asking") as update:

        def count(cost: llm.Cost, of: int) -> None:
            nonlocal n_replies
            n_replies = cost.calls + cost.kept
            money = "" if cost.money is None else f", {cost.money:,.2f}"
            tokens = f"{cost.tokens_in + cost.tokens_out:,} tokens{money}"
            update(n_replies + cost.failed, of, f"Asking ({cost.failed:,} failed, {tokens})")

        try:
            result = generating.generate_answers(
                dir_, request, engine=run, limits=limits, made_by="mirage generate", on_reply=count
            )
        except KeyboardInterrupt:
            note(
                f"Stopped. {n_replies:,} replies are in the arena's ledger. Run the same command again to go on: none "
                "of them is asked for again."
            )
            raise typer.Exit(130) from None
    tell(result.cost)
    if result.kept:
        note(f"{result.kept:,} answers were there already.")
    for other, n in sorted(result.shared.items()):
        note(
            f"{n:,} replies are those of {other} too: the same model was asked the same. If {system} is another model, "
            "serve it under another name, and run this with --replace."
        )
    for reason, n in result.reasons.most_common():
        command = "the same command without --replace" if replace else "the same command"
        note(f"{n:,} calls failed; {command} makes them again: {reason}")
    rows = [
        {"language": code, "questions": counts.total()}
        | {name: counts[name.replace("not_asked", "not asked")] for name in COUNTS[2:]}
        for code, counts in result.counts.items()
    ]
    if any(row["not_asked"] for row in rows):
        note("The budget was reached; the same command goes on.")
    show(rows, COUNTS, output_format)


@shown.command("answers")
def show_answers(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option(metavar="NAME", help="The system.")],
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print the answers of a system, taken apart.

    Language, question, system, outcome (ok, empty, truncated, refused, api_error, missing), the key of the call in
    the arena's ledger, the parts of the reply (reasoning, answer, and the passages cited, in the order of first
    mention, with commas), and why there is no sound reply. Reads the tables answers and passages. Writes nothing.
    """
    from mirage.generate import stage as generating

    show(generating.answers_of(dir_, system, languages=codes(languages)), ANSWERS, output_format)
