"""Passages that a RAG service returned with its answers, as the lists of a retriever named after the system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.stages.generate.prepare import Key
from mirage.text.content import passage_digest
from mirage.text.names import normalise_name

if TYPE_CHECKING:
    import pyarrow as pa


def known_texts(passages: pa.Table | None) -> dict[Key, dict[str, str | None]]:
    """Return the texts of the passages given with each query, by id."""
    texts: dict[Key, dict[str, str | None]] = {}
    if passages is not None:
        columns = (passages[name].to_pylist() for name in ("language", "query_id", "passage_id", "text"))
        for language, query_id, passage_id, text in zip(*columns, strict=True):
            texts.setdefault((language, query_id), {})[passage_id] = text
    return texts


def retrieved_rows(
    key: Key,
    system: str,
    contexts: Sequence[Mapping[str, Any]],
    known: Mapping[str, str | None],
) -> list[schema.Retrieved]:
    """Return the rows of the passages returned with an answer, in order.

    A passage without an id gets that of a passage given with the query if the text is the same, and so its label; else
    one made from the text. An id of several passages, or of another text among those given
    with the query, is made distinct by the rank.
    """
    of_text = {text.strip(): passage_id for passage_id, text in known.items() if text}
    rows: dict[str, schema.Retrieved] = {}
    for rank, context in enumerate(contexts, start=1):
        text, title = context.get("text"), context.get("title")
        given_id = normalise_name(str(context.get("id") or "")) or of_text.get((text or "").strip())
        passage_id = given_id or passage_digest(text or "", title)[1]
        given, own = passage_id in known, known.get(passage_id)
        same = given and (text is None or own is None or own.strip() == text.strip())
        if passage_id in rows or (given and not same):
            passage_id, same = f"{passage_id}~{rank}", False
        rows[passage_id] = schema.Retrieved(
            *key,
            system,
            passage_id,
            rank,
            context.get("score"),
            None if same else title,
            None if same else text,
        )
    return list(rows.values())
