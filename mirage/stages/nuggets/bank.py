"""Banks of nuggets: ids, and edits by people, each recorded with author and time.

Edits are pure functions from a bank to the changed bank and a record of the edit. `stage.edit_bank` writes both.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.schema import Nugget, NuggetEdit, NuggetImportance

if TYPE_CHECKING:
    import pyarrow as pa

NuggetKey = tuple[str, str, str]
"""Language, query_id and nugget_id."""
_ID = 6
"""Bytes of an id derived from content: 12 hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class NuggetText:
    """A nugget as entered by a person."""

    text: str
    """The fact."""
    importance: NuggetImportance
    """Importance of the fact."""


@dataclass(frozen=True)
class BankChange:
    """Result of an edit."""

    bank: pa.Table
    """All nuggets after the edit: `schema.Nugget` rows."""
    edit: NuggetEdit
    """Record of the edit."""


def nugget_id(text: str) -> str:
    """Derive an id from the text of a nugget: the same text gives the same id everywhere."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.blake2b(folded.encode(), digest_size=_ID).hexdigest()


def reword(bank: pa.Table, key: NuggetKey, text: str, *, author: str, time: str) -> BankChange:
    """Change the text of a nugget. It gets a new id, since existing assignments refer to the old text.

    Args:
        bank: `schema.Nugget` rows.
        key: the nugget.
        text: the new text.
        author: the person.
        time: UTC, as `2026-11-21T05:13:28.250000Z`.

    Raises:
        UnknownName: if there is no such nugget.
        BadInput: if the text is empty, or already in the bank.
    """
    (old,) = _of(bank, [key])
    return _change(bank, "reword", [old], [_new(old, text, old.importance, author)], author=author, time=time)


def set_importance(
    bank: pa.Table, key: NuggetKey, importance: NuggetImportance, *, author: str, time: str
) -> BankChange:
    """Set a nugget to vital or okay; it keeps its id, author and assignments.

    Args and errors: as for `reword`; an edit without effect is rejected.
    """
    (old,) = _of(bank, [key])
    if old.importance == importance:
        raise BadInput(f"the nugget is already {importance}", where=_place(old), do="no edit is needed")
    new = Nugget(*key, old.text, importance, old.passage_id, old.author)
    return _change(bank, "importance", [old], [new], author=author, time=time)


def split(bank: pa.Table, key: NuggetKey, parts: Sequence[NuggetText], *, author: str, time: str) -> BankChange:
    """Replace a nugget by two or more. Args and errors: as for `reword`."""
    (old,) = _of(bank, [key])
    if len(parts) < 2:
        raise BadInput("a nugget is split into two or more", where=_place(old), do="enter two texts, or reword it")
    new = [_new(old, part.text, part.importance, author) for part in parts]
    return _change(bank, "split", [old], new, author=author, time=time)


def merge(bank: pa.Table, keys: Sequence[NuggetKey], text: str, *, author: str, time: str) -> BankChange:
    """Replace several nuggets of a query by one, vital if any of them is. Args and errors: as for `reword`."""
    old = _of(bank, keys)
    if len(set(keys)) < 2 or len({key[:2] for key in keys}) > 1:
        raise BadInput("a merge needs two or more nuggets of one query", do="choose several of one query")
    importance: NuggetImportance = "vital" if any(nugget.importance == "vital" for nugget in old) else "okay"
    passages = {nugget.passage_id for nugget in old}
    new = _new(old[0], text, importance, author, passages.pop() if len(passages) == 1 else None)
    return _change(bank, "merge", old, [new], author=author, time=time)


def drop(bank: pa.Table, key: NuggetKey, *, author: str, time: str) -> BankChange:
    """Remove a nugget from the bank. Args and errors: as for `reword`."""
    return _change(bank, "drop", _of(bank, [key]), [], author=author, time=time)


def add(
    bank: pa.Table, query: tuple[str, str], nugget: NuggetText, *, passage_id: str | None = None, author: str, time: str
) -> BankChange:
    """Add a nugget to the bank of a query.

    Args:
        bank: `schema.Nugget` rows.
        query: language and id of the query.
        nugget: text and importance.
        passage_id: source passage; None if unknown.
        author: the person.
        time: UTC, as `2026-11-21T05:13:28.250000Z`.

    Raises:
        BadInput: if the text is empty, or already in the bank.
    """
    text = _text(nugget.text)
    new = Nugget(*query, nugget_id(text), text, nugget.importance, passage_id, author)
    return _change(bank, "add", [], [new], author=author, time=time)


def banks(nuggets: pa.Table) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return id and text of the nuggets of each query, sorted by id."""
    by_query: dict[tuple[str, str], list[tuple[str, str]]] = {}
    columns = (schema.sort("nuggets", nuggets)[name].to_pylist() for name in (*schema.key("nuggets"), "text"))
    for language, query_id, name, text in zip(*columns, strict=True):
        by_query.setdefault((language, query_id), []).append((name, text))
    return by_query


def _of(bank: pa.Table, keys: Sequence[NuggetKey]) -> list[Nugget]:
    rows = {(row["language"], row["query_id"], row["nugget_id"]): Nugget(**row) for row in bank.to_pylist()}
    for key in keys:
        if key not in rows:
            names = [name for *query, name in rows if tuple(query) == key[:2]]
            raise UnknownName("nugget", key[2], names, where=f"{key[0]}, {key[1]}")
    return [rows[key] for key in keys]


def _new(old: Nugget, text: str, importance: NuggetImportance, author: str, passage_id: str | None = None) -> Nugget:
    """Return a nugget of the same query with another text, by default with the old one's passage."""
    text = _text(text)
    return Nugget(old.language, old.query_id, nugget_id(text), text, importance, passage_id or old.passage_id, author)


def _text(text: str) -> str:
    text = unicodedata.normalize("NFC", text).strip()
    if not text:
        raise BadInput("a nugget has no text", do="write what a good answer states, or drop the nugget")
    return text


def _place(nugget: Nugget) -> str:
    return f"{nugget.language}, {nugget.query_id}, {nugget.nugget_id}"


def _change(
    bank: pa.Table, change: Any, old: Sequence[Nugget], new: Sequence[Nugget], *, author: str, time: str
) -> BankChange:
    gone = {(nugget.language, nugget.query_id, nugget.nugget_id) for nugget in old}
    rows = [Nugget(**row) for row in bank.to_pylist()]
    staying = [row for row in rows if (row.language, row.query_id, row.nugget_id) not in gone]
    taken = {(row.language, row.query_id, row.nugget_id) for row in staying}
    for nugget in new:
        key = nugget.language, nugget.query_id, nugget.nugget_id
        if key in taken:
            raise BadInput("the query already has this nugget", where=_place(nugget), do="use another text")
        taken.add(key)
    language, query_id = ((old or new)[0].language, (old or new)[0].query_id)
    before, after = (
        json.dumps([asdict(nugget) for nugget in nuggets], ensure_ascii=False, sort_keys=True) for nuggets in (old, new)
    )
    content = json.dumps([time, author, language, query_id, change, before, after])
    edit_id = hashlib.blake2b(content.encode(), digest_size=2 * _ID).hexdigest()
    edit = NuggetEdit(edit_id, time, author, language, query_id, change, before, after)
    return BankChange(schema.sort("nuggets", schema.from_rows("nuggets", [*staying, *new])), edit)
