"""The nuggets of the sample: the facts that a good answer holds, written by hand, one JSON file a language.

    {"language": "fi", "licence": "CC0-1.0", "nuggets": [
      {"query_id": "fi-01", "nugget_id": "fi-01-n1", "importance": "vital", "passage_id": "fi-01#2",
       "text": "Suomenlinnan rakentaminen aloitettiin vuonna 1748."}, ..]}

People review and correct these files, so that everything a reviewer could break is checked. A nugget is one fact, in
the language of the query, that stands by itself and is true by the relevant passage it names. A query with relevant
passages has two to four of them, at least one `vital`; a query without has none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mirage import schema, store
from mirage.errors import BadInput
from mirage.io.sources.review import Review, open_review

if TYPE_CHECKING:
    import pyarrow as pa

NUGGETS = "nuggets"
"""The folder of these files, beside the sample files."""
AUTHOR = "sample"
"""The author of these nuggets in table `nuggets`."""
PER_QUERY = (2, 4)
"""Fewest and most nuggets of a query that has relevant passages."""
WORDS, CHARACTERS = (4, 15), (8, 45)
"""Shortest and longest nugget: in words, or in characters where words are not spaced."""

_FILE = {"language": str, "licence": str, "nuggets": list}
_NUGGET = {"query_id": str, "nugget_id": str, "importance": str, "passage_id": str, "text": str}


@dataclass(frozen=True, slots=True)
class SampleNugget:
    """One fact that a good answer to a query of the sample holds."""

    language: str
    """Language of the query and of the text."""
    query_id: str
    """The query."""
    nugget_id: str
    """The query's id, `-n` and a number, such as `fi-01-n1`; unique in the sample."""
    importance: Literal["vital", "okay"]
    """`vital`: what the query asks for; `okay`: what a good answer may add."""
    passage_id: str
    """The relevant passage that states it."""
    text: str
    """The fact."""


def read_nuggets(folder: Path, passages: pa.Table) -> tuple[SampleNugget, ...]:
    """Read and check the nuggets of a folder.

    Args:
        folder: a folder of files named by language code, such as `fi.json`.
        passages: the labelled passages of the queries, as `read_sample` gives them. A language may have no file.

    Returns:
        The nuggets, by language code, in the order of the file.

    Raises:
        UnknownName: if a file is named after no known language.
        BadInput: naming file and line of what is wrong, the first ten places of a file; nothing is repaired.
    """
    files = nugget_files(folder)
    relevant: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for passage in passages.select(["language", "query_id", "passage_id", "relevant"]).to_pylist():
        if passage["relevant"]:
            relevant[passage["language"]][passage["query_id"]].add(passage["passage_id"])
    return tuple(nugget for path in files for nugget in _read(path, relevant))


def nugget_files(folder: Path) -> list[Path]:
    """Return the files that `read_nuggets` reads.

    Raises:
        BadInput: if there is none.
    """
    files = store.list_files(folder, "*.json")
    if not files:
        raise BadInput(f"there is no file of nuggets in {folder}", do="name each by its language, as fi.json")
    return files


def nugget_table(nuggets: Iterable[SampleNugget]) -> pa.Table:
    """Nuggets of the sample as `schema.Nugget` rows."""
    return schema.sort("nuggets", schema.from_rows("nuggets", [_row(nugget) for nugget in nuggets]))


def _row(nugget: SampleNugget) -> schema.Nugget:
    return schema.Nugget(
        nugget.language,
        nugget.query_id,
        nugget.nugget_id,
        nugget.text,
        nugget.importance,
        nugget.passage_id,
        AUTHOR,
    )


def _read(path: Path, relevant: Mapping[str, Mapping[str, Set[str]]]) -> list[SampleNugget]:
    """The nuggets of one file, checked against the relevant passages by language and query."""
    review, data = open_review(path, _FILE, indent=2, form="mirage/io/sources/sample_nuggets.py")
    of_query = relevant.get(review.code, {})
    nuggets: list[dict[str, Any]] = []
    for number, nugget in enumerate(data["nuggets"], start=1):
        nugget_id = nugget.get("nugget_id") if isinstance(nugget, dict) else None
        if review.shape(nugget, _NUGGET, nugget_id if isinstance(nugget_id, str) else f"nugget {number}"):
            _check_nugget(review, nugget, of_query)
            nuggets.append(nugget)
    for name in ("nugget_id", "text"):
        for value, count in Counter(nugget[name] for nugget in nuggets).items():
            review.expect(count == 1, f"{name} occurs {count} times", value)
    low, high = PER_QUERY
    for query_id in of_query:
        importances = [nugget["importance"] for nugget in nuggets if nugget["query_id"] == query_id]
        review.expect(
            low <= len(importances) <= high, f"there are {len(importances)} nuggets, not {low} to {high}", query_id
        )
        review.expect("vital" in importances, "no nugget is vital", query_id)
    review.refuse()
    return [SampleNugget(review.code, **nugget) for nugget in nuggets]


def _check_nugget(review: Review, nugget: Mapping[str, str], of_query: Mapping[str, Set[str]]) -> None:
    nugget_id, query_id, passage_id, text = (nugget[k] for k in ("nugget_id", "query_id", "passage_id", "text"))
    numbered = re.fullmatch(rf"{re.escape(query_id)}-n[1-9][0-9]*", nugget_id)
    review.expect(bool(numbered), f"the id is not {query_id}-n and a number", nugget_id)
    review.expect(nugget["importance"] in ("vital", "okay"), f"importance is {nugget['importance']!r}", nugget_id)
    if query_id in of_query:
        review.expect(passage_id in of_query[query_id], f"{passage_id} is no relevant passage of {query_id}", nugget_id)
    else:
        review.expect(False, f"{query_id} is no query with relevant passages", nugget_id)
    review.text("text", text, nugget_id)
    review.expect("[" not in text, "the text cites", nugget_id)
    review.size(text, WORDS, CHARACTERS, nugget_id)
