"""Rules for free answers: replies to any prompt other than NoMIRACL's.

Such a prompt asks for an answer in the model's own words, so there is no formula to look for. The answer is split into
clauses, each classified by the vocabulary of its language (`vocabulary.py`):

- a gap: the sources do not say it, or the writer cannot answer (that a ministry says it has no information is a claim);
- a decline: the writer refuses to help (a safety filter);
- a question back to the reader;
- an aside: an apology, an offer, advice, a remark about the writer;
- a topic: what the sources are about instead ("The documents only discuss the gardens");
- a sourced clause: any other clause with a source as its subject and no figure: a topic beside a gap, else a claim;
- a claim: everything else with content.

Then the kinds decide together. Without a gap, a claim answers and a question back is a clarification. With gaps, a
linear score weighs them against everything else (`_WEIGHTS`): by the number and length of the clauses, by whether the
first gap opens the answer and names the sources or the writer, by the similarity of that gap and the first claim to the
query (a gap in the words of the query responds to it, a gap about something else accompanies an answer), and by their
order. A claim from the writer's own knowledge after a gap is an answer, which can be true or false.

In an answer with the headings Reason and Answer only the part under Answer is read
(`mirage.text.answers.parse_answer`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log2
from typing import Literal, NamedTuple

from mirage.schema import Outcome
from mirage.stages.outcomes.direct import blank, is_degenerate
from mirage.stages.outcomes.fold import Folded, fold
from mirage.stages.outcomes.parsed import Parsed
from mirage.stages.outcomes.sentences import CROWDED, DIGIT, WORDS, clean, sentences, size_of
from mirage.stages.outcomes.vocabulary import LANGUAGES, LanguageReader, reader
from mirage.text.answers import parse_answer
from mirage.text.languages import base
from mirage.text.segmentation import terms

Kind = Literal["gap", "declines", "asks", "question", "aside", "sorry", "topic", "only", "sourced", "claim", "nothing"]


class _Clause(NamedTuple):
    """One clause of an answer, with positions in the text that was split."""

    kind: Kind
    start: int
    end: int
    size: int
    """Amount of content: its words, or half its characters in an unspaced script."""
    item: bool
    """Whether it is in a list item."""
    figure: bool
    """Whether it has a figure."""
    digits: bool
    """Whether it has a digit."""
    hence: bool
    """Whether it is a conclusion from preceding clauses."""
    anchored: bool = False
    """Whether it is a gap that names the sources or the writer."""

    @property
    def span(self) -> tuple[int, int]:
        """Its span."""
        return self.start, self.end


_PARTS = re.compile(
    r"[,:] ?| (?:and|und|y|e|et|ja|и|а|dan|na|و|और|এবং|ও|మరియు|ati|si) |(?<=[\u0e00-\u0e7f\d]) (?=[\u0e00-\u0e7f])"
)
_RELATIVE = re.compile(
    r"(?:when|where|which|who|whom|that|whose|als|wo|que|qui|dont|où|quand|donde|cuando|jo[kt]\w*|kun"
    r"|how |why |if |whether |wie |ob |wer |welche|warum |combien|comment|pourquoi|cómo|cuánt|por qué|kuinka"
    r"|miten|miksi|сколько|почему|bagaimana|berapa|siapa|котор|когда|где|что|yang|ketika|amba|الت|الذ|عندما|كه |जो|जब"
    r"|যা |যে |যখন|ti )"
)
_ITEM = re.compile(r"[ \t]*(?:[-+•‣◦·–—]|\(?(?:\d{1,2}|[a-h]|[ivx]{1,4})[.):]|[①-⑳])[ \t]+")
_ROW = re.compile(r"^[ \t]*\|", re.MULTILINE)
ENGLISH = re.compile(
    r"\b(?:the|is|are|not|don't|can't|cannot|answer|answerable|unanswerable|irrelevant|relevant|n/?a|none|unknown"
    r"|unclear|null|nil|you|sorry|contexts?)\b"
)
_CITED = re.compile(r"\W*(?:[\[【(]?\w{0,10} ?#?\d[\w#:.,-]*[\])】]\W*)+")
# Yoruba "writes", which without its dot is "not".
_LEARNS = re.compile(r"\b([kK])(?:ọ|o(?=\u0323))(?=[\u0300-\u036f]*(?!\w))")
_EMPTY: tuple[Kind, ...] = ("asks", "question", "sorry", "nothing")
_ANNOUNCED: tuple[Kind, ...] = ("topic", "only", "asks", "question")
_LABEL = re.compile(r"^\W*(?:[^\W\d]+(?: [^\W\d]+)?) ?: (?=\w+ \w)")
_NUMBERED = re.compile(r"\W*(?:(?:the|la|el|der|die|das) )?[^\W\d]+ ?\d{1,3}\b(?:封信)?(?![.,]\d)|\W*第\d+[^\W\d]{1,2}")
"""A noun and a number."""
_FIELD = re.compile(r'^[^\W\d]+" ?: ?"?')
"""The name of a JSON field."""
_POLAR = re.compile(
    r"\W*(?:no|nope|yes|nein|ja|non|oui|sí|ei|kyllä|tidak|bukan|ya|iya|hapana|ndiyo|rara|beeni|нет|да"
    r"|لا|كلا|نعم|بلي|نه|خير|نخير|بله|آري|না|হ্যাঁ|नहीं|नही|जी नहीं|हाँ|हां|जी हाँ"
    r"|లేదు|కాదు|అవును|いいえ|いえ|はい|아니요|아니오|아뇨|네"
    r"|不(?:是|能|可以|行)?|可以|能|没有|沒有|是的?|对|對"
    r"|ไม่|ไม่ใช่|ไม่ได้|ได้|ใช่|ไม่(?:ใช่)?(?:ครับ|ค่ะ))(?:[,.:!;—–]|(?<=[ก-๙]) )"
)
_FIGURE = re.compile(r"\d(?:\d\d|[.,]\d| ?%)")
_QUOTED = re.compile(r'"([^"\n]*)(?:"|\Z)')
_SENTENCE = re.compile(r"[^\n]{8}|[^\n]*[\u3040-\u30ff\u3400-\u9fff]{5}")
"""The least of a quotation that can be a statement."""
_ASIDE = re.compile(r"(?<=\S) ?\([^()]*\)\W*\Z")
_PROVISION = re.compile(r"[^\W\d]+ \d+|\d+ ?(?:artikla|§)|第\d+[^\W\d]|제 ?\d+조")
"""A numbered part of a law, a standard or a manual."""
_STEP = re.compile(r"\W*[^\W\d]+ ?\d{1,2}\W*")
"""A label of numbered reasoning: "Step 1"."""
_COURTESY = re.compile(
    r"\W*(?:hello|hi\b|hey\b|dear|good (?:morning|afternoon|evening|day)|thanks?\b|hallo|guten (?:tag|morgen|abend)"
    r"|(?:vielen |herzlichen |besten )?dank|bonjour|bonsoir|merci|hola|buen[oa]s|gracias|здравствуй|добр(?:ый|ого)"
    r"|привет|спасибо|您好|你好|感[谢謝]|[谢謝][谢謝]|こんにちは|(?:お問い合わせ)?ありがとう|안녕하|감사|مرحبا|اهلا|شكرا|السلام|नमस्ते|धन्यवाद"
    r"|হ্যালো|নমস্কার|ধন্যবাদ|నమస్|ధన్యవాద|halo|hai\b|terima kasih|selamat|hei\b|kiitos|habari|asante|سلام|ممنون|سپاس|متشکر"
    r"|สวัสดี|ขอบคุณ|e kaabo|pele|e se\b)"
)
"""The beginning of a greeting or of thanks."""
_COLON = re.compile(r":(?=[ \u0e00-\u0e7f\u3040-\u9fff])")
_FULL_STOP = re.compile(r"[^\W\d]\.\s")
_TASK = re.compile(
    r"^\W*(?:note\W+)?(?:please|kindly) (?:answer|respond|reply|select|choose|provide the answer)\b"
    r"(?=.*(?:question|context|option|following|\byes\b)).*$",
    re.MULTILINE,
)
"""The prompt's instruction, repeated."""
TRIM = " \t\n\"'.,:;!-–—()[]{}<>/*…"


def parse_free(answer: str, language: str, *, query: str = "") -> Parsed:
    """Read one answer in the model's own words, by the rules in the module docstring.

    Args:
        answer: the raw answer, without the model's thoughts.
        language: code of the query's language.
        query: the query; empty if unknown.
    """
    parts = parse_answer(answer)
    part = parts.answer_span or parts.preamble_span
    if part is None:
        return Parsed("unparsed", "reason_alone" if parts.reason_span else "fragment")
    begin, stop = part
    code = base(language)
    raw = answer[begin:stop]
    folded = clean(fold(_LEARNS.sub(r"\1ɔ", raw) if code == "yo" else raw, code))
    folded = replace(folded, text=_TASK.sub(blank, folded.text))
    words = _FIELD.sub("", folded.text.strip(TRIM))
    if not WORDS.search(words):
        if _CITED.fullmatch(raw):
            return Parsed("answered", "citation", begin, stop)
        return Parsed("unparsed", "instruction_repeated" if re.search(r"[^\W_]", raw) else "fragment")
    if is_degenerate(words):
        return Parsed("unparsed", "degenerate")
    words_of = reader(code, english=code != "en" and ENGLISH.search(folded.text) is not None)
    if len(words) < _SHORT and words_of["short"].fullmatch(words):
        start = folded.text.index(words)
        decision: _Decision = ("abstained", "short_gap", (start, start + len(words)))
    else:
        decision = _read_clauses(raw, folded, words_of, fold(query, code).text)
    outcome, rule, span = decision
    if rule == "claim" and code not in LANGUAGES and not _is_english(folded.text):
        return Parsed("unparsed", "language_not_understood")
    if span is None:
        return Parsed(outcome, rule)
    start, end = folded.raw(*span)
    return Parsed(outcome, rule, begin + start, begin + end)


def _read_clauses(raw: str, folded: Folded, reader: LanguageReader, asked: str) -> _Decision:
    """Decide the outcome of an answer to a folded query."""

    def pieces(clause: _Clause) -> frozenset[str]:
        return _pieces_of_words(folded.text[clause.start : clause.end])

    def nearness(clause: _Clause) -> float:
        query_pieces = _pieces_of_words(asked)
        # The query is unknown, or not in the language of the answer.
        if query_pieces.isdisjoint(_pieces_of_words(folded.text[:_OPENING])):
            return _UNKNOWN
        own = pieces(clause)
        return len(own & query_pieces) / len(own) if own else 0

    def repeats(clause: _Clause) -> bool:
        own, query_pieces = pieces(clause), _pieces_of_words(asked)
        return len(own & query_pieces) >= _REPEATED * min(len(own), len(query_pieces)) > 0

    # A model that repeats the query asks nothing.
    heard = _deciding_clauses(_clauses(raw, folded, reader, asked))
    clauses = [clause for clause in heard if clause.kind not in ("asks", "question") or not repeats(clause)]
    if heard and not clauses:
        return "unparsed", "question_repeated", None
    figure = reader["figure"].search(asked) is not None
    return _decide(clauses, nearness, table=len(_ROW.findall(raw)) > 1, figure=figure)


def _deciding_clauses(clauses: Iterable[_Clause]) -> list[_Clause]:
    """Return the clauses up to where enough is claimed that later ones cannot change the outcome."""
    result: list[_Clause] = []
    claimed = 0
    for clause in clauses:
        result.append(clause)
        claimed += clause.size if clause.kind == "claim" and clause.size >= _SHORTEST else 0
        if claimed > _LONG:
            break
    return result


_LONG = 100
"""Words of claims after which the outcome is fixed."""


_Decision = tuple[Outcome, str, tuple[int, int] | None]
"""Outcome, rule and the deciding span."""


Holds = Callable[..., bool]
"""A test of a clause for the field of a vocabulary."""
_Nearness = Callable[[_Clause], float]
"""Share of a clause's words, in trigrams, that occur in the query."""


@lru_cache(maxsize=256)
def _pieces_of_words(text: str) -> frozenset[str]:
    """Return the trigrams of a text's words, so that inflections matter little; cached, as answers share a query."""
    words = (f" {term} " for term in terms(text))
    return frozenset([word[place : place + 3] for word in words for place in range(len(word) - 2)])


def _decide(clauses: Sequence[_Clause], nearness: _Nearness, *, table: bool, figure: bool) -> _Decision:
    """Decide the outcome from the kinds of the clauses.

    Args:
        clauses: the clauses, in order.
        nearness: similarity to the query.
        table: whether the answer is a table, in which a single cell counts as a claim.
        figure: whether the query asks for a number or a date.
    """
    of: dict[Kind, list[_Clause]] = {}
    for clause in clauses:
        of.setdefault(clause.kind, []).append(clause)
    gaps = sorted([*of.get("gap", []), *of.get("declines", [])], key=lambda clause: clause.start)
    asks, claims = of.get("asks", []), of.get("claim", [])
    if not gaps:
        claims = sorted([*claims, *of.get("sourced", [])], key=lambda clause: clause.start)
        # A question that a claim follows is the writer's own.
        listed = sum(claim.item for claim in claims) > 1
        said = [clause.end for clause in (*claims, *of.get("topic", [])) if listed or clause.size >= _SHORTEST]
        end = max(said, default=0)
        asks = asks or [question for question in of.get("question", []) if question.size > 1 and question.start >= end]
    if gaps or asks:
        # Beside a gap or a question a stray word does not count as a claim; several are a list.
        listed = len(claims) > _STRAY or sum(claim.item for claim in claims) > 1
        claims = [
            claim
            for claim in claims
            if claim.size >= _SHORTEST or listed or ((table or claim is clauses[0]) and claim.size > 1)
        ]
    if gaps and weigh(gap_evidence({**of, "claim": claims}, gaps, nearness, figure=figure)) > 0:
        claims = []
    elif gaps and not claims:
        # What is not worded as a gap about this is what the answer says.
        claims = [clause for clause in clauses if clause.kind not in _EMPTY]
    if asks and not _outweighs(claims, asks, last=clauses[-1] in asks):
        return "clarification", "asks_back", asks[0].span
    if claims:
        listed = sum(claim.item for claim in claims) > 1
        rule = "claim_beside_gap" if gaps else "list_given" if listed else "claim"
        return "answered", rule, claims[0].span
    if gaps:
        return "abstained", "declines" if gaps[0].kind == "declines" else "states_gap", gaps[0].span
    # Without a gap, advice or a remark on the sources is the answer; an apology alone declines.
    last: tuple[tuple[Kind, Outcome, str], ...] = (
        ("only", "abstained", "other_topic"),
        ("topic", "answered", "claim"),
        ("aside", "answered", "claim"),
        ("sorry", "abstained", "declines"),
    )
    for kind, outcome, rule in last:
        if kind in of:
            return outcome, rule, of[kind][0].span
    return "unparsed", "fragment", None


_SHORT = 60
"""Maximum characters of an answer that is only a word for a gap."""
_SHORTEST = 3
"""Minimum words of a claim that outweighs a gap."""
_HEAD = 40
"""Characters at the start of a clause that contain its subject."""
_LABELLED = 8
"""Words after a source's label that only state its subject."""
_STRAY = 2
"""Maximum number of claims beside a gap that may all be stray words."""
_UNKNOWN = 0.25
"""Similarity to an unknown query."""
_WEIGHTS = {
    "gaps": 3.4,
    "opens": 1.3,
    "anchored": 0.5,
    "near": 3.5,
    "length": -1.2,
    "claims": -4.3,
    "first_claim_near": -6.1,
    "sourced": 1.6,
    "sourced_length": -0.7,
    "topics": 0.9,
    "ends": 2.6,
    "hence": 4.0,
    "no_figure": 2.0,
    "share": 1.1,
}
"""Weights of the evidence for an abstention (see `gap_evidence`): rounded, from a logistic regression on the labelled
answers for development and on passages of NoMIRACL, which refuse nothing; the constant is lowered, as the field
refuses less often.
"""
_REPEATED = 0.9
"""Share of trigrams from which a question repeats the query, or a part of it."""
_LONGEST = 20
"""Maximum words of a clause that asks without a question mark."""
_MOST = 3
"""Maximum number of topics, and of clauses on sources, that count."""
_OPENING = 400
"""Characters of an answer that share something with a query in its language."""
_COURTEOUS = 8
"""Maximum words of a greeting."""
_STUB = 8
"""Maximum words of a conclusion that adds nothing to a gap."""
_APOLOGY = 6
"""Upper bound (exclusive) of the words of an apology; longer clauses have more content."""


def _outweighs(claims: Sequence[_Clause], asks: Sequence[_Clause], *, last: bool) -> bool:
    """Return whether claims answer beside a question back, with more content than the clauses leading to it."""
    return sum(claim.size for claim in claims) > 2 * sum(ask.size for ask in asks) + (16 if last else 8)


def weigh(evidence: Mapping[str, float]) -> float:
    """Return the log odds that an answer with gaps abstains, given all evidence; given a part, its contribution."""
    return sum(_WEIGHTS[name] * value for name, value in evidence.items())


def gap_evidence(
    of: Mapping[Kind, Sequence[_Clause]], gaps: Sequence[_Clause], nearness: _Nearness, *, figure: bool
) -> dict[str, float]:
    """Return the evidence for an abstention, by the names of `_WEIGHTS`.

    Args:
        of: the clauses by kind.
        gaps: the clauses that state gaps, in order; not empty.
        nearness: similarity to the query.
        figure: whether the query asks for a number or a date.
    """

    def size(*kinds: Kind) -> int:
        return sum(clause.size for kind in kinds for clause in of.get(kind, ()))

    # The first gap alone: the strongest of many would grow with the length of the answer.
    gap, claims = gaps[0], of.get("claim", ())
    said = sum(each.size for each in gaps)
    return {
        "gaps": 1,
        "opens": not any(claim.start < gap.start for claim in claims),
        "anchored": gap.anchored,
        "near": nearness(gap),
        "length": log2(1 + gap.size),
        "claims": bool(claims),
        # "In 1902" has no word of the query.
        "first_claim_near": max(nearness(claims[0]), _UNKNOWN * (claims[0].size <= _SHORTEST)) if claims else 0,
        "sourced": min(_MOST, len(of.get("sourced", ()))),
        "sourced_length": log2(1 + size("sourced")),
        "topics": min(_MOST, len(of.get("topic", ())) + len(of.get("only", ()))),
        "ends": bool(claims) and gaps[-1].end > claims[-1].end,
        "hence": any(each.hence for each in gaps),
        "no_figure": bool(claims) and figure and not any(claim.digits for claim in claims),
        "share": said / (said + size("claim", "sourced", "topic", "only")),
    }


def _is_english(text: str) -> bool:
    """Return whether a text in a language without a vocabulary is in English, or in no language: names and numbers."""
    words = WORDS.findall(text)
    return not any(word.isalpha() for word in words) or 5 * len(ENGLISH.findall(text)) > len(words)


def _clauses(raw: str, folded: Folded, reader: LanguageReader, asked: str) -> Iterator[_Clause]:
    """Split a text into classified clauses."""
    text, places = folded.text, folded.places
    heading: Kind | None = None
    seen_sources, seen_gap, later, polar = False, False, False, bool(_POLAR.match(text))
    said = _blank_names_and_quotations(text, asked, reader)
    cut_off = _is_cut_off(text.rstrip())
    for start, end in sentences(raw, said, places):
        item = _ITEM.match(text, start, end) if start == 0 or text[start - 1] == "\n" else None
        line_ends = text[start:end].rstrip().endswith(":")
        interrogative = _is_question(text[start:end])
        pieces = list(_pieces(text, item.end() if item else start, end, reader))
        last: Kind = "nothing"
        for number, (left, right) in enumerate(pieces):
            clause = text[left:right]
            size = size_of(clause)
            if not size:
                continue
            holds = _tests(clause, reader)
            kind = _kind(
                _LABEL.sub("", said[left:right]),
                reader,
                interrogative=interrogative and number == len(pieces) - 1,
                seen_sources=seen_sources and item is None,
                polar=polar,
                later=later,
            )
            later = True
            if kind == "question" and number and text[left - 1] == ":":
                kind = "asks"
            kind = "nothing" if _is_step(text, left, right) and not holds("nouns") else kind
            kind = "aside" if kind == "claim" and _is_courtesy(clause, size, ends=right == end) else kind
            if _is_numbered(clause, holds):
                seen_sources = True
                kind = "sourced" if kind == "claim" else kind
            if kind == "gap" and _claims_beside(clause, holds, seen_sources=seen_sources):
                kind = "claim"
            if kind == "claim" and number and ";" in text[pieces[number - 1][1] : left] and not _FIGURE.search(clause):
                kind = "sourced" if last in ("topic", "sourced") else kind
            announced = (
                number
                and text[left - 1] == ":"
                and (
                    (last in _ANNOUNCED and not (last == "topic" and number > 1 and not _PARTS.search(clause)))
                    or (last == "sourced" and size <= _LABELLED)
                )
            )
            if kind == "claim" and ((heading and item) or announced):
                kind = last if announced else heading or last
            concludes = seen_gap or (kind == "gap" and (seen_sources or holds("me")))
            seen_sources = (
                seen_sources or kind in ("gap", "topic", "only") or (kind in ("aside", "sourced") and holds("sources"))
            )
            left += len(clause) - len(clause.lstrip())
            figure, digits = bool(_FIGURE.search(clause)), bool(DIGIT.search(clause))
            hence = concludes and holds("hence", clause.strip(TRIM))
            # "Therefore, the answer is", or the last words of a reply that is cut off.
            ends = hence or (cut_off and right == len(text))
            stub = kind == "claim" and ends and seen_gap and size <= _STUB and not figure
            kind = "aside" if stub else kind
            seen_gap = seen_gap or kind == "gap"
            anchored = kind == "gap" and (holds("sources") or holds("me"))
            end = left + len(clause.strip())
            yield _Clause(kind, left, end, size, item is not None, figure, digits, hence, anchored)
            last = kind
        if line_ends:
            # Items under a line that announces topics, questions or offers have its kind.
            heading = last if last in (*_ANNOUNCED, "aside", "gap") else None
        elif not item and text[start:end].strip():
            heading = None


def _blank_names_and_quotations(text: str, asked: str, reader: LanguageReader) -> str:
    """Return a text of the same length without parts that are not statements of the writer about the sources.

    These are quotations, unless the whole answer is quoted, and a part that the query names: "article 9" is what the
    answer is about, not one of its sources.
    """
    if not _QUOTED.fullmatch(text.strip()):
        text = _QUOTED.sub(lambda quoted: " " * len(quoted[0]) if _SENTENCE.match(quoted[1]) else quoted[0], text)
    for name in filter(reader["sources"].search, set(_PROVISION.findall(asked))):
        text = text.replace(name, " " * len(name))
    return text


def _tests(clause: str, reader: LanguageReader) -> Holds:
    """Return a test of whether a field (its name) matches in a clause, or in the part of it that is given."""

    def holds(name: str, text: str = clause) -> bool:
        return reader[name].search(text) is not None

    return holds


def _is_cut_off(text: str) -> bool:
    """Return whether a text with full stops ends in the middle of a sentence."""
    return text[-1:].isalpha() and _FULL_STOP.search(text) is not None


def _is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question; one in quotation marks only if it is the whole sentence."""
    ending = _ASIDE.sub("", sentence).strip(" '().")
    return ending.endswith("?") or (ending.endswith('?"') and ending[0] == '"')


def _is_courtesy(clause: str, size: int, *, ends: bool) -> bool:
    """Return whether a clause greets or thanks, or ends its sentence with a wish: exclaimed, and without a figure."""
    wish = ends and clause.rstrip(" \"')")[-1:] == "!" and not DIGIT.search(clause)
    return wish or (size <= _COURTEOUS and _COURTESY.match(clause) is not None)


def _is_step(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text before a colon is a noun with a number: "Step 1"."""
    return text[end : end + 1] == ":" and _STEP.fullmatch(text, start, end) is not None


def _is_numbered(clause: str, holds: Holds) -> bool:
    """Return whether a clause begins with a numbered source: "Letter 4"."""
    numbered = _NUMBERED.match(clause)
    return numbered is not None and holds("nouns", numbered[0])


def _pieces(text: str, start: int, end: int, reader: LanguageReader) -> Iterator[tuple[int, int]]:
    """Split a sentence at adversatives ("but", "although")."""
    cuts = [match.span() for split in (reader["turns"], _COLON) for match in split.finditer(text, start, end)]
    first = start + len(text[start:end]) - len(text[start:end].lstrip(" \t\"'"))
    head = reader["concedes"].match(text, first, end)
    place = text.find(",", head.end(), end) if head else -1
    while head and place >= 0:
        # The clause before the comma is complete if it has enough words and no relative clause follows.
        following = place + 1 + (text[place + 1 : place + 2] == " ")
        if size_of(text[head.end() : place]) >= 2 and not _RELATIVE.match(text, following):
            cuts.append((place, place + 1))
            break
        place = text.find(",", place + 1, end)
    position = start
    for left, right in sorted(cuts):
        if left < position or 0 < size_of(text[position:left]) < _SHORTEST or size_of(text[right:end]) < 2:
            continue
        yield position, left
        position = right
    yield position, end


def _claims_beside(clause: str, holds: Holds, *, seen_sources: bool) -> bool:
    """Return whether another part of a clause with a gap claims something: a figure, or general knowledge."""
    parts = [part.strip() for part in _PARTS.split(clause)]
    if len(parts) < 2:
        return False
    sourced = holds("nouns")
    # "The owner in 1920, whom you ask about, is not named": a figure before the denial belongs to it.
    for part in parts:
        if holds("gap", part) or (seen_sources and holds("negates", part)):
            seen_sources = False
            continue
        if size_of(part) <= _SHORTEST:
            continue
        if not sourced and not seen_sources and re.search(r"\d", part) and not _RELATIVE.match(part):
            return True
        if holds("known", part) and not holds("denies", part) and not holds("weak", part):
            return True
    return False


def _kind(
    clause: str,
    reader: LanguageReader,
    *,
    interrogative: bool,
    seen_sources: bool,
    polar: bool,
    later: bool,
) -> Kind:
    """Classify a clause: the first matching kind. A condition at its start counts only if it is about sources."""
    holds = _tests(clause, reader)
    stripped = clause.strip(TRIM)
    about_sources = holds("sources") or holds("given")
    asks = (interrogative or size_of(clause) <= _LONGEST) and holds("asks")
    # Thai, Japanese and Chinese ask without a question mark.
    if (interrogative or (asks and CROWDED.search(clause))) and holds("offers"):
        return "aside"
    if asks and (interrogative or not (about_sources or (seen_sources and holds("negates")))):
        # "If you mean the old road, it was 214 miles long" asks nothing.
        return "asks" if interrogative or not _FIGURE.search(clause) else "claim"
    if holds("declines"):
        return "declines"
    if holds("wants", stripped) and not _FIGURE.search(clause):
        return "gap"
    if holds("implies"):
        return "claim"
    if interrogative and not about_sources:
        return "question"
    supposed = reader["supposes"].match(stripped)
    core = stripped[supposed.end() :] if supposed and not holds("sources", supposed[0]) else stripped
    me = holds("me", core)
    if about_sources or me or not holds("statutes", core[:_HEAD]):
        said = reader["cites"].sub(" ", core)
        denied = holds("denies", said) and (
            me or seen_sources or any(holds(name, said) for name in ("sources", "given", "nouns"))
        )
        negated = not polar and (about_sources or me or seen_sources) and holds("negates", core)
        # "Only the programme is here, and the attendance is missing": what follows the first part is later, too.
        first = None if later else _PARTS.search(core)
        rest = core[first.end() :] if first and holds("only", core[: first.start()]) else core if later else ""
        missing = holds("lacks", rest)
        firm = holds("gap", core)
        if (denied or negated or missing or firm) and _is_own(said, holds, reader, seen_sources=seen_sources):
            known = holds("known") and not holds("weak", core)
            fact = polar or known
            sourced = about_sources or holds("nouns")
            return "claim" if (fact and not sourced) or (known and not about_sources) else "gap"
    if asks or interrogative:
        return "asks" if asks else "question"
    return _statement(clause, stripped, holds, about_sources=about_sources, seen_sources=seen_sources)


def _is_own(said: str, holds: Holds, reader: LanguageReader, *, seen_sources: bool) -> bool:
    """Return whether a gap is the answer's own, not reported speech: "The ministry said that it has no information"."""
    quote = reader["quotes"].search(said)
    if not quote:
        return True

    def names(part: str, *fields: str) -> bool:
        return any(holds(field, part) for field in fields)

    sayer, words = said[: quote.end()], said[quote.end() :]
    if not words:
        # Korean says last who says it.
        return names(said, "sources", "given", "me")
    # "They say that" is about sources that were spoken of.
    if names(sayer, "gap", "denies", "negates") or (seen_sources and size_of(sayer) <= _SHORTEST):
        return True
    # What a source says is a gap if it is about sources in turn: "The text says that no details are known".
    if names(sayer, "sources", "given", "nouns", "me"):
        return names(words, "gap", "sources", "given", "nouns", "me")
    return names(words[:_HEAD], "given", "me")


def _statement(clause: str, stripped: str, holds: Holds, *, about_sources: bool, seen_sources: bool) -> Kind:
    """Classify a clause that neither denies nor asks."""
    if holds("affirm", stripped) and not holds("aside", stripped):
        return "claim"
    if holds("known") and not about_sources and not holds("weak", stripped):
        return "claim"
    # "You can return it within 60 days" is not advice on where to look.
    if holds("aside", stripped) and (
        seen_sources or about_sources or holds("nouns") or holds("me") or not DIGIT.search(clause)
    ):
        return "aside"
    if (holds("reports") or holds("known")) and not (
        seen_sources and holds("about", stripped) and not _FIGURE.search(clause)
    ):
        return "claim"
    spoken = seen_sources or about_sources
    if (spoken and holds("about", stripped)) or (holds("topic", stripped) and (spoken or holds("nouns"))):
        return "only" if holds("only") else "topic"
    given = about_sources and holds("given")
    if given and holds("only"):
        return "only"
    weak = holds("weak", stripped) or holds("me") or given or (about_sources and holds("sources", stripped[:_HEAD]))
    if weak and not _FIGURE.search(clause):
        return "sourced"
    return "sorry" if holds("sorry") and size_of(clause) < _APOLOGY else "claim"
