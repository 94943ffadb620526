"""Marks such as `[[A]]` and `[[3]]` in a judge's reply: which are its own decision, and which are only mentioned.

The rules apply to verdicts and grades in every language. A mark on its own line, or right after a label (`Verdict:
[[A]]`, `Le verdict est [[A]]`, `判定は[[A]]`, `<verdict>[[A]]</verdict>`), takes precedence over marks within
sentences; the last counts, unless it differs from one on the line above that says the same otherwise. Among marks
within sentences, those of the last sentence with a mark count. If these differ, the reply is unparsed: which of two
marks a sentence prefers depends on its language. A mark does not count if the judge

- denies it or compares with it: `not [[B]]`, `[[A]], no [[B]]`, `rather than [[B]]`, `[[A]] over [[B]]`,
  `[[A]]ではなく`;
- reports it: `the answer says [[5]]`, or gives an example: `such as [[3]]`;
- lists it as a choice: `[[A]] or [[B]]`, `between [[3]] and [[4]]`.

A mark in quotation marks, in round brackets or in code counts if it is on its own line or right after a label (`Final
verdict: "[[B]]"`), otherwise, and on a line after `>`, only if the reply has no other and all such marks agree.

If a text shown to the judge has a mark of the same form, a mark in the reply may be a quotation. It then counts only in
the requested form, on its own line, unquoted, and in a context other than in the shown text. If such marks disagree
there is no value (`MarkForm.settle`).
"""

import itertools
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from mirage.text.thoughts import part_thoughts

Mark = re.Match[str]
Value = TypeVar("Value", bound=Hashable)

_LEAD = r"(?:(?:therefore|thus|so|hence|overall|in conclusion)[ ,]+)?(?:(?:my|the)\s+)?(?:(?:final|overall)\s+)?"
# Quotations: in quotation marks, as code, or after >.
_QUOTED = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|^[ \t]*>[^\n]*""",
    re.DOTALL | re.MULTILINE,
)
# Asides: a quotation within a line, or round brackets. Quotation marks across lines are paired up
# wrongly too often.
_ASIDE = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|^[ \t]*>[^\n]*"""
    r"""|(?<!\w)'[^'\n]*'(?!\w)|‘[^‘’\n]*’(?!\w)|\([^()\n]*\)|（[^（）\n]*）""",
    re.DOTALL | re.MULTILINE,
)
_BEFORE = r"[^\S\n]*[\"'“‘«„(*_`]*[^\S\n]*"
_ARTICLE = r"(?:\s+(?:a|an|the|it|for))?"
_NEGATED = (
    r"(?:(?:[,;(、，—–]|\b(?:y|e|et|und|och|og|i|и|а|و|ve|dan))\s*(?:no|nicht|non|pas|não|nao|nem|niet|inte|ikke|ei|eikä|не"
    r"|nie|ne|bukan|tidak|si|không(?:\s+phải)?|لا|ليس|وليس|نه|kì\s+í\s+ṣe)\s+|(?:而?不是?|并非|並非|而非)\s*)"
)
"""A negation right before a mark, after a pause: `[[A]], no [[B]]`."""
_DENIED = re.compile(
    r"(?:\b(?:not|never|rather\s+than|instead\s+of|than|over|nor|neither|against)"
    rf"|(?:n['’]t|\bnot|\bcannot)\s+(?:say|choose|pick|give|award|assign|prefer){_ARTICLE}"
    rf"|(?:[\]］】}}]|\b[a-z1-9])[\"'*_)`\s]*[>≻]|{_NEGATED}){_ARTICLE}{_BEFORE}$",
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
# A denial after the mark, as in verb-final languages: Bengali, Hindi, Japanese, Korean, Persian,
# Telugu and Turkish.
_DENIED_AFTER = re.compile(
    r"[\s\"'”’»」』*_)`]*(?:では?(?:な|あり)|じゃ(?:な|あり)|(?:이|가)?\s*아[니닌닙]|नहीं|নয়|নয়|కాదు|نیست|نه\b|değil"
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
"""Words for a verdict in 18 languages."""
GRADE_NOUNS = (
    r"score|rating|grade|note|punktzahl|bewertung|puntuación|calificación|nota|arvosana|pisteet|skor|nilai|alama"
    r"|оценка|балл|الدرجة|التقييم|نمره|امتیاز|স্কোর|নম্বর|अंक|स्कोर|స్కోరు|స్కోర్|คะแนน|評価|点数|評分|评分|得分|分数|점수|평점|máàkì"
)
"""Words for a grade in 18 languages."""
_SENTENCE_END = re.compile(r"[.!?][\s\"')]+|[。！？।؟۔\n]")
_TAG_NAME = r"[^\W\d_][^\s<>/]{0,40}"
_TAG = re.compile(rf"</?{_TAG_NAME}(?:\s[^<>\n]{{0,80}})?>")
"""A tag of XML or HTML, whose `>` compares nothing."""
_OPENED = re.compile(rf"<({_TAG_NAME})>$")
_CLOSED = re.compile(rf"(?:[ \t]*</{_TAG_NAME}>)*")
"""Tags right before and after a mark."""
_REPEATED = 20
"""Length of a shared context, before or after a mark, that indicates a quotation."""
_NEAR = 300
"""Characters of context around a mark."""
_INTRODUCES = tuple(":\"'“”„«»「」『』‘`")
"""Characters before a quotation."""


def bracket(pattern: str) -> str:
    r"""Return a pattern for a mark in double brackets or in a LaTeX box.

    As in `[[A]]`, `[[ A ]]`, `[[**A**]]`, `【【A】】`, `［［A］］` and `\boxed{A}`.

    Args:
        pattern: a pattern for the content.
    """
    opening = r"(?:(?P<box>\\boxed\{(?:\\text\w{0,2}\{)?(?:\[\[)?)|[\[［【][ \t]*[\[［【])"
    closing = r"(?(box)(?:\]\])?\}{1,2}|[\]］】][ \t]*[\]］】])"
    return rf"{opening}[ \t*_]*{pattern}[ \t*_]*{closing}"


@dataclass(frozen=True)
class MarkForm(Generic[Value]):
    """One way to write a verdict or a grade."""

    pattern: re.Pattern[str]
    """Pattern of a mark."""
    value: Callable[[Mark], Value | None]
    """Value of a mark; None for a mark without a meaning, which shown texts cannot plant."""
    nouns: str
    """Pattern of its labels: `verdict|decision`."""
    labelled: bool = False
    """Whether the pattern includes the label, so that each mark is labelled."""

    def find_planted(self, shown_texts: Iterable[str]) -> list[str]:
        """Return the shown texts that contain a mark of this form."""
        return [
            text for text in shown_texts if any(self.value(mark) is not None for mark in self.pattern.finditer(text))
        ]

    def settle(self, marks: Sequence[Mark], shown_texts: Iterable[str]) -> Value | None:
        """Return the value of the last of a judge's own marks (`own`); None if there is none, or if they disagree and a
        shown text has a mark of this form.
        """
        values = [self.value(mark) for mark in marks]
        if not values or (len(set(values)) > 1 and self.find_planted(shown_texts)):
            return None
        return values[-1]

    def own(self, reply: str, shown_texts: Iterable[str] = ()) -> list[Mark]:
        """Return the marks that are the judge's own decision, in order, by the rules in the module docstring.

        Args:
            reply: the judge's reply, without a reasoning model's thoughts.
            shown_texts: texts in its prompt.
        """
        marks = [mark for mark in self.pattern.finditer(reply) if self._is_affirmed(reply, mark)]
        listed = {
            side
            for pair in itertools.pairwise(marks)
            if self.value(pair[0]) != self.value(pair[1]) and _CHOICE.fullmatch(reply, pair[0].end(), pair[1].start())
            for side in pair
        }
        marks = [mark for mark in marks if mark not in listed]
        if planted := self.find_planted(shown_texts):
            return self._outside_quotes(reply, marks, planted)
        asides = [match.span() for match in _ASIDE.finditer(reply)]
        own_marks = [mark for mark in marks if self._is_own(reply, mark, asides)]
        labelled = [mark for mark in own_marks if self._stands_alone(reply, mark) or self._is_labelled(reply, mark)]
        if labelled:
            return [] if self._contradict(reply, labelled) else labelled
        candidates = own_marks or marks
        if own_marks:
            ends = [end.end() for end in _SENTENCE_END.finditer(reply, 0, own_marks[-1].start())]
            candidates = [mark for mark in own_marks if mark.start() >= max(ends, default=0)]
        if len({self.value(mark) for mark in candidates}) > 1:
            # A final mark after a colon decides in any language: "[[5]] at first sight, but then: [[2]]".
            before, after = reply[: candidates[-1].start()].rstrip(" *_\"'"), reply[candidates[-1].end() :]
            settled = before.endswith((":", "：")) and not after.strip(_WRAPS)
            return candidates[-1:] if settled else []
        return candidates

    def _contradict(self, reply: str, marks: Sequence[Mark]) -> bool:
        """Return whether the last two marks differ while their lines say the same, with no word between."""
        if len(marks) < 2 or self.value(marks[-2]) == self.value(marks[-1]):
            return False
        first, last = marks[-2:]
        between = reply[first.end() : last.start()]
        label = self._line_before(reply, first)
        return "\n" in between and _words(between) == _words(label) == _words(self._line_before(reply, last))

    def _is_affirmed(self, reply: str, mark: Mark) -> bool:
        """Return whether a mark is neither denied nor reported, on its line or by a preceding line that ends with a
        colon.
        """
        *lines_above, words = reply[max(0, mark.start() - _NEAR) : mark.start()].split("\n")
        if not words.strip(_WRAPS):
            introduced = next((line.rstrip() for line in reversed(lines_above) if line.strip()), "")
            words = introduced if introduced.endswith((":", "：")) else words
        words = _TAG.sub(" ", words)
        denied = _DENIED.search(words) or _DENIED_AFTER.match(reply, mark.end())
        return not denied and not _REPORTED.search(words)

    def _is_own(self, reply: str, mark: Mark, asides: list[tuple[int, int]]) -> bool:
        """Return whether a mark is outside asides, on its own line, or right after a label."""
        asides_around = [(start, end) for start, end in asides if start <= mark.start() < end]
        if not asides_around or self._stands_alone(reply, mark):
            return True
        return all(self._stands_alone(reply, mark, *span) for span in asides_around) and self._is_labelled(reply, mark)

    def _is_labelled(self, reply: str, mark: Mark) -> bool:
        """Return whether a mark is right after its label."""
        if self.labelled:
            return True
        words = reply[max(0, mark.start() - _NEAR) : mark.start()].rstrip(_WRAPS)
        return bool(self._label.search(_OPENED.sub(r"<\1", words)))

    def _stands_alone(self, reply: str, mark: Mark, start: int | None = None, end: int | None = None) -> bool:
        """Return whether a span, by default the line, has only a mark, its label and punctuation."""
        if start is None or end is None:
            start = reply.rfind("\n", 0, mark.start()) + 1
            end = len(reply) if (position := reply.find("\n", mark.end())) < 0 else position
        before = self._label.sub("", _OPENED.sub(r"<\1", reply[start : mark.start()].rstrip(_WRAPS).lstrip(_WRAPS)))
        after = reply[_CLOSED.match(reply, mark.end(), end).end() : end]  # type: ignore[union-attr]  # may be empty
        return not before.strip(_WRAPS) and not after.strip(_WRAPS)

    @cached_property
    def _label(self) -> re.Pattern[str]:
        return re.compile(
            rf"(?:<|(?<![^\W\d_])|(?<=[^\x00-\x7f]))(?:{_LEAD}(?:{self.nouns})(?:\s*(?:{_COPULAS}))?|final(?:ly)?|endgültig"
            r"|(?<=<)(?:final[_-]?)?(?:answer|winner|result|output|antwort|réponse|respuesta)"
            r"|finalement|schließlich|最終的に|最终)[\s*_:：=—–-]*$",
            re.IGNORECASE,
        )

    def _outside_quotes(self, reply: str, marks: list[Mark], planted_texts: list[str]) -> list[Mark]:
        """Return the marks in the requested form that are not quotations of shown texts."""
        quoted = [match.span() for match in _QUOTED.finditer(reply)]
        contexts = [
            (self.value(match), *self._mark_context(text, match))
            for text in planted_texts
            for match in self.pattern.finditer(text)
        ]
        own_marks = []
        for mark in marks:
            if not self._stands_alone(reply, mark) or any(start <= mark.start() < end for start, end in quoted):
                continue
            before, after = self._mark_context(reply, mark)
            if not any(_repeats(before, after, *context) for value, *context in contexts if value == self.value(mark)):
                own_marks.append(mark)
        return own_marks

    @staticmethod
    def _line_before(reply: str, mark: Mark) -> str:
        return reply[reply.rfind("\n", 0, mark.start()) + 1 : mark.start()]

    def _mark_context(self, text: str, mark: Mark) -> tuple[str, str]:
        """Return the context before and after a mark, normalised for case, whitespace, emphasis, without the label."""
        surroundings = text[max(0, mark.start() - _NEAR) : mark.start()], text[mark.end() : mark.end() + _NEAR]
        before, after = (" ".join(re.sub(r"[*_#]", " ", part).casefold().split()) for part in surroundings)
        return self._label.sub("", before).rstrip(), after


def word_form(words: Mapping[str, Value], noun: str) -> MarkForm[Value]:
    """Return the form of a word in double brackets, such as `[[full]]`.

    Args:
        words: the words in lower case, with their values.
        noun: pattern of a label besides those of grades: `support`.
    """
    pattern = re.compile(bracket(r"(?P<word>[A-Za-z]{1,20})"))
    return MarkForm(pattern, lambda mark: words.get(mark["word"].casefold()), f"{GRADE_NOUNS}|{noun}")


def read_mark(form: MarkForm[Value], reply: str, shown_texts: Iterable[str] = ()) -> Value | None:
    """Return the value that a model's reply settles on; None if there is none.

    Args:
        form: the form of its marks.
        reply: the reply, with a reasoning model's thoughts, which do not count.
        shown_texts: texts in its prompt.
    """
    shown_texts = list(shown_texts)
    parted = part_thoughts(reply, shown_texts)
    return None if parted.gap is not None else form.settle(form.own(parted.text, shown_texts), shown_texts)


_WRAPS = "$ \t\u00a0*_#\"'“”„‘’«»「」『』`()（）.:："


def _repeats(before: str, after: str, shown_before: str, shown_after: str) -> bool:
    """Return whether a mark has the same context as in a shown text, or follows an introduction of its quotation."""
    common = _common_prefix(before[::-1], shown_before[::-1])
    if common >= _REPEATED or _common_prefix(after, shown_after) >= _REPEATED:
        return True
    return common == len(shown_before) and before[: len(before) - common].rstrip().endswith(_INTRODUCES)


def _words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return re.findall(r"[^\W_]+", text.casefold())


def _common_prefix(text: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    n = min(len(text), len(other))
    return next((position for position in range(n) if text[position] != other[position]), n)
