"""Commands that retrieve passages and generate answers: `mirage generate` and `mirage generate retrieve`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from mirage.cli.arenas import part_of
from mirage.cli.common import DEFAULT, How, Languages, OwnDir, Share, command_group, local_path
from mirage.cli.connection import Connection, read_object, tell
from mirage.cli.output import note, progress, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage.llm.asking import Engine
    from mirage.llm.calls import ChatModel, Cost
    from mirage.llm.rag_service import RagService
    from mirage.stages.generate.settings import GenerateSettings
    from mirage.stages.generate.stage import GenerateResult

RAG = "rag"
"""Value of `--provider` for a RAG service."""
COUNTS = ("language", "queries", "ok", "empty", "truncated", "refused", "api_error", "missing", "not_asked")
"""Columns of `generate`."""
generating_commands = command_group("generate", "Generate answers with a model.", default=True)


@generating_commands.command(DEFAULT)
@expand_settings
def generate(
    dir_: OwnDir,
    connection: Connection,
    system: Annotated[
        str | None,
        Option(metavar="NAME", help="Name of the system; default MODEL+RETRIEVER."),
    ] = None,
    retriever: Annotated[
        str | None,
        Option(metavar="NAME", help="Use this retriever's passages instead of those of the queries."),
    ] = None,
    depth: Annotated[int | None, Option(min=1, help="Number of its top passages; default all.")] = None,
    template: Annotated[
        str,
        Option(
            metavar="NAME|FILE", help="rag, vanilla, role, repeat or explanation, or a text file with placeholders."
        ),
    ] = "rag",
    languages: Languages = None,
    limit: Annotated[int | None, Option(min=1, help="Maximum queries per language, the first by id.")] = None,
    relevant_only: Annotated[
        bool,
        Option("--relevant-only", help="Show only relevant passages, for teachers of `mirage export sft`."),
    ] = False,
    replace: Annotated[bool, Option("--replace", help="Generate existing answers again.")] = False,
    samples: Annotated[
        int, Option(min=1, max=100, help="Answers to each query; all but the first go to the table samples.")
    ] = 1,
    share: Share = None,
    output_format: How = "table",
) -> None:
    """Generate answers to the queries of an arena with a model.

    Reads the tables queries and passages; with --retriever the passages of `mirage generate retrieve` or an imported
    run. Writes the table answers, keeping those of other systems, and caches every reply in the arena's ledger: rerun
    the command to resume; no call is paid for twice. A failed call is a row with its reason, and is retried by the
    next run. Further --samples go to the table samples (`mirage report noise`). With --replace every query is asked
    and paid for again; features and judgments of replaced answers are removed. With --provider rag the queries go to a
    RAG service at --base-url, and its contexts become the list of a retriever. Prints the answers by status.
    """
    from mirage.llm import calls as llm_calls
    from mirage.llm import prompts
    from mirage.stages.generate import stage as generating
    from mirage.stages.generate.settings import GenerateSettings

    if connection.provider == RAG:
        if (retriever, depth, share, template, relevant_only, samples) != (None, None, None, "rag", False, 1):
            raise BadInput(
                "a RAG service retrieves and prompts by itself",
                do="omit --retriever, --depth, --template, --relevant-only, --samples and --shard",
            )
        prompt, engine, model = None, None, _service(connection).model(_name_of(system, "", None, None))
    else:
        if connection.paths or connection.body:
            raise BadInput("--paths and --body are of a RAG service", do=f"add --provider {RAG}, or omit them")
        prompt = prompts.load_template(template)
        model = connection.chat_model(top_p=prompt.top_p, max_tokens=prompt.max_new_tokens)
        engine = connection.only_caller(model)
    settings = GenerateSettings(
        _name_of(system, model.settings.model, retriever, depth),
        prompt,
        model.settings,
        languages=languages,
        limit=limit,
        relevant_only=relevant_only,
        retriever=retriever,
        depth=depth,
        replace=replace,
    )
    if samples > 1 and (replace or share is not None):
        raise BadInput(
            "--samples cannot be combined with --replace and --shard",
            do="use another name for --system, or add samples to the whole arena afterwards",
        )
    if connection.dry_run and share is None:
        planned = [generating.plan_generating(dir_, settings, model)]
        planned += [generating.plan_sample(dir_, settings, k, model) for k in range(1, samples)]
        tell(llm_calls.total(planned), planned=True)
        return
    dir_, shard = part_of(whole := dir_, share, dry=connection.dry_run)
    if shard is not None:
        settings = generating.of_shard(whole, settings, shard)
        if not settings.queries:
            note("This shard has no queries.")
            return
    result = _generate(dir_, settings, engine, model)
    cost = result.cost
    for sample in range(1, samples):
        model = model.minus_cost(cost)
        with connection.calls(model, f"Asking for sample {sample}", "mirage generate") as calls:
            _, cost = generating.generate_sample(dir_, settings, sample, calls)
        tell(cost)
    _show_counts(result.counts, output_format)


def _service(connection: Connection) -> RagService:
    """Return the RAG service of the options.

    Raises:
        BadInput: if it has no address, or an option is not one of a RAG service.
    """
    from mirage.llm.rag_service import rag_service, read_paths

    if connection.base_url is None:
        raise BadInput("the RAG service has no address", do="add --base-url with the address that takes questions")
    if connection.model is not None or connection.batch or connection.engine != "local":
        raise BadInput("a RAG service has no model, batches or engine", do="omit --model, --batch and --engine")
    if connection.extra_body is not None:
        raise BadInput("a RAG service has no extra body", do="write its fields into --body")
    return rag_service(
        connection.base_url,
        key_env=connection.key_env,
        name=connection.service,
        paths=read_paths(connection.paths) if connection.paths else None,
        body=read_object("--body", connection.body, '{"question": "{query}", "top_k": 5}') if connection.body else None,
        limits=connection.limits(),
    )


def _generate(path: Path, settings: GenerateSettings, engine: Engine | None, model: ChatModel) -> GenerateResult:
    """Generate answers with a progress bar, and report the outcome; on Ctrl-C, the number of cached replies."""
    from mirage.llm.asking import ArenaCalls
    from mirage.stages.generate.stage import generate_answers

    n_replies = 0
    with progress("Asking") as update:

        def count(cost: Cost, of: int) -> None:
            nonlocal n_replies
            n_replies = cost.calls + cost.kept
            money = "" if cost.money is None else f", {cost.money:,.2f}"
            tokens = f"{cost.tokens_in + cost.tokens_out:,} tokens{money}"
            update(n_replies + cost.failed, of, f"Asking ({cost.failed:,} failed, {tokens})")

        calls = ArenaCalls(model, "mirage generate", on_cost=count, engine=engine)
        try:
            _, result = generate_answers(path, settings, calls)
        except KeyboardInterrupt:
            note(
                f"Stopped. {n_replies:,} replies are cached in the arena's ledger. Rerun the command to resume: none "
                "of them is requested again."
            )
            raise Exit(130) from None
    _tell_result(result, settings.system, replaced=settings.replace)
    return result


def _tell_result(result: GenerateResult, system: str, *, replaced: bool) -> None:
    """Report cost, existing and shared answers, and failures."""
    tell(result.cost)
    if result.kept:
        note(f"{result.kept:,} answers already exist.")
    for other, n in sorted(result.shared.items()):
        note(
            f"{n:,} answers equal those of {other}: same model, same prompts. If {system} is another model, "
            "serve it under another name and rerun with --replace."
        )
    for reason, n in result.reasons.most_common():
        command = "the same command without --replace" if replaced else "the same command"
        note(f"{n:,} calls failed; rerun {command} to retry: {reason}")
    for reason, n in result.unwhole.most_common():
        note(f"{n:,} replies are incomplete: {reason}")


def _show_counts(counts_by_language: Mapping[str, Counter[str]], output_format: How) -> None:
    """Print answers by language and status."""
    rows = [
        {"language": code, "queries": counts.total()}
        | {name: counts[name.replace("not_asked", "not asked")] for name in COUNTS[2:]}
        for code, counts in counts_by_language.items()
    ]
    if any(row["not_asked"] for row in rows):
        note("The budget was reached; rerun the command to resume.")
    rare = [name for name in COUNTS[3:] if output_format == "table" and not any(row[name] for row in rows)]
    show(rows, [name for name in COUNTS if name not in rare], output_format)


def _name_of(system: str | None, model: str, retriever: str | None, depth: int | None) -> str:
    """Return the name of the system, from the option or the model and retriever.

    Raises:
        BadInput: if there is neither, or a depth is given without a retriever.
    """
    from mirage.stages.generate.stage import whole_system

    if retriever is None and depth is not None:
        raise BadInput("--depth needs a retriever", do="add --retriever, or omit --depth")
    if retriever is None and system is None:
        raise BadInput("the system has no name", do="add --system or --retriever")
    return system or whole_system(model, str(retriever))


@generating_commands.command("retrieve")
def retrieve(
    dir_: OwnDir,
    name: Annotated[str, Option("--name", metavar="NAME", help="Name of the retriever.")] = "bm25",
    corpus: Annotated[
        Path | None,
        Option(
            metavar="PATH",
            parser=local_path,
            help="Corpus: JSON Lines, CSV or Parquet; by default the arena's passages.",
        ),
    ] = None,
    depth: Annotated[int, Option(min=1, help="Maximum passages per query.")] = 100,
    languages: Languages = None,
) -> None:
    """Retrieve passages by BM25 for the queries of an arena: the first half of an end-to-end system.

    Reads the tables queries, passages and retrieved, and the corpus: `docid`, `title`, `text`, and `language` unless
    the file name gives it (corpus.fi.jsonl). Writes the table retrieved, keeping the lists of other retrievers.
    `mirage generate --retriever NAME` shows the passages to a model; `mirage import --as trec` takes the lists of other
    retrievers. Needs the extra `retrieval`.
    """
    from mirage.stages.retrieve.stage import RetrieveSettings
    from mirage.stages.retrieve.stage import retrieve as retrieve_for
    from mirage.stages.shown import refuse_name

    refuse_name(name)
    settings = RetrieveSettings(name, depth, corpus, languages)
    with progress("Retrieving") as update:
        arena = retrieve_for(dir_, settings, made_by="mirage generate retrieve", progress=update)
    own = arena.sql(
        "SELECT count(*) AS passages, count(DISTINCT (language, query_id)) AS queries FROM retrieved"
        " WHERE retriever = ?",
        [name],
    ).to_pylist()[0]
    note(f"{arena.address}: {own['passages']:,} passages for {own['queries']:,} queries by {name}")
    command = f"mirage generate {quote(str(dir_))} --retriever {quote(name)} --depth 10 --model MODEL"
    note(f"Next, to generate answers: {command}")
