"""Export of a judge's preferences for training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mirage import llm, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm import prompts
from mirage.stages import generate, sft


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
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="rename the file to .jsonl")
    arena = store.open_arena(path)
    tables = {n: arena.read(n, languages=languages) for n in ("queries", "passages", "answers", "judgments")}
    judges = sorted(set(tables["judgments"]["judge"].to_pylist()))
    if judge not in judges:
        raise UnknownName("judge", judge, judges, where=str(path))
    settings = generate.GenerateSettings(judge, prompts.load_template("rag"), llm.Settings(model=judge), seed=seed)
    turns = arena.read_optional("turns", languages=languages)
    prepared = generate.prepare(tables["queries"], tables["passages"], settings, turns=turns).to_ask
    texts = {(prompt.language, prompt.query_id): prompt.text for prompt in prepared}
    pairs, left_out = sft.preferences(tables["judgments"], tables["answers"], texts, judge=judge)
    if not pairs:
        explanation = "; ".join(f"{n:,} times: {reason}" for reason, n in sorted(left_out.items()))
        raise NotEnoughData(f"{judge} prefers no answer to another", where=explanation, do="name another judge")
    store.write_whole(out, "".join(pair.line() + "\n" for pair in pairs).encode("utf-8"))
    return len(pairs), left_out
