"""Addition of a user's system to an arena: its answers from a file, with outcomes and free features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import ArenaError, BadInput, NotEnoughData
from mirage.io.formats import run
from mirage.io.options import Options
from mirage.llm import prompts
from mirage.llm.calls import Settings
from mirage.schema import REFERENCE
from mirage.stages.features import table as feature_table
from mirage.stages.features.assessed import decider
from mirage.stages.features.spec import Tools
from mirage.stages.generate.baselines import TEMPLATE
from mirage.stages.generate.prepare import prepare
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.nuggets.terms import TERMS
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.store import copies, owned, records
from mirage.store.arena import Arena
from mirage.store.files import Line
from mirage.store.systems import system_names
from mirage.store.upsert import NewRows, upsert
from mirage.store.writing import Provenance

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], None]

MOST_ANSWERS, MOST_BYTES = 50_000, 256_000_000
"""Maximum records and decompressed bytes of an upload; the commands have no limit."""
OWN = "own data"
"""Label of an arena with a system of the user."""


def read_system(arena: Arena, file: Path, *, system: str) -> pa.Table:
    """Read and check the answers of one system, without writing.

    Args:
        arena: arena of the answered queries.
        file: `.jsonl`, `.csv` or `.parquet`, followed by `.gz` if compressed.
        system: name of the system, for records without one.

    Returns:
        Table `answers`.

    Raises:
        BadInput: listing every invalid line; if there are too many answers, or several systems.
        ArenaError: if the arena has another system of that name.
    """
    if not system.strip():
        raise BadInput("the system has no name", do="enter a name")

    def lines() -> Iterator[Line]:
        for number, line in enumerate(records.records(file, most=MOST_BYTES)):
            if number == MOST_ANSWERS:
                raise BadInput(
                    f"there are more than {MOST_ANSWERS:,} answers", where=line.where, do="use mirage import"
                )
            yield line

    tables, _ = run.read(file, name="answers", options=Options(values={"system": system}), arena=arena, lines=lines)
    if tables.keys() != {"answers"}:
        extra = "further samples" if "samples" in tables else "queries that the arena lacks"
        raise BadInput(f"the file has {extra}", where=file.name, do="use mirage import FILE --into DIR")
    answers = tables["answers"]
    names = sorted(set(answers["system"].to_pylist()))
    if names != [system]:
        raise BadInput(
            f"the file has answers of {', '.join(names)}, not of {system}",
            where=file.name,
            do="use the system's name in the file, one file per system",
        )
    there = system_names(arena, ("answers", "outcomes", "features", "judgments"))
    if system in there and system not in owned.added_systems(arena):
        raise ArenaError(f"{arena.title} already has a system {system}", where=arena.name, do="choose another name")
    return answers


def add_system(arena: Arena, answers: pa.Table, into: Path, *, progress: Progress | None = None) -> Arena:
    """Add a system's answers to a copy of an arena, with their outcomes and all free features.

    Args:
        arena: the arena; its files are not changed, unless `into` is its folder.
        answers: of one system (`read_system`). Its earlier answers are replaced.
        into: folder of the copy.
        progress: called with the amount measured and the total.

    Raises:
        ArenaError: if the folder has another arena, or cannot be written.
    """
    import pyarrow as pa

    (system,) = set(answers["system"].to_pylist())
    tables: dict[str, pa.Table] = {"answers": answers}
    queries = _of_answered(arena.read("queries"), answers)
    empty = schema.arrow_schema("passages").empty_table()
    passages = _of_answered(arena.read("passages"), answers) if "passages" in arena.tables else empty
    with suppress(NotEnoughData):  # no query has a relevance label
        tables |= OUTCOMES.run({"queries": queries, "answers": answers})
    assessed = _assign_by_terms(arena, answers, queries)
    if assessed:
        tables["nugget_assignments"] = assessed["nugget_assignments"]
    others = dict(assessed)
    if "retrieved" in arena.tables:
        others["retrieved"] = _of_answered(arena.read("retrieved"), answers)
    if "references" in arena.tables:
        others["references"] = arena.read("references")
    reference = _reference(arena, answers)
    measured = feature_table.compute(
        queries,
        passages,
        answers if reference is None else _together("answers", answers, reference),
        tools=Tools() if reference is None else Tools(reference=REFERENCE),
        others=others,
        progress=progress,
    )
    tables["features"] = _of(measured, system)
    copy = copies.copy(arena, into)
    title = f"{arena.title}, with a system of your own"
    result = upsert(
        copy.path,
        {name: NewRows(table, pa.table({"system": [system]})) for name, table in tables.items()},
        texts=lambda now: {"label": OWN, **({} if now is not None and now.label == OWN else {"title": title})},
        made_by=Provenance("the page Your model", settings={system: owned.ADDED}),
        keep=("predictions", "importances"),
    )
    return result.arena


def queries(arena: Arena) -> pa.Table:
    """Return the prompts for a user's system: language, id and prompt of every query with known texts.

    Raises:
        TableMissing: if the arena lacks queries or passages.
    """
    import pyarrow as pa

    settings = GenerateSettings("", prompts.load_template(TEMPLATE), Settings(model=""))
    tables = arena.read("queries"), arena.read("passages")
    prepared = prepare(*tables, settings, turns=arena.read_optional("turns"))
    rows = [{"language": p.language, "query_id": p.query_id, "prompt": p.text} for p in prepared.to_ask]
    return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in ("language", "query_id", "prompt")]))


def _of_answered(table: pa.Table, answers: pa.Table) -> pa.Table:
    """Return the rows on the answered queries."""
    keys = ["language", "query_id"]
    return table.join(answers.select(keys), keys, join_type="left semi").select(table.column_names).cast(table.schema)


def _assign_by_terms(arena: Arena, answers: pa.Table, queries: pa.Table) -> dict[str, pa.Table]:
    """Return the nuggets of the answered queries with assignments, if the arena's default assigner is shared words."""
    if not {"nuggets", "nugget_assignments"} <= set(arena.tables):
        return {}
    if decider(arena.read("nugget_assignments", columns=["assigner"]), "assigner") != TERMS:
        return {}
    bank = _of_answered(arena.read("nuggets"), answers)
    return {"nuggets": bank, **TERM_ASSIGNMENTS.run({"nuggets": bank, "queries": queries, "answers": answers})}


def _reference(arena: Arena, answers: pa.Table) -> pa.Table | None:
    """Return the reference answers to the answered queries, if there are any."""
    if "answers" not in arena.tables:
        return None
    rows = _of(_of_answered(arena.read("answers"), answers), REFERENCE)
    return rows if len(rows) else None


def _of(table: pa.Table, system: str) -> pa.Table:
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["system"], system))


def _together(name: str, *tables: pa.Table) -> pa.Table:
    import pyarrow as pa

    return schema.sort(name, pa.concat_tables([table.cast(schema.arrow_schema(name)) for table in tables]))
