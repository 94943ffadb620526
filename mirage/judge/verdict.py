"""The verdict in a judge's reply: the last mark the judge sets itself; one repeated from an answer decides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

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
_LABEL_LINE = re.compile(rf"^[\s*_#]*(?:{_LABEL})?$", re.IGNORECASE)


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
    as the prompt asks for it, on a line of its own, not quoted, and not following the line that it follows in the text
    shown; if those disagree there is no verdict.

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


@cache
def _echo(mark: str) -> str:
    """The line of the prompt that explains a mark; a text that begins no reply where there is none."""
    lines = (line for line in template().splitlines() if line.startswith(mark))
    return next(lines, "\0")


def _own(reply: str, marks: list[re.Match[str]], planted: list[str]) -> list[re.Match[str]]:
    """The marks that the judge set as it was asked to, by all that can be known."""
    quoted = [m.span() for m in _QUOTED.finditer(reply)]
    folded = [_folded(text) for text in planted]
    own = []
    for mark in marks:
        line_start = reply.rfind("\n", 0, mark.start()) + 1
        line = reply[line_start:].partition("\n")[0]
        if not _OWN_LINE.match(line) or any(start <= mark.start() < end for start, end in quoted):
            continue
        above = [text for text in reply[:line_start].splitlines() if not _LABEL_LINE.match(text)]
        if not above or not any(_folded(f"{above[-1]} {line}") in text for text in folded):
            own.append(mark)
    return own


def _folded(text: str) -> str:
    """A text without what a quotation may change: case, white space, emphasis."""
    return " ".join(re.sub(r"[*_#]", " ", text).casefold().split())
