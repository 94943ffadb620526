"""MT-Bench (FastChat): questions, answers, and judgments by models and people.

A question has two turns, each judged separately. Here each turn is a separate query, `81#1` and `81#2`, with
the tag `turn`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from mirage.io.formats import shapes
from mirage.io.formats.battles import WINNERS, asks, by_people, conversation, given_answer, until, winner
from mirage.io.formats.fields import list_field, need, number, text, wrong
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, GivenVerdict, QueryKey, Record, Sample
from mirage.io.formats.values import as_list

_SIDES = {"model_1": "A", "model_2": "B", "tie": "tie", "error": "unparsed"}
_SWAPPED = {"A": "B", "B": "A"}
_INCONSISTENT = "tie (inconsistent)"
_KINDS = {
    "verdicts in both orders": ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge"),
    "scores of single answers": ("question_id", "model", "judge", "score", "judgment"),
    "answers": ("question_id", "model_id", "choices"),
    "questions": ("question_id", "category", "turns"),
    "votes": ("question_id", "model_a", "model_b", "winner", "judge", "turn"),
}
_LOW, _HIGH = 1, 10
_SCALE = "rating"
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


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each record as a question, an answer, a score, a verdict in both orders, or a vote, by its fields.

    Answers in a folder `reference_answer` are the references shown to judges: they belong to no system, and replace a
    question's own reference.
    """
    references: dict[str, tuple[Record, int, str]] = {}
    given: set[str] = set()
    for record in records:
        value = record.value
        if "g1_winner" in value or "model_1" in value:
            _both_orders(record, builder)
        elif "score" in value:
            _score(record, builder)
        elif "choices" in value and PurePath(record.where.rpartition(":")[0]).parent.name == "reference_answer":
            for place, answer in enumerate(_choices(record)[0], start=1):
                given.add(_query(record, builder, place, reference=answer)[1])
        elif "choices" in value:
            _answers(record, builder)
        elif "turns" in value:
            references |= {key[1]: (record, place, content) for key, place, content in _queries(record, builder)}
        else:
            _vote(record, builder)
    for query_id, (record, place, reference) in references.items():
        if query_id not in given:
            _query(record, builder, place, reference=reference)
    if replaced := len(references.keys() & given):
        builder.left_out("references of questions", "judges are shown those of reference_answer", replaced)


def _query(record: Record, builder: Builder, turn: int | None = None, **fields: Any) -> QueryKey:
    """Return the query of a turn; a record without a turn is on the first."""
    place = turn or int(number(record.value.get("turn")) or 1)
    builder.note_guess("query_id", "each turn is a separate query, 81#1 and 81#2, and one unit of the intervals")
    tags = {"turn": str(place)} | fields.pop("tags", {})
    return builder.query(
        fields.pop("text", None),
        where=record.where,
        query_id=f"{need(record, 'question_id')}#{place}",
        language=text(record, "language"),
        tags=tags,
        **fields,
    )


def _queries(record: Record, builder: Builder) -> Iterator[tuple[QueryKey, int, str]]:
    """Return the queries of a question's turns; those with a reference with their index and reference."""
    category = text(record, "category")
    turns = [shapes.text(turn, "turns", record.where) or "" for turn in list_field(record, "turns")]
    references = list_field(record, "reference")
    for place, turn in enumerate(turns, start=1):
        query = _query(
            record,
            builder,
            place,
            text=turn,
            turns=[("user", earlier) for earlier in turns[: place - 1]],
            tags={"category": category} if category else {},
        )
        if place <= len(references):
            yield query, place, str(references[place - 1])


def _choices(record: Record) -> list[list[str]]:
    """Return each choice's answers to the turns."""
    choices = [choice.get("turns") if isinstance(choice, Mapping) else None for choice in list_field(record, "choices")]
    if not choices or not all(isinstance(turns, Sequence) and not isinstance(turns, str) for turns in choices):
        raise wrong(record, "choices", "a list of objects with turns", record.value.get("choices"))
    return [[shapes.text(answer, "choices", record.where) or "" for answer in turns or ()] for turns in choices]


def _answers(record: Record, builder: Builder) -> None:
    """Read a model's answers to the turns; further choices are samples."""
    model = need(record, "model_id")
    for sample, answers in enumerate(_choices(record)):
        for place, answer in enumerate(answers, start=1):
            query = _query(record, builder, place)
            builder.answer(query, GivenAnswer(model, answer, sample=sample), where=record.where)


def _judge(record: Record) -> str:
    """Return the name of the judging model; its prompt follows it in a list."""
    (name, *_) = as_list(record.value.get("judge")) or [None]
    return str(name) if isinstance(name, str) and name.strip() else need(record, "judge")


def _both_orders(record: Record, builder: Builder) -> None:
    """Return two verdicts: the first with model_1 shown first, the second in the other order."""
    first, second = need(record, "model_1"), need(record, "model_2")
    query, judge = _query(record, builder), _judge(record)
    if "m1_score" in record.value:
        for system, name in ((first, "m1_score"), (second, "m2_score")):
            _rate(record, builder, query, system, name)
        builder.left_out("winners by scores", "they follow from the two scores; no battle was judged")
        return
    for game, (a, b) in (("g1", (first, second)), ("g2", (second, first))):
        word = need(record, f"{game}_winner").lower()
        if word not in _SIDES:
            raise wrong(record, f"{game}_winner", f"one of {', '.join(_SIDES)}", word)
        verdict = _SIDES[word] if game == "g1" else _SWAPPED.get(_SIDES[word], _SIDES[word])
        builder.judgment(
            query,
            GivenVerdict(
                judge,
                a,
                b,
                verdict=verdict,
                rationale=text(record, f"{game}_judgment"),
                reason="the judge named no winner" if verdict == "unparsed" else None,
            ),
            where=record.where,
        )


def _score(record: Record, builder: Builder) -> None:
    _rate(record, builder, _query(record, builder), need(record, "model"), "score")
    if record.value.get("judgment"):
        builder.left_out("explanations of scores", "the table scores has no place for them")


def _rate(record: Record, builder: Builder, query: QueryKey, system: str, name: str) -> None:
    """Read a score from 1 to 10; -1 means unparsed."""
    given = record.value.get(name)
    value = number(given)
    if value is None and given not in (None, ""):
        raise wrong(record, name, f"a number from {_LOW} to {_HIGH}, or -1 where there is none", given)
    unread = value is None or value == -1
    judge = _judge(record)
    builder.score(
        query,
        GivenScore(
            system,
            _SCALE,
            judge,
            None if unread else value,
            person=by_people(judge),
            low=_LOW,
            high=_HIGH,
            reason=_UNREAD if unread else None,
        ),
        where=record.where,
    )


def _vote(record: Record, builder: Builder) -> None:
    """Read one vote of an expert, or the result of GPT-4's two verdicts."""
    systems = need(record, "model_a"), need(record, "model_b")
    word = need(record, "winner")
    if word == _INCONSISTENT:
        verdict: str | None = "tie"
        builder.note_guess("inconsistent", "two orders that disagree came as one tie: they cannot be told apart here")
    else:
        verdict = winner(word)
    if verdict is None:
        raise wrong(record, "winner", f"one of {', '.join(WINNERS)}, {_INCONSISTENT}", word)
    place = int(number(record.value.get("turn")) or 1)
    conversations = [until(conversation(record, f"conversation_{side}"), place) for side in "ab"]
    prompts = asks(conversations[0])
    query = _query(
        record, builder, text=prompts[-1] if prompts else None, turns=[("user", turn) for turn in prompts[:-1]]
    )
    for system, turns in zip(systems, conversations, strict=True):
        if turns:
            builder.answer(query, GivenAnswer(system, given_answer(turns)), where=record.where)
    judge = _judge(record)
    builder.judgment(query, GivenVerdict(judge, *systems, verdict=verdict, person=by_people(judge)), where=record.where)


FORMAT = Format(
    name="mt_bench",
    title="MT-Bench (FastChat): questions, answers, verdicts and scores of models, votes of experts",
    source="lm-sys/FastChat, fastchat/llm_judge/common.py at 007ecd0 (model_judgment, model_answer, question.jsonl) "
    "and compute_agreement.py at 0283a0b; the card of lmsys/mt_bench_human_judgments at f7d2896",
    gives=("queries", "turns", "tags", "references", "answers", "samples", "scores", "judgments"),
    recognise=recognise,
    read=read,
)
