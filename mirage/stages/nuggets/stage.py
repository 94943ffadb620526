"""Nuggets of an arena: generation and assignment by a model, assignment by shared words.

New assignments replace older ones. Features that depend on them are removed, and recomputed by
`mirage.stages.features.measuring`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import llm, schema, store
from mirage.errors import BadInput, NotEnoughData
from mirage.stages import nuggets
from mirage.stages.nuggets.assign import AssignRequest, AssignResult, assign_requests, collect_assignments
from mirage.stages.nuggets.create import BankRequest, CreateResult, bank_requests, create
from mirage.stages.stage import Progress, Stage, Tables

if TYPE_CHECKING:
    import pyarrow as pa


def plan_banks(path: Path, model: llm.ChatModel, *, languages: Sequence[str] | None = None) -> llm.Cost:
    """Return the maximum cost of generating the missing banks of an arena; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks queries or passages.
        NotEnoughData: if there is nothing to request.
    """
    requests, _ = store.consistently(path, lambda arena: _bank_requests(_seen_for_banks(arena, languages)))
    return llm.plan_calls(path, llm.Conversations(requests), model)


def create_banks(
    path: Path, *, calls: llm.ArenaCalls, languages: Sequence[str] | None = None
) -> tuple[store.Arena, CreateResult]:
    """Generate the nuggets of every query without any.

    Replies are committed to the arena's ledger as they arrive, and the table is written at the end, also if the service
    ends the run: a rerun resumes without paying twice. Existing banks are not changed.

    Args:
        path: the arena's folder.
        calls: the model; its name is the author of the nuggets.
        languages: codes; None for all.

    Raises:
        ArenaError: if the arena lacks queries or passages, or cannot be written.
        NotEnoughData: if there is nothing to request.
        Unreachable: if the service rejects every call, or every call failed.
    """
    seen = store.consistently(path, lambda arena: _seen_for_banks(arena, languages))
    requests, left = _bank_requests(seen)
    replies = calls.replies(path, requests)
    result = create(requests, replies, author=calls.model.settings.model, left=left)
    arena = calls.write(path, "nuggets", result.nuggets, subject=calls.model.settings.model, seen=seen)
    replies.need_any()
    return arena, result


def plan_assigning(path: Path, model: llm.ChatModel, *, languages: Sequence[str] | None = None) -> llm.Cost:
    """Return the maximum cost of assigning the nuggets of an arena; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks answers or nuggets.
        NotEnoughData: if there is nothing to request.
    """
    requests = store.consistently(path, lambda arena: _assign_requests(_seen_for_assigning(arena, languages)))
    return llm.plan_calls(path, llm.Conversations(requests), model)


def assign_by_model(
    path: Path, *, assigner: str, calls: llm.ArenaCalls, languages: Sequence[str] | None = None
) -> tuple[store.Arena, AssignResult]:
    """Decide with a model which nuggets each answer states, replacing the model's earlier assignments.

    Nuggets with a failed call get a row with the reason, and are retried by the next run; cached replies cost nothing.

    Args:
        path: the arena's folder.
        assigner: name for the rows.
        calls: the model.
        languages: codes; None for all.

    Raises:
        BadInput: if the name is that of the word matcher.
        ArenaError: if the arena lacks answers or nuggets, or cannot be written.
        NotEnoughData: if no answer with a text has nuggets.
        Unreachable: if the service rejects every call, or every call failed.
    """
    if assigner == nuggets.TERMS:
        raise BadInput(f"{assigner} is the name of the word matcher", do="use another name for the model")
    seen = store.consistently(path, lambda arena: _seen_for_assigning(arena, languages))
    requests = _assign_requests(seen)
    replies = calls.replies(path, requests)
    result = collect_assignments(requests, replies, assigner=assigner)
    arena = calls.write(path, "nugget_assignments", result.assignments, subject=assigner, seen=seen)
    replies.need_any()
    return arena, result


def _terms(tables: Tables, *, progress: Progress | None = None) -> dict[str, pa.Table]:
    if progress is not None:
        progress(0, 1)
    table = nuggets.assign_by_terms(tables["nuggets"], tables["answers"], tables.get("queries"))
    if progress is not None:
        progress(1, 1)
    return {"nugget_assignments": table}


TERM_ASSIGNMENTS = Stage(
    "nugget assignments by terms",
    ("answers", "nuggets"),
    ("nugget_assignments",),
    _terms,
    uses=("queries",),
    by=("language", "query_id"),
)
"""Matches every nugget with every answer by shared words."""


def _seen_for_banks(arena: store.Arena, languages: Sequence[str] | None) -> store.Snapshot:
    seen = {name: arena.read(name, languages=languages) for name in ("queries", "passages")}
    if (known := arena.read_optional("nuggets")) is not None:
        seen["nuggets"] = known
    return store.Snapshot(arena, seen)


def _bank_requests(seen: store.Snapshot) -> tuple[list[BankRequest], dict[str, int]]:
    known: set[tuple[str, str]] = set()
    if (bank := seen.tables.get("nuggets")) is not None:
        known = set(zip(bank["language"].to_pylist(), bank["query_id"].to_pylist(), strict=True))
    requests, left = bank_requests(seen.tables["queries"], seen.tables["passages"], known=known)
    if not requests:
        why = "; ".join(f"{n:,}: {reason}" for reason, n in left.items()) or "there is no query"
        raise NotEnoughData("no nuggets can be generated", where=why, do="import passages with texts")
    return requests, left


def _seen_for_assigning(arena: store.Arena, languages: Sequence[str] | None) -> store.Snapshot:
    seen = {name: arena.read(name, languages=languages) for name in ("answers", "nuggets")}
    queries = arena.read_optional("queries", languages=languages)
    seen["queries"] = schema.from_rows("queries", []) if queries is None else queries
    return store.Snapshot(arena, {name: table for name, table in seen.items() if name in arena.tables})


def _assign_requests(seen: store.Snapshot) -> list[AssignRequest]:
    queries = seen.tables.get("queries", schema.from_rows("queries", []))
    requests = assign_requests(queries, seen.tables["nuggets"], seen.tables["answers"])
    if not requests:
        raise NotEnoughData(
            "no answer with a text belongs to a query with nuggets", do="create or import nuggets first"
        )
    return requests
