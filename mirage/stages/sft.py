"""Training sets of an arena as JSON Lines: conversations from teachers' answers, and a judge's preferences.

A teacher has answered each query from only its relevant passages (MIRAGE-Bench, section 3.2). The student's prompt also
contains the non-relevant ones, and the student learns to give the teacher's answer all the same, citing only the
passages that support it. Preference pairs are for trainers such as DPO (Rafailov et al. 2023).
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.decision import decisions
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.llm.calls import Settings
from mirage.llm.prompts import Template, load_template
from mirage.llm.tokens import TokenEstimate
from mirage.schema import REFERENCE, QueryKey, Tables
from mirage.stages.generate.prepare import prepare
from mirage.stages.generate.settings import GenerateSettings
from mirage.stats.rows import group, read_rows
from mirage.store.arena import Arena, open_arena
from mirage.store.export import write_whole
from mirage.text.answers import citations, cited_ids, is_numbered, parse_answer

MAX_LENGTH = 6144
"""Maximum tokens of a conversation (MIRAGE-Bench, Table 6)."""
Record = dict[str, Any]
"""A line of the file."""


def write_training_set(
    path: Path,
    out: Path,
    *,
    systems: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[int, Counter[tuple[str, str]]]:
    """Write a training set from the answers of one or more teachers.

    The prompts are those of `mirage generate` with all passages of a query, truncated so that prompt and longest answer
    fit the trainer's window.

    Args:
        path: the arena's folder.
        out: the file of the conversations, named `.jsonl`.
        systems: the teachers; None for `reference`, or the only system.
        languages: codes; None for all.
        seed: seed of the passage order.

    Returns:
        Number of conversations, and number of unused answers by teacher and reason.

    Raises:
        BadInput: if the file has another extension or cannot be written.
        UnknownName: if there is no such system or language.
        NotEnoughData: if no answer of a teacher is usable.
        ArenaError: if the arena lacks queries, passages or answers.
    """
    _need_jsonl(out)
    arena = open_arena(path)
    tables = {name: arena.read(name, languages=languages) for name in ("queries", "passages", "answers")}
    known = set(tables["answers"]["system"].to_pylist())
    teachers = list(dict.fromkeys(systems or [min(known) if len(known) == 1 else REFERENCE]))
    for teacher in teachers:
        if teacher not in known:
            raise UnknownName("teacher", teacher, known, where=str(path))
    rag = load_template("rag")
    prompts = prompts_of(arena, replace(rag, max_prompt_tokens=MAX_LENGTH - rag.max_new_tokens), languages, seed)
    records, left_out = conversations(tables, prompts, teachers)
    for teacher in teachers:
        if all(record["system"] != teacher for record in records):
            raise NotEnoughData(
                f"no answer of {teacher} is usable for training",
                where="; ".join(f"{n:,} times: {reason}" for (of, reason), n in left_out.items() if of == teacher),
                do="choose another teacher, or generate answers first: mirage generate DIR --relevant-only",
            )
    _write(out, records)
    return len(records), left_out


def _need_jsonl(out: Path) -> None:
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="rename the file to .jsonl")


def _write(out: Path, records: Iterable[Record]) -> None:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    write_whole(out, "".join(lines).encode("utf-8"))


def prompts_of(arena: Arena, template: Template, languages: Sequence[str] | None, seed: int) -> dict[QueryKey, str]:
    """Return the prompt of `mirage generate` with all passages of each query."""
    queries, passages = (arena.read(name, languages=languages) for name in ("queries", "passages"))
    turns = arena.read_optional("turns", languages=languages)
    # Pass no answers, so that settings are not compared; the prompts do not depend on the system.
    settings = GenerateSettings("student", template, Settings(model="student"), seed=seed)
    prepared = prepare(queries, passages, settings, turns=turns).to_ask
    return {(prompt.language, prompt.query_id): prompt.text for prompt in prepared}


def conversations(
    tables: Tables, prompts: Mapping[QueryKey, str], teachers: Sequence[str]
) -> tuple[list[Record], Counter[tuple[str, str]]]:
    """Return the conversations of the teachers' usable answers.

    Args:
        tables: passages and answers.
        prompts: the prompt of each query.
        teachers: systems.

    Returns:
        Records with language, query_id, system and messages, sorted by these; and the number of unused answers by
        teacher and reason.
    """
    columns = (*schema.key("passages"), "relevant")
    labelled = group((row[:2], row[2:]) for row in read_rows(tables["passages"], *columns))
    count = TokenEstimate().count
    records: list[Record] = []
    left_out: Counter[tuple[str, str]] = Counter()
    for row in tables["answers"].to_pylist():
        if row["system"] not in teachers:
            continue
        key = row["language"], row["query_id"]
        prompt = prompts.get(key)
        reason = _explain_unusable(row, dict(labelled.get(key, ())), prompt)
        if prompt is None or reason is not None:
            left_out[row["system"], str(reason)] += 1
        elif count(prompt) + count(row["text"]) > MAX_LENGTH:
            left_out[row["system"], f"with its prompt it has more than {MAX_LENGTH:,} tokens"] += 1
        else:
            messages = [_message("user", prompt), _message("assistant", row["text"])]
            records.append({"language": key[0], "query_id": key[1], "system": row["system"], "messages": messages})
    return sorted(records, key=lambda record: (record["language"], record["query_id"], record["system"])), left_out


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _explain_unusable(row: Mapping[str, Any], labels: Mapping[str, bool | None], prompt: str | None) -> str | None:
    """Return why an answer is not usable; None if it is."""
    if row["status"] != "ok":
        return f"it is {row['status']}"
    if is_numbered(row["template"], row["numbered"]):
        return "it cites by numbers, which other passages would change"
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
    return "its query cannot be asked with all its passages" if prompt is None else None


def preferences(
    judgments: pa.Table, answers: pa.Table, prompts: Mapping[QueryKey, str], *, judge: str
) -> tuple[list[Record], Counter[str]]:
    """Return the pairs that a judge decided, in the conversational format of preference trainers.

    A pair shown in both orders counts once, and only if both verdicts agree.

    Args:
        judgments: `schema.Judgment` rows.
        answers: `schema.Answer` rows.
        prompts: the prompt of each query, by language and id.
        judge: the judge.

    Returns:
        Records with prompt, chosen and rejected (lists of messages), language, query_id, judge, chosen_system and
        rejected_system, sorted by language, query and systems; and the number of excluded pairs by reason.
    """
    whole = read_rows(answers.filter(pc.equal(answers["status"], "ok")), *schema.key("answers"), "text")
    texts = {row[:3]: row[3] for row in whole}
    by_judge = decisions(judgments.filter(pc.equal(judgments["judge"], judge)), unparsed=True)
    pairs: list[Record] = []
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
            prompt = prompts.get((language, query_id))
            if chosen is None or rejected is None or prompt is None:
                left_out["no whole answer, or no prompt, is stored"] += 1
            elif chosen == rejected:
                left_out["both answers are the same"] += 1
            else:
                pairs.append(
                    {
                        "prompt": [_message("user", prompt)],
                        "chosen": [_message("assistant", chosen)],
                        "rejected": [_message("assistant", rejected)],
                        "language": language,
                        "query_id": query_id,
                        "judge": judge,
                        "chosen_system": winner,
                        "rejected_system": loser,
                    }
                )
    return pairs, left_out


def export_preferences(path: Path, out: Path, *, judge: str) -> tuple[int, Counter[str]]:
    """Write a judge's preferred and rejected answers, for preference training.

    Args:
        path: an arena with queries, passages, answers and judgments.
        out: file named .jsonl; overwritten if it exists.
        judge: the judge.

    Returns:
        Number of pairs, and the number of excluded pairs by reason.

    Raises:
        UnknownName: if the judge has no verdict here.
        NotEnoughData: if no pair remains.
        BadInput: if the file is not named .jsonl, or cannot be written.
    """
    _need_jsonl(out)
    arena = open_arena(path)
    tables = {name: arena.read(name) for name in ("answers", "judgments")}
    judges = sorted(set(tables["judgments"]["judge"].to_pylist()))
    if judge not in judges:
        raise UnknownName("judge", judge, judges, where=str(path))
    prompts = prompts_of(arena, load_template("rag"), None, seed=0)
    pairs, left_out = preferences(tables["judgments"], tables["answers"], prompts, judge=judge)
    if not pairs:
        explanation = "; ".join(f"{n:,} times: {reason}" for reason, n in sorted(left_out.items()))
        raise NotEnoughData(f"{judge} prefers no answer to another", where=explanation, do="name another judge")
    _write(out, pairs)
    return len(pairs), left_out
