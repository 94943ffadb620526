"""The stage from answers to features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mirage import features, schema, store
from mirage.stage import Progress, Stage, Tables

if TYPE_CHECKING:
    import pyarrow as pa


def _features(
    tables: Tables,
    *,
    only: Iterable[str] | None = None,
    tools: features.Tools | None = None,
    progress: Progress | None = None,
) -> dict[str, pa.Table]:
    answers = tables["answers"]
    queries = tables["queries"] if "queries" in tables else _bare_questions(answers)
    passages = tables["passages"] if "passages" in tables else schema.arrow_schema("passages").empty_table()
    tools = tools or features.Tools()
    table = features.compute(queries, passages, answers, only=only, tools=tools, progress=progress)
    return {"features": table}


def _bare_questions(answers: pa.Table) -> pa.Table:
    """The questions of answers, where nothing else is known of them."""
    keys = ["language", "query_id"]
    questions = answers.select(keys).group_by(keys).aggregate([])
    absent = {"reason": ["the arena has no questions"] * len(questions)}
    return schema.from_columns("queries", {**{key: questions[key] for key in keys}, **absent})


FEATURES = Stage("features", ("answers",), ("features",), _features, uses=("queries", "passages"))
"""Some features need what it uses: `measurable_in`."""


def measurable_in(arena: store.Arena, tools: features.Tools) -> tuple[list[str], list[str]]:
    """The features that can be measured on an arena with these tools, and those for which it lacks a table."""
    names = features.measurable(tools)
    lacking = [name for name in names if set(features.tables([name])) - set(arena.tables)]
    return [name for name in names if name not in lacking], lacking
