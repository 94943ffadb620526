"""From an arena to a training set: conversations, those held out, statistics and a recipe, in files side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirage import generate, llm, prompts, sft, store
from mirage.errors import BadInput, NotEnoughData, UnknownName

REFERENCE = "reference"
"""The teacher unless another is named."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    training: sft.TrainingSet
    """The conversations."""
    stats: list[sft.Stats]
    """Their statistics."""
    teacher: str
    """Whose answers they are."""
    tokens: str
    """What counted tokens: `estimate`, or a tokenizer's name."""
    files: tuple[Path, ...]
    """The files."""


def write_training_set(
    path: Path,
    out: Path,
    *,
    system: str | None = None,
    languages: Sequence[str] | None = None,
    holdout: float = 0.05,
    seed: int = 0,
    tokenizer: str = "estimate",
) -> Written:
    """Make a training set of a teacher's answers.

    The prompts are those that `mirage generate` makes for all passages of a question, cut so that prompt and the
    longest answer fit the trainer's window.

    Args:
        path: the arena's folder.
        out: the file of the conversations, named `.jsonl`. Beside it come `.heldout.jsonl`, `.stats.csv`, `.trl.yaml`.
        system: the teacher; `reference`, or the only system there is, if None.
        languages: codes; None for all.
        holdout: share of the questions that is held out.
        seed: of the passages' order and of what is held out.
        tokenizer: what counts tokens, as `llm.tokens_of` takes it.

    Raises:
        BadInput: if the file is named otherwise or cannot be written, or an option is out of range.
        UnknownName: if there is no such system or language.
        NotEnoughData: if no answer of the teacher can be learned from.
        ArenaError: if the arena lacks questions, passages or answers.
    """
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="name the file of the conversations so")
    arena = store.open_arena(path)
    tables = {name: arena.read(name, languages=languages) for name in ("queries", "passages", "answers")}
    teacher = system or _teacher(set(tables["answers"]["system"].to_pylist()), where=str(path))
    tokens = llm.tokens_of(tokenizer, tokenizer)
    learned, left_out = sft.answered(**tables, system=teacher)
    rag = prompts.load("rag")
    template = replace(rag, max_prompt_tokens=sft.MAX_LENGTH - rag.max_new_tokens)
    # No answers are given, so that nothing is compared with the settings.
    asked = generate.prepare(
        tables["queries"],
        tables["passages"],
        system=teacher,
        template=template,
        settings=llm.Settings(model=teacher),
        tokens=tokens,
        seed=seed,
    ).asked
    texts = {(one.language, one.query_id): one.text for one in asked}
    for key, known in list(learned.items()):
        if key in texts and tokens.count(texts[key]) + tokens.count(known["answer"]) > sft.MAX_LENGTH:
            del learned[key]
            left_out[f"with its prompt it has more than {sft.MAX_LENGTH:,} tokens"] += 1
    training = sft.build(learned, texts, system=teacher, holdout=holdout, seed=seed)
    training = replace(training, left_out=Counter(training.left_out) + left_out)
    if not training.train:
        why = "; ".join(f"{n:,} times: {reason}" for reason, n in training.left_out.items())
        raise NotEnoughData(
            f"no answer of {teacher} can be learned from",
            where=why,
            do="name another teacher, or let a model answer first: mirage generate DIR --relevant-only",
        )
    stats = sft.statistics(training, tokens.count)
    return Written(training, stats, teacher, tokens.name, _write(out, training, stats, seed))


def _teacher(systems: set[str], *, where: str) -> str:
    if REFERENCE in systems:
        return REFERENCE
    if len(systems) == 1:
        return systems.pop()
    raise UnknownName("teacher", REFERENCE, systems, where=where)


def _write(out: Path, training: sft.TrainingSet, stats: Sequence[sft.Stats], seed: int) -> tuple[Path, ...]:
    held = out.with_suffix(".heldout.jsonl")
    files = {
        out: "".join(one.line() + "\n" for one in training.train),
        held: "".join(one.line() + "\n" for one in training.heldout),
        out.with_suffix(".stats.csv"): sft.table1(stats),
        out.with_suffix(".trl.yaml"): sft.recipe(out.name, held.name if training.heldout else None, seed=seed),
    }
    if not training.heldout:
        del files[held]
    try:
        for path, text in files.items():
            store.write_text(path, text)
    except OSError as error:
        raise BadInput(
            f"{out} cannot be written: {error.strerror or error}",
            where=str(error.filename or out),
            do="free space or check permissions",
        ) from None
    return tuple(files)
