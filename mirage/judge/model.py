"""A model as the judge: every battle is put to it, and its replies become verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage import llm, schema
from mirage.errors import Unreachable
from mirage.judge.pairs import OrderedPair
from mirage.judge.prompt import Prompts
from mirage.judge.verdict import ParsedVerdict, parse_verdict
from mirage.store import Ledger

if TYPE_CHECKING:
    import pyarrow as pa


Engine = llm.Engine


@dataclass(frozen=True)
class JudgeResult:
    """What came of asking a model."""

    judgments: pa.Table
    """A row for every battle the model replied to, readable or not."""
    failed: Mapping[str, int]
    """Battles whose call failed, by the reason. They have no row: a later run asks them again."""
    unasked: int
    """Battles not asked because the budget was reached, or the run ended. They have no row either."""
    cost: llm.Cost
    """What this run has cost."""
    stopped: Unreachable | None = None
    """Why the run ended early; None where it did not."""
    complete: bool = False
    """Whether every battle was asked."""


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
    """Let a model judge battles. Replies are in the ledger the moment they come, so a repeated run pays nothing twice.

    Args:
        battles: the battles.
        prompts: their prompts.
        judge: the judge's name, for the rows.
        engine: makes the calls.
        ledger: where replies are kept.
        limits: holds the prices.
        progress: called with how many battles have a reply or have failed, and of how many.
        repetition: `again` and `earlier`, as the engine takes them.
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
        read = _read(reply, prompts.shown(number).texts())
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
    """The verdict of a reply. One that was cut off may not have come to its verdict, whatever marks it holds."""
    if reply.status == "ok":
        return parse_verdict(reply.text or "", shown)
    return ParsedVerdict("unparsed", reply.reason or reply.status, None)
