"""Conversations from a teacher's answers, each checked: cited passages are relevant and in the prompt."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mirage.errors import UnknownName
from mirage.stats.sampling import sample
from mirage.text.answers import citations, cited_ids, is_numbered, parse_answer

if TYPE_CHECKING:
    import pyarrow as pa

MAX_LENGTH = 6144
"""Maximum tokens of a conversation (MIRAGE-Bench, Table 6)."""
Key = tuple[str, str]
"""Language and id of a query."""
Mix = Literal["all", "one", "first"]
"""How several teachers are mixed. `all`: every usable answer is a conversation. `one`: one random usable answer per
query. `first`: the answer of the first teacher that has one.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """One conversation: the prompt of an evaluated model, and the teacher's answer."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    system: str
    """The teacher."""
    query: str
    """Text of the query."""
    prompt: str
    """The whole prompt, with relevant and non-relevant passages."""
    answer: str
    """The teacher's answer, unchanged."""
    reason: str
    """Reasoning part of the answer."""
    conclusion: str
    """Answer part of the answer."""
    cited: tuple[str, ...]
    """Cited passages by first mention; all are relevant."""
    relevant: int
    """Relevant passages in the prompt."""
    distractors: int
    """Non-relevant passages in the prompt."""

    def line(self) -> str:
        """Return the conversation as a line of JSON Lines."""
        messages = [{"role": "user", "content": self.prompt}, {"role": "assistant", "content": self.answer}]
        record = {"language": self.language, "query_id": self.query_id, "system": self.system, "messages": messages}
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True)
class TrainingSet:
    """The conversations, sorted by language, query and teacher."""

    examples: tuple[Example, ...]
    """The conversations."""
    left_out: Mapping[tuple[str, str], int]
    """Number of unused answers by teacher and reason."""


def select_answers(
    queries: pa.Table, passages: pa.Table, answers: pa.Table, *, system: str
) -> tuple[dict[Key, dict[str, Any]], Counter[str]]:
    """Select the usable answers of a teacher.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows.
        answers: `schema.Answer` rows.
        system: the teacher's name.

    Returns:
        Data by query; and the number of other answers by reason.

    Raises:
        UnknownName: if the teacher has no answers.
    """
    systems = set(answers["system"].to_pylist())
    if system not in systems:
        raise UnknownName("system", system, systems, where="answers")
    texts = {(row["language"], row["query_id"]): row["text"] for row in queries.to_pylist()}
    labels: dict[Key, dict[str, bool | None]] = {}
    columns = passages.select(["language", "query_id", "passage_id", "relevant"]).to_pydict()
    for code, query, passage, relevant in zip(*columns.values(), strict=True):
        labels.setdefault((code, query), {})[passage] = relevant
    by_query: dict[Key, dict[str, Any]] = {}
    left_out: Counter[str] = Counter()
    for row in answers.to_pylist():
        if row["system"] != system:
            continue
        key = row["language"], row["query_id"]
        record = {"question": texts.get(key), "answer": row["text"], "labels": labels.get(key, {})}
        if reason := _flaw(row, record):
            left_out[reason] += 1
        else:
            by_query[key] = record
    return dict(sorted(by_query.items())), left_out


def build_examples(
    learned: Mapping[str, Mapping[Key, Mapping[str, Any]]],
    prompts: Mapping[Key, str],
    *,
    mix: Mix = "all",
    seed: int = 0,
) -> TrainingSet:
    """Build the conversations.

    Args:
        learned: usable answers by teacher, each from `select_answers`. The order only matters for the mix `first`.
        prompts: the prompt of each query; queries without one are skipped.
        mix: how several teachers are mixed, see `Mix`.
        seed: seed of the teachers in the mix `one`; 0 or more.

    Raises:
        UnknownName: if there is no such mix.
    """
    if mix not in get_args(Mix):
        raise UnknownName("mix", mix, get_args(Mix))
    left_out: Counter[tuple[str, str]] = Counter()
    teachers_of: dict[Key, list[str]] = {}
    for teacher, answers in learned.items():
        for key in answers:
            if key in prompts:
                teachers_of.setdefault(key, []).append(teacher)
            else:
                left_out[teacher, "its query cannot be asked with all its passages"] += 1
    examples = []
    for key in sorted(teachers_of):
        selection = _select_teachers(key, teachers_of[key], mix, seed)
        examples += [_example(key, learned[teacher][key], prompts[key], teacher) for teacher in selection]
        left_out.update(
            (teacher, "another teacher's answer was taken") for teacher in teachers_of[key] if teacher not in selection
        )
    return TrainingSet(tuple(examples), dict(left_out))


def _select_teachers(key: Key, teachers: Sequence[str], mix: Mix, seed: int) -> Sequence[str]:
    """Return the teachers whose answers to a query are used."""
    if mix == "first":
        return teachers[:1]
    if mix == "all" or len(teachers) == 1:
        return sorted(teachers)
    return sample(sorted(teachers), 1, seed, f"{key[0]}/{key[1]}/sft/teacher")


def _flaw(row: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """Return why an answer is not usable; empty if it is."""
    labels = record["labels"]
    if row["status"] != "ok":
        return f"it is {row['status']}"
    if is_numbered(row["template"], row["numbered"]):
        return "it cites by numbers, which other passages would change"
    if record["question"] is None:
        return "the text of its query is not known"
    if None in labels.values():
        return "a passage of its query has no label"
    if not any(labels.values()):
        return "no passage of its query is relevant"
    parts = parse_answer(row["text"])
    if not parts.markers or not parts.reason or not parts.answer:
        return "it lacks a part, ##Reason or ##Answer"
    cited_passages = cited_ids(citations(row["text"], list(labels), numbered=False), unknown=True)
    if not cited_passages:
        return "it cites nothing"
    if any(passage not in labels for passage in cited_passages):
        return "it cites something that is not a passage of its query"
    return "" if all(labels[passage] for passage in cited_passages) else "it cites a passage that is not relevant"


def _example(key: Key, record: Mapping[str, Any], prompt: str, system: str) -> Example:
    labels: Mapping[str, bool] = record["labels"]
    parts = parse_answer(record["answer"])
    cited_passages: Sequence[str] = cited_ids(citations(record["answer"], list(labels), numbered=False))
    return Example(
        language=key[0],
        query_id=key[1],
        system=system,
        query=record["question"],
        prompt=prompt,
        answer=record["answer"],
        reason=parts.reason or "",
        conclusion=parts.answer or "",
        cited=tuple(cited_passages),
        relevant=sum(labels.values()),
        distractors=len(labels) - sum(labels.values()),
    )
