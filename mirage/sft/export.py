"""A judge's preferences as a file to train on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mirage import generate, llm, prompts, sft, store
from mirage.errors import BadInput, NotEnoughData, UnknownName


def export_preferences(
    path: Path, out: Path, *, judge: str, languages: Sequence[str] | None = None, seed: int = 0
) -> tuple[int, Counter[str]]:
    """Write the pairs of answers between which a judge decided, for preference training.

    Args:
        path: an arena with queries, passages, answers and judgments.
        out: file named .jsonl; replaced if it is there.
        judge: whose verdicts.
        languages: codes; None for all.
        seed: seed of the passages' order in the prompt, as in `mirage generate`.

    Returns:
        How many pairs it holds, and how many others were left out, by reason.

    Raises:
        UnknownName: if the judge has no verdict here.
        NotEnoughData: if no pair is left.
        BadInput: if the file is not named .jsonl, or cannot be written.
    """
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="name the file of the pairs so")
    arena = store.open_arena(path)
    tables = {n: arena.read(n, languages=languages) for n in ("queries", "passages", "answers", "judgments")}
    judges = sorted(set(tables["judgments"]["judge"].to_pylist()))
    if judge not in judges:
        raise UnknownName("judge", judge, judges, where=str(path))
    prepared = generate.prepare(
        tables["queries"],
        tables["passages"],
        system=judge,
        template=prompts.load_template("rag"),
        settings=llm.Settings(model=judge),
        seed=seed,
        turns=arena.read_optional("turns", languages=languages),
    ).to_ask
    texts = {(prompt.language, prompt.query_id): prompt.text for prompt in prepared}
    pairs, left_out = sft.preferences(tables["judgments"], tables["answers"], texts, judge=judge)
    if not pairs:
        explanation = "; ".join(f"{n:,} times: {reason}" for reason, n in sorted(left_out.items()))
        raise NotEnoughData(f"{judge} prefers no answer to another", where=explanation, do="name another judge")
    store.write_whole(out, "".join(pair.line() + "\n" for pair in pairs).encode("utf-8"))
    return len(pairs), left_out
