"""Upload of a file: systems that join an arena, with outcomes and free features, or an arena of its own."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import ArenaError, BadInput, MirageError, NotEnoughData
from mirage.io.formats.open import read_sample
from mirage.io.formats.run import Summary, recognise_file
from mirage.io.imports.formats import read_file
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
from mirage.store import copies, owned
from mirage.store.arena import Arena
from mirage.store.records import refuse_larger
from mirage.store.systems import system_names
from mirage.store.upsert import NewRows, upsert
from mirage.store.writing import Provenance

Progress = Callable[[int, int], None]

MOST_ANSWERS, MOST_BYTES = 50_000, 256_000_000
"""Maximum records and decompressed bytes of an upload; the commands have no limit."""
ANSWERS = "answers"
"""Format of answers to the queries of an arena, by their ids."""
OWN = "own data"
"""Label of an arena with a system of the user."""


@dataclass(frozen=True)
class Upload:
    """A file that was read as `mirage evaluate` reads it, without writing."""

    answers: pa.Table | None
    """Its answers, if all of them are to queries of the open arena; None for a file that makes an arena of its own."""
    summary: Summary
    """Summary of what was read, assumed and left out."""

    @property
    def joins(self) -> bool:
        """True if its systems join the open arena."""
        return self.answers is not None


def read_upload(arena: Arena, file: Path, *, kind: str | None = None, options: Options | None = None) -> Upload:
    """Read a file of answers to the queries of an arena, or any other that `mirage evaluate` takes, without writing.

    Args:
        arena: the open arena.
        file: the file.
        kind: its format; None to detect it.
        options: names and default values of its fields.

    Raises:
        BadInput: listing every invalid record; or if it is too large.
        ArenaError: if the arena has another system of that name.
    """
    refuse_larger(file, MOST_BYTES)
    options = options or Options()
    refused = None
    if kind == ANSWERS or (kind is None and "query_id" in first_records(file)):
        try:
            tables, summary = read_file(file, arena.path, name=ANSWERS, options=options)
            if tables.keys() != {"answers"}:
                extra = "further samples" if "samples" in tables else "queries that the arena lacks"
                raise BadInput(f"the file has {extra}", where=str(file), do="use mirage import FILE --into DIR")
        except MirageError as error:
            refused = error
        else:
            _refuse_size(summary)
            _refuse_taken(arena, tables["answers"])
            return Upload(tables["answers"], summary)
    try:
        tables, summary = read_file(file, name=kind, options=options)
    except MirageError:
        if refused is None or not any(taken.format.name == ANSWERS for taken in recognise_file(file, options)):
            raise
        raise refused from None  # it knows the queries of the arena
    if refused is not None and (summary.format == ANSWERS or not {"answers", "judgments"} & tables.keys()):
        raise refused
    _refuse_size(summary)
    return Upload(None, summary)


def first_records(file: Path) -> dict[str, Any]:
    """Return the fields of the first records of a file, each with an example; none if they cannot be read."""
    with suppress(BadInput):
        records = read_sample(file).records
        return {name: record[name] for record in reversed(records) for name in record}
    return {}


def _refuse_size(summary: Summary) -> None:
    if summary.records > MOST_ANSWERS:
        raise BadInput(f"there are more than {MOST_ANSWERS:,} records", do="use mirage evaluate")


def _refuse_taken(arena: Arena, answers: pa.Table) -> None:
    """Refuse answers of systems that the arena has, unless the reader added them."""
    there = {*system_names(arena, ("answers", "outcomes", "features", "judgments"))} - {*owned.added_systems(arena)}
    for system in sorted(there & set(answers["system"].to_pylist())):
        raise ArenaError(
            f"{arena.title} already has a system {system}",
            where=arena.name,
            do="choose another name: --set system=NAME, or rename it in the file",
        )


def add_systems(arena: Arena, answers: pa.Table, into: Path, *, progress: Progress | None = None) -> Arena:
    """Add the answers of systems to a copy of an arena, with their outcomes and all free features.

    Args:
        arena: the arena; its files are not changed, unless `into` is its folder.
        answers: of one or more systems (`read_upload`). Their earlier answers are replaced.
        into: folder of the copy.
        progress: called with the amount measured and the total.

    Raises:
        ArenaError: if the folder has another arena, or cannot be written.
    """
    systems = sorted(set(answers["system"].to_pylist()))
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
        answers if reference is None else pa.concat_tables([answers, reference.cast(answers.schema)]),
        tools=Tools() if reference is None else Tools(reference=REFERENCE),
        others=others,
        progress=progress,
    )
    tables["features"] = _rows_of(measured, *systems)
    copy = copies.copy(arena, into)
    title = f"{arena.title}, with a system of your own"
    result = upsert(
        copy.path,
        {name: NewRows(table, pa.table({"system": systems})) for name, table in tables.items()},
        texts=lambda now: {"label": OWN, **({} if now is not None and now.label == OWN else {"title": title})},
        made_by=Provenance("the page Your system", settings=dict.fromkeys(systems, owned.ADDED)),
        keep=("predictions", "importances"),
    )
    return result.arena


def queries(arena: Arena) -> pa.Table:
    """Return the prompts for a user's system: language, id and prompt of every query with known texts.

    Raises:
        TableMissing: if the arena lacks queries or passages.
    """
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
    rows = _rows_of(_of_answered(arena.read("answers"), answers), REFERENCE)
    return rows if len(rows) else None


def _rows_of(table: pa.Table, *systems: str) -> pa.Table:

    return table.filter(pc.field("system").isin(systems))
