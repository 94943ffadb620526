"""Nuggets of an arena: a model writes banks, a model or shared words assign, people edit.

What is written takes the place of older assignments. Features that rest on them go, and `mirage.features.measuring`
measures them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import llm, nuggets, schema, store
from mirage.errors import ArenaError, BadInput, NotEnoughData
from mirage.nuggets.assign import AssignRequest, AssignResult, assign_requests, assigned
from mirage.nuggets.create import BankRequest, CreateResult, bank_requests, create
from mirage.stage import Progress, Stage, Tables

if TYPE_CHECKING:
    import pyarrow as pa


def plan_banks(
    path: Path, *, settings: llm.Settings, limits: llm.Limits, languages: Sequence[str] | None = None
) -> llm.Cost:
    """What writing the missing banks of an arena would cost at most; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks queries or passages.
        NotEnoughData: if there is nothing to ask.
    """
    requests, _ = store.consistently(path, lambda arena: _bank_requests(_seen_for_banks(arena, languages)))
    return llm.plan_calls(path, llm.Conversations(requests), settings=settings, limits=limits)


def create_banks(
    path: Path, *, calls: llm.ArenaCalls, languages: Sequence[str] | None = None
) -> tuple[store.Arena, CreateResult]:
    """Let a model write the nuggets of every query that has none.

    Replies are in the arena's ledger the moment they come, and the table is written at the end, also when the service
    ends the run: the same command goes on and pays nothing twice. A bank that is there stays as it is.

    Args:
        path: the arena's folder.
        calls: the model; its name is the author of the nuggets.
        languages: codes; None for all.

    Raises:
        ArenaError: if the arena lacks queries or passages, or cannot be written.
        NotEnoughData: if there is nothing to ask.
        Unreachable: if the service turns down what every call needs, or no call at all got a reply.
    """
    seen = store.consistently(path, lambda arena: _seen_for_banks(arena, languages))
    requests, left = _bank_requests(seen)
    replies = calls.replies(path, requests)
    result = create(requests, replies, author=calls.settings.model, left=left)
    arena = calls.write(path, "nuggets", result.nuggets, subject=calls.settings.model, seen=seen)
    replies.need_any()
    return arena, result


def plan_assigning(
    path: Path, *, settings: llm.Settings, limits: llm.Limits, languages: Sequence[str] | None = None
) -> llm.Cost:
    """What assigning the nuggets of an arena would cost at most; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks answers or nuggets.
        NotEnoughData: if there is nothing to ask.
    """
    requests = store.consistently(path, lambda arena: _assign_requests(_seen_for_assigning(arena, languages)))
    return llm.plan_calls(path, llm.Conversations(requests), settings=settings, limits=limits)


def assign_by_model(
    path: Path, *, assigner: str, calls: llm.ArenaCalls, languages: Sequence[str] | None = None
) -> tuple[store.Arena, AssignResult]:
    """Let a model decide which nuggets each answer states. Its assignments replace its own; those of others stay.

    A nugget whose call failed has a row that says so, and the next run asks again; replies at hand cost nothing.

    Args:
        path: the arena's folder.
        assigner: the name of its rows.
        calls: the model.
        languages: codes; None for all.

    Raises:
        BadInput: if the name is that of the matcher of terms.
        ArenaError: if the arena lacks answers or nuggets, or cannot be written.
        NotEnoughData: if no answer with a text has nuggets.
        Unreachable: if the service turns down what every call needs, or no call at all got a reply.
    """
    if assigner == nuggets.TERMS:
        raise BadInput(f"{assigner} is the assigner that asks no model", do="give the model another name")
    seen = store.consistently(path, lambda arena: _seen_for_assigning(arena, languages))
    requests = _assign_requests(seen)
    replies = calls.replies(path, requests)
    result = assigned(requests, replies, assigner=assigner)
    arena = calls.write(path, "nugget_assignments", result.assignments, subject=assigner, seen=seen)
    replies.need_any()
    return arena, result


class BankChanged(ArenaError):
    """The bank of a query is another than the one that was to be changed."""

    def __init__(self, language: str, query_id: str) -> None:
        super().__init__(
            "somebody else has changed the nuggets of this query meanwhile",
            where=f"{language}, {query_id}",
            do="look at them as they are now, and make the change again",
        )


def edit_bank(
    path: Path,
    change: Callable[[pa.Table], nuggets.BankChange],
    *,
    made_by: str,
    expected: Sequence[schema.Nugget] | None = None,
    beside: Callable[[store.Snapshot, nuggets.BankChange], Mapping[str, store.NewRows]] | None = None,
) -> store.Arena:
    """Make one change to the bank of a query and keep the record of it; assignments of nuggets that it takes away go.

    Args:
        path: the arena's folder.
        change: given the bank, what becomes of it: `partial(nuggets.drop, key=..., author=..., time=...)`. It is asked
            again where another program has changed the bank meanwhile.
        made_by: the command or page, for the manifest.
        expected: the nuggets of the query, in any order, as whoever makes the change has seen them; None for any.
        beside: given the arena as it is and the change, what is written with it in the same transaction.

    Raises:
        BankChanged: if the nuggets of the query are not those expected; nothing is written.
        ArenaError: if the arena cannot be written.
        MirageError: what the change raises.
    """

    def read(arena: store.Arena) -> store.Snapshot:
        old = arena.read_optional("nuggets")
        seen = {"nuggets": schema.from_rows("nuggets", []) if old is None else old}
        if beside is not None:
            columns = {"answers": ("language", "query_id", "system", "text", "status"), "nugget_assignments": None}
            seen |= {name: arena.read(name, columns=columns[name]) for name in columns if name in arena.tables}
        return store.Snapshot(arena, seen)

    def make() -> store.Arena:
        import pyarrow as pa

        seen = store.consistently(path, read)
        result = change(seen.tables["nuggets"])
        edit = result.edit
        if expected is not None and set(expected) != set(_bank_of(seen.tables["nuggets"], edit)):
            raise BankChanged(edit.language, edit.query_id)
        replaced = pa.table({"language": [edit.language], "query_id": [edit.query_id]})
        rows = {
            "nuggets": store.NewRows(schema.from_rows("nuggets", _bank_of(result.bank, edit)), replaced),
            "nugget_edits": store.by_key("nugget_edits", schema.from_rows("nugget_edits", [edit])),
            **({} if beside is None else beside(seen, result)),
        }
        return store.upsert(path, rows, made_by=made_by, seen=seen).arena

    return store.retry_outdated(make)


def _bank_of(bank: pa.Table, edit: schema.NuggetEdit) -> list[schema.Nugget]:
    """The nuggets of the query of a change, sorted by key."""
    rows = (schema.Nugget(**row) for row in schema.sort("nuggets", bank).to_pylist())
    return [row for row in rows if (row.language, row.query_id) == (edit.language, edit.query_id)]


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
"""Every nugget matched with every answer by shared words."""


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
        raise NotEnoughData("there is no bank to write", where=why, do="give the queries passages with texts")
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
        raise NotEnoughData("no answer with a text is to a query with nuggets", do="create or import nuggets first")
    return requests
