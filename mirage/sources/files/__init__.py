"""Bring your own: queries, answers and verdicts, from JSON Lines, CSV or Parquet.

    {"language": "sw", "query_id": "12", "text": "..", "passages": [{"passage_id": "7#0", "text": "..", ..}, ..]}
    {"language": "sw", "query_id": "12", "system": "mine", "text": "##Reason: .. [7#0] ##Answer: .."}
    {"language": "sw", "query_id": "12", "judge": "gpt-4o", "system_a": "mine", "system_b": "aya-101", "verdict": "A"}

The fields are the columns of `mirage.schema`, whose meanings and ranges they must keep; those that may be null may be
left out, and anything else is ignored. `Options` reads files whose columns have other names. One wrong line refuses
the whole file; `Refused` lists every wrong line.
"""

from mirage.sources.files.options import Options
from mirage.sources.files.read import Limit, Refused, required_columns, unread
from mirage.sources.files.tables import Kind, read_answers, read_battle_list, read_judgments, read_queries

__all__ = [
    "Kind",
    "Limit",
    "Options",
    "Refused",
    "read_answers",
    "read_battle_list",
    "read_judgments",
    "read_queries",
    "required_columns",
    "unread",
]
