"""The outcomes stage."""

import pyarrow as pa
import pyarrow.compute as pc

from mirage.errors import NotEnoughData
from mirage.schema import Tables
from mirage.stages.outcomes.parsed import FreeAnswer, Readings
from mirage.stages.outcomes.tables import outcomes
from mirage.stages.shown import query_texts
from mirage.stages.stage import Stage
from mirage.stats.rows import read_rows
from mirage.text.answers import NOMIRACL_TEMPLATES


def _outcomes(
    tables: Tables,
    *,
    decided: Readings | None = None,
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
    queries, answers, keys = tables["queries"], tables["answers"], ["language", "query_id"]
    unlabelled = queries.filter(pc.is_null(queries["subset"])).select(keys)
    return answers.join(unlabelled, keys, join_type="left anti").select(answers.column_names)


def free_answers(tables: Tables) -> list[FreeAnswer]:
    """Return language, text and query of the whole labelled answers to other prompts than NoMIRACL's, each once."""
    texts = query_texts(tables["queries"])
    columns = ("language", "query_id", "status", "text", "template")
    return sorted(
        {
            (language, text, texts[language, query] or "")
            for language, query, status, text, template in read_rows(labelled_answers(tables), *columns)
            if status == "ok" and text and template not in NOMIRACL_TEMPLATES
        }
    )


def _remark_unlabelled(tables: Tables) -> list[str]:
    count = len(tables["answers"]) - len(labelled_answers(tables))
    return [f"{count:,} answers have no outcome because their queries have no relevance label"] if count else []


OUTCOMES = Stage("outcomes", ("queries", "answers"), ("outcomes",), _outcomes, version=4, remarks=_remark_unlabelled)
