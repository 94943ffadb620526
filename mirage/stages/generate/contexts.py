"""Answers of a live RAG service to the queries of an arena, with the passages that it retrieved.

The passages are the lists of a retriever named after the system, so that every measure of retrievers and citations
applies to them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage import llm, schema, store
from mirage.errors import BadInput
from mirage.llm.rag_service import Question, RagService, ask_service, question_key
from mirage.stages.generate.prepare import SOUND
from mirage.stages.generate.stage import GenerateResult, count_answers, name_repetition, refuse_languages
from mirage.stages.shown import refuse_name
from mirage.store import ledger_path
from mirage.text.content import passage_digest
from mirage.text.names import normalise_name

if TYPE_CHECKING:
    import pyarrow as pa

_QUERY = ("language", "query_id")
Key = tuple[str, str]
"""Language and id of a query."""


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """Settings for the answers of one RAG service."""

    system: str
    """Name of the system, and of its retriever."""
    service: RagService
    """The service."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    limit: int | None = None
    """Maximum queries per language, the first by id; None for all."""
    replace: bool = False
    """Whether to ask again for existing answers, ignoring the ledger."""


@dataclass(frozen=True, slots=True)
class _Todo:
    """Questions to ask, and the queries of a run."""

    seen: store.Snapshot
    questions: tuple[Question, ...]
    """Questions without a valid answer."""
    missing: tuple[schema.Answer, ...]
    """Rows of queries without a text."""
    chosen: tuple[Key, ...]
    """All queries of the run."""
    kept: int
    """Number of existing valid answers."""


def plan_live(path: Path, settings: LiveSettings) -> llm.Cost:
    """Return the maximum number of calls of a run, with estimated tokens of the questions; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks queries.
        UnknownName: if a language has no queries.
        BadInput: if the system has answers that were made differently.
    """
    todo = store.consistently(path, lambda arena: _todo(arena, settings))
    with store.kept_ledger(path) as ledger:
        again = name_repetition(settings.system, ledger, _scope(settings), replace=settings.replace)
        questions = {
            question_key(question, settings.service, settings.system, again): question for question in todo.questions
        }
        known = ledger.have(questions) if ledger else set()
    texts = [question.text for key, question in questions.items() if key not in known]
    tokens = sum(llm.TokenEstimate().count(text) for text in texts)
    money = settings.service.limits.cost(tokens, 0)
    return llm.Cost(len(texts), len(todo.questions) - len(texts), 0, tokens, 0, money)


def answer_by_service(
    path: Path,
    settings: LiveSettings,
    *,
    rng: np.random.Generator,
    made_by: str,
    on_reply: llm.OnCost | None = None,
) -> GenerateResult:
    """Ask a RAG service the queries of an arena, and write its answers and the passages that it returned.

    Replies are committed to the arena's ledger as they arrive, and the tables are written at the end, also if the
    service ends the run. A query that fails is a row with its reason, and is asked again by the next run.

    Args:
        path: the arena's folder.
        settings: system, service and queries.
        rng: source of the backoff's jitter.
        made_by: the command, for the manifest.
        on_reply: called as replies arrive.

    Raises:
        ArenaError: if the arena lacks queries, or cannot be written.
        UnknownName: if a language has no queries.
        BadInput: if the system has answers that were made differently, or its name is not one of a retriever.
        Unreachable: if the service rejects every call, every call failed, or its responses lack answer or contexts.
    """
    refuse_name(settings.system)
    todo = store.consistently(path, lambda arena: _todo(arena, settings))
    asking, service = llm.Asking(settings.service.limits, on_reply), settings.service
    with store.Ledger(ledger_path(path)) as ledger:
        again = name_repetition(settings.system, ledger, _scope(settings), replace=settings.replace, begin=True)
        engine = partial(ask_service, service=service, system=settings.system, rng=rng, again=again)
        replies = asking.ask(todo.questions, engine, ledger=ledger)
        given = [(question, reply) for question, reply in zip(todo.questions, replies, strict=True) if reply]
        sound = any(reply.status in SOUND for _, reply in given)
        if asking.stopped is not None and not sound:
            raise asking.stopped
        days = ledger.days(reply.key for _, reply in given if reply.key)
        arena = _write(path, given, todo, settings, days=days, made_by=made_by)
        if settings.replace and asking.ended:
            ledger.end_replacement(settings.system, _scope(settings))
    asking.need_any(sound or todo.kept > 0, each="query", where=service.endpoint.base_url)
    statuses = {}
    if "answers" in arena.tables:
        rows = arena.read("answers", columns=[*_QUERY, "system", "status"]).to_pylist()
        statuses = {
            (row["language"], row["query_id"]): row["status"] for row in rows if row["system"] == settings.system
        }
    counts = count_answers(todo.chosen, statuses)
    return GenerateResult(arena, counts, todo.kept, Counter(), asking.reasons, asking.unwhole, asking.cost)


def _todo(arena: store.Arena, settings: LiveSettings) -> _Todo:
    """Read the queries, and select those without a valid answer."""
    arena.need("queries")
    _refuse_other(arena, settings)
    refuse_languages(arena, settings.languages)
    tables = {"queries": arena.read("queries", languages=settings.languages)}
    for name in ("passages", "answers"):
        if name in arena.tables:
            tables[name] = arena.read(name)
    answered = {}
    if "answers" in tables:
        rows = zip(*(tables["answers"][name].to_pylist() for name in (*_QUERY, "system", "status")), strict=True)
        answered = {
            (language, query_id): status for language, query_id, name, status in rows if name == settings.system
        }
    counts: Counter[str] = Counter()
    questions, missing, chosen = [], [], []
    for row in schema.sort("queries", tables["queries"]).to_pylist():
        key = row["language"], row["query_id"]
        counts[key[0]] += 1
        if settings.limit is not None and counts[key[0]] > settings.limit:
            continue
        chosen.append(key)
        if answered.get(key) in SOUND and not settings.replace:
            continue
        if row["text"]:
            questions.append(Question(*key, row["text"]))
        else:
            missing.append(_answer(key, settings.system, None, "missing", f"the query has no text: {row['reason']}"))
    kept = len(chosen) - len(questions) - len(missing)
    return _Todo(store.Snapshot(arena, tables), tuple(questions), tuple(missing), tuple(chosen), kept)


def _note(settings: LiveSettings) -> str:
    """Describe how answers are made, for the manifest."""
    service = settings.service
    paths = ", ".join(f"{name} at {path}" for name, path in service.paths.items())
    body = json.dumps(service.body, ensure_ascii=False, sort_keys=True)
    return f"{settings.system}: RAG service {service.endpoint.service}, body {body}, {paths}"


def _refuse_other(arena: store.Arena, settings: LiveSettings) -> None:
    """Reject answers of two services, or of a model and a service, under one name.

    Raises:
        BadInput: if the system has answers that were made differently, and is not replaced.
    """
    if "answers" not in arena.tables or settings.replace:
        return
    notes = arena.manifest["made"]["answers"]["notes"]
    before = [note for note in notes if note.startswith(f"{settings.system}: ")]
    # Failed calls do not bind a system to a service or to paths, which a first attempt may have wrong.
    rows = arena.read("answers", columns=["system", "status"]).to_pylist()
    answered = any(row["system"] == settings.system and row["status"] in SOUND for row in rows)
    if answered and _note(settings) not in before:
        raise BadInput(
            f"the answers of {before[0]}; now it is {_note(settings).partition(': ')[2]}"
            if before
            else f"the answers of {settings.system} were imported",
            where=arena.address,
            do="use another name for --system, or replace its answers with --replace",
        )


def _scope(settings: LiveSettings) -> str:
    """Describe a replacement: a rerun of the same command has the same scope."""
    return f"{_note(settings)}; {sorted(settings.languages or ())}, {settings.limit}"


def _write(
    path: Path,
    given: Sequence[tuple[Question, llm.Reply]],
    todo: _Todo,
    settings: LiveSettings,
    *,
    days: Mapping[str, str],
    made_by: str,
) -> store.Arena:
    """Upsert answers and retrieved passages in one transaction."""
    import pyarrow as pa

    known = _texts(todo.seen.tables.get("passages"))
    answers, retrieved = list(todo.missing), []
    for question, reply in given:
        key = question.language, question.query_id
        passages = _passages(key, settings.system, reply.contexts or (), known.get(key, {}))
        retrieved += passages
        answer = _answer(key, settings.system, reply, reply.status, reply.reason, passages)
        answers.append(replace(answer, run_date=days.get(reply.key or "")))
    if not answers:
        return store.open_arena(path)
    asked = [answer for answer in answers if answer.status != "api_error"]
    keys = [pa.array([getattr(row, name) for row in asked], pa.string()) for name in _QUERY]
    replaced = pa.table([*keys, pa.array([settings.system] * len(asked), pa.string())], names=[*_QUERY, "retriever"])
    rows = {"answers": store.by_key("answers", schema.from_rows("answers", answers))}
    if retrieved or "retrieved" in todo.seen.arena.tables:
        rows["retrieved"] = store.NewRows(schema.from_rows("retrieved", retrieved), replaced)
    seen = {name: table for name, table in todo.seen.tables.items() if name != "answers"}
    return store.upsert(
        path,
        rows,
        made_by=store.Provenance(made_by, notes=[_note(settings)], subjects=[settings.system]),
        check=lambda arena: _refuse_other(arena, settings),
        seen=store.Snapshot(todo.seen.arena, seen),
    ).arena


def _answer(
    key: Key,
    system: str,
    reply: llm.Reply | None,
    status: schema.Status,
    reason: str | None,
    passages: Sequence[schema.Retrieved] = (),
) -> schema.Answer:
    """Return the row of an answer. Its citations are numbers, unless it cites an id of its passages."""
    text = reply.text if reply else None
    by_id = any(f"[{passage.passage_id}]" in (text or "") for passage in passages)
    return schema.Answer(
        *key,
        system,
        text=text,
        status=status,
        template=None,
        reason=reason,
        call=reply.key if reply else None,
        numbered=not by_id if passages else None,
        retriever=system,
        thoughts=reply.reasoning if reply else None,
    )


def _texts(passages: pa.Table | None) -> dict[Key, dict[str, str | None]]:
    """Return the texts of the passages given with each query, by id."""
    texts: dict[Key, dict[str, str | None]] = {}
    if passages is not None:
        columns = (passages[name].to_pylist() for name in (*_QUERY, "passage_id", "text"))
        for language, query_id, passage_id, text in zip(*columns, strict=True):
            texts.setdefault((language, query_id), {})[passage_id] = text
    return texts


def _passages(
    key: Key,
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
