"""Parsing a judge's reply: the verdict or the points are the last mark the judge sets itself; marks quoted from an
answer are ignored.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from mirage import schema
from mirage.battles.score_verdicts import verdicts_of_scores
from mirage.llm.asking import Replies, explain_unread
from mirage.llm.completion import Reply
from mirage.schema import Verdict
from mirage.stages.judge.criteria import Criterion
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.prompt import Prompts
from mirage.stats.rows import read_rows
from mirage.text.marks import VERDICT_NOUNS, Mark, MarkForm, bracket
from mirage.text.thoughts import part_thoughts

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
    in full-width brackets; other words in brackets are not verdicts. `mirage.text.marks` defines which marks are set
    and which are only mentioned. Marks in a reasoning model's thoughts and in a repetition of the instruction are
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


def _received_replies(replies: Replies) -> Iterator[tuple[int, Reply]]:
    """Yield the replies with their numbers; a failed call has none."""
    for number, reply in enumerate(replies.by_number):
        if reply is not None and reply.status != "api_error":
            yield number, reply


def read_verdicts(
    battles: Sequence[OrderedPair], prompts: Prompts, replies: Replies, judge: str
) -> list[schema.Judgment]:
    """Parse a model's replies on battles into verdicts: a row for each reply, parsed or not.

    A failed call has no row. A truncated reply may not have reached its verdict, whatever marks it has.

    Args:
        battles: the battles.
        prompts: their prompts.
        replies: the replies to the prompts.
        judge: name of the judge.
    """
    rows = []
    for number, reply in _received_replies(replies):
        read = _unparsed(reply.reason or reply.status)
        if reply.status == "ok":
            read = parse_verdict(reply.text or "", prompts.texts_of(number).texts())
        query, pair = battles[number][:2], battles[number][2:]
        rows.append(schema.Judgment(*query, judge, *pair, read.verdict, reply.text, read.reason, reply.key))
    return rows


def answers_of(battles: Sequence[OrderedPair]) -> list[OrderedPair]:
    """Return the answers of battles, each once, as a battle of its system with itself."""
    every = (OrderedPair(*battle[:2], system, system) for battle in battles for system in battle[2:])
    return list(dict.fromkeys(every))


def read_points(
    battles: Sequence[OrderedPair], prompts: Prompts, replies: Replies, judge: str, criterion: Criterion
) -> tuple[list[schema.Judgment], pa.Table]:
    """Parse a model's replies on single answers into points, and decide the battles by them.

    Args:
        battles: the battles; those of a system with itself have no verdict.
        prompts: the prompts of `answers_of(battles)`.
        replies: the replies to the prompts.
        judge: name of the judge.
        criterion: with points.

    Returns:
        One verdict for each battle with both replies, unparsed if either has no points, with what was said of the
        answer shown first; and one `schema.Score` row for each answer with a reply. A failed call has no row.
    """
    from mirage.stages.features.grades import parse_grade  # deferred: imports all features, which pages do not need

    low, high = criterion.points or (0, 0)
    answers = answers_of(battles)
    scores: dict[tuple[str, ...], tuple[schema.Score, Reply]] = {}
    for number, reply in _received_replies(replies):
        value, reason = None, explain_unread(reply)
        if reason is None:
            value = parse_grade(reply.text or "", prompts.texts_of(number).texts(), low=low, high=high)
            reason = None if value is not None else f"the reply settles on no number from {low} to {high}"
        key = answers[number][:3]
        scores[key] = schema.Score(*key, criterion.name, judge, False, value, low, high, reason), reply
    table = schema.from_rows("scores", [score for score, _ in scores.values()])
    columns = (*OrderedPair._fields, "verdict")
    decided = {tuple(of): won for *of, won in read_rows(verdicts_of_scores(table, judge=judge), *columns)}
    rows = []
    for battle in battles:
        query, pair = battle[:2], battle[2:]
        if pair[0] == pair[1] or any((*query, system) not in scores for system in pair):
            continue
        (first, reply), (second, _) = (scores[*query, system] for system in pair)
        verdict = decided.get(battle) or _TURNED[decided.get((*query, *pair[::-1]), "unparsed")]
        said = " against ".join("none" if score.value is None else f"{score.value:g}" for score in (first, second))
        rationale = f"Points: {said}.\n\n{reply.text or ''}".strip()
        reason = first.reason or second.reason
        rows.append(schema.Judgment(*query, judge, *pair, verdict, rationale, reason, reply.key))
    return rows, schema.sort("scores", table)
