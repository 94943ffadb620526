"""The verdict in a judge's reply: the last mark the judge sets itself; one repeated from an answer decides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from mirage.judge.prompt import template
from mirage.schema import Verdict

_MEANS: dict[str, Verdict] = {"A": "A", "B": "B", "C": "tie"}
_MARK = re.compile(r"\[\[([A-Za-z][A-Za-z /-]{0,11})\]\]")
_OURS = re.compile(r"\[\[([ABC])\]\]")
# What a reader takes for a quotation: between quotation marks, as code, or after >.
_QUOTED = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|^[ \t]*>[^\n]*""",
    re.DOTALL | re.MULTILINE,
)
_LABEL = (
    r"(?:(?:therefore|thus|so|hence|overall|in conclusion)[ ,]+)?(?:(?:my|the)\s+)?(?:(?:final|overall)\s+)?"
    r"verdict(?:\s+is)?[\s*_:]*"
)
_OWN_LINE = re.compile(rf"^[\s*_#]*(?:{_LABEL})?\[\[[ABC]\]\][\s*_.]*$", re.IGNORECASE)
_LABEL_LAST = re.compile(rf"\b{_LABEL}$", re.IGNORECASE)
_REPEATED = 20
"""Characters before or after a mark that a judge does not happen to share with a text it was shown."""
_NEAR = 300
"""Characters around a mark that are looked at."""
_INTRODUCES = tuple(":\"'“”„«»「」『』‘`")
"""What stands before a quotation."""


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """What a judge's reply amounts to."""

    verdict: Verdict
    """`A`, `B`, `tie`, or `unparsed`."""
    reason: str | None
    """Why it is unparsed; null where it is not."""
    span: tuple[int, int] | None
    """Where the mark that decided stands in the reply; null where none did."""


def parse_verdict(reply: str, shown: Iterable[str] = ()) -> ParsedVerdict:
    """Read the verdict of a reply that is whole.

    The last mark counts, `[[A]]`, `[[B]]` or `[[C]]` for a tie; another word in its place is no verdict. Marks in a
    reasoning model's thoughts (`<think>`, at the beginning) and in a repetition of the instruction do not count.

    Where a text that the judge was shown carries a mark, a mark in the reply can be a quotation. Then one counts only
    as the prompt asks for it, on a line of its own, not quoted, and not beside the words that it stands beside in the
    text shown; if those disagree there is no verdict.

    Args:
        reply: what the judge wrote.
        shown: the texts it was shown: question, passages, answers.
    """
    begin = 0
    if reply.lstrip().startswith("<think>"):
        end = reply.find("</think>")
        if end < 0:
            return _unparsed("the reply is all thought, without a verdict")
        begin = end
    marks = [m for m in _MARK.finditer(reply, begin) if not reply.startswith(_echo(m[0]), m.start())]
    if not marks:
        return _unparsed("the reply holds none of the marks [[A]], [[B]] and [[C]]")
    planted = [text for text in shown if _OURS.search(text)]
    if planted:
        marks = _own(reply, marks, planted)
        if not marks:
            return _unparsed("an answer or passage carries a verdict mark, and the judge set none on a line of its own")
        if len({m[1] for m in marks}) > 1:
            return _unparsed("an answer or passage carries a verdict mark, and the judge's own do not agree")
    last = marks[-1]
    if last[1] not in _MEANS:
        return _unparsed(f"the last mark is {last[0]}, none of [[A]], [[B]] and [[C]]")
    return ParsedVerdict(_MEANS[last[1]], None, last.span())


def _unparsed(reason: str) -> ParsedVerdict:
    return ParsedVerdict("unparsed", reason, None)


@lru_cache
def _echo(mark: str) -> str:
    """The line of the prompt that explains a mark; a text that begins no reply where there is none."""
    lines = (line for line in template().splitlines() if line.startswith(mark))
    return next(lines, "\0")


def _own(reply: str, marks: list[re.Match[str]], planted: list[str]) -> list[re.Match[str]]:
    """The marks that the judge set as it was asked to, by all that can be known."""
    quoted = [m.span() for m in _QUOTED.finditer(reply)]
    around = [(m[1], *_around(text, m)) for text in planted for m in _OURS.finditer(text)]
    own = []
    for mark in marks:
        line = reply[reply.rfind("\n", 0, mark.start()) + 1 :].partition("\n")[0]
        if not _OWN_LINE.match(line) or any(start <= mark.start() < end for start, end in quoted):
            continue
        before, after = _around(reply, mark)
        if not any(_repeats(before, after, *there) for letter, *there in around if letter == mark[1]):
            own.append(mark)
    return own


def _around(text: str, mark: re.Match[str]) -> tuple[str, str]:
    """What stands before and after a mark, without what a quotation may change: case, white space, emphasis; and
    without the label of a verdict, which all verdicts share.
    """
    near = text[max(0, mark.start() - _NEAR) : mark.start()], text[mark.end() : mark.end() + _NEAR]
    before, after = (" ".join(re.sub(r"[*_#]", " ", part).casefold().split()) for part in near)
    return _LABEL_LAST.sub("", before).rstrip(), after


def _repeats(before: str, after: str, shown_before: str, shown_after: str) -> bool:
    """Whether a mark stands where it stands in a text that was shown: after or before the same words, or introduced as
    a quotation of that text's beginning.
    """
    same = _shared(before[::-1], shown_before[::-1])
    if same >= _REPEATED or _shared(after, shown_after) >= _REPEATED:
        return True
    return same == len(shown_before) and before[: len(before) - same].rstrip().endswith(_INTRODUCES)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    n = min(len(one), len(other))
    return next((at for at in range(n) if one[at] != other[at]), n)
