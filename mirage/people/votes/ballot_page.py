"""A ballot as one HTML file: the items to vote on, the voting program, and labels in two languages.

The file needs no server and no network, and its `Content-Security-Policy` forbids both. Texts are embedded as JSON and
inserted as text, never as markup. The file contains no names of systems and no verdicts, unless an answer does.
"""

from __future__ import annotations

import base64
import hashlib
import json
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Any

from mirage.errors import NotEnoughData
from mirage.people.votes.ballots import FILE_FORMAT, LABELS, Ballot, BallotItem, ballot_key
from mirage.people.votes.labels import AuditItem
from mirage.people.votes.rows import LONGEST, shown_digest
from mirage.stages.shown import merge_passages, shown_with
from mirage.store.query_rows import of_query
from mirage.text.answers import citations, is_numbered, part_headings
from mirage.text.languages import base, language, name_of
from mirage.text.segmentation import SHOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage import schema
    from mirage.store import Arena
    from mirage.text.answers import Citation

ENGLISH = "en"


def ballot_html(arena: Arena, ballot: Ballot) -> str:
    """Return the file of a ballot; the output is deterministic.

    Raises:
        NotEnoughData: if a text of the ballot has changed or is gone.
    """
    own = base(ballot.language)
    codes = [ENGLISH, *([own] if own in words() and own != ENGLISH else [])]
    data = {
        "head": {
            "mirage_ballot": FILE_FORMAT,
            "ballot": ballot.ballot_id,
            "arena": ballot.arena,
            "language": ballot.language,
            "answers": ballot.answers,
            **({"kind": LABELS} if ballot.of_labels else {}),
        },
        "key": ballot_key(ballot.ballot_id),
        "voter": ballot.voter,
        "title": name_of(ballot.language),
        "direction": language(ballot.language).direction,
        "longest": LONGEST,
        "items": [_item(arena, item) for item in ballot.items],
        "words": {code: words()[code] | {"direction": language(code).direction} for code in codes},
    }
    # Escaped, so that no text can close the element.
    values = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    style, script = _resource("ballot.css"), _resource("ballot.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    parts = {"{{policy}}": policy, "{{style}}": style, "{{script}}": script, "{{data}}": values}
    page = _resource("ballot.html")
    for mark, part in parts.items():
        # Texts are inserted last, so that placeholders in them are not replaced.
        page = page.replace(mark, part)
    return page


@cache
def words() -> dict[str, dict[str, str]]:
    """Return the texts of the ballot by language code."""
    texts: dict[str, dict[str, str]] = json.loads(_resource("ballot.json"))
    return texts


def _item(arena: Arena, item: BallotItem) -> dict[str, Any]:
    battle = item.subject
    key = (battle.language, battle.query_id)
    query = next((row["text"] for row in of_query(arena, "queries", key)), None) or ""
    turns = [[row["speaker"], row["text"]] for row in of_query(arena, "turns", key)]
    about = {"id": item.item_id, "query": query, "turns": turns}
    if isinstance(battle, AuditItem):
        return about | {"passages": _unlabelled(arena, key, item.shown, query)}
    rows = {row["system"]: row for row in of_query(arena, "answers", key)}
    sides = [rows.get(system, {"text": None}) for system in (battle.system_a, battle.system_b)]
    texts = [side["text"] for side in sides if side["text"] is not None]
    if len(texts) < len(sides) or shown_digest([query], texts) != item.shown:
        raise NotEnoughData("an answer has changed since the ballot was drawn", do="make the ballot again")
    contexts = shown_with(arena, key)
    seen = {system: contexts.of(key, row["retriever"], row["depth"]) for system, row in rows.items()}
    passages = merge_passages(key, [contexts.of(key, None, None), *seen.values()])
    ids = [tuple(passage_id for passage_id, *_ in seen[side["system"]]) for side in sides]
    if any(side["retriever"] for side in sides):
        passages = tuple(passage for passage in passages if passage.passage_id in {*ids[0], *ids[1]})
    return about | {
        "answers": texts,
        "pieces": [
            _pieces(side["text"], _cited(side, given), passages) for side, given in zip(sides, ids, strict=True)
        ],
        "passages": [
            {"id": passage.passage_id, "title": passage.title, "text": passage.text, "relevant": passage.relevant}
            for passage in passages
        ],
    }


def _cited(answer: dict[str, Any], ids: tuple[str, ...]) -> Sequence[Citation]:
    """Return the citations in the part of an answer that pages show."""
    numbered = is_numbered(answer["template"], answer["numbered"])
    return citations(answer["text"][:SHOWN], ids, numbered=numbered) if answer["text"] and ids else ()


def _unlabelled(arena: Arena, key: tuple[str, str], shown: str, query: str) -> list[dict[str, Any]]:
    """Return the passages of a query without their labels."""
    passages = sorted(of_query(arena, "passages", key), key=lambda row: row["position"])
    if shown_digest([query], [row["text"] for row in passages]) != shown:
        raise NotEnoughData(f"{key[0]}:{key[1]} has changed since the audit was drawn", do="draw the audit again")
    return [{"id": row["passage_id"], "title": row["title"], "text": row["text"], "relevant": None} for row in passages]


def _pieces(
    text: str, citations: Sequence[Citation], passages: Sequence[schema.Passage]
) -> list[tuple[str, str, int | None]]:
    """Split an answer into segments: `text`; `part` with the name of a part; `cite` with its label, and the index of
    its passage if listed. Empty if the answer has neither parts nor citations.
    """
    marks: list[tuple[int, int, str, str, int | None]] = [
        (start, end, "part", name, None) for start, end, name in part_headings(text)
    ]
    places: dict[tuple[int, int], list[int]] = {}
    order = {passage.passage_id: k for k, passage in enumerate(passages, 1)}
    for citation in citations:
        numbers = places.setdefault((citation.start, citation.end), [])
        if citation.passage_id in order:
            numbers.append(order[citation.passage_id])
    for (start, end), numbers in places.items():
        shown = ", ".join(map(str, numbers)) or text[start:end]
        marks.append((start, end, "cite", shown, numbers[0] if numbers else None))
    if not marks:
        return []
    pieces: list[tuple[str, str, int | None]] = []
    position = 0
    for start, end, kind, shown, number in sorted(marks, key=lambda mark: mark[:2]):
        if start < position:
            continue
        if text[position:start]:
            pieces.append(("text", text[position:start], None))
        pieces.append((kind, shown, number))
        position = end
    return [*pieces, ("text", text[position:], None)]


def _resource(name: str) -> str:
    data = pkgutil.get_data("mirage.people.votes", name)
    return (data or b"").decode("utf-8").strip("\n")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
