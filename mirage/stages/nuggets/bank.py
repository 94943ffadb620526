"""Banks of nuggets, their ids, and nugget scores: the share of nuggets that an answer states.

Source of the scores: castorini/nuggetizer, src/nuggetizer/core/metrics.py at 0b58400 (TREC RAG 2024). Two departures:
without nuggets to count its score is 0 and ours is null; an unassigned nugget counts as not stated there, and makes the
score null here.
"""

import hashlib
import unicodedata
from collections.abc import Iterable

import pyarrow as pa

from mirage import schema
from mirage.schema import Assignment, NuggetImportance, QueryKey
from mirage.stats.rows import group, read_rows

_ID = 6
"""Bytes of an id derived from content: 12 hexadecimal digits."""


def nugget_id(text: str) -> str:
    """Derive an id from the text of a nugget: the same text gives the same id everywhere."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.blake2b(folded.encode(), digest_size=_ID).hexdigest()


def banks(nuggets: pa.Table | None) -> dict[QueryKey, list[tuple[str, str]]]:
    """Return id and text of the nuggets of each query, sorted by id; none without a table."""
    if nuggets is None:
        return {}
    rows = read_rows(schema.sort("nuggets", nuggets), *schema.key("nuggets"), "text")
    return group(((language, query_id), (name, text)) for language, query_id, name, text in rows)


POINTS: dict[Assignment, float] = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
"""Points per assignment; in the strict scores partial support counts nothing."""
SCORES = ("strict_vital_score", "strict_all_score", "vital_score", "all_score")
"""Names of the four scores in nuggetizer."""


def nugget_scores(nuggets: Iterable[tuple[NuggetImportance, Assignment | None]]) -> dict[str, float | str]:
    """Return the four scores of one answer by name, each in [0, 1], or the reason why there is none.

    Args:
        nuggets: importance and assignment of every nugget of the query; None if undecided.
    """
    bank = list(nuggets)
    return {
        name: _share([given for importance, given in bank if importance == "vital" or "vital" not in name], name)
        for name in SCORES
    }


def _share(assignments: list[Assignment | None], name: str) -> float | str:
    """Return the share of the nuggets that is stated, or the reason why there is none."""
    if not assignments:
        return "the query has no vital nugget" if "vital" in name else "the query has no nugget"
    decided = [given for given in assignments if given is not None]
    if missing := len(assignments) - len(decided):
        return f"{missing} of {len(assignments)} nuggets have no assignment"
    points = (float(given == "support") if "strict" in name else POINTS[given] for given in decided)
    return sum(points) / len(decided)
