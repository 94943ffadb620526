"""Generations of BERGEN: `eval_dev_out.json` of an experiment, one system per file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import SYSTEM, answer_text, has_fields, list_field, measures, need, system_of, text
from mirage.io.formats.spec import GivenAnswer, Item, Record, ShownPassage

_KNOWN = {"q_id", "question", "response", "instruction", "label", "ranking_label", *SYSTEM, "language", ""}
_DOCUMENT = re.compile(r"^Document (\d+): ", re.MULTILINE)
_GENERATED = re.compile(r"eval_\w+_out(?:_\d+)?\.json")


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    labels = [str(label) for label in list_field(record, "label")]
    if labels[1:]:
        builder.left_out("label", "a query has one reference answer: the first is kept", len(labels) - 1)
    question = text(record, "question")
    passages = _passages(text(record, "instruction") or "", question)
    if passages:
        builder.note_guess("passages", "extracted from the instruction, from `Document 1:` to the question")
    if any(list_field(record, "ranking_label")):
        builder.left_out("ranking_label", "it refers to documents, which the instruction does not name")
    path = PurePath(record.where.rpartition(":")[0])
    # The file names are always the same, and the folder is the experiment's.
    folder = path.parent.name if _GENERATED.fullmatch(path.name) else ""
    system = system_of(record, builder, folder)
    if system == folder:
        builder.note_guess("system", f"named {folder} after its folder; change it with --set system=NAME")
    yield Item(
        question,
        query_id=need(record, "q_id"),
        reference=next(iter(labels), None),
        passages=passages,
        answers=[GivenAnswer(system, answer_text(record, "response"), numbered=bool(passages) or None)],
        scores=measures(record, system, "bergen", _KNOWN, "BERGEN gave no value"),
    )


def _passages(instruction: str, query: str | None) -> list[ShownPassage]:
    """Split the passages of an instruction: numbered from 1, the last one ends before the question."""
    starts = [match for k, match in enumerate(_DOCUMENT.finditer(instruction), start=1) if int(match[1]) == k]
    if not starts:
        return []
    tail = instruction[starts[-1].end() :]
    ends = [tail.rfind(f"\nQuestion: {query}"), tail.rfind("\nQuestion:"), tail.rfind(query) if query else -1]
    last = next((end for end in ends if end >= 0), len(tail))
    bounds = [*(match.start() for match in starts[1:]), starts[-1].end() + last]
    texts = [instruction[match.end() : bound].strip() for match, bound in zip(starts, bounds, strict=True)]
    return [ShownPassage(text) for text in texts if text]


FORMAT = Format(
    name="bergen",
    title="BERGEN: the generated answers of one experiment",
    source="naver/bergen, documentation of `eval_dev_out.json`, modules/rag.py at 098c931 and "
    "tests/utdata/utexp_pos/eval_dev_out.json at 1b720e9. Columns that its eval.py adds become scores. The form of the "
    "passages is that of its standard prompts; instructions written otherwise bring no passages.",
    gives=("queries", "references", "passages", "answers", "scores"),
    recognise=has_fields("q_id", "response", "label"),
    items=_items,
)
