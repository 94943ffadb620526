"""A model as the judge: parse its replies on battles into verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirage import llm, schema
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
