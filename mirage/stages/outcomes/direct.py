"""Answers without a formula: a direct answer, a bare citation, or unparsed."""

import re
from functools import cache

from mirage.stages.outcomes.fold import Folded, compile_folded
from mirage.stages.outcomes.parsed import Parsed
from mirage.stages.outcomes.vocabulary import LANGUAGES, phrases

ANSWER = (
    r"answer|output|response|a|respuesta|réponse|reponse|antwort|jawaban(?:nya)?|vastaus|jibu|ìdáhùn|ответ|الاجابة"
    r"|الجواب|پاسخ|جواب|उत्तर|जवाब|উত্তর|సమాధానం|జవాబు|คำตอบ|答え|回答|答|答案|답변?|정답"
)
"""Labels of an answer, before a colon."""
ASKED = re.compile(r"(?<![^\n?.!])[^\n?.!]*\?+(?![?\"'])")
"""A question with its mark; a mark before a closing quotation mark is quoted."""
TASK = re.compile(
    r"\b(?:questions?|contexts?|contextos?|kontexten?|contextes?|konteks|pregunta|select|options?|output|analysis"
    r"|translation|explanation|reference|note|response)\b"
)
"""Phrases about the task."""
_QUESTION = compile_folded(
    r"(?:question|q|pregunta|frage|kysymys|pertanyaan|swali|ìbéèrè|вопрос|السؤال|سؤال|سوال|پرسش|प्रश्न|প্রশ্ন|ప్రశ్న|คำถาม"
    r"|質問|問題|问题|问|問|질문)\w*\s*:"
)
_CITED = re.compile(r"\W*(\[\d+(?:, ?\d+)*\](?:(?:,| and)? ?\[\d+\])*)\.?\s*(?:$|\n)")
_CONTEXTS = re.compile(r"(?:^|\n)\s*contexts?\b[^\n]{0,12}:|^\s*(?:[-*•] )?([^:\n]{2,60}?)(?: \([^)\n]*\))?: \W?\1")
_ITEM = re.compile(r"(?:^|\n)[ \t]*(?:[-*•]|\(?(?:\d{1,2}|[a-e])[.)])[ \t]")
_REPEATS = re.compile(r"([^\d\s]\D{0,11}?)\1{7,}")
_CUT_OFF = re.compile(r"(?:an|ans\w*|based(?: on)?|the|it|option \d*|por lo(?: tanto)?|yesno)")
_SENTENCES = re.compile(r"[^\W\d_]{3}[.!?][\"')\]]?\s+\S|.{40}\.\s*$|.{100}", re.DOTALL)
# A single letter is a fragment, but a single character of these scripts may be a word, as may a number.
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"\d|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def direct_answer(answer: str, text: str, until: int, folded: Folded, language: str) -> Parsed:
    """Read an answer without a statement.

    Args:
        answer: the raw answer.
        text: its folded text, with mentions blanked.
        until: position in `text` where the answer turns to instructions.
        folded: maps to raw positions.
        language: code of the query's language.
    """
    if cited := _CITED.match(text):
        return Parsed("answered", "citation", *folded.raw(*cited.span(1)))
    labels = [match.end() for match in _announcement_pattern(language).finditer(text)]
    start = labels[-1] if labels else 0
    left, has_question = _without_questions(text[start : len(text) if labels else until], language)
    words = left.strip(" \t\n\"'.,:;-*#()")
    words = re.sub(r"\n\s*(?:\d{1,2}|[a-e])[.)]?$", "", words).rstrip()
    too_short = len(_LETTER.findall(words)) < 2 and not _WORD.search(words)
    if too_short or _CUT_OFF.fullmatch(words) or re.fullmatch(r"\s*\d{1,2}[.)]\s*", left):
        return Parsed("unparsed", "question_repeated" if has_question else "fragment")
    if is_degenerate(words):
        return Parsed("unparsed", "degenerate")
    if not labels:
        items = len(_ITEM.findall(left))
        copied = _CONTEXTS.search(left) or re.search(r"\n\s*\[\d+\]", left.strip())
        if copied or items > 1 or (items and (len(words) > 60 or re.match(r"\s*1[.)] \D*$", left))):
            return Parsed("unparsed", "list")
        if TASK.search(words):
            return Parsed("unparsed", "about_the_task")
        letter = next((i for i, character in enumerate(left) if character.isalpha()), 0)
        lower = answer[folded.raw(letter, letter + 1)[0]].islower()
        if left.lstrip()[0] in ")]},;:." or (lower and _SENTENCES.search(left.strip())):
            return Parsed("unparsed", "continues_contexts")
    if language not in LANGUAGES and _LETTER.search(words):
        return Parsed("unparsed", "language_not_understood")
    begin = start + left.index(words)
    return Parsed("answered", "answer_given", *folded.raw(begin, begin + len(words)))


def is_degenerate(words: str) -> bool:
    """Return whether a text has a piece of up to twelve characters eight times over, or is mostly undecodable."""
    return words.count("\ufffd") * 4 > len(words) or (_may_repeat(words) and _REPEATS.search(words) is not None)


def _may_repeat(words: str) -> bool:
    """Return whether the characters equal those some places later seven times over: a fast test before the slow one."""
    code = int.from_bytes(words.encode("utf-32-le", "surrogatepass"), "little")
    return any(
        bytes(28 * places)
        in (code ^ code >> 32 * places).to_bytes(4 * len(words), "little")[: 4 * (len(words) - places)]
        for places in range(1, min(12, len(words) // 8) + 1)
    )


def blank(match: re.Match[str]) -> str:
    """Return spaces in place of a match, so that positions stay the same."""
    return " " * len(match.group())


def _without_questions(text: str, language: str) -> tuple[str, bool]:
    """Return the text with its questions blanked, with or without a question mark, and whether there were any."""
    questions = [match.group().strip(" ?\n") for match in ASKED.finditer(text)]
    lines = []
    label_only = False
    for line, original in zip(ASKED.sub(blank, text).split("\n"), text.split("\n"), strict=True):
        words = line.strip()
        label = _QUESTION.match(words)
        repeated = any(question.startswith(words) for question in questions)
        if words and (label or label_only or repeated or _asks(language).search(words)):
            questions.append(words)
            lines.append(" " * len(line))
        else:
            lines.append(line)
        if original.strip():
            label_only = label is not None and label.end() == len(words)
    return "\n".join(lines), bool(questions)


@cache
def _announcement_pattern(language: str) -> re.Pattern[str]:
    """Return the pattern of announcements of an answer."""
    return compile_folded(
        rf"^[ \t#]*(?:the )?(?:final |correct )?(?:{ANSWER})(?: \w+)?\s*:"
        r"|\b(?:correct |appropriate )?answer\b(?: to (?:the|your|this) question\b(?:\"[^\"\n]*\"|[^\n\"]){0,200}?)?"
        r" (?:is|would be)\b:?"
        r"|\bbased on the [^,\n]{0,60}, it (?:appears|seems) that\b(?! (?:there (?:is|are) no|no|none))",
        language,
    )


@cache
def _asks(language: str) -> re.Pattern[str]:
    """Return the pattern of lines that are questions."""
    return compile_folded("|".join(each.asks for each in phrases(language)), language)
