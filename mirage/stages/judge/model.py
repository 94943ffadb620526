"""A model as the judge: battles are sent to it, and its replies are parsed into verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage import llm, schema
from mirage.errors import Unreachable
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.prompt import Prompts
from mirage.stages.judge.verdict import ParsedVerdict, parse_verdict
from mirage.store import Ledger

if TYPE_CHECKING:
    import pyarrow as pa


Engine = llm.Engine


@dataclass(frozen=True)
class JudgeResult:
    """Result of judging battles by a model."""

    judgments: pa.Table
    """One row for every battle with a reply, parsed or not."""
    failed: Mapping[str, int]
    """Number of failed calls by reason. They have no row: a later run retries them."""
    unasked: int
    """Number of battles not sent because the budget was reached or the run ended. They have no row either."""
    cost: llm.Cost
    """Cost of this run."""
    stopped: Unreachable | None = None
    """Reason why the run ended early; None if it did not."""
    complete: bool = False
    """Whether every battle was sent."""


def ask(
    battles: Sequence[OrderedPair],
    prompts: Prompts,
    *,
    judge: str,
    engine: Engine,
    ledger: Ledger,
    limits: llm.Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
    **repetition: Any,
) -> JudgeResult:
    """Judge battles by a model. Replies are written to the ledger immediately, so a repeated run pays for nothing
    twice.

    Args:
        battles: the battles.
        prompts: their prompts.
        judge: name of the judge, for the rows.
        engine: makes the calls.
        ledger: stores the replies.
        limits: prices and limits.
        progress: called with the number of finished battles and their total.
        repetition: `again` and `earlier`, as for the engine.
    """
    replies = llm.put(prompts, engine=engine, ledger=ledger, limits=limits, progress=progress, **repetition)
    rows = []
    failed: Counter[str] = Counter()
    for number, (battle, reply) in enumerate(zip(battles, replies.by_number, strict=True)):
        if reply is None:
            continue
        if reply.status == "api_error":
            failed[reply.reason or "no reason given"] += 1
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
            )
        )
    table = schema.from_rows("judgments", rows)
    complete = replies.stopped is None and all(reply is not None and not reply.given_up for reply in replies.by_number)
    return JudgeResult(table, dict(failed), replies.unasked, replies.cost, replies.stopped, complete)


def _read(reply: llm.Reply, shown: Sequence[str]) -> ParsedVerdict:
    """Parse the verdict of a reply. A truncated reply may not have reached its verdict, whatever marks it has."""
    if reply.status == "ok":
        return parse_verdict(reply.text or "", shown)
    return ParsedVerdict("unparsed", reply.reason or reply.status, None)
