"""Pairs of responses of Auto-J, with the preference of people."""

from __future__ import annotations

from collections.abc import Iterator

from mirage.io.formats.battles import PEOPLE
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import first, has_fields, need, number, text, wrong
from mirage.io.formats.spec import GivenAnswer, GivenVerdict, Item, Record

_NAMES = ("response 1", "response 2")
_VERDICTS = {None: None, 0.0: "A", 1.0: "B", 2.0: "tie"}


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a pair: label 0 is `response 1`, 1 the other, 2 a tie."""
    systems = text(record, "model 1", "model_1") or _NAMES[0], text(record, "model 2", "model_2") or _NAMES[1]
    if systems == _NAMES:
        builder.note_guess("systems", "the file names no models: they are called response 1 and response 2")
    given = first(record.value, "label")
    label = number(given)
    if label not in _VERDICTS or (label is None and given is not None):
        raise wrong(record, "label", "0, 1 or 2", given)
    if label is None:
        builder.left_out("pairs without a verdict", "they have no label")
    verdict = GivenVerdict(PEOPLE, *systems, verdict=_VERDICTS[label], person=True)
    yield Item(
        need(record, "prompt"),
        query_id=text(record, "id", "pair_id"),
        tags={"scenario": text(record, "scenario")},
        answers=[GivenAnswer(system, text(record, name)) for system, name in zip(systems, _NAMES, strict=True)],
        verdicts=[] if label is None else [verdict],
    )


FORMAT = Format(
    name="auto-j",
    title="Auto-J: pairs of responses with the preference of people",
    source="GAIR-NLP/auto-j, data/test/testdata_pairwise.jsonl and its README (scenario, label, prompt, response 1, "
    "response 2; label 0 is the first response, 1 the second, 2 a tie)",
    gives=("queries", "tags", "answers", "judgments"),
    recognise=has_fields("prompt", *_NAMES, of="Auto-J"),
    items=_items,
    further="none",
)
