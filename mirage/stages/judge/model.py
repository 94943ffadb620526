"""A model as the judge: parse its replies on battles into verdicts, or those on single answers into points.

With points every answer of the battles is rated once, whatever the number of its battles; the answer with more points
wins.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirage import llm, schema
from mirage.battles.score_verdicts import verdicts_of_scores
from mirage.stages.judge.criteria import Criterion
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.prompt import Prompts
from mirage.stages.judge.verdict import ParsedVerdict, parse_verdict

if TYPE_CHECKING:
    import pyarrow as pa


def read_verdicts(
    battles: Sequence[OrderedPair],
    prompts: Prompts,
    replies: llm.Replies,
    *,
    judge: str,
    criterion: Criterion,
    repeat: int = 0,
) -> pa.Table:
    """Parse a model's replies on battles into verdicts, one `schema.Judgment` row for each reply, parsed or not.

    A failed call has no row.

    Args:
        battles: the battles.
        prompts: their prompts.
        replies: the replies to the prompts.
        judge: name of the judge, for the rows.
        criterion: what the prompts ask, for the rows.
        repeat: number of this verdict on each battle, for the rows; 0 is the first.
    """
    rows = []
    for number, (battle, reply) in enumerate(zip(battles, replies.by_number, strict=True)):
        if reply is None or reply.status == "api_error":
            continue
        read = _read(reply, prompts.texts_of(number).texts())
        rows.append(
            schema.Judgment(
                battle.language,
                battle.query_id,
                judge,
                battle.system_a,
                battle.system_b,
                read.verdict,
                rationale=reply.text,
                reason=read.reason,
                call=reply.key,
                criterion=criterion.name,
                prompt=criterion.prompt,
                repeat=repeat or None,
            )
        )
    return schema.from_rows("judgments", rows)


def _read(reply: llm.Reply, shown: Sequence[str]) -> ParsedVerdict:
    """Parse the verdict of a reply. A truncated reply may not have reached its verdict, whatever marks it has."""
    if reply.status == "ok":
        return parse_verdict(reply.text or "", shown)
    return ParsedVerdict("unparsed", reply.reason or reply.status, None)


def answers_of(battles: Sequence[OrderedPair]) -> list[OrderedPair]:
    """Return the answers of battles, each once, as a battle of its system with itself."""
    keys = ((b.language, b.query_id, system) for b in battles for system in (b.system_a, b.system_b))
    return [OrderedPair(*key, key[2]) for key in dict.fromkeys(keys)]


def read_points(
    battles: Sequence[OrderedPair], prompts: Prompts, replies: llm.Replies, *, judge: str, criterion: Criterion
) -> tuple[pa.Table, pa.Table]:
    """Parse a model's points for the answers of battles, and decide the battles by the points.

    Args:
        battles: the battles.
        prompts: those of `answers_of(battles)`.
        replies: the replies to the prompts.
        judge: name of the judge, for the rows.
        criterion: with points.

    Returns:
        One verdict for each pair of answers that both have points, the pairs being those of the battles; and one
        `schema.Score` row for every answer with a reply.
    """
    from mirage.stages.features.grades import parse_grade  # deferred: imports all features, which pages do not need

    scale, rows, read = criterion.scale, [], {}
    for number, (answer, reply) in enumerate(zip(answers_of(battles), replies.by_number, strict=True)):
        if reply is None or reply.status == "api_error":
            continue
        value, reason = None, llm.unread(reply)
        if reason is None:
            value = parse_grade(reply.text or "", prompts.texts_of(number).texts(), low=scale.low, high=scale.high)
            reason = None if value is not None else f"the reply has no number from {scale.low} to {scale.high}"
        key = answer.language, answer.query_id, answer.system_a
        read[key] = value, reply
        low, high = float(scale.low), float(scale.high)
        rows.append(schema.Score(*key, criterion.name, judge, False, value, low, high, reason))
    scores = schema.from_rows("scores", rows)
    return _judgments(scores, read, {*battles}, judge, criterion), scores


def _judgments(
    scores: pa.Table,
    read: dict[tuple[str, str, str], tuple[float | None, llm.Reply]],
    battles: set[OrderedPair],
    judge: str,
    criterion: Criterion,
) -> pa.Table:
    """Return the verdicts on battles from the points of both answers, each with both replies as its rationale."""
    rows = []
    for row in verdicts_of_scores(scores, judge=judge, margin=criterion.scale.margin).to_pylist():
        query, pair, verdict = (row["language"], row["query_id"]), (row["system_a"], row["system_b"]), row["verdict"]
        if not {OrderedPair(*query, *pair), OrderedPair(*query, *pair[::-1])} & battles:
            continue
        # Which of the two stands first is arbitrary, so that no system is always the first.
        if zlib.crc32("/".join((*query, *pair)).encode()) % 2:
            pair, verdict = pair[::-1], {"A": "B", "B": "A"}.get(verdict, verdict)
        (first, reply), (second, other) = (read[*query, system] for system in pair)
        rows.append(
            schema.Judgment(
                *query,
                judge,
                *pair,
                verdict,
                rationale=f"A: {first:g} points. {reply.text}\n\nB: {second:g} points. {other.text}",
                reason=None,
                call=reply.key,
                criterion=criterion.name,
                prompt=criterion.prompt,
            )
        )
    return schema.from_rows("judgments", rows)
