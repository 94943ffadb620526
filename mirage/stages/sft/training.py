"""Training sets of an arena as JSON Lines: conversations from teachers' answers, and a judge's preferences.

Each teacher's answer is checked: cited passages are relevant and in the prompt. Preference pairs are for trainers such
as DPO (Rafailov et al. 2023).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from mirage import llm, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm.prompts import load_template
from mirage.schema import REFERENCE
from mirage.stages import generate
from mirage.stages.sft import Mix
from mirage.stats.sampling import sample
from mirage.text.answers import citations, cited_ids, is_numbered, parse_answer
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

MAX_LENGTH = 6144
"""Maximum tokens of a conversation (MIRAGE-Bench, Table 6)."""
_ANOTHER = "another teacher's answer was taken"
Key = tuple[str, str]
"""Language and id of a query."""


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


@dataclass(frozen=True, slots=True)
class Stats:
    """Statistics of one language."""

    teacher: str | None
    """The teacher; None for all teachers together."""
    language: str
    """Language code."""
    n_queries: int
    """Number of conversations, equal to queries with one answer each."""
    avg_query_tokens: float
    """Mean tokens of a query."""
    avg_rel_passages_per_q: float
    """Mean relevant passages in a prompt."""
    avg_nonrel_passages_per_q: float
    """Mean non-relevant passages in a prompt."""
    avg_teacher_context_tokens: float
    """Mean tokens of the teacher's reasoning."""
    avg_teacher_answer_tokens: float
    """Mean tokens of the teacher's answer proper."""


@dataclass(frozen=True)
class TrainingResult:
    """Result of writing a training set."""

    training: TrainingSet
    """The conversations."""
    stats: list[Stats]
    """Statistics of all teachers together and of each."""
    teachers: tuple[str, ...]
    """The teachers."""
    tokens: str
    """Token counter: `estimate`, or a tokenizer's name."""


def write_training_set(
    path: Path,
    out: Path,
    *,
    systems: Sequence[str] | None = None,
    mix: Mix = "all",
    languages: Sequence[str] | None = None,
    seed: int = 0,
    tokenizer: str = "estimate",
) -> TrainingResult:
    """Write a training set from the answers of one or more teachers.

    The prompts are those of `mirage generate` with all passages of a query, truncated so that prompt and longest answer
    fit the trainer's window.

    Args:
        path: the arena's folder.
        out: the file of the conversations, named `.jsonl`.
        systems: the teachers; None for `reference`, or the only system.
        mix: how several teachers are mixed.
        languages: codes; None for all.
        seed: seed of the passage order, and of drawn teachers.
        tokenizer: token counter, as for `llm.tokens_of`.

    Raises:
        BadInput: if the file has another extension or cannot be written.
        UnknownName: if there is no such system, mix or language.
        NotEnoughData: if no answer of a teacher is usable.
        ArenaError: if the arena lacks queries, passages or answers.
    """
    _need_jsonl(out)
    arena = store.open_arena(path)
    tables = {name: arena.read(name, languages=languages) for name in ("queries", "passages", "answers")}
    teachers = tuple(
        dict.fromkeys(systems or [_teacher(set(tables["answers"]["system"].to_pylist()), where=str(path))])
    )
    tokens = llm.tokens_of(tokenizer, tokenizer)
    rag = load_template("rag")
    template = replace(rag, max_prompt_tokens=MAX_LENGTH - rag.max_new_tokens)
    # Pass no answers, so that settings are not compared; the prompts do not depend on the teacher.
    settings = generate.GenerateSettings(teachers[0], template, llm.Settings(model=teachers[0]), tokens, seed)
    texts = prompts_of(arena, settings, languages)
    training = build_examples(tables, texts, teachers, count=tokens.count, mix=mix, seed=seed)
    for teacher in teachers:
        if not any(example.system == teacher for example in training.examples) and not training.left_out.get(
            (teacher, _ANOTHER)
        ):
            explanation = "; ".join(
                f"{n:,} times: {reason}" for (of, reason), n in training.left_out.items() if of == teacher
            )
            raise NotEnoughData(
                f"no answer of {teacher} is usable for training",
                where=explanation,
                do="choose another teacher, or generate answers first: mirage generate DIR --relevant-only",
            )
    _write(out, training.examples)
    return TrainingResult(training, statistics(training, tokens.count), teachers, tokens.name)


def _need_jsonl(out: Path) -> None:
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="rename the file to .jsonl")


def _write(out: Path, records: Sequence[Example | Preference]) -> None:
    store.write_whole(out, "".join(record.line() + "\n" for record in records).encode("utf-8"))


def prompts_of(
    arena: store.Arena, settings: generate.GenerateSettings, languages: Sequence[str] | None
) -> dict[Key, str]:
    """Return the prompt of `mirage generate` with all passages of each query."""
    queries, passages = (arena.read(name, languages=languages) for name in ("queries", "passages"))
    turns = arena.read_optional("turns", languages=languages)
    prepared = generate.prepare(queries, passages, settings, turns=turns).to_ask
    return {(prompt.language, prompt.query_id): prompt.text for prompt in prepared}


def _teacher(systems: set[str], *, where: str) -> str:
    if REFERENCE in systems:
        return REFERENCE
    if len(systems) == 1:
        return systems.pop()
    raise UnknownName("teacher", REFERENCE, systems, where=where)


def build_examples(
    tables: Mapping[str, pa.Table],
    prompts: Mapping[Key, str],
    teachers: Sequence[str],
    *,
    count: Callable[[str], int],
    mix: Mix = "all",
    seed: int = 0,
) -> TrainingSet:
    """Build the conversations.

    Args:
        tables: queries, passages and answers.
        prompts: the prompt of each query.
        teachers: systems; their order only matters for the mix `first`.
        count: counts the tokens of a text.
        mix: how several teachers are mixed, see `Mix`.
        seed: seed of the teachers in the mix `one`; 0 or more.

    Raises:
        UnknownName: if a teacher has no answers, or there is no such mix.
    """
    if mix not in get_args(Mix):
        raise UnknownName("mix", mix, get_args(Mix))
    systems = set(tables["answers"]["system"].to_pylist())
    questions = {(row["language"], row["query_id"]): row["text"] for row in tables["queries"].to_pylist()}
    labels: dict[Key, dict[str, bool | None]] = {}
    columns = tables["passages"].select(["language", "query_id", "passage_id", "relevant"]).to_pydict()
    for code, query, passage, relevant in zip(*columns.values(), strict=True):
        labels.setdefault((code, query), {})[passage] = relevant
    found: dict[Key, dict[str, Example]] = {}
    left_out: Counter[tuple[str, str]] = Counter()
    rows = tables["answers"].to_pylist()
    for teacher in teachers:
        if teacher not in systems:
            raise UnknownName("system", teacher, systems, where="answers")
        for row in (row for row in rows if row["system"] == teacher):
            key = row["language"], row["query_id"]
            example = _example(row, questions.get(key), labels.get(key, {}), prompts.get(key))
            if isinstance(example, str):
                left_out[teacher, example] += 1
            elif count(example.prompt) + count(example.answer) > MAX_LENGTH:
                left_out[teacher, f"with its prompt it has more than {MAX_LENGTH:,} tokens"] += 1
            else:
                found.setdefault(key, {})[teacher] = example
    examples = []
    for key, by_teacher in sorted(found.items()):
        chosen = sorted(by_teacher)
        if mix == "first":
            chosen = list(by_teacher)[:1]
        elif mix == "one":
            chosen = sample(chosen, 1, seed, f"{key[0]}/{key[1]}/sft/teacher")
        examples += [by_teacher[teacher] for teacher in chosen]
        left_out.update((teacher, _ANOTHER) for teacher in by_teacher if teacher not in chosen)
    return TrainingSet(tuple(examples), dict(left_out))


def _example(
    row: Mapping[str, Any], question: str | None, labels: Mapping[str, bool | None], prompt: str | None
) -> Example | str:
    """Return the conversation of an answer, or why it is not usable."""
    if row["status"] != "ok":
        return f"it is {row['status']}"
    if is_numbered(row["template"], row["numbered"]):
        return "it cites by numbers, which other passages would change"
    if question is None:
        return "the text of its query is not known"
    if None in labels.values():
        return "a passage of its query has no label"
    if not any(labels.values()):
        return "no passage of its query is relevant"
    parts = parse_answer(row["text"])
    if not parts.markers or not parts.reason or not parts.answer:
        return "it lacks a part, ##Reason or ##Answer"
    cited = cited_ids(citations(row["text"], list(labels), numbered=False), unknown=True)
    if not cited:
        return "it cites nothing"
    if any(passage not in labels for passage in cited):
        return "it cites something that is not a passage of its query"
    if not all(labels[passage] for passage in cited):
        return "it cites a passage that is not relevant"
    if prompt is None:
        return "its query cannot be asked with all its passages"
    return Example(
        language=row["language"],
        query_id=row["query_id"],
        system=row["system"],
        query=question,
        prompt=prompt,
        answer=row["text"],
        reason=parts.reason,
        conclusion=parts.answer,
        cited=tuple(cited),
        relevant=sum(map(bool, labels.values())),
        distractors=sum(not label for label in labels.values()),
    )


def statistics(training: TrainingSet, count: Callable[[str], int]) -> list[Stats]:
    """Compute the statistics by language, in code order; languages without conversations are omitted.

    Args:
        training: the training set.
        count: counts the tokens of a text.

    Returns:
        The rows of all teachers together, then, if there are several, those of each by name.
    """
    teachers = sorted({example.system for example in training.examples})
    rows = []
    for teacher in (None, *(teachers if len(teachers) > 1 else ())):
        groups: dict[str, list[Example]] = {}
        for example in training.examples:
            if teacher in (None, example.system):
                groups.setdefault(example.language, []).append(example)
        rows += [_stats(teacher, code, groups[code], count) for code in in_order(groups)]
    return rows


def _stats(teacher: str | None, code: str, examples: Sequence[Example], count: Callable[[str], int]) -> Stats:
    def mean(values: Sequence[int]) -> float:
        return sum(values) / len(values)

    return Stats(
        teacher=teacher,
        language=code,
        n_queries=len(examples),
        avg_query_tokens=mean([count(example.query) for example in examples]),
        avg_rel_passages_per_q=mean([example.relevant for example in examples]),
        avg_nonrel_passages_per_q=mean([example.distractors for example in examples]),
        avg_teacher_context_tokens=mean([count(example.reason) for example in examples]),
        avg_teacher_answer_tokens=mean([count(example.conclusion) for example in examples]),
    )


@dataclass(frozen=True, slots=True)
class Preference:
    """One answer preferred over another to the same prompt."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    judge: str
    """The judge."""
    prompt: str
    """The prompt with its passages."""
    chosen: str
    """The preferred answer."""
    rejected: str
    """The other answer."""
    chosen_system: str
    """System of the preferred answer."""
    rejected_system: str
    """System of the rejected answer."""

    def line(self) -> str:
        """Return the pair as a line of JSON in the conversational format of preference trainers, with its provenance.

        The fields `prompt`, `chosen` and `rejected` are lists of messages.
        """
        record = {
            "prompt": [{"role": "user", "content": self.prompt}],
            "chosen": [{"role": "assistant", "content": self.chosen}],
            "rejected": [{"role": "assistant", "content": self.rejected}],
            "language": self.language,
            "query_id": self.query_id,
            "judge": self.judge,
            "chosen_system": self.chosen_system,
            "rejected_system": self.rejected_system,
        }
        return json.dumps(record, ensure_ascii=False)


def preferences(
    judgments: pa.Table, answers: pa.Table, texts_of: Mapping[tuple[str, str], str], *, judge: str
) -> tuple[list[Preference], Counter[str]]:
    """Return the pairs that a judge decided.

    A pair shown in both orders counts once, and only if both verdicts agree.

    Args:
        judgments: `schema.Judgment` rows.
        answers: `schema.Answer` rows.
        texts_of: the prompt of each query, by language and id.
        judge: the judge.

    Returns:
        The pairs, sorted by language, query and systems; and the number of excluded pairs by reason.
    """
    import pyarrow.compute as pc

    from mirage.battles.decision import decisions

    texts = {
        (row["language"], row["query_id"], row["system"]): row["text"]
        for row in answers.select(["language", "query_id", "system", "text", "status"]).to_pylist()
        if row["status"] == "ok"
    }
    by_judge = decisions(judgments.filter(pc.equal(judgments["judge"], judge)), unparsed=True)
    pairs: list[Preference] = []
    left_out: Counter[str] = Counter()
    for battle, decision in sorted(by_judge.get(judge, {}).items()):
        language, query_id, first, second = battle
        if decision.n_read < decision.n_verdicts:
            left_out["a verdict could not be read"] += 1
        elif not decision.consistent:
            left_out["the verdict changes with the order shown"] += 1
        elif decision.winner == "tie":
            left_out["a tie"] += 1
        else:
            winner, loser = (first, second) if decision.winner == "first" else (second, first)
            chosen, rejected = (texts.get((language, query_id, system)) for system in (winner, loser))
            prompt = texts_of.get((language, query_id))
            if chosen is None or rejected is None or prompt is None:
                left_out["no whole answer, or no prompt, is stored"] += 1
            elif chosen == rejected:
                left_out["both answers are the same"] += 1
            else:
                pairs.append(Preference(language, query_id, judge, prompt, chosen, rejected, winner, loser))
    return pairs, left_out


def export_preferences(
    path: Path, out: Path, *, judge: str, languages: Sequence[str] | None = None, seed: int = 0
) -> tuple[int, Counter[str]]:
    """Write a judge's preferred and rejected answers, for preference training.

    Args:
        path: an arena with queries, passages, answers and judgments.
        out: file named .jsonl; overwritten if it exists.
        judge: the judge.
        languages: codes; None for all.
        seed: seed of the passage order in the prompt, as in `mirage generate`.

    Returns:
        Number of pairs, and the number of excluded pairs by reason.

    Raises:
        UnknownName: if the judge has no verdict here.
        NotEnoughData: if no pair remains.
        BadInput: if the file is not named .jsonl, or cannot be written.
    """
    _need_jsonl(out)
    arena = store.open_arena(path)
    tables = {n: arena.read(n, languages=languages) for n in ("answers", "judgments")}
    judges = sorted(set(tables["judgments"]["judge"].to_pylist()))
    if judge not in judges:
        raise UnknownName("judge", judge, judges, where=str(path))
    settings = generate.GenerateSettings(judge, load_template("rag"), llm.Settings(model=judge), seed=seed)
    texts = prompts_of(arena, settings, languages)
    pairs, left_out = preferences(tables["judgments"], tables["answers"], texts, judge=judge)
    if not pairs:
        explanation = "; ".join(f"{n:,} times: {reason}" for reason, n in sorted(left_out.items()))
        raise NotEnoughData(f"{judge} prefers no answer to another", where=explanation, do="name another judge")
    _write(out, pairs)
    return len(pairs), left_out
