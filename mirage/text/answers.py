"""Parsing of answers: reason and answer, cited passages, and the text without markup.

All functions are pure and use character positions (code points) of the raw answer, so that pages can mark the text that
a number is derived from. Nothing is truncated: text after a blank line belongs to its part.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from mirage.text.data import load_words
from mirage.text.headings import headings, inline_answers

Span = tuple[int, int]
"""Start and end (exclusive) of a piece of text, in characters."""

NOMIRACL_TEMPLATES = ("vanilla", "role", "repeat", "explanation")
"""Prompts that number their passages and ask whether any of them answers the query."""
_BY_ID = "rag"
"""The prompt of MIRAGE-Bench, which shows ids."""


def is_numbered(template: str | None, numbered: bool | None) -> bool | None:
    """Return whether the prompt of an answer numbered its passages, so that a bracketed number is a citation.

    Args:
        template: name of its template: NoMIRACL's show passages as `[1] ...`. Decides if `numbered` is unknown, as for
            answers imported from the published outputs.
        numbered: `schema.Answer.numbered`, a property of the prompt sent.

    Returns:
        None if neither tells: the answer's own citations then do (`cites_by_number`).
    """
    if numbered is not None or template not in (*NOMIRACL_TEMPLATES, _BY_ID):
        return numbered
    return template != _BY_ID


def cites_by_number(text: str, passage_ids: Sequence[str]) -> bool:
    """Return whether numbers in an answer are positions in a prompt that nothing is known of: it cites nothing by id.

    Args:
        text: the raw answer.
        passage_ids: the shown passages.
    """
    return not any(mention.known for mention in citations(text, passage_ids, numbered=False))


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """An answer split into reason and answer, each without surrounding whitespace."""

    reason: str | None
    """The reasoning; null if not marked."""
    answer: str | None
    """The answer; null if a reason is marked but no answer follows (truncated by the token limit)."""
    reason_span: Span | None
    """Span of the reason; null with it."""
    answer_span: Span | None
    """Span of the answer; null with it."""
    markers: bool
    """Whether there is a Reason or an Answer heading. Without one, the whole text is the answer."""
    preamble_span: Span | None = None
    """Span of text before the first heading that belongs to neither part; null if there is none."""


def parse_answer(text: str) -> ParsedAnswer:
    """Split an answer of the form `##Reason: ... ##Answer: ...`, as requested by the MIRAGE-Bench prompt.

    Headings are defined in `mirage.text.headings`: in 18 languages, with or without `##`, in bold. Marked headings take
    precedence over unmarked headings of the same kind. The reason runs from its heading to the Answer heading, the
    answer from its heading to the end; if the answer comes first, each ends at the other's heading. An Answer heading
    alone makes the text before it the reason. A Reason heading alone counts only if marked or at the very start, since
    lines such as `Reason: ...` also occur in answers.

    No text is lost: everything but headings and whitespace is in the preamble, the reason or the answer, each
    contiguous. Blank lines do not end a part, unlike in the published program.
    """
    candidates = headings(text)
    for kind in ("reason", "answer"):
        if any(heading.marked for heading in candidates if heading.kind == kind):
            candidates = [heading for heading in candidates if heading.kind != kind or heading.marked]
    reason = next((heading for heading in candidates if heading.kind == "reason"), None)
    answers = [heading for heading in candidates if heading.kind == "answer"]
    first = answers[0] if answers else None
    answer = next((heading for heading in answers if reason is None or heading.start > reason.start), first)
    if reason and not answer:
        answer = next(reversed(inline_answers(text, reason.end)), None)
    if reason and not answer and not reason.marked and text[: reason.start].strip():
        reason = None
    if reason and answer:
        if reason.start < answer.start:
            return _build_parts(text, (0, reason.start), (reason.end, answer.start), (answer.end, len(text)))
        return _build_parts(text, (0, answer.start), (reason.end, len(text)), (answer.end, reason.start))
    if reason:
        return _build_parts(text, (0, reason.start), (reason.end, len(text)), None)
    if answer:
        before = (0, answer.start) if text[: answer.start].strip() else None
        return _build_parts(text, None, before, (answer.end, len(text)))
    return _build_parts(text, None, None, (0, len(text)), markers=False)


def _build_parts(
    text: str, preamble: Span | None, reason: Span | None, answer: Span | None, *, markers: bool = True
) -> ParsedAnswer:
    preamble, reason, answer = (span and _strip(text, span) for span in (preamble, reason, answer))
    return ParsedAnswer(
        reason=text[slice(*reason)] if reason else None,
        answer=text[slice(*answer)] if answer else None,
        reason_span=reason,
        answer_span=answer,
        markers=markers,
        preamble_span=preamble if preamble and preamble[0] < preamble[1] else None,
    )


def _strip(text: str, span: Span) -> Span:
    part = text[slice(*span)]
    start = span[0] + len(part) - len(part.lstrip())
    return start, start + len(part.strip())


def compose_answer(reason: str, answer: str) -> str:
    """Compose an answer in the form that `parse_answer` reads and the RAG prompt asks for."""
    return f"##Reason: {reason}\n##Answer: {answer}"


def part_headings(text: str) -> list[tuple[int, int, str]]:
    """Return start, end (exclusive, with surrounding whitespace) and `reason` or `answer` of each heading of a part."""
    parts = parse_answer(text)
    spans = [span for span in (parts.preamble_span, parts.reason_span, parts.answer_span) if span]
    places = []
    for span, name in ((parts.reason_span, "reason"), (parts.answer_span, "answer")):
        if span is not None:
            start = max((end for _, end in spans if end <= span[0]), default=0)
            if text[start : span[0]].strip():
                places.append((start, span[0], name))
    return places


class Citation(NamedTuple):
    """One mention of one passage."""

    start: int
    """Start of the mention. Mentions in one bracket or list partition it: the first includes the opening bracket, the
    last the closing one. The passages of a range share its span.
    """
    end: int
    """End of the mention (exclusive)."""
    passage_id: str | None
    """The cited passage; null if it was not shown."""
    label: str
    """The id or number as written: `12#0`, `3`, `1-3`."""
    known: bool
    """Whether the passage was shown."""


_DIGIT = r"[\d⁰¹²³⁴-⁹]"
_NUMBER = rf"{_DIGIT}{{1,3}}(?!{_DIGIT})(?:\s*+[-–—~～〜]\s*+{_DIGIT}{{1,3}}(?!{_DIGIT}))?"
_AND = (
    r"(?:and|or|&|und|oder|et|ou|y|e|o|u|dan|atau|и|или|و|أو|یا|ja|tai|sekä|এবং|ও|और|तथा|व|या|మరియు|లేదా|และ|หรือ"
    r"|및|와|과|또는|と|及び|および|または|和|与|與|及|或|na|au|àti|tàbí|og|och|en|ve|és|și|και|i|và)"
)
_CONTEXT = r"(?:[ck]onte[xk]\w{0,3}|контекст\w{0,2}|passages?|documents?)"
_LETTER = r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0e7f\u200c](?<!\d))"


def _alternatives(words: Iterable[str]) -> str:
    """Return a pattern for any of some words, in NFC and NFD, longest first."""
    forms = {unicodedata.normalize(form, word) for word in words for form in ("NFC", "NFD")}
    return "|".join(sorted(map(re.escape, forms), key=lambda form: (-len(form), form)))


_PASSAGE = " ".join(load_words("answer_words")["passage"].values()).split()
_WORD = (
    rf"(?:(?:[وفبلك]?ال|لل)?(?:{_alternatives(_PASSAGE)})"
    rf"(?:{_LETTER}){{0,6}}|docs?\.?|src|refs?\.?|dok\.?|док\.?)"
)
# `Source: 2`, `citation:3`, `Dokument Nr. 2`, `เอกสารที่ 2`, `第2篇文档`, `[^1]`, and `1†source` of a browsing model.
_SEPARATOR = r"\s*+(?:(?:[:：#.№_=-]|no\.?|nr\.?|n\.?[°º]|ที่|หมายเลข|رقم|شماره|第)\s*+){0,2}"
_COUNTER = r"\s*+(?:번째?|号|號|番|篇|段|条|條|個|个|件)?"
_ITEM = (
    rf"(?:\^|(?:{_WORD}{_SEPARATOR})?第?)(?P<number>{_NUMBER})"
    rf"(?:†[^\[\]【】,;]{{0,60}}|{_COUNTER}|\s*+(?:번째?|号|號|番|篇|段|条|條|個|个|件)\s*+{_WORD})"
)
_ONE_ITEM = re.compile(_ITEM, re.IGNORECASE)
_UNNAMED = _ITEM.replace("?P<number>", "?:")
_BRACKET = re.compile(r"[\[［【〔〖]([^\[\]［］【】〔〕〖〗]{1,400})[\]］】〕〗]")
_LIST = re.compile(
    rf"\s*{_UNNAMED}(?:(?:\s*+[,;،؛、，；]\s*+(?:{_AND}\s++)?|\s*+{_AND}\s*+){_UNNAMED})*+\s*\\?",
    re.IGNORECASE,
)
# "context 3", "contexts 1, 2 and 9". A number after a comma must end there: "in context 3, 5 people" has one citation.
_BARE = re.compile(
    rf"\b{_CONTEXT}[ \t]*+\#?(?P<list>{_NUMBER}(?![\w%]|[.,]\d)"
    rf"(?:(?:\s*+,)?\s++{_AND}\s++{_NUMBER}(?![\w%]|[.,]\d)|\s*+,\s*+{_NUMBER}(?=\s*+(?:[,;.:)\]]|\Z|\n|{_AND}\b)))*)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(_NUMBER)
_FILLING = re.compile(rf"\b(?:{_WORD}|{_AND})(?!\w)|[\W_]+", re.IGNORECASE)
_RUN = re.compile(r"\d+")
_DIGITS = re.compile(f"{_DIGIT}+")
_PAGE = (
    r"(?:pp?\.?|pages?|pg\.|S\.|Seiten?|str\.|стр\.?|с\.|págs?\.?|páginas?|pagin[ae]|pag\.|sivut?|s\.|hal\.|halaman"
    r"|uk\.|ukurasa|ص\.?|صفحة|صفحه|पृ\.?|पृष्ठ|পৃ\.?|পৃষ্ঠা|పేజీ|หน้า|ojú ìwé|第|lines?|l\.|§+|sec(?:tion|\.)?"
    r"|ch(?:apter|\.)?|chunk|para\.?)"
)
_LOCATOR = re.compile(
    rf"(?<=\d)\s*+[,:，、]?\s*+(?:{_PAGE}\s*+{_DIGIT}{{1,4}}(?:\s*+[-–]\s*+{_DIGIT}{{1,4}})?"
    rf"|{_DIGIT}{{1,4}}(?=페이지|쪽|ページ|页|頁))(?:페이지|쪽|ページ|页|頁|節|节)?(?=\s*(?:[,;，；、]|\Z))",
    re.IGNORECASE,
)
"""The page or section of a source: `, p. 3`."""
_SOURCE_NAME = re.compile(
    rf"(?<={_DIGIT})\s*+[:：|–—-]\s*+(?=[^;；]*{_LETTER})"
    r"(?:(?P<file>[^,;，；]*\.\w{2,5}(?=\s*(?:[,;，；]|\Z)))|[^,;，；]*)"
    r"(?:\s*+[,，](?![^,;:，；：]{1,30}\d\s*+[:：])[^,;，；]*)*+"
)
"""The name of a source behind its number: `: file.pdf`."""
_TYPED = re.compile(rf"(?:(?<=[\s,;，；、])|\A)(?:#\s?|[SDP])(?={_DIGIT})")
"""A sign or a letter before the number of a source: `[#1]`, `[S1]`."""
_NAMED = re.compile(
    rf"(?:\A|(?<=[,;،、，；])|(?<=\s))(?!{_AND}(?!\w))(?P<word>{_LETTER}{{2,20}}+){_SEPARATOR}(?!0)(?={_DIGIT})",
    re.IGNORECASE,
)
"""A word before a number: `[Kilde 2]`. It is a source in any language, unless it is an `_OTHER`; no source is 07."""
_OTHER = re.compile(
    r"sect|abschn|secci|раздел|rank|rang|plac|platz|место|posi|step|schritt|шаг|season|stage|scen|tab|табл|fig|abb|рис|illus"
    r"|bild|图|圖|表|図|그림|표|chap|kap|cap|глав|章|part|teil|часть|vers|strophe|psalm|act|akt|level|phase|type|group|option"
    r"|question|item|pp?\b|page|seite|no\b|day|tag|week|year|hour|jan|feb|mar|mär|apr|ma[yi]|jun|jul|aug|sep|o[ck]t|nov|de[cz]",
    re.IGNORECASE,
)
"""Beginnings of words before the number of something else."""
_NO_SOURCE = re.compile(rf"\b(?:{_OTHER.pattern}){_LETTER}{{0,12}}\.?\s*\Z", re.IGNORECASE)
_ONE_WORD = re.compile(rf"(?<!\w){_WORD}", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_NEAR = 40
"""Characters before a mark that are looked at."""
_SUPER = "[⁰¹²³⁴-⁹]"
_NOTE = re.compile(
    rf"<sup\b[^<>]{{0,80}}>(?:\s|[\[(^]|<a\b[^<>]{{0,200}}>)*+(?P<list>\d{{1,3}}(?:\s*+[,;–-]\s*+\d{{1,3}})*+)"
    rf"(?:\s|[\])]|</a>)*+</sup>"
    rf"|(?P<raised>{_SUPER}++(?:[,⁻˒‚]\s?{_SUPER}++)*+)(?![\w⁺⁻⁄/])",
    re.IGNORECASE,
)
"""A raised number: a citation behind punctuation or a word, a power behind a figure or a unit."""
_RAISED_AFTER = re.compile(rf"(?:[.,;:!?…。、，；：！？।؟،۔%»”\"’』」）)>*]|{_LETTER}{{4}})\s?\Z")
_SUP_AFTER = re.compile(rf"(?:\s|{_LETTER}{{3}}|(?<!\d)(?:1\d|20)\d\d)\Z")
"""Before `<sup>`, which is not that of a power: white space, a word or a year."""
_SUM = re.compile(r"\([^()]*[-+*/=^−][^()]*\)\Z")
_SOURCE_LISTS = (
    "sources|source|sources used|sources cited|references|reference|reference list|bibliography"
    "|works cited|citations|footnotes|quellen|quelle|quellenverzeichnis|quellenangaben|literatur"
    "|literaturverzeichnis|referenzen|einzelnachweise|fuentes|referencias|bibliografía|références"
    "|bibliographie|источники|литература|список литературы|ссылки|المصادر|المراجع|منابع|مراجع"
    "|参考文献|参考资料|參考資料|參考文獻|出典|来源|來源|情報源|引用|引用元|脚注|참고문헌|참고 문헌"
    "|참고자료|참고 자료|출처|각주|lähteet|viitteet|sumber|referensi|daftar pustaka|rujukan|vyanzo"
    "|marejeo|marejeleo|উৎস|সূত্র|তথ্যসূত্র|संदर्भ|सन्दर्भ|स्रोत|మూలాలు|సూచనలు|แหล่งที่มา"
    "|แหล่งอ้างอิง|เอกสารอ้างอิง|อ้างอิง|orísun|àwọn orísun|ìtọ́kasí|fonti|riferimenti|fontes"
    "|referências|bronnen|źródła|bibliografia|kaynaklar|kaynakça|джерела|посилання|nguồn"
    "|tài liệu tham khảo|zdroje|källor|kilder|πηγές|מקורות"
)
"""Headings of a list of sources."""
_LISTED = re.compile(
    rf"^[ \t]*(?:[#>*_-]+[ \t]*)?(?:{_alternatives(_SOURCE_LISTS.split('|'))})[ \t]*[*_]*[:：]?[*_]*[ \t]*"
    r"(?P<inline>(?<=[:：*_ ])[\[【［].*)?$",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY = re.compile(
    rf"[ \t]*(?:[-*•·+][ \t]*)?(?:[\[【［]\W*(?:{_WORD}\W*)?{_DIGIT}{{1,3}}[\]】］]|{_DIGIT}{{1,3}}[.)、:：]|{_SUPER}+"
    rf"|<sup>|[-*•·+][ \t])[:：.]?[^\S\n]*\S|[^\n]*[\]】］][ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""The first line of an entry of a list of sources."""
_DEFINITION = re.compile(r"\s*\[\^?\d{1,3}\]:")
"""A footnote or a link of Markdown."""


def citations(text: str, passage_ids: Sequence[str], *, numbered: bool | None) -> tuple[Citation, ...]:
    """Find every citation of a passage, in text order.

    Passage ids count in square brackets, several to a bracket, alone or among words: `[12#0, 34#1]`, `[Doc 12#0]`;
    other texts of the form of the ids are unknown citations. Numbers of up to three digits, in any script, count if
    they fill the bracket, alone or with a word for a passage in one of 18 languages: `[1]`, `[1, 3]`, `[2-5, 7-9]`,
    `[Context 3]`, `[Quelle: 2]`, `[文档2]`, `[^1]`, `【1†source】`; they are positions in a numbered prompt and unknown
    otherwise. Only in a numbered prompt, and only as positions, do numbers count with a page, the name of a source or a
    letter or another word, `[2, p. 3]`, `[Source 1: file.pdf]`, `[S1]`, `[#1]`, `[Kilde 2]`, and raised ones behind a
    word or punctuation, `.¹`, `<sup>1</sup>`. So do `context 3` and `contexts 1, 2 and 9` (also with passage or
    document). A list of sources at the end cites nothing if the text before it does, or if it has every passage.
    Ambiguous forms do not count: `the first context`, numbers in round brackets, years, powers, a bracket truncated by
    the answer's end.

    Args:
        text: the raw answer.
        passage_ids: the shown passages, in prompt order.
        numbered: whether the prompt numbered the passages from 1, instead of showing their ids (`is_numbered`); None
            for `cites_by_number`.
    """
    if numbered is None:
        numbered = cites_by_number(text, passage_ids)
    ids = tuple(passage_ids)
    mentions: list[Citation] = []
    cited_spans: list[Span] = []
    by_form = _forms(ids)
    for bracket in _BRACKET.finditer(text):
        whole, inside, name = bracket.span(), bracket.span(1), bracket[1]
        by_id = name in ids or (not numbered and any(match[0] in ids for match in by_form.finditer(text, *inside)))
        if not by_id and _LIST.fullmatch(text, *inside):
            tokens = [
                (match.span("number"), _positions(match["number"], ids) if numbered else [match["number"]])
                for match in _ONE_ITEM.finditer(text, *inside)
            ]
        elif name in ids:
            mentions.append(Citation(*whole, name, name, known=True))
            cited_spans.append(whole)
            continue
        elif tokens := [(match.span(), [match[0]]) for match in by_form.finditer(text, *inside)]:
            rest = "".join(text[start:end] for start, end in _gaps(inside, [span for span, _ in tokens]))
            if rest and _FILLING.sub("", rest):
                mentions += [citation for span, names in tokens for citation in _cite(text, span, [(span, names)], ids)]
                cited_spans.append(whole)
                continue
        elif numbered and (tokens := _bracket_numbers(text, whole, inside, ids)):
            pass
        else:
            continue
        mentions += _cite(text, whole, tokens, ids)
        cited_spans.append(whole)
    if numbered:
        mentions += _superscript_citations(text, ids, {start for start, _ in cited_spans})
        for bare in _BARE.finditer(text):
            tokens = [
                (match.span(), _positions(match[0], ids)) for match in _NUMBERS.finditer(text, *bare.span("list"))
            ]
            tokens = [(span, names) for span, names in tokens if names != [None]]
            if tokens and all(bare.end() <= start or end <= bare.start() for start, end in cited_spans):
                mentions += _cite(text, bare.span(), tokens, ids)
    mentions.sort(key=lambda citation: citation.start)
    if not mentions:
        return ()
    end = _sources_start(text)
    cited = tuple(mention for mention in mentions if mention.start < end)
    listed = {mention.passage_id for mention in mentions[len(cited) :]}
    # A list of some passages may be the only citation of an answer; a list of all cites none.
    return cited if cited or (len(listed) > 1 and listed.issuperset(ids)) else tuple(mentions)


_Tokens = list[tuple[Span, list[str | None]]]


def _bracket_numbers(text: str, whole: Span, inside: Span, ids: Sequence[str]) -> _Tokens:
    """Return the numbers of a bracket that has pages, names or letters: `[2, p. 3]`, `[Source 1: a.pdf]`, `[S1]`."""
    content = text[slice(*inside)]
    if not _DIGITS.search(content):
        return []
    bare = _LOCATOR.sub(_blank, content)
    if not (named := _LIST.fullmatch(bare)):
        bare = _SOURCE_NAME.sub(
            lambda name: _blank(name) if name["file"] or _ONE_WORD.search(content) else name[0], bare
        )
        named = _LIST.fullmatch(bare)
    if not named:
        before = text[max(0, whole[0] - _NEAR) : whole[0]]
        *earlier, line = before.split("\n")
        if _NO_SOURCE.search(before):
            return []
        bare = _NAMED.sub(lambda name: name[0] if _OTHER.match(name["word"]) else _blank(name), content)
        if line.strip(" \t*-•>#") or (not earlier and whole[0] >= _NEAR):
            bare = _TYPED.sub(_blank, bare)
        if not _LIST.fullmatch(bare):
            return []
    tokens = [
        ((inside[0] + match.start("number"), inside[0] + match.end("number")), _positions(match["number"], ids))
        for match in _ONE_ITEM.finditer(bare)
    ]
    return tokens if all(names != [None] for _, names in tokens) else []


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _superscript_citations(text: str, ids: Sequence[str], starts: Set[int]) -> list[Citation]:
    """Return the citations by superscript numbers: `.¹`, `<sup>1, 2</sup>`."""
    mentions: list[Citation] = []
    last = -1
    for note in _NOTE.finditer(text):
        before = text[max(0, note.start() - _NEAR) : note.start()]
        after_word = _RAISED_AFTER.search(before) or (note["list"] and _SUP_AFTER.search(before))
        placed = note.start() == last or (after_word and not _SUM.search(before))
        name = "list" if note["list"] else "raised"
        start = note.start(name)
        if not placed or not starts.isdisjoint((start - 1, start)):
            continue
        written = note[name].replace("⁻", "-")
        runs = [
            ((start + run.start(), start + run.end()), _positions(run[0], ids)) for run in _NUMBERS.finditer(written)
        ]
        if name == "raised" and len(runs) == 1 and runs[0][1] == [None]:  # ¹² may be 1 and 2.
            runs = [((start + k, start + k + 1), _positions(digit, ids)) for k, digit in enumerate(written)]
        if all(names != [None] for _, names in runs):
            mentions += _cite(text, note.span(), runs, ids)
            last = note.end()
    return mentions


def _sources_start(text: str) -> int:
    """Return the start of the list of sources at the end of an answer; the end of the text if there is none."""
    lines = text.splitlines(keepends=True)
    end = len(text)
    while lines and (not lines[-1].strip() or _DEFINITION.match(lines[-1])):
        end -= len(lines.pop())
    if _DEFINITION.match(text, end):
        return end
    found = list(_LISTED.finditer(text))
    if not found:
        return len(text)
    rest = text[found[-1].end() :]
    parts = [part.lstrip("\n") for part in _PARAGRAPH.split(rest) if part.strip()]
    listed = not parts if found[-1]["inline"] else parts and all(map(_ENTRY.match, parts))
    return found[-1].start() if listed else len(text)


def cited_ids(mentions: Iterable[Citation], *, unknown: bool = False) -> tuple[str, ...]:
    """Return the cited passages without duplicates, by first mention.

    Args:
        mentions: result of `citations`.
        unknown: include citations of passages not shown, by label.
    """
    return tuple(dict.fromkeys(mention.passage_id or mention.label for mention in mentions if mention.known or unknown))


def strip_markup(text: str, mentions: Sequence[Citation] = ()) -> str:
    """Return the answer without its Reason and Answer headings and without these citations."""
    cuts = [(mention.start, mention.end) for mention in mentions] + [
        (heading.start, heading.end) for heading in headings(text)
    ]
    return " ".join(text[start:end] for start, end in _gaps((0, len(text)), sorted(cuts))).strip()


def blank_citations(text: str, mentions: Sequence[Citation]) -> str:
    """Replace these citations by spaces, so that positions in the text stay the same."""
    blank = text
    for start, end in {(mention.start, mention.end) for mention in mentions}:
        blank = blank[:start] + " " * (end - start) + blank[end:]
    return blank


@lru_cache(maxsize=4096)
def _forms(ids: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for texts of the form of these ids (of `12#0` if there are none): digits match any digits.

    Ids of digits alone look like numbers, and match only exactly.
    """
    forms = {i if i.isdigit() else _RUN.sub("0", i) for i in ids if i} or {"0#0"}
    patterns = []
    # Longest first, and numbers after the forms that may begin with them.
    for form in sorted(forms, key=lambda f: (f.isdigit(), -len(f), f)):
        body = re.escape(form) if form.isdigit() else r"\d+".join(map(re.escape, form.split("0")))
        # A word may touch an id that begins with a digit ("Doc12#0"), but no digit may.
        before = r"(?<!\d)" if form[0].isdigit() else r"(?<!\w)" if form[0].isalpha() else ""
        patterns.append(before + body + (r"(?!\w)" if form[-1].isalnum() else ""))
    return re.compile("|".join(patterns))


def _positions(written: str, ids: Sequence[str]) -> list[str | None]:
    """Return the passages of a number or a range by id; null if there is no such position."""
    ends = [int(unicodedata.normalize("NFKC", number)) for number in _DIGITS.findall(written)]
    if not 1 <= ends[0] <= ends[-1] <= len(ids):
        return [None]
    return list(ids[ends[0] - 1 : ends[-1]])


def _cite(
    text: str, whole: Span, tokens: Sequence[tuple[Span, Sequence[str | None]]], ids: Sequence[str]
) -> list[Citation]:
    """Return one citation per passage of each token; the tokens' spans together cover the whole."""
    starts = [whole[0], *(span[0] for span, _ in tokens[1:])]
    ends = [*starts[1:], whole[1]]
    return [
        Citation(start, end, name if name in ids else None, text[slice(*span)], name in ids)
        for start, end, (span, names) in zip(starts, ends, tokens, strict=True)
        for name in names
    ]


def _gaps(whole: Span, spans: Iterable[Span]) -> list[Span]:
    """Return the gaps that sorted spans, possibly overlapping, leave in a whole."""
    gaps, position = [], whole[0]
    for start, end in spans:
        if start > position:
            gaps.append((position, start))
        position = max(position, end)
    return [*gaps, (position, whole[1])] if position < whole[1] else gaps
