"""Answer generation for an arena: a model's answers are added to those of other systems."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.llm import calls as llm_calls
from mirage.llm import tokens as llm_tokens
from mirage.llm.asking import ArenaCalls, Replies
from mirage.llm.calls import ChatModel, Cost, Settings
from mirage.llm.completion import Messages
from mirage.llm.engines.shards import Shard
from mirage.llm.rag_service import RagSettings
from mirage.llm.tokens import TokenEstimate
from mirage.schema import QueryKey, Tables
from mirage.stages.generate import baselines
from mirage.stages.generate.prepare import SOUND, FirstKey, PreparedPrompts, answer_of, choose_queries, prepare
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.model_stage import ModelStage, read_tables
from mirage.stages.shown import ShownPassages, contexts, given_by, need_retriever, refuse_name
from mirage.stages.stage import Stage
from mirage.stats.rows import group, read_rows
from mirage.store.arena import Arena, open_arena
from mirage.store.ledger import Ledger
from mirage.store.runs import settings_of
from mirage.store.upsert import NewRows, Snapshot, by_key, read_consistently
from mirage.text.answers import citations, cited_ids, is_numbered, parse_answer
from mirage.text.content import passage_digest
from mirage.text.names import normalise_name

_COUNTED = "tokens by"


@dataclass(frozen=True)
class GenerateResult:
    """Result of generating answers."""

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
    cost: Cost
    """Cost of this run."""


Asked = tuple[GenerateSettings, PreparedPrompts]
"""The settings, with their token counter, and the prompts."""


@dataclass(frozen=True)
class _Generating(ModelStage[Asked, GenerateResult]):
    """Generation of a system's answers to the queries of an arena."""

    settings: GenerateSettings
    unwatched = ("answers",)

    @property
    def subject(self) -> str:
        return self.settings.system

    @property
    def replaces(self) -> bool:
        return self.settings.replace

    def made_with(self, asked: Asked, _settings: Settings) -> dict[str, Any]:
        return _made_with(asked[0])

    def read(self, arena: Arena) -> Snapshot:
        return _seen(arena, self.settings)

    def requests(self, seen: Snapshot, ledger: Ledger | None) -> tuple[Sequence[Messages], Asked]:
        settings = _fix_settings(seen.arena, self.settings)
        first_key: FirstKey = (lambda key: key) if ledger is None else partial(llm_calls.first_key, ledger=ledger)
        prepared = prepare(**_tables(seen, settings), settings=settings, first_key=first_key)
        return prepared.conversations, (settings, prepared)

    def check(self, arena: Arena, asked: Asked, _ledger: Ledger | None) -> None:
        _fix_settings(arena, asked[0])

    def scope(self, asked: Asked) -> tuple[str, str]:
        settings = asked[0]
        selection = {"languages": settings.languages and sorted(settings.languages), "limit": settings.limit}
        template = settings.template.text if settings.template else ""
        return self.subject, f"{llm_calls.describe(_made_with(settings))}; {selection}; {template}"

    def repetition(self, asked: Asked, number: int) -> dict[str, Any]:
        # A stored reply to such a prompt shows that the service accepts it.
        return {"accepted": asked[1].any_valid, "again": f"{self.subject} {number}" if number else None}

    def need_any(self, asked: Asked, replies: Replies) -> None:
        where = self.settings.model.path if self.settings.template is None else ""
        replies.need_any(each="query", where=where, known=asked[1].any_valid)

    def results(
        self, asked: Asked, replies: Replies, seen: Snapshot, ledger: Ledger
    ) -> tuple[dict[str, NewRows], GenerateResult]:
        settings, prepared = asked
        pairs = zip(prepared.to_ask, replies.by_number, strict=True)
        given = [(prompt, reply) for prompt, reply in pairs if reply is not None]
        days = ledger.days(reply.key for _, reply in given)
        known = ShownPassages(seen.tables.get("passages"), None, columns=("passage_id", "text"))
        passages, answers = [], list(prepared.unaskable)
        for prompt, reply in given:
            answer = answer_of(prompt.key, settings, reply, reply.reason)
            if settings.template is None:
                rows = retrieved_rows(
                    prompt.key, settings.system, reply.contexts or (), dict(known.of(prompt.key, None, None))
                )
                passages += rows
                # Citations are numbers, unless one is the id of a passage.
                by_id = any(f"[{row.passage_id}]" in (reply.text or "") for row in rows)
                answer = replace(answer, numbered=not by_id if rows else None)
            answers.append(replace(answer, run_date=days.get(reply.key)))
        # Answers to other queries stay, also those written by another program meanwhile.
        new = [row for row in answers if prepared.before.get((row.language, row.query_id)) != row]
        tables = {"answers": by_key("answers", schema.from_rows("answers", new))} if new else {}
        if new and settings.template is None and (passages or "retrieved" in seen.arena.tables):
            asked_again = schema.from_rows("answers", [row for row in answers if row.status != "api_error"])
            lists = asked_again.select(["language", "query_id", "retriever"])
            tables["retrieved"] = NewRows(schema.from_rows("retrieved", passages), lists)
        statuses = {(row.language, row.query_id): row.status for row in (*prepared.before.values(), *answers)}
        asked_of = group((key[0], str(statuses.get(key, "not asked"))) for key in prepared.chosen)
        counts = {code: Counter(found) for code, found in asked_of.items()}
        missing = sum(count["missing"] for count in counts.values())
        kept = len(prepared.chosen) - len(prepared.to_ask) - missing
        return tables, GenerateResult(counts, kept, Counter(), replies.reasons, replies.unwhole, replies.cost)


def plan_generating(path: Path, settings: GenerateSettings, model: ChatModel) -> Cost:
    """Return the maximum cost of `generate_answers`; nothing is sent or written. Raises as it does."""
    return _Generating(settings).plan(path, model)


def generate_answers(path: Path, settings: GenerateSettings, calls: ArenaCalls) -> tuple[Arena, GenerateResult]:
    """Generate a system's answers to the queries of an arena, by a model or a RAG service.

    Replies are committed to the arena's ledger as they arrive, and the tables are written at the end, also if the
    service ends the run: a rerun resumes without paying twice. Answers of other systems stay. Rows derived from removed
    answers are removed. The passages that a RAG service returned are the lists of a retriever named after the system,
    so that every measure of retrievers and citations applies to them.

    Args:
        path: the arena's folder.
        settings: system, template, model and queries.
        calls: the model, with `settings.model`.

    Raises:
        ArenaError: if the arena lacks queries or passages, or cannot be written.
        UnknownName: if a language has no queries, or there is no such retriever.
        BadInput: if the system has answers that were made differently, or a RAG service's name is not one of a
            retriever.
        Unreachable: if the service rejects every call, every call failed, or a RAG service's responses lack answer or
            contexts.
    """
    if settings.template is None:
        refuse_name(settings.system)
    arena, result = _Generating(settings).run(path, calls)
    shared = read_consistently(path, lambda arena: _shared(arena, settings.system))
    return arena, replace(result, shared=shared)


@dataclass(frozen=True)
class _Sampling(_Generating):
    """Generation of further answers to the same prompts."""

    number: int
    """Number of the answers, from 1."""

    @property
    def replaces(self) -> bool:
        return False

    def requests(self, seen: Snapshot, ledger: Ledger | None) -> tuple[Sequence[Messages], Asked]:
        tables = {name: table for name, table in seen.tables.items() if name != "answers"}
        return super().requests(Snapshot(seen.arena, tables), ledger)

    def repetition(self, _asked: Asked, _number: int) -> dict[str, Any]:
        return {"again": f"{self.subject} sample {self.number}"}

    def need_any(self, _asked: Asked, replies: Replies) -> None:
        replies.need_any()

    def results(
        self, asked: Asked, replies: Replies, _seen: Snapshot, _ledger: Ledger
    ) -> tuple[dict[str, NewRows], GenerateResult]:
        settings, prepared = asked
        rows = []
        for prompt, reply in zip(prepared.to_ask, replies.by_number, strict=True):
            if reply is not None and reply.status in SOUND:
                key, said = (*prompt.key, settings.system, self.number), (reply.text, reply.status)
                template = settings.template.name if settings.template else None
                rows.append(schema.SampledAnswer(*key, *said, template, reply.reason))
        tables = {"samples": by_key("samples", schema.from_rows("samples", rows))} if rows else {}
        return tables, GenerateResult({}, 0, Counter(), replies.reasons, replies.unwhole, replies.cost)


def plan_sample(path: Path, settings: GenerateSettings, sample: int, model: ChatModel) -> Cost:
    """Return the maximum cost of `generate_sample`; nothing is sent or written. Raises as it does."""
    return _Sampling(settings, sample).plan(path, model)


def generate_sample(path: Path, settings: GenerateSettings, sample: int, calls: ArenaCalls) -> tuple[Arena, Cost]:
    """Ask a system's queries once more, and write its answers to the table samples.

    Failed calls have no row, and are made again by the next run. The samples of this number replace those on the same
    queries.

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
    arena, result = _Sampling(settings, sample).run(path, calls)
    return arena, result.cost


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
    tables = _tables(read_consistently(whole, lambda arena: _seen(arena, settings)), settings)
    chosen = choose_queries(tables["queries"], tables["passages"], settings)
    queries = frozenset((code, query_id) for code, query_id, *_ in chosen if shard.has(code, query_id))
    return replace(settings, languages=None, limit=None, queries=queries)


def answers_of(path: Path, system: str) -> list[dict[str, Any]]:
    """Return the parsed answers of a system, as printed by `mirage show answers`.

    Raises:
        ArenaError: if the arena lacks answers.
        UnknownName: if there is no such system among them.
    """
    arena = open_arena(path)
    table = arena.read("answers")
    systems = set(table["system"].to_pylist())
    if system not in systems:
        raise UnknownName("system", system, systems, where=str(path))
    passages = None
    if "passages" in arena.tables:
        passages = arena.read("passages", columns=["language", "query_id", "position", "passage_id"])
    lists = ShownPassages(passages, arena.read_optional("retrieved"), columns=("passage_id",))
    rows = []
    for row in table.filter(pc.equal(table["system"], system)).to_pylist():
        text = row["text"] or ""
        parts = parse_answer(text) if text else None
        seen = lists.of((row["language"], row["query_id"]), row["retriever"], row["depth"])
        numbered = is_numbered(row["template"], row["numbered"])
        mentions = citations(text, [passage_id for (passage_id,) in seen], numbered=numbered)
        shown = {name: row[name] for name in ("language", "query_id", "system")}
        shown |= {"outcome": row["status"], "key": row["call"], "reason": parts and parts.reason}
        shown |= {"answer": parts and parts.answer, "citations": ",".join(cited_ids(mentions, unknown=True))}
        rows.append({**shown, "why": row["reason"]})
    return rows


def _seen(arena: Arena, settings: GenerateSettings) -> Snapshot:
    """Read the inputs of a generating model, and existing answers."""
    if settings.retriever is not None:
        need_retriever(arena, settings.retriever)
    needed = ["queries"]
    if settings.template is not None:
        needed.append("passages" if settings.retriever is None else "retrieved")
    for name in needed:
        arena.need(name)
    arena.known_languages("queries", settings.languages)
    names = {*needed, "passages", *(() if settings.template is None else ("turns",))}
    seen = read_tables(arena, (), sorted(names), settings.languages)
    return Snapshot(arena, {**seen.tables, **read_tables(arena, (), ("answers",)).tables})


def _tables(seen: Snapshot, settings: GenerateSettings) -> dict[str, Any]:
    """Return the stage's arguments that are tables."""
    tables: dict[str, Any] = {"answers": None, "passages": None, **seen.tables}
    retrieved = tables.pop("retrieved", None)
    if settings.retriever is not None:
        tables["passages"] = given_by(contexts(tables.get("passages"), retrieved), settings.retriever, settings.depth)
    return tables


def _made_with(settings: GenerateSettings) -> dict[str, Any]:
    """Return how answers are made, for the manifest."""
    if isinstance(settings.model, RagSettings):
        return settings.model.made_with
    made = {
        "template": settings.template and settings.template.name,
        "order seed": settings.seed,
        _COUNTED: (settings.tokens or TokenEstimate()).name,
        **llm_calls.parameters(settings.model),
    }
    if settings.relevant_only:
        made["passages"] = "relevant"
    if settings.retriever is not None:
        made |= {"retriever": settings.retriever, "depth": settings.depth or "all"}
    return made


def _fix_settings(arena: Arena, settings: GenerateSettings) -> GenerateSettings:
    """Fix the token counter, and reject answers of two models or parameter sets under one name.

    Raises:
        BadInput: if the system has answers that were made differently.
    """
    before = settings_of(arena, "answers", settings.system)
    if settings.tokens is None and settings.template is not None:
        # A tokenizer installed since must not change the prompts of a resumed run.
        by_estimate = before is not None and before.get(_COUNTED) == TokenEstimate().name
        tokens = TokenEstimate() if by_estimate else llm_tokens.tokens_of(settings.model.model)
        settings = replace(settings, tokens=tokens)
    made = json.loads(json.dumps(_made_with(settings)))
    if before not in (None, made) and not settings.replace:
        # Failed calls bind a system to no model, service or paths, which a first attempt may have wrong.
        statuses = arena.sql("SELECT DISTINCT status FROM answers WHERE system = ?", [settings.system])["status"]
        if not {*SOUND}.isdisjoint(statuses.to_pylist()):
            raise BadInput(
                f"the answers of {settings.system}: {llm_calls.describe(before)}; now it is {llm_calls.describe(made)}",
                where=arena.address,
                do="use another name for --system, or replace its answers with --replace",
            )
    return settings


def _shared(arena: Arena, system: str) -> Counter[str]:
    """Count the replies that a system shares with others, by the other's name."""
    rows = arena.sql(
        "SELECT other.system AS system, count(*) AS n FROM answers AS own JOIN answers AS other USING (call)"
        " WHERE own.system = ? AND other.system <> ? AND own.status <> 'api_error' GROUP BY other.system",
        [system, system],
    )
    return Counter(dict(read_rows(rows, "system", "n")))


def _baselines(tables: Tables) -> dict[str, pa.Table]:
    return {"answers": baselines.baseline_answers(tables["queries"], tables["passages"])}


def whole_system(generator: str, retriever: str) -> str:
    """Return the name of a generator with a retriever: `gpt-4o+bm25`."""
    return f"{generator}+{retriever}"


BASELINES = Stage("baselines", ("queries", "passages"), ("answers",), _baselines)
"""The baselines, which add to imported answers."""


def retrieved_rows(
    key: QueryKey,
    system: str,
    contexts: Sequence[Mapping[str, Any]],
    known: Mapping[str, str | None],
) -> list[schema.Retrieved]:
    """Return the rows of the passages returned with an answer, in order.

    A passage without an id gets that of a passage given with the query if the text is the same, and so its label; else
    one made from the text. An id of several passages, or of another text among those given
    with the query, is made distinct by the rank.
    """
    of_text = {text.strip(): passage_id for passage_id, text in known.items() if text}
    rows: dict[str, schema.Retrieved] = {}
    for rank, context in enumerate(contexts, start=1):
        text, title = context.get("text"), context.get("title")
        given_id = normalise_name(str(context.get("id") or "")) or of_text.get((text or "").strip())
        passage_id = given_id or passage_digest(text or "", title)[1]
        given, own = passage_id in known, known.get(passage_id)
        same = given and (text is None or own is None or own.strip() == text.strip())
        if passage_id in rows or (given and not same):
            passage_id, same = f"{passage_id}~{rank}", False
        rows[passage_id] = schema.Retrieved(
            *key,
            system,
            passage_id,
            rank,
            context.get("score"),
            None if same else title,
            None if same else text,
        )
    return list(rows.values())
