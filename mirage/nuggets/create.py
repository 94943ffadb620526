"""Writing a bank: what a model is asked for each query, and the nuggets in its reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage import llm, schema
from mirage.languages import name_of
from mirage.nuggets.bank import nugget_id
from mirage.nuggets.reading import read_list
from mirage.prompts import MAX_PASSAGE_TOKENS, bundled_text, fence_code, fill
from mirage.schema import Nugget

if TYPE_CHECKING:
    import pyarrow as pa

MAX_NUGGETS = 30
"""Nuggets of a query, at most (nuggetizer's limit)."""


@dataclass(frozen=True, slots=True)
class BankRequest:
    """A query whose nuggets are to be written."""

    language: str
    """Code of its language."""
    query_id: str
    """Its id."""
    text: str
    """The query."""
    passages: tuple[tuple[str, str], ...]
    """Id and text of each passage that the nuggets are written from, cut."""

    def conversation(self) -> llm.Messages:
        """What the model is asked. Each text stands between two marks with a code that occurs in none of them."""
        code = fence_code([self.text, *(text for _, text in self.passages)])
        passages = "\n\n".join(
            f"<<PASSAGE {number} {code}>>\n{text}\n<<END {code}>>" for number, (_, text) in enumerate(self.passages, 1)
        )
        values = {"code": code, "language": name_of(self.language), "question": self.text, "passages": passages}
        return [{"role": "user", "content": fill(bundled_text("nugget_create"), {**values, "most": str(MAX_NUGGETS)})}]


@dataclass(frozen=True)
class CreateResult:
    """What came of asking a model for nuggets."""

    nuggets: pa.Table
    """`schema.Nugget` rows."""
    failed: Mapping[str, int]
    """Queries without nuggets, by the reason. A later run asks again for those whose call failed."""
    unasked: int
    """Queries not asked about, since the budget was reached or the run ended."""
    left: Mapping[str, int]
    """Queries that there was nothing to ask about, by the reason."""
    cost: llm.Cost
    """What it has cost."""


def bank_requests(
    queries: pa.Table, passages: pa.Table, *, known: Collection[tuple[str, str]] = ()
) -> tuple[list[BankRequest], dict[str, int]]:
    """The queries whose nuggets can be written, and how many cannot, by the reason.

    Nuggets are written from the passages labelled relevant, or from all where no passage of the query has a label.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows.
        known: language and id of queries that have nuggets.
    """
    cut = llm.TokenEstimate().cut
    by_query: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in passages.sort_by([(name, "ascending") for name in ("language", "query_id", "position")]).to_pylist():
        by_query.setdefault((row["language"], row["query_id"]), []).append(row)
    requests, left = [], Counter[str]()
    for row in schema.sort("queries", queries).to_pylist():
        key = row["language"], row["query_id"]
        rows = by_query.get(key, [])
        labelled = any(passage["relevant"] is not None for passage in rows)
        chosen = [passage for passage in rows if passage["relevant"] or not labelled]
        texts = tuple(
            (passage["passage_id"], cut(passage["text"], MAX_PASSAGE_TOKENS))
            for passage in chosen
            if passage["text"] is not None
        )
        if key in known:
            left["the query has nuggets already"] += 1
        elif row["text"] is None:
            left["the text of the query is not known"] += 1
        elif not texts:
            left["no passage is relevant" if rows and not chosen else "the texts of the passages are not known"] += 1
        else:
            requests.append(BankRequest(*key, row["text"], texts))
    return requests, dict(left)


def parse_bank(text: str, request: BankRequest, author: str) -> list[Nugget] | str:
    """The nuggets in a model's reply, at most `MAX_NUGGETS`, the vital ones first; or why it cannot be read.

    Strict: one entry without a text, with another importance or with a passage that was not shown spoils the reply.
    What is said twice counts once, and is vital if it is once.
    """
    entries = read_list(text)
    if isinstance(entries, str):
        return entries
    nuggets: dict[str, Nugget] = {}
    for entry in entries:
        words, importance, passage = (entry.get(name) for name in ("nugget", "importance", "passage"))
        if not isinstance(words, str) or not words.strip():
            return "a nugget has no text"
        if importance not in ("vital", "okay"):
            return f"the importance of a nugget is {str(importance)[:40]!r}, none of vital and okay"
        if passage not in (None, *range(1, len(request.passages) + 1)) or isinstance(passage, bool):
            return f"a nugget names the passage {str(passage)[:40]!r}, which was not shown"
        name = nugget_id(words)
        source = None if passage is None else request.passages[passage - 1][0]
        nugget = Nugget(request.language, request.query_id, name, words.strip(), importance, source, author)
        if name not in nuggets or nuggets[name].importance == "okay":
            nuggets[name] = nugget
    ordered = sorted(nuggets.values(), key=lambda nugget: nugget.importance != "vital")
    return ordered[:MAX_NUGGETS] or "the reply holds no nugget"


def create(
    requests: Sequence[BankRequest], replies: llm.Replies, *, author: str, left: Mapping[str, int]
) -> CreateResult:
    """The nuggets in a model's replies, and what went wrong.

    Args:
        requests: what was asked.
        replies: what came.
        author: the model's name, for the rows.
        left: queries that there was nothing to ask about, by the reason.
    """
    failed: Counter[str] = Counter()
    rows: list[Nugget] = []
    unasked = 0
    for request, reply in zip(requests, replies.by_number, strict=True):
        if reply is None:
            unasked += 1
            continue
        bank = llm.unread(reply) or parse_bank(reply.text or "", request, author)
        if isinstance(bank, list):
            rows += bank
        else:
            failed[bank] += 1
    table = schema.sort("nuggets", schema.from_rows("nuggets", rows))
    return CreateResult(table, dict(failed), unasked, left, replies.cost)
