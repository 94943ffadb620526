"""Training sets of an arena: conversations as JSON Lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirage import llm, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm import prompts
from mirage.schema import REFERENCE
from mirage.stages import generate, sft


@dataclass(frozen=True)
class TrainingResult:
    """Result of writing a training set."""

    training: sft.TrainingSet
    """The conversations."""
    stats: list[sft.Stats]
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
    mix: sft.Mix = "all",
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
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="rename the file to .jsonl")
    arena = store.open_arena(path)
    tables = {name: arena.read(name, languages=languages) for name in ("queries", "passages", "answers")}
    teachers = tuple(
        dict.fromkeys(systems or [_teacher(set(tables["answers"]["system"].to_pylist()), where=str(path))])
    )
    tokens = llm.tokens_of(tokenizer, tokenizer)
    learned, left_out = {}, Counter[tuple[str, str]]()
    for teacher in teachers:
        learned[teacher], reasons = sft.select_answers(**tables, system=teacher)
        left_out.update({(teacher, reason): n for reason, n in reasons.items()})
    rag = prompts.load_template("rag")
    template = replace(rag, max_prompt_tokens=sft.MAX_LENGTH - rag.max_new_tokens)
    # Pass no answers, so that settings are not compared; the prompts do not depend on the teacher.
    settings = generate.GenerateSettings(teachers[0], template, llm.Settings(model=teachers[0]), tokens, seed)
    turns = arena.read_optional("turns", languages=languages)
    prepared = generate.prepare(tables["queries"], tables["passages"], settings, turns=turns).to_ask
    texts = {(prompt.language, prompt.query_id): prompt.text for prompt in prepared}
    lengths: dict[tuple[str, str], int] = {}
    for teacher, answers in learned.items():
        for key, record in list(answers.items()):
            if key not in texts:
                continue
            if key not in lengths:
                lengths[key] = tokens.count(texts[key])
            if lengths[key] + tokens.count(record["answer"]) > sft.MAX_LENGTH:
                del answers[key]
                left_out[teacher, f"with its prompt it has more than {sft.MAX_LENGTH:,} tokens"] += 1
    training = sft.build_examples(learned, texts, mix=mix, seed=seed)
    training = replace(training, left_out=Counter(training.left_out) + left_out)
    for teacher in teachers:
        if not any(key in texts for key in learned[teacher]):
            explanation = "; ".join(
                f"{n:,} times: {reason}" for (of, reason), n in training.left_out.items() if of == teacher
            )
            raise NotEnoughData(
                f"no answer of {teacher} is usable for training",
                where=explanation,
                do="choose another teacher, or generate answers first: mirage generate DIR --relevant-only",
            )
    store.write_whole(out, "".join(example.line() + "\n" for example in training.examples).encode("utf-8"))
    return TrainingResult(training, sft.statistics(training, tokens.count), teachers, tokens.name)


def _teacher(systems: set[str], *, where: str) -> str:
    if REFERENCE in systems:
        return REFERENCE
    if len(systems) == 1:
        return systems.pop()
    raise UnknownName("teacher", REFERENCE, systems, where=where)
