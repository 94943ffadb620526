"""Answer generation for an arena: a model's answers are added to those of other systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import llm, schema, store
from mirage.errors import BadInput, UnknownName
from mirage.llm.engines.shards import Shard
from mirage.stages import generate
from mirage.stages.generate import baselines
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.shown import ShownPassages, contexts, given_by, need_retriever
from mirage.stages.stage import Stage, Tables
from mirage.store import ledger_path
from mirage.text.answers import citations, cited_ids, is_numbered, parse_answer

if TYPE_CHECKING:
    import pyarrow as pa

Engine = Callable[..., Sequence[llm.Reply | None]]
"""Makes calls: `engine(conversations, ledger=..., on_reply=..., accepted=...)`, such as `llm.complete` with the other
arguments bound; with `again=...` for a replacement.
"""
_COUNTED = "tokens by"
_SHOWN = ("queries", "passages", "retrieved")
"""Tables that prompts and answers are built from."""


@dataclass(frozen=True)
class GenerateResult:
    """Result of generating answers."""

    arena: store.Arena
    """The arena after the run."""
    counts: Mapping[str, Counter[str]]
    """Answers of the system by language and status; `not asked` if the budget was reached."""
    kept: int
    """Valid answers that already existed."""
    shared: Counter[str]
    """Replies shared with another system, by that system: the same model got the same prompts."""
    reasons: Counter[str]
    """Number of failed calls by reason."""
    unwhole: Counter[str]
    """Number of incomplete replies by reason."""
    cost: llm.Cost
    """Cost of this run."""


def plan_generating(path: Path, settings: GenerateSettings, *, limits: llm.Limits) -> llm.Cost:
    """Return the maximum cost of a run; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks queries, or the passages for the prompts.
        UnknownName: if a language has no queries, or there is no such retriever.
        BadInput: if the system has answers that were made differently.
    """
    seen = store.consistently(path, lambda arena: _seen(arena, settings))
    settings = _fix_settings(seen.arena, settings)
    with store.kept_ledger(path) as ledger:
        prepared = generate.prepare(**_tables(seen, settings), settings=settings, first_key=_first_key(ledger))
        again = name_repetition(settings.system, ledger, _scope(settings), replace=settings.replace)
        return llm.plan(prepared.conversations, settings=settings.model, limits=limits, ledger=ledger, again=again)


def generate_answers(
    path: Path,
    settings: GenerateSettings,
    *,
    engine: Engine,
    limits: llm.Limits,
    made_by: str,
    on_reply: llm.OnCost | None = None,
) -> GenerateResult:
    """Generate a system's answers to the queries of an arena.

    Replies are committed to the arena's ledger as they arrive, and the table is written at the end, also if the service
    ends the run: a rerun resumes without paying twice. Answers of other systems stay. Rows derived from removed answers
    are removed.

    Args:
        path: the arena's folder.
        settings: system, template, model and queries.
        engine: makes the calls, with `settings.model`.
        limits: limits, with the prices.
        made_by: the command, for the manifest.
        on_reply: called as replies arrive.

    Raises:
        ArenaError: if the arena lacks queries or passages, or cannot be written.
        UnknownName: if a language has no queries.
        BadInput: if the system has answers that were made differently.
        Unreachable: if the service rejects every call, or every call failed.
    """
    seen = store.consistently(path, lambda arena: _seen(arena, settings))
    settings = _fix_settings(seen.arena, settings)
    tables = _tables(seen, settings)
    asking, kept = llm.Asking(limits, on_reply), 0
    chosen = generate.choose_queries(tables["queries"], tables["passages"], settings)
    with store.Ledger(ledger_path(path)) as ledger:
        again = name_repetition(settings.system, ledger, _scope(settings), replace=settings.replace, begin=True)

        def complete(conversations: Sequence[llm.Messages], *, accepted: bool) -> Sequence[llm.Reply | None]:
            nonlocal kept
            kept = len(chosen) - len(conversations)
            repeated = {} if again is None else {"again": again}
            return asking.ask(conversations, engine, ledger=ledger, accepted=accepted, **repeated)

        answers = generate.generate(**tables, settings=settings, complete=complete, first_key=_first_key(ledger))
        answers = _add_dates(answers, ledger)
        arena = _write(path, answers, settings, seen=seen, made_by=made_by)
        if settings.replace and asking.ended:
            ledger.end_replacement(settings.system, _scope(settings))
    statuses = answers["status"].to_pylist()
    asking.need_any(not set(generate.SOUND).isdisjoint(statuses), each="query")
    keys = zip(*(answers[name].to_pylist() for name in ("language", "query_id")), strict=True)
    counts = count_answers(
        [(language, query_id) for language, query_id, *_ in chosen], dict(zip(keys, statuses, strict=True))
    )
    kept -= sum(count["missing"] for count in counts.values())
    shared = store.consistently(path, lambda arena: _shared(arena, settings.system))
    return GenerateResult(arena, counts, kept, shared, asking.reasons, asking.unwhole, asking.cost)


def plan_sample(path: Path, settings: GenerateSettings, sample: int, *, limits: llm.Limits | None = None) -> llm.Cost:
    """Estimate the maximum cost of `generate_sample` without sending or writing anything. Raises as it does."""
    seen = store.consistently(path, lambda arena: _seen(arena, settings))
    settings = _fix_settings(seen.arena, settings)
    prepared = generate.prepare(**{**_tables(seen, settings), "answers": None}, settings=settings)
    with store.kept_ledger(path) as ledger:
        again = _name_sample(settings, sample)
        return llm.plan(prepared.conversations, settings=settings.model, limits=limits, ledger=ledger, again=again)


def generate_sample(
    path: Path, settings: GenerateSettings, sample: int, *, calls: llm.ArenaCalls
) -> tuple[store.Arena, llm.Cost]:
    """Ask a system's queries once more, and write its answers to the table samples.

    Replies are committed to the ledger as they arrive, so a rerun resumes without paying twice. Failed calls have no
    row, and are made again by the next run. The samples of this number replace those on the same queries.

    Args:
        path: the arena's folder, with the system's first answers.
        settings: as for `generate_answers`.
        sample: number of the answers, from 1.
        calls: the model, with `settings.model`.

    Returns:
        The arena, and the cost.

    Raises:
        ArenaError: if the arena lacks queries or passages, or cannot be written.
        BadInput: if the system has answers that were made differently.
        Unreachable: if the service rejects every call, or every call failed.
    """
    seen = store.consistently(path, lambda arena: _seen(arena, settings))
    settings = _fix_settings(seen.arena, settings)
    prepared = generate.prepare(**{**_tables(seen, settings), "answers": None}, settings=settings)
    with store.Ledger(ledger_path(path)) as ledger:
        replies = llm.put(
            prepared.conversations,
            engine=calls.engine,
            ledger=ledger,
            limits=calls.model.limits,
            progress=calls.progress,
            again=_name_sample(settings, sample),
        )
    rows = [
        schema.SampledAnswer(
            prompt.language,
            prompt.query_id,
            settings.system,
            sample,
            reply.text,
            reply.status,
            settings.template.name,
            reply.reason,
        )
        for prompt, reply in zip(prepared.to_ask, replies.by_number, strict=True)
        if reply is not None and reply.status in generate.SOUND
    ]
    queries = store.Snapshot(seen.arena, {name: seen.tables[name] for name in _SHOWN if name in seen.tables})
    arena = calls.write(path, "samples", schema.from_rows("samples", rows), subject=settings.system, seen=queries)
    replies.need_any()
    return arena, replies.cost


def _name_sample(settings: GenerateSettings, sample: int) -> str:
    """Return the name of a sample's repetition, distinct per system."""
    return f"{settings.system} sample {sample}"


def of_shard(whole: Path, settings: GenerateSettings, shard: Shard) -> GenerateSettings:
    """Return the settings for a shard's queries, so that all shards together cover all queries.

    Args:
        whole: the folder of the unsharded arena.
        settings: the settings for it.
        shard: the shard.

    Raises:
        ArenaError: if the arena lacks queries or passages.
        UnknownName: if a language has no queries.
        BadInput: if answers are to be replaced: a merge could not tell which answers are newer.
    """
    if settings.replace:
        raise BadInput(
            "--replace cannot be combined with --shard: a merge could not tell which answers are newer",
            do="use another name for --system",
        )
    tables = _tables(store.consistently(whole, lambda arena: _seen(arena, settings)), settings)
    chosen = generate.choose_queries(tables["queries"], tables["passages"], settings)
    queries = frozenset((code, query_id) for code, query_id, *_ in chosen if shard.has(code, query_id))
    return replace(settings, languages=None, limit=None, queries=queries)


def answers_of(path: Path, system: str, *, languages: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Return the parsed answers of a system, as printed by `mirage show answers`.

    Raises:
        ArenaError: if the arena lacks answers.
        UnknownName: if there is no such system or language among them.
    """
    arena = store.open_arena(path)
    table = arena.read("answers", languages=languages)
    systems = set(table["system"].to_pylist())
    if system not in systems:
        raise UnknownName("system", system, systems, where=str(path))
    passages = None
    if "passages" in arena.tables:
        passages = arena.read("passages", columns=["language", "query_id", "position", "passage_id"])
    lists = ShownPassages(passages, arena.read_optional("retrieved"), columns=("passage_id",))
    rows = []
    for row in table.to_pylist():
        if row["system"] != system:
            continue
        text = row["text"] or ""
        parts = parse_answer(text) if text else None
        numbered = is_numbered(row["template"], row["numbered"])
        seen = lists.of((row["language"], row["query_id"]), row["retriever"], row["depth"])
        mentions = citations(text, [passage_id for (passage_id,) in seen], numbered=numbered)
        rows.append(
            {
                **{name: row[name] for name in ("language", "query_id", "system")},
                "outcome": row["status"],
                "key": row["call"],
                "reason": parts and parts.reason,
                "answer": parts and parts.answer,
                "citations": ",".join(cited_ids(mentions, unknown=True)),
                "why": row["reason"],
            }
        )
    return rows


def _seen(arena: store.Arena, settings: GenerateSettings) -> store.Snapshot:
    """Read the inputs of a generating model, and existing answers."""
    if settings.retriever is not None:
        need_retriever(arena, settings.retriever)
    names = ("queries", "passages") if settings.retriever is None else ("queries", "retrieved")
    for name in names:
        arena.need(name)
    refuse_languages(arena, settings.languages)
    tables = {}
    for name in ("queries", "passages", *names[1:], "turns"):
        if (table := arena.read_optional(name, languages=settings.languages)) is not None:
            tables[name] = table
    if "answers" in arena.tables:
        tables["answers"] = arena.read("answers")
    return store.Snapshot(arena, tables)


def refuse_languages(arena: store.Arena, languages: Sequence[str] | None) -> None:
    """Check that languages have queries.

    Raises:
        UnknownName: if one has none.
    """
    for code in languages or ():
        if code not in arena.languages("queries"):
            raise UnknownName("language", code, arena.languages("queries"), where=arena.address)


def _tables(seen: store.Snapshot, settings: GenerateSettings) -> dict[str, Any]:
    """Return the stage's arguments that are tables."""
    tables: dict[str, Any] = {"answers": None, **seen.tables}
    retrieved = tables.pop("retrieved", None)
    if settings.retriever is not None:
        tables["passages"] = given_by(contexts(tables.get("passages"), retrieved), settings.retriever, settings.depth)
    return tables


def _first_key(ledger: store.Ledger | None) -> Callable[[str], str]:
    """Return the function that maps the key of a repeated call to the key of the first one."""
    return (lambda key: key) if ledger is None else partial(llm.first_key, ledger=ledger)


def _scope(settings: GenerateSettings) -> str:
    """Describe a replacement: a rerun of the same command has the same scope."""
    selection = {"languages": settings.languages and sorted(settings.languages), "limit": settings.limit}
    return f"{_note(settings)}; {selection}; {settings.template.text}"


def name_repetition(
    system: str, ledger: store.Ledger | None, scope: str, *, replace: bool, begin: bool = False
) -> str | None:
    """Return the name of the repetition that calls belong to, distinct per system; None for the first time. Arguments
    as for `Ledger.replacement`.
    """
    number = ledger.replacement(system, scope, replace=replace, begin=begin) if ledger else 0
    return f"{system} {number}" if number else None


def _note(settings: GenerateSettings) -> str:
    """Describe how answers are made, for the manifest."""
    counted = (settings.tokens or llm.TokenEstimate()).name
    options = {
        "template": settings.template.name,
        "order seed": settings.seed,
        _COUNTED: counted,
        **llm.parameters(settings.model),
    }
    if settings.relevant_only:
        options["passages"] = "relevant"
    if settings.retriever is not None:
        options |= {"retriever": settings.retriever, "depth": settings.depth or "all"}
    return f"{settings.system}: " + ", ".join(f"{name} {value}" for name, value in options.items())


def _fix_settings(arena: store.Arena, settings: GenerateSettings) -> GenerateSettings:
    """Fix the token counter, and reject answers of two models or parameter sets under one name.

    Raises:
        BadInput: if the system has answers that were made differently.
    """
    notes = arena.manifest["made"]["answers"]["notes"] if "answers" in arena.tables else []
    before = next((note for note in notes if note.startswith(f"{settings.system}: ")), None)
    if settings.tokens is None:
        # A tokenizer installed since must not change the prompts of a resumed run.
        by_estimate = before is not None and f", {_COUNTED} {llm.TokenEstimate().name}," in before
        settings = replace(settings, tokens=llm.tokens_of(settings.model.model, "estimate" if by_estimate else None))
    if before not in (None, _note(settings)) and not settings.replace:
        raise BadInput(
            f"the answers of {before}; now it is {_note(settings).removeprefix(f'{settings.system}: ')}",
            where=arena.address,
            do="use another name for --system, or replace its answers with --replace",
        )
    return settings


def _shared(arena: store.Arena, system: str) -> Counter[str]:
    """Count the replies that a system shares with others, by the other's name."""
    rows = arena.sql(
        "SELECT other.system AS system, count(*) AS n FROM answers AS own JOIN answers AS other USING (call)"
        " WHERE own.system = ? AND other.system <> ? AND own.status <> 'api_error' GROUP BY other.system",
        [system, system],
    )
    return Counter(dict(zip(rows["system"].to_pylist(), rows["n"].to_pylist(), strict=True)))


def _add_dates(answers: pa.Table, ledger: store.Ledger) -> pa.Table:
    """Set the dates of answers to the days on which their replies arrived; a cached reply keeps its day."""
    days = ledger.days(call for call in answers["call"].to_pylist() if call is not None)
    rows = [row | {"run_date": days.get(row["call"], row["run_date"])} for row in answers.to_pylist()]
    return schema.from_columns("answers", {name: [row[name] for row in rows] for name in answers.column_names})


def count_answers(
    chosen: Sequence[tuple[str, str]], statuses: Mapping[tuple[str, str], str]
) -> dict[str, Counter[str]]:
    """Count answers to chosen queries (language and id) by language and status."""
    counts: dict[str, Counter[str]] = {}
    for key in chosen:
        counts.setdefault(key[0], Counter())[statuses.get(key, "not asked")] += 1
    return counts


def _write(
    path: Path, answers: pa.Table, settings: GenerateSettings, *, seen: store.Snapshot, made_by: str
) -> store.Arena:
    """Upsert the new or changed answers of a system.

    Its answers to other queries stay, also those written by another program meanwhile.
    """
    keys, before = schema.key("answers"), seen.tables.get("answers")
    stored = {tuple(row[key] for key in keys): row for row in before.to_pylist()} if before is not None else {}
    new = [row for row in answers.to_pylist() if stored.get(tuple(row[key] for key in keys)) != row]
    if not new:
        return store.open_arena(path)
    rows = store.by_key("answers", schema.from_rows("answers", [schema.Answer(**row) for row in new]))
    queries = store.Snapshot(seen.arena, {name: seen.tables[name] for name in _SHOWN if name in seen.tables})
    result = store.upsert(
        path,
        {"answers": rows},
        made_by=store.Provenance(made_by, notes=[_note(settings)], subjects=[settings.system]),
        check=lambda arena: _fix_settings(arena, settings),
        seen=queries,
    )
    return result.arena


def _baselines(tables: Tables) -> dict[str, pa.Table]:
    return {"answers": baselines.baseline_answers(tables["queries"], tables["passages"])}


def _baselines_over(tables: Tables, *, retriever: str, depth: int | None = None) -> dict[str, pa.Table]:
    passages = given_by(contexts(tables.get("passages"), tables["retrieved"]), retriever, depth)
    rows = baselines.baseline_answers(tables["queries"], passages).to_pylist()
    own = {"retriever": retriever, "depth": depth}
    systems = [schema.Answer(**{**row, **own, "system": whole_system(row["system"], retriever)}) for row in rows]
    return {"answers": schema.from_rows("answers", systems)}


def whole_system(generator: str, retriever: str) -> str:
    """Return the name of a generator with a retriever: `gpt-4o+bm25`."""
    return f"{generator}+{retriever}"


BASELINES_OVER = Stage(
    "baselines with a retriever", ("queries", "retrieved"), ("answers",), _baselines_over, uses=("passages",)
)
"""The baselines over a retriever's passages, as separate systems."""
BASELINES = Stage("baselines", ("queries", "passages"), ("answers",), _baselines)
"""The baselines, which add to imported answers."""
