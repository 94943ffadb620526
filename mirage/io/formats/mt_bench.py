"""MT-Bench (FastChat): questions, answers, and judgments by models and people.

A question has two turns, each judged separately. Here each turn is a separate query, `81#1` and `81#2`, with
the tag `turn`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from mirage.io.formats import shapes
from mirage.io.formats.battles import WINNERS, asks, by_people, conversation, given_answer, turns_until, winner
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import list_field, need, number, text, wrong
from mirage.io.formats.logs import members
from mirage.io.formats.spec import GivenAnswer, GivenScore, GivenVerdict, Item, Record, Sample, load_names

_SIDES = {"model_1": "A", "model_2": "B", "tie": "tie", "error": "unparsed"}
_SWAPPED = {"A": "B", "B": "A"}
_INCONSISTENT = "tie (inconsistent)"
_KINDS = load_names("mt_bench")
_LOW, _HIGH = 1, 10
_UNREAD = "the judge wrote no rating that could be read"


def recognise(sample: Sample) -> str | None:
    """Detect records with the fields of an MT-Bench file.

    LMArena's votes have the same fields; MT-Bench's are by experts, by its authors, or by a pair of GPT-4's verdicts.
    """
    kind = next((kind for kind, names in _KINDS.items() if sample.fields >= set(names)), None)
    if kind is None:
        return None
    if kind == "votes":
        judges = {str(record.get("judge")) for record in sample.records}
        if not all(judge.startswith(("expert_", "author_", "gpt4_pair")) for judge in judges):
            return None
    return f"has {', '.join(_KINDS[kind])}: {kind}"


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Read each record as a question, an answer, a score, a verdict in both orders, or a vote, by its fields.

    Answers in a folder `reference_answer` are the references shown to judges: they belong to no system, and replace a
    question's own reference.
    """
    references: dict[str, Item] = {}
    given: set[str] = set()
    for record in records:
        builder.note_guess("query_id", "each turn is a separate query, 81#1 and 81#2, and one unit of the intervals")
        value = record.value
        if "choices" in value and PurePath(record.where.rpartition(":")[0]).parent.name == "reference_answer":
            for place, answer in enumerate(_choices(record)[0], start=1):
                item = _turn(record, place, reference=answer)
                given.add(item.query_id or "")
                yield item
            continue
        kinds = (_both_orders, "g1_winner"), (_both_orders, "model_1"), (_single_score, "score"), (_answers, "choices")
        take = next((take for take, name in (*kinds, (_queries, "turns")) if name in value), _vote)
        for item in take(record, builder):
            if item.reference is not None:
                references[item.query_id or ""] = item
            yield replace(item, reference=None)
    yield from (item for query_id, item in references.items() if query_id not in given)
    if replaced := len(references.keys() & given):
        builder.left_out("references of questions", "judges are shown those of reference_answer", replaced)


def _turn(record: Record, turn: int | None = None, **parts: Any) -> Item:
    """Return the query of a turn; a record without a turn is on the first."""
    place = turn or int(number(record.value.get("turn")) or 1)
    tags = {"turn": str(place), "category": text(record, "category") if parts.get("text") else None}
    question, query_id = parts.pop("text", None), f"{need(record, 'question_id')}#{place}"
    language, where = text(record, "language"), record.where
    return Item(question, query_id=query_id, language=language, tags=tags, where=where, **parts)


def _queries(record: Record, _: Builder) -> Iterator[Item]:
    """Return the queries of a question's turns, with their references."""
    turns = [shapes.text(turn, "turns", record.where) or "" for turn in list_field(record, "turns")]
    references = list_field(record, "reference")
    for k, turn in enumerate(turns):
        reference = str(references[k]) if k < len(references) else None
        earlier = [("user", said) for said in turns[:k]]
        yield _turn(record, k + 1, text=turn, turns=earlier, reference=reference)


def _choices(record: Record) -> list[list[str]]:
    """Return each choice's answers to the turns."""
    choices = [members(choice).get("turns") for choice in list_field(record, "choices")]
    if not choices or not all(isinstance(turns, Sequence) and not isinstance(turns, str) for turns in choices):
        raise wrong(record, "choices", "a list of objects with turns", record.value.get("choices"))
    return [[shapes.text(answer, "choices", record.where) or "" for answer in turns or ()] for turns in choices]


def _answers(record: Record, _: Builder) -> Iterator[Item]:
    """Return a model's answers to the turns; further choices are samples."""
    model = need(record, "model_id")
    for sample, answers in enumerate(_choices(record)):
        for place, answer in enumerate(answers, start=1):
            yield _turn(record, place, answers=[GivenAnswer(model, answer, sample=sample)])


def _judge(record: Record) -> str:
    """Return the name of the judging model; its prompt follows it in a list."""
    (name, *_) = list_field(record, "judge") or [None]
    return str(name) if isinstance(name, str) and name.strip() else need(record, "judge")


def _both_orders(record: Record, builder: Builder) -> Iterator[Item]:
    """Return two verdicts: the first with model_1 shown first, the second in the other order."""
    first, second = need(record, "model_1"), need(record, "model_2")
    if "m1_score" in record.value:
        yield _turn(record, scores=[_rating(record, first, "m1_score"), _rating(record, second, "m2_score")])
        builder.left_out("winners by scores", "they follow from the two scores; no battle was judged")
        return
    judge, verdicts = _judge(record), []
    for game, order in (("g1", (first, second)), ("g2", (second, first))):
        word = need(record, f"{game}_winner").lower()
        if word not in _SIDES:
            raise wrong(record, f"{game}_winner", f"one of {', '.join(_SIDES)}", word)
        verdict = _SIDES[word] if game == "g1" else _SWAPPED.get(_SIDES[word], _SIDES[word])
        said, why = text(record, f"{game}_judgment"), "the judge named no winner"
        verdicts.append(GivenVerdict(judge, *order, verdict=verdict, rationale=said, reason=why))
    yield _turn(record, verdicts=verdicts)


def _single_score(record: Record, builder: Builder) -> Iterator[Item]:
    yield _turn(record, scores=[_rating(record, need(record, "model"), "score")])
    if record.value.get("judgment"):
        builder.left_out("explanations of scores", "the table scores has no place for them")


def _rating(record: Record, system: str, name: str) -> GivenScore:
    """Return a score from 1 to 10; -1 means unparsed."""
    given = record.value.get(name)
    value = number(given)
    if value is None and given not in (None, ""):
        raise wrong(record, name, f"a number from {_LOW} to {_HIGH}, or -1 where there is none", given)
    judge, value = _judge(record), None if value == -1 else value
    return GivenScore(system, "rating", judge, value, by_people(judge), low=_LOW, high=_HIGH, reason=_UNREAD)


def _vote(record: Record, builder: Builder) -> Iterator[Item]:
    """Return one vote of an expert, or the result of GPT-4's two verdicts."""
    systems, word = (need(record, "model_a"), need(record, "model_b")), need(record, "winner")
    if word == _INCONSISTENT:
        builder.note_guess("inconsistent", "two orders that disagree came as one tie: they cannot be told apart here")
    verdict = "tie" if word == _INCONSISTENT else winner(word)
    if verdict is None:
        raise wrong(record, "winner", f"one of {', '.join(WINNERS)}, {_INCONSISTENT}", word)
    place = int(number(record.value.get("turn")) or 1)
    conversations = [turns_until(conversation(record, f"conversation_{side}"), place) for side in "ab"]
    prompts, judge = asks(conversations[0]), _judge(record)
    pairs = zip(systems, conversations, strict=True)
    item = _turn(
        record,
        turns=[("user", turn) for turn in prompts[:-1]],
        answers=[GivenAnswer(system, given_answer(turns)) for system, turns in pairs if turns],
        verdicts=[GivenVerdict(judge, *systems, verdict=verdict, person=by_people(judge))],
    )
    yield replace(item, text=prompts[-1] if prompts else None)


FORMAT = Format(*describe("mt_bench"), recognise=recognise, read=read)
