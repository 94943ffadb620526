"""A model as the judge: parse its replies on battles into verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage import llm, schema
from mirage.errors import Unreachable
from mirage.stages.judge.criteria import Criterion, load_criterion
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.prompt import Prompts
from mirage.stages.judge.verdict import ParsedVerdict, parse_verdict

if TYPE_CHECKING:
    import pyarrow as pa


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
    scores: pa.Table | None = None
    """With points for single answers, one `schema.Score` row for every answer with a reply."""

    def need_any(self) -> None:
        """Check that the run did not end early, and that at least one call got a reply.

        Raises:
            Unreachable: if not.
        """
        if self.stopped:
            raise self.stopped
        if self.failed and not len(self.judgments if self.scores is None else self.scores):
            raise Unreachable(
                f"no call got a reply: {max(self.failed, key=lambda reason: self.failed[reason])}",
                do="check that the service responds, then run the same command again",
            )


def read_verdicts(
    battles: Sequence[OrderedPair],
    prompts: Prompts,
    replies: llm.Replies,
    *,
    judge: str,
    criterion: Criterion | None = None,
    repeat: int = 0,
) -> JudgeResult:
    """Parse a model's replies on battles into verdicts.

    Args:
        battles: the battles.
        prompts: their prompts.
        replies: the replies to the prompts.
        judge: name of the judge, for the rows.
        criterion: what the prompts ask, for the rows; None for the default criterion.
        repeat: number of this verdict on each battle, for the rows; 0 is the first.
    """
    criterion = criterion or load_criterion()
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
    return result_of(replies, schema.from_rows("judgments", rows))


def result_of(replies: llm.Replies, judgments: pa.Table, scores: pa.Table | None = None) -> JudgeResult:
    """Build the result of a judging run, with its failures counted by reason.

    Args:
        replies: the replies of the run.
        judgments: the verdicts made from them.
        scores: the scores made from them, if single answers were rated.
    """
    failed = Counter(
        reply.reason or "no reason given" for reply in replies.by_number if reply and reply.status == "api_error"
    )
    complete = replies.stopped is None and all(reply is not None and not reply.given_up for reply in replies.by_number)
    return JudgeResult(judgments, dict(failed), replies.unasked, replies.cost, replies.stopped, complete, scores)


def _read(reply: llm.Reply, shown: Sequence[str]) -> ParsedVerdict:
    """Parse the verdict of a reply. A truncated reply may not have reached its verdict, whatever marks it has."""
    if reply.status == "ok":
        return parse_verdict(reply.text or "", shown)
    return ParsedVerdict("unparsed", reply.reason or reply.status, None)
