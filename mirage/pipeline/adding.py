"""A system of the user's joins the systems of an arena: its answers from a file, and all that is free of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import features, generate, llm, prompts, schema, store
from mirage.errors import ArenaError, BadInput, NotEnoughData
from mirage.features.assessed import decider
from mirage.generate.baselines import TEMPLATE
from mirage.nuggets import TERMS
from mirage.nuggets.stage import TERM_ASSIGNMENTS
from mirage.outcomes.stage import OUTCOMES
from mirage.sources import files
from mirage.sources.sample import REFERENCE
from mirage.store import owned

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], None]

LIMIT = files.Limit(rows=50_000, size=256_000_000)
"""How much is taken at once; the commands take more."""
OWN = "own data"
"""Label of an arena that a system of the user's is in."""


def read_system(arena: store.Arena, file: Path, *, system: str) -> pa.Table:
    """Read and check the answers of one system, writing nothing.

    Args:
        arena: whose queries they answer.
        file: `.jsonl`, `.csv` or `.parquet`, with `.gz` after it if compressed.
        system: name of the system, for records that name none.

    Returns:
        Table `answers`.

    Raises:
        BadInput: listing every wrong line; if there are too many answers, or they are of several systems.
        ArenaError: if the arena has a system of that name which is not the user's own.
    """
    if not system.strip():
        raise BadInput("the system has no name", do="name it")
    queries = arena.read("queries", columns=["language", "query_id"])
    answers = files.read_answers(file, options=files.Options(values={"system": system}), known=queries, limit=LIMIT)
    names = sorted(set(answers["system"].to_pylist()))
    if names != [system]:
        raise BadInput(
            f"the file holds answers of {', '.join(names)}, not of {system}",
            where=file.name,
            do="give the system the name that its answers have, one file a system",
        )
    if system in _systems(arena) and system not in owned.added(arena):
        raise ArenaError(f"{arena.title} has a system {system} already", where=arena.name, do="choose another name")
    return answers


def add_system(arena: store.Arena, answers: pa.Table, into: Path, *, progress: Progress | None = None) -> store.Arena:
    """Put a system's answers beside those of an arena, with their outcomes and all features that are free.

    Args:
        arena: the arena; its files stay as they are, unless `into` is its folder.
        answers: of one system (`read_system`). Those it had before are replaced.
        into: folder of the arena that is made, a copy of the other with the system in it.
        progress: called with how much is measured, and of how much.

    Raises:
        ArenaError: if the folder holds another arena, or cannot be written.
    """
    import pyarrow as pa

    (system,) = set(answers["system"].to_pylist())
    tables: dict[str, pa.Table] = {"answers": answers}
    queries = _asked(arena.read("queries"), answers)
    empty = schema.arrow_schema("passages").empty_table()
    passages = _asked(arena.read("passages"), answers) if "passages" in arena.tables else empty
    with suppress(NotEnoughData):  # no query has a relevance label
        tables |= OUTCOMES.run({"queries": queries, "answers": answers})
    assessed = _assigned(arena, answers, queries)
    if assessed:
        tables["nugget_assignments"] = assessed["nugget_assignments"]
    reference = _reference(arena, answers)
    measured = features.compute(
        queries,
        passages,
        answers if reference is None else _together("answers", answers, reference),
        tools=features.Tools() if reference is None else features.Tools(reference=REFERENCE),
        assessed=assessed,
        progress=progress,
        retrieved=_asked(arena.read("retrieved"), answers) if "retrieved" in arena.tables else None,
    )
    tables["features"] = _of(measured, system)
    copy = store.copy(arena, into)
    title = f"{arena.title}, with a system of your own"
    result = store.upsert(
        copy.path,
        {name: store.NewRows(table, pa.table({"system": [system]})) for name, table in tables.items()},
        texts=lambda now: {"label": OWN, **({} if now is not None and now.label == OWN else {"title": title})},
        made_by="the page Your model",
        notes=[owned.added_note(system)],
        keep=("predictions", "importances"),
    )
    return result.arena


def queries(arena: store.Arena) -> pa.Table:
    """What a model is to be asked: language, id and the whole prompt of every query whose texts are there.

    Raises:
        TableMissing: if the arena lacks queries or passages.
    """
    import pyarrow as pa

    prepared = generate.prepare(
        arena.read("queries"),
        arena.read("passages"),
        system="",
        template=prompts.load_template(TEMPLATE),
        settings=llm.Settings(model=""),
        turns=arena.read_optional("turns"),
    )
    rows = [{"language": p.language, "query_id": p.query_id, "prompt": p.text} for p in prepared.to_ask]
    return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in ("language", "query_id", "prompt")]))


def _systems(arena: store.Arena) -> set[str]:
    """Every system that an arena speaks of."""
    systems: set[str] = set()
    for table, columns in (
        ("answers", ("system",)),
        ("outcomes", ("system",)),
        ("features", ("system",)),
        ("judgments", ("system_a", "system_b")),
    ):
        if table in arena.tables:
            for column in columns:
                # Names of the contract, none of the user's.
                rows = arena.sql(f"SELECT DISTINCT {column} AS system FROM {table}")  # noqa: S608
                systems |= set(rows["system"].to_pylist())
    return systems


def _asked(table: pa.Table, answers: pa.Table) -> pa.Table:
    """The rows that are of the queries answered."""
    keys = ["language", "query_id"]
    return table.join(answers.select(keys), keys, join_type="left semi").select(table.column_names).cast(table.schema)


def _assigned(arena: store.Arena, answers: pa.Table, queries: pa.Table) -> dict[str, pa.Table]:
    """The nuggets of the queries answered and which the answers state, where shared words decide that in this arena."""
    if not {"nuggets", "nugget_assignments"} <= set(arena.tables):
        return {}
    if decider(arena.read("nugget_assignments", columns=["assigner"]), "assigner") != TERMS:
        return {}
    bank = _asked(arena.read("nuggets"), answers)
    return {"nuggets": bank, **TERM_ASSIGNMENTS.run({"nuggets": bank, "queries": queries, "answers": answers})}


def _reference(arena: store.Arena, answers: pa.Table) -> pa.Table | None:
    """The reference answers to the queries answered, where there are any."""
    if "answers" not in arena.tables:
        return None
    rows = _of(_asked(arena.read("answers"), answers), REFERENCE)
    return rows if len(rows) else None


def _of(table: pa.Table, system: str) -> pa.Table:
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["system"], system))


def _together(name: str, *tables: pa.Table) -> pa.Table:
    import pyarrow as pa

    return schema.sort(name, pa.concat_tables([table.cast(schema.arrow_schema(name)) for table in tables]))
