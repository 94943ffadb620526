"""Commands about answers: `mirage generate`, `mirage show answers`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Share, app, codes
from mirage.cli.connection import Connection, connected, tell
from mirage.cli.merging import part_of
from mirage.cli.output import note, progress, show
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage import llm

COUNTS = (*("language", "queries", "ok", "empty", "truncated", "refused", "api_error", "missing", "not_asked"),)
"""Columns of `generate`."""
ANSWERS = ("language", "query_id", "system", "outcome", "key", "reason", "answer", "citations", "why")
"""Columns of `show answers`."""

shown = typer.Typer(help="Print what an arena holds.", no_args_is_help=True)
app.add_typer(shown, name="show")


@app.command()
@connected
def generate(
    dir_: ArenaDir,
    connection: Connection,
    system: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the system whose answers these are; MODEL+RETRIEVER if absent."),
    ] = None,
    retriever: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show what this retriever brought, not the passages of the queries."),
    ] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="How many of its first passages; all if absent.")] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="The baselines answer, as systems with the retriever; no model does.")
    ] = False,
    template: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE", help="rag, vanilla, role, repeat or explanation, or a text file with placeholders."
        ),
    ] = "rag",
    languages: Languages = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Queries a language, the first by id.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the passages' order, where they show ids.")] = 0,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="What cuts passages: the model's own tokenizer if on this machine, else `estimate`.",
        ),
    ] = None,
    relevant_only: Annotated[
        bool, typer.Option("--relevant-only", help="Show the relevant passages alone: a teacher for `mirage sft`.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Ask again for answers that the system has.")] = False,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Let a model answer the queries of an arena.

    Reads the tables queries and passages; with `--retriever` the passages that `mirage retrieve` or a run brought, for
    a whole system of a retriever with a model. Writes the table answers, where those of other systems stay, and keeps
    every reply in the arena's ledger: nothing is paid for twice, and the same command goes on where it was stopped.
    A failed call is a row with its reason, and is made again by the next run. With `--replace` every query is asked
    and paid for again, whatever the ledger holds; one that was stopped goes on with the same command. What was measured
    or judged on answers that are replaced is removed. Prints the answers by status.
    """
    from mirage import llm, prompts
    from mirage.generate import stage as generating

    if baselines:
        _answer_by_baselines(dir_, retriever, depth, output_format)
        return
    prompt = prompts.load_template(template)
    settings = connection.settings(top_p=prompt.top_p, max_tokens=prompt.max_new_tokens)
    limits = connection.limits()
    system = _name_of(system, settings.model, retriever, depth)
    request = generating.GenerateOptions(
        system,
        prompt,
        settings,
        llm.tokens_of(settings.model, tokenizer) if tokenizer else None,
        seed=seed,
        languages=codes(languages),
        limit=limit,
        relevant_only=relevant_only,
        retriever=retriever,
        depth=depth,
        replace=replace,
    )
    run = connection.only_caller(settings=settings, limits=limits)
    if connection.dry_run and share is None:
        tell(generating.plan_generating(dir_, request, limits=limits), planned=True)
        return
    dir_, shard = part_of(whole := dir_, share, dry=connection.dry_run)
    if shard is not None:
        request = generating.of_shard(whole, request, shard)
        if not request.queries:
            note("This share holds none of the queries.")
            return
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
            f"{n:,} answers are those of {other} too: the same model was asked the same. If {system} is another model, "
            "serve it under another name, and run this with --replace."
        )
    for reason, n in result.reasons.most_common():
        command = "the same command without --replace" if replace else "the same command"
        note(f"{n:,} calls failed; {command} makes them again: {reason}")
    for reason, n in result.unwhole.most_common():
        note(f"{n:,} replies are not whole: {reason}")
    rows = [
        {"language": code, "queries": counts.total()}
        | {name: counts[name.replace("not_asked", "not asked")] for name in COUNTS[2:]}
        for code, counts in result.counts.items()
    ]
    if any(row["not_asked"] for row in rows):
        note("The budget was reached; the same command goes on.")
    show(rows, COUNTS, output_format)


def _name_of(system: str | None, model: str, retriever: str | None, depth: int | None) -> str:
    """The name of the system, also where no option says it.

    Raises:
        BadInput: if nothing says it, or a depth is given without a retriever.
    """
    from mirage.generate.stage import whole_system

    if retriever is None and depth is not None:
        raise BadInput("a depth is of a retriever", do="name it with --retriever, or leave --depth out")
    if retriever is None and system is None:
        raise BadInput("the system has no name", do="name it with --system, or let a --retriever name it")
    return system or whole_system(model, str(retriever))


def _answer_by_baselines(path: Path, retriever: str | None, depth: int | None, output_format: How) -> None:
    """Let the baselines answer from what a retriever brought."""
    from mirage import stage, store
    from mirage.generate import stage as generating
    from mirage.shown import need_retriever

    if retriever is None:
        raise BadInput("the baselines over the given passages are of `mirage run`", do="name a --retriever")
    need_retriever(store.open_arena(path), retriever)
    arena = stage.run(
        generating.BASELINES_OVER, path, made_by="mirage generate", part="system", retriever=retriever, depth=depth
    )
    counts: dict[str, Counter[str]] = {}
    answers = arena.read("answers", columns=["language", "system", "status"]).to_pylist()
    for row in answers:
        if row["system"].startswith("baseline/") and row["system"].endswith(f"+{retriever}"):
            counts.setdefault(row["language"], Counter())[row["status"]] += 1
    rows = [
        {"language": code, "queries": n.total()} | {name: n[name] for name in COUNTS[2:]} for code, n in counts.items()
    ]
    show(rows, COUNTS, output_format)


@shown.command("answers")
def show_answers(
    dir_: ArenaDir,
    system: Annotated[str, typer.Option(metavar="NAME", help="The system.")],
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Print the answers of a system, taken apart.

    Language, query, system, outcome (ok, empty, truncated, refused, api_error, missing), the key of the call in
    the arena's ledger, the parts of the answer (reasoning, answer, and the passages cited, in the order of first
    mention, with commas), and why there is no sound answer. Reads the tables answers and passages. Writes nothing.
    """
    from mirage.generate import stage as generating

    show(generating.answers_of(dir_, system, languages=codes(languages)), ANSWERS, output_format)
