"""The user's own queries, answers and verdicts, from JSON Lines, CSV or Parquet.

    {"language": "sw", "query_id": "12", "text": "..", "passages": [{"passage_id": "7#0", "text": "..", ..}, ..]}
    {"language": "sw", "query_id": "12", "system": "mine", "text": "##Reason: .. [7#0] ##Answer: .."}
    {"language": "sw", "query_id": "12", "judge": "gpt-4o", "system_a": "mine", "system_b": "aya-101", "verdict": "A"}

The fields are the columns of `mirage.schema`, with the same meanings and ranges. Nullable fields may be omitted, and
other fields are ignored. `Options` maps other column names. A single invalid line rejects the whole file; `Refused`
lists all of them.
"""

from mirage.io.sources.files.options import Options
from mirage.io.sources.files.read import Limit, Refused, required_columns
from mirage.io.sources.files.tables import read_answers

__all__ = [
    "Limit",
    "Options",
    "Refused",
    "read_answers",
    "required_columns",
]
