"""A model as the judge: every battle is put to it, and its replies become verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mirage import llm, schema
from mirage.judge.pairs import Battle
from mirage.judge.prompt import Prompts
from mirage.judge.verdict import ParsedVerdict, parse_verdict
from mirage.store import Ledger

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Judged:
    """What came of asking a model."""

    judgments: pa.Table
    """A row for every battle the model replied to, readable or not."""
    failed: Mapping[str, int]
    """Battles whose call failed, by the reason. They have no row: a later run asks them again."""
    unasked: int
    """Battles not asked because the budget was reached. They have no row either."""
    cost: llm.Cost
    """What this run has cost."""


def ask(
    battles: Sequence[Battle],
    prompts: Prompts,
    *,
    judge: str,
    endpoint: llm.Endpoint,
    settings: llm.Settings,
    ledger: Ledger,
    limits: llm.Limits | None = None,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> Judged:
    """Let a model judge battles. Replies are in the ledger the moment they come, so a repeated run pays nothing twice.

    Args:
        battles: the battles.
        prompts: their prompts.
        judge: the judge's name, for the rows.
        endpoint: service and key.
        settings: model and parameters.
        ledger: where replies are kept.
        limits: concurrency, rates, retries, budget.
        rng: source of the jitter of pauses.
        progress: called with how many battles have a reply or have failed, and of how many.

    Raises:
        Unreachable: if the service turns down what every call needs. Replies that had come are in the ledger.
    """
    done = 0

    def count(_number: int, _reply: llm.Reply) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(battles))

    replies = llm.complete(
        prompts, endpoint=endpoint, settings=settings, ledger=ledger, limits=limits, rng=rng, on_reply=count
    )
    rows = []
    failed: Counter[str] = Counter()
    for number, (battle, reply) in enumerate(zip(battles, replies, strict=True)):
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
    return Judged(schema.from_rows("judgments", rows), dict(failed), replies.count(None), llm.spent(replies, limits))


def _read(reply: llm.Reply, shown: Sequence[str]) -> ParsedVerdict:
    """The verdict of a reply. One that was cut off may not have come to its verdict, whatever marks it holds."""
    if reply.status == "ok":
        return parse_verdict(reply.text or "", shown)
    return ParsedVerdict("unparsed", reply.reason or reply.status, None)
