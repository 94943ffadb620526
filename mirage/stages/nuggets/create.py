"""Generation of nugget banks by a model: requests, and parsing of the replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage import llm, schema
from mirage.llm.prompts import MAX_PASSAGE_TOKENS, bundled_text, fence_code, fill
from mirage.schema import Nugget
from mirage.stages.nuggets.bank import nugget_id
from mirage.stages.nuggets.reading import read_list
from mirage.text.languages import name_of

if TYPE_CHECKING:
    import pyarrow as pa

MAX_NUGGETS = 30
"""Maximum nuggets per query (nuggetizer's limit)."""


@dataclass(frozen=True, slots=True)
class BankRequest:
    """A query whose nuggets are to be generated."""

    language: str
    """Code of its language."""
    query_id: str
    """Its id."""
    text: str
    """The query."""
    passages: tuple[tuple[str, str], ...]
    """Id and truncated text of each source passage."""

    def conversation(self) -> llm.Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        code = fence_code([self.text, *(text for _, text in self.passages)])
        passages = "\n\n".join(
            f"<<PASSAGE {number} {code}>>\n{text}\n<<END {code}>>" for number, (_, text) in enumerate(self.passages, 1)
        )
        values = {"code": code, "language": name_of(self.language), "question": self.text, "passages": passages}
        return [{"role": "user", "content": fill(bundled_text("nugget_create"), {**values, "most": str(MAX_NUGGETS)})}]


@dataclass(frozen=True)
class CreateResult:
    """Result of generating nuggets."""

    nuggets: pa.Table
    """`schema.Nugget` rows."""
    failed: Mapping[str, int]
    """Queries without nuggets, by reason. A later run retries those whose call failed."""
    unasked: int
    """Queries not requested because the budget was reached or the run ended."""
    left: Mapping[str, int]
    """Queries without a request, by reason."""
    cost: llm.Cost
    """Cost of the calls."""


def bank_requests(
    queries: pa.Table, passages: pa.Table, *, known: Collection[tuple[str, str]] = ()
) -> tuple[list[BankRequest], dict[str, int]]:
    """Build the requests for queries whose nuggets can be generated, and count the others by reason.

    Nuggets are generated from the passages labelled relevant, or from all if no passage of the query has a label.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows.
        known: language and id of queries with nuggets.
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
            left["the text of the query is unknown"] += 1
        elif not texts:
            left["no passage is relevant" if rows and not chosen else "the texts of the passages are unknown"] += 1
        else:
            requests.append(BankRequest(*key, row["text"], texts))
    return requests, dict(left)


def parse_bank(text: str, request: BankRequest, author: str) -> list[Nugget] | str:
    """Parse the nuggets in a model's reply, at most `MAX_NUGGETS`, vital nuggets first; or return why it is invalid.

    One entry without a text, with an unknown importance or with a passage not shown invalidates the reply. Duplicates
    are merged, and vital if any of them is.
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
            return f"the importance of a nugget is {str(importance)[:40]!r}, not vital or okay"
        if passage not in (None, *range(1, len(request.passages) + 1)) or isinstance(passage, bool):
            return f"a nugget names the passage {str(passage)[:40]!r}, which was not shown"
        name = nugget_id(words)
        source = None if passage is None else request.passages[passage - 1][0]
        nugget = Nugget(request.language, request.query_id, name, words.strip(), importance, source, author)
        if name not in nuggets or nuggets[name].importance == "okay":
            nuggets[name] = nugget
    ordered = sorted(nuggets.values(), key=lambda nugget: nugget.importance != "vital")
    return ordered[:MAX_NUGGETS] or "the reply has no nugget"


def create(
    requests: Sequence[BankRequest], replies: llm.Replies, *, author: str, left: Mapping[str, int]
) -> CreateResult:
    """Collect the nuggets in a model's replies, and the failures.

    Args:
        requests: the requests.
        replies: their replies.
        author: the model's name, for the rows.
        left: queries without a request, by reason.
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
