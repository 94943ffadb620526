"""Parsing a judge's reply: the verdict or the points are the last mark the judge sets itself; marks quoted from an
answer are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage import schema
from mirage.battles.score_verdicts import verdicts_of_scores
from mirage.llm.asking import Replies, unread
from mirage.llm.completion import Reply
from mirage.schema import Verdict
from mirage.stages.judge.criteria import Criterion
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.prompt import Prompts
from mirage.text.marks import VERDICT_NOUNS, Mark, MarkForm, bracket
from mirage.text.thoughts import part_thoughts

if TYPE_CHECKING:
    import pyarrow as pa

_MEANS: dict[str, Verdict] = {"A": "A", "B": "B", "C": "tie"}
_TURNED: dict[str, Verdict] = {"A": "B", "B": "A", "tie": "tie", "unparsed": "unparsed"}
"""Verdicts for the other order."""
# The words by which the instruction explains a mark.
_EXPLAINED = re.compile(
    r"[\"'”’*_]*,?\s+(?:if\s+(?:the\s+)?assistant\s+[ab]\s+is\s+better|for\s+a\s+tie)", re.IGNORECASE
)


def _means(mark: Mark) -> Verdict | None:
    return _MEANS.get(unicodedata.normalize("NFKC", mark["letter"]).upper())


_FORM = MarkForm(
    re.compile(bracket(r"(?P<letter>[A-Za-zＡ-Ｚａ-ｚ](?:[A-Za-z /-]{0,10}[A-Za-z])?)")),
    _means,
    VERDICT_NOUNS,
)


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """The parsed verdict of a judge's reply."""

    verdict: Verdict
    """`A`, `B`, `tie`, or `unparsed`."""
    reason: str | None
    """Reason why it is unparsed; null if it is not."""


def parse_verdict(reply: str, shown: Iterable[str] = ()) -> ParsedVerdict:
    """Parse the verdict of a complete reply.

    The last mark that the judge sets counts, `[[A]]`, `[[B]]` or `[[C]]` for a tie, also in lower case, with spaces and
    in full-width brackets; another word in the brackets is no verdict. `mirage.text.marks` defines which marks it sets
    and which it only mentions. Marks in a reasoning model's thoughts and in a repetition of the instruction are
    ignored. If a text shown to the judge contains a mark, a mark in the reply can be a quotation: then only marks on a
    line of their own count, and if those disagree there is no verdict.

    Args:
        reply: the judge's reply.
        shown: the texts it was shown: query, passages, answers.
    """
    shown = list(shown)
    parted = part_thoughts(reply, shown)
    if parted.gap is not None:
        return _unparsed(parted.gap)
    reply = parted.masked
    written = [mark for mark in _FORM.pattern.finditer(reply) if not _EXPLAINED.match(reply, mark.end())]
    if not written:
        return _unparsed("the reply holds none of the marks [[A]], [[B]] and [[C]]")
    marks = [mark for mark in _FORM.own(reply, shown) if not _EXPLAINED.match(reply, mark.end())]
    planted = _FORM.find_planted(shown)
    if not marks and planted:
        return _unparsed("an answer or passage carries a verdict mark, and the judge set none on a line of its own")
    if not marks:
        return _unparsed("the reply only mentions the marks, or sets several that differ")
    if planted and len({_means(mark) for mark in marks}) > 1:
        return _unparsed("an answer or passage carries a verdict mark, and the judge's own do not agree")
    verdict = _means(marks[-1])
    if verdict is None:
        return _unparsed(f"the last mark is {marks[-1][0]}, none of [[A]], [[B]] and [[C]]")
    return ParsedVerdict(verdict, None)


def _unparsed(reason: str) -> ParsedVerdict:
    return ParsedVerdict("unparsed", reason)


def read_verdicts(
    battles: Sequence[OrderedPair],
    prompts: Prompts,
    replies: Replies,
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


def answers_of(battles: Sequence[OrderedPair]) -> list[OrderedPair]:
    """Return the answers of battles, each once, as a battle of its system with itself."""
    keys = ((b.language, b.query_id, system) for b in battles for system in (b.system_a, b.system_b))
    return [OrderedPair(*key, key[2]) for key in dict.fromkeys(keys)]


def read_points(
    battles: Sequence[OrderedPair],
    prompts: Prompts,
    replies: Replies,
    *,
    judge: str,
    criterion: Criterion,
    repeat: int = 0,
) -> tuple[pa.Table, pa.Table]:
    """Parse a model's replies on single answers into points, and decide the battles by them.

    Args:
        battles: the battles; those of a system with itself have no verdict.
        prompts: the prompts of `answers_of(battles)`.
        replies: the replies to the prompts.
        judge: name of the judge, for the rows.
        criterion: with points.
        repeat: number of these verdicts on each battle, for the rows; 0 is the first.

    Returns:
        One verdict for each battle with both replies, unparsed if either has no points, with what was said of the
        answer shown first; and one `schema.Score` row for each answer with a reply. A failed call has no row.
    """
    from mirage.stages.features.grades import parse_grade  # deferred: imports all features, which pages do not need

    low, high = criterion.points or (0, 0)
    scores: dict[tuple[str, str, str], tuple[schema.Score, Reply]] = {}
    for number, (answer, reply) in enumerate(zip(answers_of(battles), replies.by_number, strict=True)):
        if reply is None or reply.status == "api_error":
            continue
        value, reason = None, unread(reply)
        if reason is None:
            value = parse_grade(reply.text or "", prompts.texts_of(number).texts(), low=low, high=high)
            reason = None if value is not None else f"the reply settles on no number from {low} to {high}"
        key = answer.language, answer.query_id, answer.system_a
        scores[key] = schema.Score(*key, criterion.name, judge, False, value, low, high, reason), reply
    table = schema.from_rows("scores", [score for score, _ in scores.values()])
    decided = {
        (row["language"], row["query_id"], row["system_a"], row["system_b"]): row["verdict"]
        for row in verdicts_of_scores(table, judge=judge).to_pylist()
    }
    rows = []
    for battle in battles:
        query, pair = (battle.language, battle.query_id), (battle.system_a, battle.system_b)
        if pair[0] == pair[1] or any((*query, system) not in scores for system in pair):
            continue
        (first, reply), (second, _) = (scores[*query, system] for system in pair)
        verdict = decided.get((*query, *pair)) or _TURNED[decided.get((*query, *pair[::-1]), "unparsed")]
        said = " against ".join("none" if score.value is None else f"{score.value:g}" for score in (first, second))
        rows.append(
            schema.Judgment(
                *query,
                judge,
                *pair,
                verdict,
                rationale=f"Points: {said}.\n\n{reply.text or ''}".strip(),
                reason=first.reason or second.reason,
                call=reply.key,
                criterion=criterion.name,
                prompt=criterion.prompt,
                repeat=repeat or None,
            )
        )
    return schema.from_rows("judgments", rows), schema.sort("scores", table)


def _read(reply: Reply, shown: Sequence[str]) -> ParsedVerdict:
    """Parse the verdict of a reply. A truncated reply may not have reached its verdict, whatever marks it has."""
    if reply.status == "ok":
        return parse_verdict(reply.text or "", shown)
    return _unparsed(reply.reason or reply.status)
