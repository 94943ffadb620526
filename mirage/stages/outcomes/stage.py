"""The outcomes stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mirage.errors import NotEnoughData
from mirage.stages.outcomes.parsed import Parsed
from mirage.stages.outcomes.tables import outcomes
from mirage.stages.stage import Stage, Tables

if TYPE_CHECKING:
    import pyarrow as pa


def _outcomes(
    tables: Tables,
    *,
    decided: Mapping[tuple[str, str, str], Parsed] | None = None,
) -> dict[str, pa.Table]:
    labelled = labelled_answers(tables)
    if len(tables["answers"]) and not len(labelled):
        raise NotEnoughData(
            "no answered query has a relevance label, so no decision can be scored",
            do="add a subset to the queries, relevant or non_relevant; or use a judge (mirage judge)",
        )
    return {"outcomes": outcomes(tables["queries"], labelled, decided=decided)}


def labelled_answers(tables: Tables) -> pa.Table:
    """Return the answers to queries with a relevance label."""
    import pyarrow.compute as pc

    queries, answers, keys = tables["queries"], tables["answers"], ["language", "query_id"]
    unlabelled = queries.filter(pc.is_null(queries["subset"])).select(keys)
    return answers.join(unlabelled, keys, join_type="left anti").select(answers.column_names)


def _remark_unlabelled(tables: Tables) -> list[str]:
    count = len(tables["answers"]) - len(labelled_answers(tables))
    return [f"{count:,} answers have no outcome because their queries have no relevance label"] if count else []


OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), _outcomes, version=4, remarks=_remark_unlabelled)
