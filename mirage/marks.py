"""Marks such as `[[A]]` and `[[3]]` in a judge's reply: which of them the judge sets, and which it only mentions.

The rule, for verdicts and grades alike. The last mark that the judge sets counts. It does not set a mark that it

- denies or compares with: `not [[B]]`, `rather than [[B]]`, `[[A]] over [[B]]`;
- reports: `the answer says [[5]]`, or gives as an example: `such as [[3]]`;
- names beside another as a choice: `[[A]] or [[B]]`, `between [[3]] and [[4]]`.

A mark in quotation marks, in round brackets, in code or on a line after `>` counts as set where it stands on a line of
its own or right after a label (`Final verdict: "[[B]]"`), else only where the reply sets no other and all such marks
agree.

Where a text that the judge was shown carries a mark of the same form, a mark in the reply can be a quotation. Then one
counts only as the prompt asks for it, on a line of its own, not quoted, and not beside the words that it stands beside
in the text shown. The caller gives no value where such marks disagree.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

Mark = re.Match[str]

_LEAD = r"(?:(?:therefore|thus|so|hence|overall|in conclusion)[ ,]+)?(?:(?:my|the)\s+)?(?:(?:final|overall)\s+)?"
# What a reader takes for a quotation: between quotation marks, as code, or after >.
_QUOTED = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|^[ \t]*>[^\n]*""",
    re.DOTALL | re.MULTILINE,
)
# What stands beside the judge's own words: a quotation within a line, or round brackets. Quotation marks alone pair up
# over lines too easily to be believed here.
_ASIDE = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|^[ \t]*>[^\n]*"""
    r"""|(?<!\w)'[^'\n]*'(?!\w)|‘[^‘’\n]*’(?!\w)|\([^()\n]*\)|（[^（）\n]*）""",
    re.DOTALL | re.MULTILINE,
)
_BEFORE = r"[^\S\n]*[\"'“‘«„(*_`]*[^\S\n]*"
_ARTICLE = r"(?:\s+(?:a|an|the|it|for))?"
_DENIED = re.compile(
    r"(?:\b(?:not|never|rather\s+than|instead\s+of|than|over|nor|neither|against)"
    rf"|(?:n['’]t|\bnot|\bcannot)\s+(?:say|choose|pick|give|award|assign|prefer){_ARTICLE}"
    rf"|(?<![-=])[>≻]){_ARTICLE}{_BEFORE}$",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:says|said|claims|claimed|states|demands|demanded|orders|ordered|asks|asked|wants|wanted|writes|wrote"
    r"|reads|such\s+as|for\s+example|e\.g\.)"
    r"(?:[,:]?\s+(?:that|to|be|for|a|an|the|me|us|its|own|final|say|give|end|with|is|of|score|grade|rating|verdict))*"
    rf"[,:]?{_BEFORE}(?:(?:final\s+)?(?:score|grade|rating|verdict)\s*:{_BEFORE})?$",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"[^\S\n\"'“”]*[\"'“”]?[^\S\n]*(?:,|/|or|and|to|vs\.?|versus|,\s*(?:or|and))[^\S\n]*[\"'“”]?", re.IGNORECASE
)
_REPEATED = 20
"""Characters before or after a mark that a judge does not happen to share with a text it was shown."""
_NEAR = 300
"""Characters around a mark that are looked at."""
_INTRODUCES = tuple(":\"'“”„«»「」『』‘`")
"""What stands before a quotation."""


def bracketed(pattern: str) -> str:
    """A pattern for what a judge puts in double brackets: `[[A]]`, `[[ A ]]`, `[[**A**]]`, `【【A】】`, `［［A］］`.

    Args:
        pattern: a pattern for what stands between them.
    """
    return rf"[\[［【][ \t]*[\[［【][ \t*_]*{pattern}[ \t*_]*[\]］】][ \t]*[\]］】]"


@dataclass(frozen=True)
class MarkForm:
    """One way to write a verdict or a grade."""

    pattern: re.Pattern[str]
    """A mark."""
    value: Callable[[Mark], Hashable | None]
    """What a mark means; None for one that means nothing, which no text shown can plant."""
    nouns: str
    """What it is called, as a pattern: `verdict|decision`."""

    def planted(self, shown_texts: Iterable[str]) -> list[str]:
        """The texts shown that carry a mark of this form."""
        return [
            text for text in shown_texts if any(self.value(mark) is not None for mark in self.pattern.finditer(text))
        ]

    def own(self, reply: str, shown_texts: Iterable[str] = ()) -> list[Mark]:
        """The marks that the judge sets itself, in their order, by the rule at the head of this module.

        Args:
            reply: what the judge wrote, without a reasoning model's thoughts.
            shown_texts: the texts it was shown.
        """
        marks = [mark for mark in self.pattern.finditer(reply) if self._meant(reply, mark)]
        listed = {
            side
            for pair in itertools.pairwise(marks)
            if self.value(pair[0]) != self.value(pair[1]) and _CHOICE.fullmatch(reply, pair[0].end(), pair[1].start())
            for side in pair
        }
        marks = [mark for mark in marks if mark not in listed]
        if planted := self.planted(shown_texts):
            return self._unquoted(reply, marks, planted)
        asides = [match.span() for match in _ASIDE.finditer(reply)]
        own_marks = [mark for mark in marks if self._set(reply, mark, asides)]
        return own_marks or (marks if len({self.value(mark) for mark in marks}) == 1 else [])

    def _meant(self, reply: str, mark: Mark) -> bool:
        """Whether a mark is neither denied nor reported, on its line or by the line before that ends with a colon."""
        *lines_above, words = reply[max(0, mark.start() - _NEAR) : mark.start()].split("\n")
        if not words.strip(_WRAPS):
            introduced = next((line.rstrip() for line in reversed(lines_above) if line.strip()), "")
            words = introduced if introduced.endswith((":", "：")) else words
        return not _DENIED.search(words) and not _REPORTED.search(words)

    def _set(self, reply: str, mark: Mark, asides: list[tuple[int, int]]) -> bool:
        """Whether a mark stands in the judge's own words, on a line of its own, or right after a label."""
        asides_around = [(start, end) for start, end in asides if start <= mark.start() < end]
        if not asides_around or self._alone(reply, mark):
            return True
        words = reply[max(0, mark.start() - _NEAR) : mark.start()].rstrip(_WRAPS)
        return all(self._alone(reply, mark, *span) for span in asides_around) and bool(self._label.search(words))

    def _alone(self, reply: str, mark: Mark, start: int | None = None, end: int | None = None) -> bool:
        """Whether a stretch, by default its line, holds nothing but a mark, its label and what surrounds words."""
        if start is None or end is None:
            start = reply.rfind("\n", 0, mark.start()) + 1
            end = len(reply) if (position := reply.find("\n", mark.end())) < 0 else position
        before = self._label.sub("", reply[start : mark.start()].rstrip(_WRAPS).lstrip(_WRAPS))
        return not before.strip(_WRAPS) and not reply[mark.end() : end].strip(_WRAPS)

    @cached_property
    def _label(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{_LEAD}(?:{self.nouns})(?:\s+is|\s+of)?|final|finally)[\s*_:：=]*$", re.IGNORECASE)

    def _unquoted(self, reply: str, marks: list[Mark], planted_texts: list[str]) -> list[Mark]:
        """The marks that the judge set as it was asked to, by all that can be known."""
        quoted = [match.span() for match in _QUOTED.finditer(reply)]
        contexts = [
            (self.value(match), *self._around(text, match))
            for text in planted_texts
            for match in self.pattern.finditer(text)
        ]
        own_marks = []
        for mark in marks:
            if not self._alone(reply, mark) or any(start <= mark.start() < end for start, end in quoted):
                continue
            before, after = self._around(reply, mark)
            if not any(_repeats(before, after, *context) for value, *context in contexts if value == self.value(mark)):
                own_marks.append(mark)
        return own_marks

    def _around(self, text: str, mark: Mark) -> tuple[str, str]:
        """What stands before and after a mark, without what a quotation may change: case, white space, emphasis; and
        without the label, which all verdicts share.
        """
        surroundings = text[max(0, mark.start() - _NEAR) : mark.start()], text[mark.end() : mark.end() + _NEAR]
        before, after = (" ".join(re.sub(r"[*_#]", " ", part).casefold().split()) for part in surroundings)
        return self._label.sub("", before).rstrip(), after


_WRAPS = " \t\u00a0*_#\"'“”„‘’«»「」『』`()（）.:："


def _repeats(before: str, after: str, shown_before: str, shown_after: str) -> bool:
    """Whether a mark stands where it stands in a text that was shown: after or before the same words, or introduced as
    a quotation of that text's beginning.
    """
    common = _shared(before[::-1], shown_before[::-1])
    if common >= _REPEATED or _shared(after, shown_after) >= _REPEATED:
        return True
    return common == len(shown_before) and before[: len(before) - common].rstrip().endswith(_INTRODUCES)


def _shared(text: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    n = min(len(text), len(other))
    return next((position for position in range(n) if text[position] != other[position]), n)
