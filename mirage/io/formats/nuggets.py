"""Nuggets, the facts that a good answer states: files of nuggetizer (castorini) and of TREC's AutoJudge.

Nuggets and their assignments become tables, from which `mirage measure features` makes the scores; a file of scores
alone becomes scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import answer_text, list_field, need, number, text, wrong
from mirage.io.formats.logs import members
from mirage.io.formats.spec import (
    GivenAnswer,
    GivenAssignment,
    GivenNugget,
    GivenScore,
    Item,
    Record,
    Sample,
    ShownPassage,
)
from mirage.schema import Assignment, NuggetImportance
from mirage.stages.nuggets.bank import POINTS, SCORES, nugget_id, nugget_scores

RATER = "nuggetizer"
JUDGE = "autojudge"
_FAILED = "failed"
"""nuggetizer's value for an importance or an assignment that its model failed to give."""
_ALL = "all"


def recognise(sample: Sample) -> str | None:
    """Detect nuggets, their assignments or scores."""
    for names in (
        ("qid", "nuggets"),
        ("qid", "strict_vital_score", "all_score"),
        ("nugget_bank",),
        ("claim_bank",),
        ("run_id", "topic_id", "measure", "value"),
    ):
        if sample.fields >= set(names):
            return f"has {', '.join(names)}"
    return None


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a record as assignments, scores, or a bank of nuggets, by its fields."""
    value = record.value
    if "nuggets" in value:
        yield _nuggets(record, builder)
    elif "nugget_bank" in value or "claim_bank" in value:
        yield _bank(record, builder)
    elif text(record, topic := "topic_id" if "measure" in value else "qid") == _ALL:
        builder.left_out("means over all queries", "they follow from the scores of the queries")
    else:
        scores = [_measure(record)] if "measure" in value else [_metric(record, name) for name in SCORES]
        yield Item(None, query_id=need(record, topic), scores=scores)


def _nuggets(record: Record, builder: Builder) -> Item:
    """Return the nuggets of a query, and their assignments to an answer or a passage."""
    nuggets = list_field(record, "nuggets")
    for nugget in nuggets:
        if not isinstance(nugget, Mapping) or not isinstance(nugget.get("text"), str) or not nugget["text"].strip():
            raise wrong(record, "nuggets", "a list of objects with text and importance", nugget)
    question = text(record, "query", "text")
    item = Item(None if question == "N/A" else question, query_id=need(record, "qid"))
    item.nuggets = _bank_of(record, builder, nuggets)
    if "candidate_text" in record.value:
        totals = nugget_scores([(_importance(nugget), _assignment(record, nugget)) for nugget in nuggets])
        metadata = {name: value for name, value in totals.items() if not isinstance(value, str)}
        item.passages = [ShownPassage(text(record, "candidate_text"), need(record, "docid"), metadata=metadata)]
    elif "answer_text" in record.value:
        system, assigner = need(record, "run_id"), text(record, "assigner") or RATER
        item.answers = [GivenAnswer(system, answer_text(record, "answer_text"))]
        item.assignments = [
            GivenAssignment(
                system,
                known.nugget_id,
                assigner,
                _assignment(record, nugget),
                quote=nugget.get("quote") or None,
                reason=nugget.get("reason") or "the assigner failed",
            )
            for known, nugget in zip(item.nuggets, nuggets, strict=True)
        ]
    return item


def _bank_of(record: Record, builder: Builder, nuggets: Sequence[Mapping[str, Any]]) -> list[GivenNugget]:
    """Return the nuggets of a record in order. Repeated texts count repeatedly, as in nuggetizer."""
    bank: list[GivenNugget] = []
    for nugget in nuggets:
        name = str(nugget.get("nugget_id") or nugget_id(nugget["text"]))
        twins = sum(other.nugget_id == name or other.nugget_id.startswith(f"{name}-") for other in bank)
        if nugget.get("importance") not in ("vital", "okay"):
            builder.note_guess("importance", "nuggets without an importance are taken for okay")
        author = str(nugget.get("author") or text(record, "author") or RATER)
        name = f"{name}-{twins + 1}" if twins else name
        passage = nugget.get("passage_id") or None
        bank.append(GivenNugget(nugget["text"], _importance(nugget), author, name, passage))
    return bank


def _importance(nugget: Mapping[str, Any]) -> NuggetImportance:
    """Return the importance; nuggetizer counts an undecided nugget among all, but not among the vital ones."""
    return "vital" if nugget.get("importance") == "vital" else "okay"


def _assignment(record: Record, nugget: Mapping[str, Any]) -> Assignment | None:
    given = nugget.get("assignment")
    if given == _FAILED:
        return None
    for known in POINTS:
        if given == known:
            return known
    raise wrong(record, "assignment", f"one of {', '.join(POINTS)}", given)


def _metric(record: Record, name: str) -> GivenScore:
    """Return one score of an answer. The file has no run name: use `--set run_id=NAME`."""
    value = number(record.value.get(name))
    if value is None:
        raise wrong(record, name, "a number from 0 to 1", record.value.get(name))
    return _score(need(record, "run_id"), name, RATER, value)


def _measure(record: Record) -> GivenScore:
    """Return a line of an AutoJudge leaderboard: one judge's value for one run on one topic."""
    given = record.value.get("value")
    value = number({"true": 1, "false": 0}.get(str(given).lower(), given))
    if value is None:
        raise wrong(record, "value", "a number", given)
    return _score(need(record, "run_id"), need(record, "measure"), text(record, "judge") or JUDGE, value)


def _score(system: str, measure: str, rater: str, value: float) -> GivenScore:
    low, high = (0.0, 1.0) if measure in SCORES else (None, None)
    return GivenScore(system, measure, rater, value, low=low, high=high)


def _bank(record: Record, builder: Builder) -> Item:
    """Return the nuggets of one topic, as questions or claims; RAGTIME 2026 has the topic's id in the metadata."""
    banks: list[tuple[str, Any]] = []
    for name in ("nugget_bank", "claim_bank"):
        bank = record.value.get(name) or ()
        if not isinstance(bank, Mapping | list | tuple):
            raise wrong(record, name, "an object or a list of nuggets", bank)
        banks += list(bank.items()) if isinstance(bank, Mapping) else [("", entry) for entry in bank]
    topic = members(record.value.get("metadata")) if not record.value.get("query_id") else {}
    named = Record({**record.value, **({"query_id": topic["topic_id"]} if "topic_id" in topic else {})}, record.where)
    nuggets = [_of_bank(record, key, entry) for key, entry in banks]
    query_id, title = need(named, "query_id"), text(record, "title_query")
    return Item(title, query_id=query_id, nuggets=_bank_of(record, builder, nuggets))


def _of_bank(record: Record, key: str, entry: Any) -> dict[str, Any]:
    """Convert a nugget of AutoJudge to nuggetizer's fields: a claim, or a question followed by its answers."""
    entry = {"question": entry} if isinstance(entry, str) else entry
    if not isinstance(entry, Mapping):
        raise wrong(record, "nugget_bank", "nuggets as objects", entry)
    words = entry.get("claim") or entry.get("question") or key
    if not isinstance(words, str) or not words.strip():
        raise wrong(record, "nugget_bank", "nuggets with a question or a claim", entry)
    answers = entry.get("answers") or ()
    golds = answers if isinstance(answers, Mapping) else [_field(gold, "answer") for gold in answers]
    creators = entry.get("creator") or [{}]
    creator = creators[0] if isinstance(creators, list) else creators
    references = entry.get("references") or [None]
    return {
        "text": f"{words} {'; '.join(str(gold) for gold in golds)}".strip(),
        "importance": entry.get("importance"),
        "nugget_id": entry.get("question_id") or entry.get("claim_id") or entry.get("nugget_id"),
        "passage_id": _field(references[0], "doc_id"),
        "author": _field(creator, "assessor_id") or _field(creator, "llm_model") or JUDGE,
    }


def _field(value: Any, name: str) -> Any:
    """Return a field of an object; return other values unchanged."""
    return value.get(name) if isinstance(value, Mapping) else value


FORMAT = Format(*describe("nuggets"), recognise=recognise, items=_items)
