"""The faults of a passport: how each changes an answer, and when it cannot.

`wordings.toml` has, by language, a sentence that asks the judge to choose the answer, and rules of negation: patterns
with their replacements, of which the first that matches is applied once. They cover the copula, common auxiliaries and
common verbs of encyclopaedic sentences, or the sentence-final verb. Sentences that contain none of these, or match
`negative`, are not negated: a double negation would restore the meaning. A language has rules only if people who read
it found the sentences negated and well formed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

from mirage.text.answers import Citation, blank_citations, citations, parse_answer
from mirage.text.data import load_words
from mirage.text.languages import base, name_of
from mirage.text.segmentation import sentences, terms, words

ORIGINAL = "original"
"""System name of the unchanged answers."""
CONTROL = "copy"
"""System name of the copies: an item against its own copy has no winner."""
WITHIN = 0.1
"""Maximum relative change in an answer's length, except by padding."""
_REPEATS = 4
"""Maximum repetitions of an instruction."""
_PADDED = 1.5
"""Length of a padded answer, relative to the original."""
_LEAST_WORDS, _CHARACTERS = 6, {"ja": 15, "th": 25, "zh": 12}
_WHOLE = r"^[\p{Lu}\p{Lt}\p{Lo}\p{N}\"«„“‘'「『(].*(?<!\b[\p{L}\d]|\b\d\d)[.!?。．！？।؟۔॥][\"»“”’'」』)]*$"
"""A whole sentence: it begins with a capital, or a letter without case, and ends with a stop that is not that of an
initial or an ordinal.
"""
_NUMBER = r"(?<![\p{Latin}\p{N}#])\p{Nd}++(?![#])"
Edit = tuple[int, int, str]
"""Start and end (exclusive) of a piece of the answer, and the text that replaces it."""


class CannotPlant(Exception):
    """Raised with the reason why a fault cannot be planted."""


@dataclass(frozen=True)
class AnswerToChange:
    """An answer with the inputs of the faults."""

    language: str
    """Code of its language."""
    text: str
    """The answer."""
    passages: Mapping[str, str | None]
    """The passages shown to its system by id, in order; None without a text."""
    numbered: bool
    """Whether the prompt numbered its passages."""
    foreign: tuple[str, ...] = ()
    """Sentences from passages of other queries in the same language."""
    translations: tuple[str, ...] = ()
    """Answers in other languages, the best replacement first."""

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """Citations of passages that were shown."""
        return tuple(c for c in citations(self.text, tuple(self.passages), numbered=self.numbered) if c.known)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Spans of the sentences, without headings; citations inside a span are part of it."""
        blank = blank_citations(self.text, self.citations)
        parts = parse_answer(self.text)
        spans: list[tuple[int, int]] = []
        for start, end in sorted(filter(None, (parts.preamble_span, parts.reason_span, parts.answer_span))):
            spans += [(start + a, start + b) for a, b in sentences(blank[start:end], self.language)]
        return tuple(span for span in spans if any(map(str.isalnum, self._words(span))))

    def _words(self, span: tuple[int, int]) -> str:
        inside = self._cited(*span)
        blank = blank_citations(self.text, inside)[slice(*span)]
        return " ".join(blank.split()) if inside else blank

    def _cited(self, start: int, end: int) -> list[Citation]:
        return [c for c in self.citations if start <= c.start and c.end <= end]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The sentences without their citations."""
        return tuple(map(self._words, self.sentences))

    def cited_after(self, k: int) -> list[Citation]:
        """Return the citations in a sentence, or between it and the next."""
        last = k + 1 == len(self.sentences)
        return self._cited(self.sentences[k][0], len(self.text) if last else self.sentences[k + 1][0])

    @cached_property
    def key(self) -> tuple[int, ...]:
        """Indices of the last cited sentence and its repetitions."""
        cited = [k for k in range(len(self.sentences)) if self.cited_after(k)]
        return self.repetitions(cited[-1]) if cited else ()

    @property
    def key_first(self) -> list[int]:
        """Indices of the sentences, the key ones first."""
        return sorted(range(len(self.sentences)), key=lambda k: k not in self.key)

    def repetitions(self, k: int) -> tuple[int, ...]:
        """Return the indices of the sentences with the same words."""
        return tuple(j for j, text in enumerate(self.words) if text == self.words[k])

    def fits(self, text: str) -> bool:
        """Return whether a changed answer has about the same length."""
        return abs(len(text) - len(self.text)) <= WITHIN * len(self.text)

    def change(self, edits: Iterable[Edit]) -> str:
        """Return the answer with some pieces replaced."""
        text = self.text
        for start, end, new in sorted(set(edits), reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def replace_sentences(self, indices: Iterable[int], new: str) -> str:
        """Return the answer with some sentences replaced by another; the citations inside them stay."""
        edits = []
        for start, end in (self.sentences[k] for k in indices):
            kept = sorted({(c.start, c.end) for c in self._cited(start, end)})
            edits.append((start, end, new + "".join(f" {self.text[a:b]}" for a, b in kept)))
        return self.change(edits)

    def cite(self, mention: Citation, passage_id: str) -> Edit:
        """Return the edit that makes a citation point to another passage that was shown, in the same form."""
        new = passage_id
        if mention.label != mention.passage_id:
            digit = next((character for character in mention.label if character.isdecimal()), "0")
            zero = ord(digit) - unicodedata.decimal(digit)
            place = list(self.passages).index(passage_id) + 1
            new = "".join(chr(zero + int(digit)) for digit in str(place))
        return mention.start, mention.end, self.text[mention.start : mention.end].replace(mention.label, new, 1)


@dataclass(frozen=True)
class FaultFamily:
    """A kind of fault."""

    title: str
    """Display name."""
    meaning: str
    """Description of the change."""
    plant: Callable[[AnswerToChange], str]
    """Returns the faulty answer; raises `CannotPlant`."""


def plant(family: str, answer: AnswerToChange) -> str:
    """Return an answer with a fault.

    Raises:
        CannotPlant: if the answer has no place for the fault, or its length would change by more than 10%.
    """
    faulty = FAMILIES[family].plant(answer)
    if family != CONTROL and faulty.strip() == answer.text.strip():
        raise CannotPlant("the fault changes nothing in this answer")
    if family != "padding" and not answer.fits(faulty):
        raise CannotPlant("no replacement keeps the length within 10%")
    return faulty


def _change_number(answer: AnswerToChange) -> str:
    """Change one digit of a number throughout the answer, preferably in a key sentence."""
    pattern = _compile(_NUMBER)
    found = [numbers for k in answer.key_first if (numbers := pattern.findall(answer.words[k]))]
    if not found:
        raise CannotPlant("the answer has no number in digits")
    number = max(found[0], key=len)
    place = max(0, len(number) - 2)
    digit = int(number[place])
    changed = (digit + 3) % 10 or (1 if place == 0 else 0)
    other = number[:place] + chr(ord(number[place]) - digit + changed) + number[place + 1 :]
    return answer.change(
        (*match.span(), other)
        for match in pattern.finditer(answer.text)
        if match[0] == number and not any(c.start <= match.start() < c.end for c in answer.citations)
    )


def _negate_sentence(answer: AnswerToChange) -> str:
    """Negate a sentence and its repetitions, preferably a key sentence."""
    if "negations" not in _wordings(answer.language):
        raise CannotPlant(f"there are no rules of negation for {name_of(answer.language)}")
    for k in answer.key_first:
        changed = negate(answer.words[k], answer.language)
        if changed and answer.fits(faulty := answer.replace_sentences(answer.repetitions(k), changed)):
            return faulty
    raise CannotPlant("no rule of negation matches a sentence of the answer")


def _move_citation(answer: AnswerToChange) -> str:
    """Move the citations of the key sentences to the passage that shares least with them."""
    if not answer.citations:
        raise CannotPlant("the answer has no citation")
    moved = [c for k in answer.key for c in answer.cited_after(k)] or answer.citations[-1:]
    cited = {c.passage_id for c in answer.citations}
    said = set(terms(" ".join(answer.words[k] for k in answer.key)))
    shared = [(len(said & set(terms(text))), name) for name, text in answer.passages.items() if text]
    others = [(n, name) for n, name in shared if name not in cited]
    if not others:
        raise CannotPlant("the answer cites every passage")
    return answer.change({(c.start, c.end): answer.cite(c, min(others)[1]) for c in moved}.values())


def _add_sentence(answer: AnswerToChange, texts: Iterable[str]) -> str:
    """Add the first sentence that is short enough, or replace a sentence that is not a key sentence."""
    texts = list(texts)
    ends = [b for _, b in answer.sentences]
    ends += [c.end for k in range(len(ends)) for c in answer.cited_after(k)]
    end = max(ends, default=len(answer.text))
    for text in texts:
        if len(text) <= WITHIN * len(answer.text) - 1:
            return answer.change([(end, end, f" {text}")])
    spare = [k for k in range(len(answer.sentences)) if k not in answer.key]
    if not spare:
        raise CannotPlant("the answer has only key sentences")
    _, k, text = min((abs(len(text) - len(answer.words[k])), -k, text) for k in spare for text in texts)
    return answer.replace_sentences([-k], text)


def _add_unsupported(answer: AnswerToChange) -> str:
    """Add a sentence of a passage of another query."""
    if not answer.foreign:
        raise CannotPlant(
            "no passage of another query of the language has a whole sentence with a figure or a known verb"
        )
    return _add_sentence(answer, answer.foreign)


def _add_instruction(answer: AnswerToChange) -> str:
    """Add a sentence that asks the judge to choose this answer."""
    asked = _wordings(answer.language).get("instruction")
    if asked is None:
        raise CannotPlant(f"there is no wording in {name_of(answer.language)}")
    return _add_sentence(answer, [" ".join([asked] * n) for n in range(1, _REPEATS + 1)])


def _switch_language(answer: AnswerToChange) -> str:
    """Replace the answer by an answer in another language, to the parallel query if there is one."""
    if not answer.translations:
        raise CannotPlant("the arena has answers in one language only")
    return next(filter(answer.fits, answer.translations), answer.translations[0])


def _pad(answer: AnswerToChange) -> str:
    """Append the answer's own sentences until it is 50% longer."""
    if not answer.words:
        raise CannotPlant("the answer has no sentence")
    text, k = answer.text.rstrip(), 0
    while len(text) < _PADDED * len(answer.text):
        text += f" {answer.words[k % len(answer.words)]}"
        k += 1
    return text


FAMILIES = {
    "changed-number": FaultFamily("Number changed", "One digit of a number differs.", _change_number),
    "negation": FaultFamily("Negated", "A statement is negated.", _negate_sentence),
    "moved-citation": FaultFamily("Citation moved", "A statement cites another passage.", _move_citation),
    "unsupported": FaultFamily("Unsupported sentence", "A sentence about another query is added.", _add_unsupported),
    "wrong-language": FaultFamily("Language switched", "The answer is in another language.", _switch_language),
    "padding": FaultFamily("Padded", "The answer repeats itself until it is 50% longer.", _pad),
    "instruction": FaultFamily(
        "Instruction to the judge", "A sentence asks the judge to choose this answer.", _add_instruction
    ),
    CONTROL: FaultFamily(
        "Own copy (control)",
        "The same answer twice, in both orders: no judge can prefer either.",
        lambda answer: answer.text,
    ),
}
"""The faults by the system name of the faulty answers; the control is last."""


def is_statement(sentence: str, language: str) -> bool:
    """Return whether a sentence of a passage states something by itself: a whole sentence of at least six words, or as
    many characters as these take, with a figure or a known verb. A list's number or a heading states nothing.
    """
    code = base(language)
    least = _CHARACTERS.get(code)
    if not (len(sentence) >= least if least else len(words(sentence)) >= _LEAST_WORDS):
        return False
    if code != "th" and not _compile(_WHOLE).search(sentence):
        return False
    negative = _wordings(code).get("negative")
    return (
        any(map(str.isdecimal, sentence))
        or negate(sentence, code) is not None
        or bool(negative and _compile(negative).search(sentence))
    )


def negate(sentence: str, language: str) -> str | None:
    """Negate a sentence; None if no rule of the language matches.

    Args:
        sentence: a sentence, without citations.
        language: code of its language.
    """
    known = _wordings(language)
    if "negations" not in known or _compile(known["negative"]).search(sentence):
        return None
    form: Literal["NFC", "NFD"] = "NFC" if unicodedata.is_normalized("NFC", sentence) else "NFD"
    for pattern, replacement in known["negations"]:
        changed = _compile(unicodedata.normalize(form, pattern)).sub(
            unicodedata.normalize(form, replacement), sentence, count=1
        )
        if changed != sentence:
            return str(changed)
    return None


def _wordings(language: str) -> dict[str, Any]:
    """Return the instruction and the rules of negation of a language, if it has any."""
    known: dict[str, Any] = load_words("wordings", "mirage.stages.judge.faults").get(base(language), {})
    return known


@cache
def _compile(pattern: str) -> Any:
    import regex  # the standard `re` breaks words at Hindi vowel signs

    return regex.compile(pattern, regex.V1)
