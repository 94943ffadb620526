"""The stage from answers to outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mirage.errors import NotEnoughData
from mirage.outcomes.free import TemplatePhrases
from mirage.outcomes.tables import outcomes
from mirage.stage import Stage, Tables

if TYPE_CHECKING:
    import pyarrow as pa


def _outcomes(tables: Tables, *, phrases: Mapping[str, TemplatePhrases] | None = None) -> dict[str, pa.Table]:
    labelled = _labelled(tables)
    if len(tables["answers"]) and not len(labelled):
        raise NotEnoughData(
            "no answered query has a relevance label, so no outcome is right or wrong",
            do="give the queries a subset, relevant or non_relevant; or let a judge decide: mirage judge DIR",
        )
    return {"outcomes": outcomes(tables["queries"], labelled, phrases=phrases)}


def _labelled(tables: Tables) -> pa.Table:
    """The answers, without those to queries that have no relevance label."""
    import pyarrow.compute as pc

    queries, answers, keys = tables["queries"], tables["answers"], ["language", "query_id"]
    unlabelled = queries.filter(pc.is_null(queries["subset"])).select(keys)
    return answers.join(unlabelled, keys, join_type="left anti").select(answers.column_names)


def _unlabelled(tables: Tables) -> list[str]:
    count = len(tables["answers"]) - len(_labelled(tables))
    return [f"{count:,} answers have no outcome, as their queries have no relevance label"] if count else []


OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), _outcomes, version=2, remarks=_unlabelled)
