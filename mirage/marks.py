"""Marks such as `[[A]]` and `[[3]]` in a judge's reply: which of them the judge sets, and which it only mentions.

The rule, for verdicts and grades alike, in every language. A mark on a line of its own, or right after a label
(`Verdict: [[A]]`, `Le verdict est [[A]]`, `判定は[[A]]`), beats those amid sentences; the last of them counts. Among
marks amid sentences, those of the last sentence with a mark count. If these differ, the reply is not read: which of
two marks a sentence prefers is a matter of its language. The judge does not set a mark that it

- denies or compares with: `not [[B]]`, `rather than [[B]]`, `[[A]] over [[B]]`, `[[A]]ではなく`;
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
# A denial that follows the mark, as the verb does in Bengali, Hindi, Japanese, Korean, Persian and Telugu.
_DENIED_AFTER = re.compile(
    r"[\s\"'”’»」』*_)`]*(?:では?(?:な|あり)|じゃ(?:な|あり)|(?:이|가)?\s*아[니닌닙]|नहीं|নয়|নয়|కాదు|نیست|نه\b"
    r"|(?:is|was)\s+(?:not|wrong|worse)\b|isn['’]t|wasn['’]t)",
    re.IGNORECASE,
)
_COPULAS = r"is|was|of|lautet|ist|est|es|é|è|on|adalah|ialah|ni|هو|هي|هی|คือ|เป็น|是|为|為|は|が|은|는|이|가|হল|হলো|হচ্ছে"
"""Words between a label and its mark."""
VERDICT_NOUNS = (
    r"verdict|decision|judg(?:e)?ment|choice|urteil|entscheidung|wahl|veredicto|decisión|elección|juicio|décision"
    r"|jugement|choix|tuomio|päätös|ratkaisu|valinta|putusan|keputusan|penilaian|pilihan|uamuzi|hukumu|chaguo"
    r"|вердикт|решение|выбор|الحكم|القرار|الاختيار|حکم|رأی|رای|تصمیم|انتخاب|রায়|রায়|সিদ্ধান্ত|নির্বাচন|निर्णय|फ़ैसला|फैसला|चुनाव"
    r"|తీర్పు|నిర్ణయం|ఎంపిక|คำตัดสิน|ผลการตัดสิน|การตัดสิน|ตัวเลือก|ìdájọ́|ìpinnu|判定|評決|判断|結論|決定|選択|结论|裁决|判决|决定|选择"
    r"|판정|평결|결정|판단|선택|결론"
)
"""A verdict in 18 languages."""
GRADE_NOUNS = (
    r"score|rating|grade|note|punktzahl|bewertung|puntuación|calificación|nota|arvosana|pisteet|skor|nilai|alama"
    r"|оценка|балл|الدرجة|التقييم|نمره|امتیاز|স্কোর|নম্বর|अंक|स्कोर|స్కోరు|స్కోర్|คะแนน|評価|点数|評分|评分|得分|分数|점수|평점|máàkì"
)
"""A grade in 18 languages."""
_SENTENCE_END = re.compile(r"[.!?][\s\"')]+|[。！？।؟۔\n]")
_REPEATED = 20
"""Characters before or after a mark that a judge does not happen to share with a text it was shown."""
_NEAR = 300
"""Characters around a mark that are looked at."""
_INTRODUCES = tuple(":\"'“”„«»「」『』‘`")
"""What stands before a quotation."""


def bracketed(pattern: str) -> str:
    r"""Return a pattern for a mark in double brackets or in a box of LaTeX.

    As in `[[A]]`, `[[ A ]]`, `[[**A**]]`, `【【A】】`, `［［A］］` and `\boxed{A}`.

    Args:
        pattern: a pattern for what stands between them.
    """
    opening = r"(?:(?P<box>\\boxed\{(?:\\text\w{0,2}\{)?(?:\[\[)?)|[\[［【][ \t]*[\[［【])"
    closing = r"(?(box)(?:\]\])?\}{1,2}|[\]］】][ \t]*[\]］】])"
    return rf"{opening}[ \t*_]*{pattern}[ \t*_]*{closing}"


@dataclass(frozen=True)
class MarkForm:
    """One way to write a verdict or a grade."""

    pattern: re.Pattern[str]
    """A mark."""
    value: Callable[[Mark], Hashable | None]
    """What a mark means; None for one that means nothing, which no text shown can plant."""
    nouns: str
    """What it is called, as a pattern: `verdict|decision`."""
    labelled: bool = False
    """Whether the pattern holds what it is called, so that each mark is labelled."""

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
        labelled = [mark for mark in own_marks if self._alone(reply, mark) or self._is_labelled(reply, mark)]
        if labelled:
            return labelled
        candidates = own_marks or marks
        if own_marks:
            ends = [end.end() for end in _SENTENCE_END.finditer(reply, 0, own_marks[-1].start())]
            candidates = [mark for mark in own_marks if mark.start() >= max(ends, default=0)]
        if len({self.value(mark) for mark in candidates}) > 1:
            # A last word after a colon settles it in any language: "[[5]] at first sight, but then: [[2]]".
            before, after = reply[: candidates[-1].start()].rstrip(" *_\"'"), reply[candidates[-1].end() :]
            settled = before.endswith((":", "：")) and not after.strip(_WRAPS)
            return candidates[-1:] if settled else []
        return candidates

    def _meant(self, reply: str, mark: Mark) -> bool:
        """Whether a mark is neither denied nor reported, on its line or by the line before that ends with a colon."""
        *lines_above, words = reply[max(0, mark.start() - _NEAR) : mark.start()].split("\n")
        if not words.strip(_WRAPS):
            introduced = next((line.rstrip() for line in reversed(lines_above) if line.strip()), "")
            words = introduced if introduced.endswith((":", "：")) else words
        denied = _DENIED.search(words) or _DENIED_AFTER.match(reply, mark.end())
        return not denied and not _REPORTED.search(words)

    def _set(self, reply: str, mark: Mark, asides: list[tuple[int, int]]) -> bool:
        """Whether a mark stands in the judge's own words, on a line of its own, or right after a label."""
        asides_around = [(start, end) for start, end in asides if start <= mark.start() < end]
        if not asides_around or self._alone(reply, mark):
            return True
        return all(self._alone(reply, mark, *span) for span in asides_around) and self._is_labelled(reply, mark)

    def _is_labelled(self, reply: str, mark: Mark) -> bool:
        """Whether a mark stands right after what it is called."""
        if self.labelled:
            return True
        words = reply[max(0, mark.start() - _NEAR) : mark.start()].rstrip(_WRAPS)
        return bool(self._label.search(words))

    def _alone(self, reply: str, mark: Mark, start: int | None = None, end: int | None = None) -> bool:
        """Whether a stretch, by default its line, holds nothing but a mark, its label and what surrounds words."""
        if start is None or end is None:
            start = reply.rfind("\n", 0, mark.start()) + 1
            end = len(reply) if (position := reply.find("\n", mark.end())) < 0 else position
        before = self._label.sub("", reply[start : mark.start()].rstrip(_WRAPS).lstrip(_WRAPS))
        return not before.strip(_WRAPS) and not reply[mark.end() : end].strip(_WRAPS)

    @cached_property
    def _label(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?:(?<![^\W\d_])|(?<=[^\x00-\x7f]))(?:{_LEAD}(?:{self.nouns})(?:\s*(?:{_COPULAS}))?|final(?:ly)?|endgültig"
            r"|finalement|schließlich|最終的に|最终)[\s*_:：=—–-]*$",
            re.IGNORECASE,
        )

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


_WRAPS = "$ \t\u00a0*_#\"'“”„‘’«»「」『』`()（）.:："


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
