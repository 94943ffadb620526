"""Preference pairs from a judge's verdicts, for training (DPO: Rafailov et al. 2023)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import llm, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm import prompts
from mirage.stages import generate
from mirage.stages.sft.training import prompts_of

if TYPE_CHECKING:
    import pyarrow as pa


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
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="rename the file to .jsonl")
    arena = store.open_arena(path)
    tables = {n: arena.read(n, languages=languages) for n in ("answers", "judgments")}
    judges = sorted(set(tables["judgments"]["judge"].to_pylist()))
    if judge not in judges:
        raise UnknownName("judge", judge, judges, where=str(path))
    settings = generate.GenerateSettings(judge, prompts.load_template("rag"), llm.Settings(model=judge), seed=seed)
    texts = prompts_of(arena, settings, languages)
    pairs, left_out = preferences(tables["judgments"], tables["answers"], texts, judge=judge)
    if not pairs:
        explanation = "; ".join(f"{n:,} times: {reason}" for reason, n in sorted(left_out.items()))
        raise NotEnoughData(f"{judge} prefers no answer to another", where=explanation, do="name another judge")
    store.write_whole(out, "".join(pair.line() + "\n" for pair in pairs).encode("utf-8"))
    return len(pairs), left_out
