"""The headings `Reason` and `Answer` of an answer, in 18 languages and in the spellings that models use."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["reason", "answer"]

REASON: dict[str, tuple[str, ...]] = {
    "ar": ("السبب", "الأسباب", "الاسباب", "سبب", "التعليل", "التفسير", "التبرير", "الاستدلال", "الشرح", "المنطق"),
    "bn": ("কারণ", "যুক্তি", "ব্যাখ্যা", "যুক্তিসমূহ"),
    "de": ("Begründung", "Grund", "Gründe", "Erklärung", "Überlegung", "Überlegungen", "Argumentation"),
    "en": ("Reason", "Reasons", "Reasoning", "Rationale", "Explanation"),
    "es": ("Razón", "Razones", "Razonamiento", "Motivo", "Justificación", "Explicación"),
    "fa": ("دلیل", "دلایل", "استدلال", "علت", "توضیح", "توجیه"),
    "fi": ("Perustelu", "Perustelut", "Syy", "Päättely", "Selitys"),
    "fr": ("Raison", "Raisons", "Raisonnement", "Justification", "Explication", "Motif"),
    "hi": ("कारण", "तर्क", "स्पष्टीकरण", "व्याख्या"),
    "id": ("Alasan", "Penalaran", "Penjelasan"),
    "ja": ("理由", "理由付け", "根拠", "推論", "説明", "考察"),
    "ko": ("이유", "근거", "추론", "추론 과정", "설명"),
    "ru": ("Причина", "Причины", "Обоснование", "Рассуждение", "Рассуждения", "Объяснение", "Пояснение"),
    "sw": ("Sababu", "Maelezo", "Ufafanuzi"),
    "te": ("కారణం", "కారణాలు", "తర్కం", "వివరణ"),
    "th": ("เหตุผล", "การให้เหตุผล", "คำอธิบาย"),
    "yo": ("Ìdí", "Ìdí rẹ̀", "Àlàyé", "Ìdí àti àlàyé"),
    "zh": ("理由", "原因", "推理", "推理过程", "推理過程", "解释", "解釋", "依据", "依據", "说明", "說明"),
}
"""By language, what models write for the heading `Reason`."""

ANSWER: dict[str, tuple[str, ...]] = {
    "ar": (
        "الإجابة",
        "الاجابة",
        "إجابة",
        "اجابة",
        "الجواب",
        "جواب",
        "الإجابة النهائية",
        "الاجابة النهائية",
        "الجواب النهائي",
    ),
    "bn": ("উত্তর", "জবাব", "চূড়ান্ত উত্তর", "শেষ উত্তর"),
    "de": ("Antwort", "Endgültige Antwort", "Finale Antwort", "Abschließende Antwort"),
    "en": ("Answer", "Final Answer"),
    "es": ("Respuesta", "Respuesta final", "Respuesta definitiva"),
    "fa": ("پاسخ", "جواب", "پاسخ نهایی", "جواب نهایی"),
    "fi": ("Vastaus", "Lopullinen vastaus"),
    "fr": ("Réponse", "Réponse finale", "Réponse définitive"),
    "hi": ("उत्तर", "जवाब", "अंतिम उत्तर", "अन्तिम उत्तर", "अंतिम जवाब"),
    "id": ("Jawaban", "Jawaban akhir", "Jawaban final"),
    "ja": ("回答", "答え", "答", "解答", "最終回答", "最終的な回答", "最終的な答え", "最終解答"),
    "ko": ("답변", "답", "정답", "대답", "최종 답변", "최종 답", "최종 정답"),
    "ru": ("Ответ", "Окончательный ответ", "Итоговый ответ", "Финальный ответ"),
    "sw": ("Jibu", "Majibu", "Jibu la mwisho"),
    "te": ("సమాధానం", "జవాబు", "తుది సమాధానం", "చివరి సమాధానం"),
    "th": ("คำตอบ", "คำตอบสุดท้าย"),
    "yo": ("Ìdáhùn", "Ìdáhùn ìkẹyìn", "Ìdáhùn ìparí"),
    "zh": ("答案", "回答", "答", "最终答案", "最終答案", "最终回答", "最終回答"),
}
"""By language, what models write for the heading `Answer`."""


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading in an answer."""

    kind: Kind
    """Which part it begins."""
    start: int
    """Where it begins, with its marks."""
    end: int
    """Where it ends (exclusive), with its marks and its colon: the part begins here."""
    marked: bool
    """Whether it carries a mark: `##`, bold, or 【】. Else it is a word with a colon at the start of a line."""


def _spellings(words: str) -> Iterable[str]:
    """A heading composed and decomposed; in Latin script also without diacritics, as it is often typed."""
    composed, decomposed = (unicodedata.normalize(form, words) for form in ("NFC", "NFD"))
    yield from (composed, decomposed)
    if "LATIN" in unicodedata.name(decomposed[0]):
        plain = "".join(character for character in decomposed if not unicodedata.combining(character))
        yield from (plain, plain.replace("ß", "ss"))


_SPACE = r"[^\S\n]"


def _any_of(table: dict[str, tuple[str, ...]]) -> str:
    """A pattern for the headings, the longest first; the words of one may stand any space apart, or none."""
    spellings = {spelling for group in table.values() for words in group for spelling in _spellings(words)}
    parts = (
        rf"{_SPACE}*+".join(map(re.escape, spelling.split()))
        for spelling in sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
    )
    return "|".join(parts)


_EMPHASIS, _COLON = r"(?:\*{1,3}+|_{1,3}+)?+", "[:：﹕]"
_HEADING = re.compile(
    # How it begins: after ## anywhere (after # at the start of a line), in 【】, at the start of a line, or bold.
    rf"(?:(?P<hash>^(?P<first>[#＃]{{2,}}+)(?!{_SPACE})|(?<![#＃])[#＃]{{2,}}+|^[#＃]){_SPACE}*+{_EMPHASIS}"
    rf"|(?P<box>【){_SPACE}*+"
    rf"|^{_SPACE}*+(?P<line>(?P<emphasis>\*{{1,3}}+|_{{1,3}}+)?+)"
    r"|(?P<bold>(?<![*])\*\*|(?<![\w_])__))"
    rf"(?:(?P<reason>{_any_of(REASON)})|{_any_of(ANSWER)})"
    # How it ends: with 】, with a colon (which bold takes in or stands before), or with the line.
    rf"(?:(?(box){_SPACE}*+】(?:{_SPACE}*+{_COLON})?+|(?!))"
    rf"|(?(bold){_SPACE}*+(?:(?P=bold){_SPACE}*+{_COLON}|{_COLON}{_SPACE}*+(?P=bold))|(?!))"
    rf"|(?(box)(?!)|(?(bold)(?!)|{_SPACE}*+{_EMPHASIS}{_SPACE}*+{_COLON}{_EMPHASIS}))"
    rf"|(?(hash){_EMPHASIS}(?:(?={_SPACE}*+$)|(?(first)(?=\s)|(?!)))|(?!))"
    rf"|(?(emphasis)(?P=emphasis)(?={_SPACE}*+$)|(?!)))",
    re.IGNORECASE | re.MULTILINE,
)
_BEGINNING = re.compile(r"\n|##|#＃|＃#|＃＃|【|\*\*|__")
"""Where a heading can begin, besides the start of the text: after a line break, or with a mark. Each alternative begins
with a letter of its own, for then the search skips to these letters.
"""
_SENTENCE_END = r"[.!?。！？।॥؟۔…\])”\"»』」*]"
_INLINE = re.compile(
    rf"(?:(?<=\s)(?-i:(?:Final{_SPACE}++|FINAL{_SPACE}++)?A(?:nswer|NSWER))|(?<=\s)(?:{_any_of({'th': ANSWER['th']})})"
    rf"|(?:(?<={_SENTENCE_END})|(?<={_SENTENCE_END}\s))(?:{_any_of(ANSWER)})){_SPACE}*+{_COLON}",
    re.IGNORECASE,
)


def headings(text: str) -> list[Heading]:
    """Every heading of an answer, in the order of the text.

    A heading is one of the words of `REASON` and `ANSWER`, in any case, with or without diacritics in Latin script:

    - after `##` anywhere, or after `#` at the start of a line, with a colon, at the end of its line, or before
      a space where `##` and the word, without a space between them, begin the line;
    - in bold with a colon, anywhere, or in emphasis alone on its line;
    - in 【】, anywhere;
    - with a colon at the start of a line.

    A word in running text is none: the words occur in every answer.
    """
    listed: list[Heading] = []
    end = 0
    # Only where a heading can begin, and past the last: the whole pattern costs ten times as much to try.
    marks = [match.end() if match[0] == "\n" else match.start() for match in _BEGINNING.finditer(text)]
    for begin in dict.fromkeys((0, *marks)):
        if begin >= end and (match := _HEADING.match(text, begin)) is not None:
            kind: Kind = "answer" if match["reason"] is None else "reason"
            listed.append(Heading(kind, *match.span(), marked=match["line"] != ""))
            end = match.end()
    return listed


def inline_answers(text: str, begin: int) -> list[Heading]:
    """Words for `Answer` with a colon that begin a sentence within a line, from `begin` on.

    They count only where an answer has a Reason and no other heading for the answer: `Because of it. Answer: yes`.
    """
    return [Heading("answer", *match.span(), marked=False) for match in _INLINE.finditer(text, begin)]
