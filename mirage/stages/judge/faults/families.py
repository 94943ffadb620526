"""The fault families: how each changes an answer, and when it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from mirage.stages.judge.faults.answer import AnswerToChange, closest, sentences_of, states, terms_of
from mirage.stages.judge.faults.negation import has_rules, negate
from mirage.stages.judge.faults.wordings import instruction
from mirage.text.languages import name_of

ORIGINAL = "original"
"""System name of the unchanged answers."""
CONTROL = "copy"
"""System name of the copies: an item against its own copy has no winner."""
_REPEATS = 4
"""Maximum repetitions of an instruction."""
_PADDED = 1.5
"""Length of a padded answer, relative to the original."""


class CannotPlant(Exception):
    """Raised with the reason why a fault cannot be planted."""


@dataclass(frozen=True)
class FaultFamily:
    """A kind of fault."""

    name: str
    """System name of the faulty answers."""
    title: str
    """Display name."""
    meaning: str
    """Description of the change."""
    plant: Callable[[AnswerToChange], str]
    """Returns the faulty answer; raises `CannotPlant`."""
    of_length: bool = False
    """Whether the fault is the length; other faults change it by at most 10%."""


def apply_fault(family: FaultFamily, answer: AnswerToChange) -> str:
    """Plant a fault in an answer.

    Raises:
        CannotPlant: if the answer has no place for the fault, or its length would change by more than 10%.
    """
    faulty = family.plant(answer)
    if family.name != CONTROL and faulty.strip() == answer.text.strip():
        raise CannotPlant("the fault changes nothing in this answer")
    if not family.of_length and not answer.fits(faulty):
        raise CannotPlant("no replacement keeps the length within 10%")
    return faulty


def _copy(answer: AnswerToChange) -> str:
    """Return the answer as it is."""
    return answer.text


def _drop_fact(answer: AnswerToChange) -> str:
    """Replace sentences that state a vital fact by other, correctly cited, sentences of the passages."""
    if not answer.key:
        raise CannotPlant("no sentence states a known vital fact or has a citation")
    dropped = answer.words(answer.sentences[answer.key[0]])
    about = [*answer.facts, dropped] if answer.by_fact else [dropped]
    said = {answer.words(span) for span in answer.sentences}
    fillers = {
        text: passage
        for text, passage in sentences_of(answer.passages, answer.language).items()
        if text not in said and not any(states(text, fact) for fact in about)
    }
    for filler in closest(fillers, len(dropped)):
        edits = []
        for k in answer.key:
            start, end = answer.sentences[k]
            edits.append((start, end, filler))
            edits += [answer.cite(c, fillers[filler]) for c in answer.cited_after(k) if not start <= c.start < end]
        if answer.fits(faulty := answer.change(edits)):
            return faulty
    raise CannotPlant("no other sentence of the passages has a similar length")


def _change_number(answer: AnswerToChange) -> str:
    """Change one digit of a number throughout the answer, preferably in a key sentence."""
    in_order = [*answer.key, *(k for k in range(len(answer.sentences)) if k not in answer.key)]
    for k in in_order:
        numbers = _numbers().findall(answer.words(answer.sentences[k]))
        if numbers:
            number = max(numbers, key=len)
            break
    else:
        raise CannotPlant("the answer has no number in digits")
    place = max(0, len(number) - 2)
    digit = int(number[place])
    changed = (digit + 3) % 10 or (1 if place == 0 else 0)
    other = number[:place] + chr(ord(number[place]) - digit + changed) + number[place + 1 :]
    spans = [(c.start, c.end) for c in answer.citations]
    edits = [
        (*match.span(), other)
        for match in _numbers().finditer(answer.text)
        if match[0] == number and not any(a <= match.start() < b for a, b in spans)
    ]
    return answer.change(edits)


def _negate(answer: AnswerToChange) -> str:
    """Negate a sentence and its repetitions, preferably a key sentence."""
    if not has_rules(answer.language):
        raise CannotPlant(f"there are no rules of negation for {name_of(answer.language)}")
    in_order = [*answer.key, *(k for k in range(len(answer.sentences)) if k not in answer.key)]
    for k in in_order:
        text = answer.words(answer.sentences[k])
        if (changed := negate(text, answer.language)) is None:
            continue
        same = [j for j, span in enumerate(answer.sentences) if answer.words(span) == text]
        if answer.fits(faulty := answer.change(answer.replace_sentence(j, changed) for j in same)):
            return faulty
    raise CannotPlant("no rule of negation matches a sentence of the answer")


def _move_citation(answer: AnswerToChange) -> str:
    """Move the citations of the key sentences to the passage that shares least with them."""
    moved = [c for k in answer.key for c in answer.cited_after(k)]
    if not moved:
        if not answer.citations:
            raise CannotPlant("the answer has no citation")
        moved = [answer.citations[-1]]
    cited = {c.passage_id for c in answer.citations}
    said = terms_of(" ".join(answer.words(answer.sentences[k]) for k in answer.key))
    others = [p for p in answer.passages if p.passage_id not in cited]
    if not others:
        raise CannotPlant("the answer cites every passage")
    other = min(others, key=lambda p: (len(said & terms_of(p.text)), p.passage_id))
    edits = {(c.start, c.end): answer.cite(c, other.passage_id) for c in moved}
    return answer.change(edits.values())


def _put_sentence(answer: AnswerToChange, candidates: Iterable[str]) -> str:
    """Add one of some sentences, or replace a sentence without a vital fact if the length would change."""
    texts = list(candidates)
    room = 0.1 * len(answer.text) - 1
    end = max((b for _, b in answer.sentences), default=len(answer.text))
    end = max([end, *(c.end for k in range(len(answer.sentences)) for c in answer.cited_after(k))])
    for text in texts:
        if len(text) <= room:
            return answer.change([(end, end, f" {text}")])
    spare = [k for k in range(len(answer.sentences)) if k not in answer.key]
    if not spare:
        raise CannotPlant("the answer has only key sentences")
    lengths = {k: len(answer.words(answer.sentences[k])) for k in spare}
    _, k, text = min((abs(len(text) - lengths[k]), -k, text) for k in spare for text in texts)
    if answer.fits(faulty := answer.change([answer.replace_sentence(-k, text)])):
        return faulty
    raise CannotPlant("no such sentence keeps the length within 10%")


def _add_unsupported(answer: AnswerToChange) -> str:
    """Add a sentence of a passage of another query."""
    if not answer.foreign:
        raise CannotPlant(
            "no passage of another query of the language has a whole sentence with a figure or a known verb"
        )
    return _put_sentence(answer, answer.foreign)


def _add_instruction(answer: AnswerToChange) -> str:
    """Add a sentence that asks the judge to choose this answer."""
    asked = instruction(answer.language)
    if asked is None:
        raise CannotPlant(f"there is no wording in {name_of(answer.language)}")
    return _put_sentence(answer, [" ".join([asked] * n) for n in range(1, _REPEATS + 1)])


def _switch_language(answer: AnswerToChange) -> str:
    """Replace the answer by an answer in another language, to the parallel query if there is one."""
    for text in answer.translations:
        if answer.fits(text):
            return text
    raise CannotPlant(
        "no answer in another language has a similar length"
        if answer.translations
        else "the arena has answers in one language only"
    )


def _pad(answer: AnswerToChange) -> str:
    """Append the answer's own sentences until it is 50% longer."""
    own = [answer.words(span) for span in answer.sentences]
    if not own:
        raise CannotPlant("the answer has no sentence")
    text, k = answer.text.rstrip(), 0
    while len(text) < _PADDED * len(answer.text):
        text += f" {own[k % len(own)]}"
        k += 1
    return text


def _copy_passage(answer: AnswerToChange) -> str:
    """Replace the answer by a whole passage, word for word: the first that it cites, or the first shown."""
    cited = [c.passage_id for c in answer.citations]
    if not answer.passages:
        raise CannotPlant("no passage has a text")
    by_id = {p.passage_id: p for p in answer.passages}
    chosen = next((by_id[name] for name in cited if name in by_id), answer.passages[0])
    if chosen.text.strip() in answer.text:
        raise CannotPlant("the answer is already a copied passage")
    mention = next((c for c in answer.citations if c.passage_id == chosen.passage_id), None)
    return chosen.text.strip() + ("" if mention is None else f" {answer.text[mention.start : mention.end].strip()}")


def _numbers() -> Any:
    import regex

    return regex.compile(r"(?<![\p{Latin}\p{N}#])\p{Nd}++(?![#])")


FAMILIES: dict[str, FaultFamily] = {
    family.name: family
    for family in (
        FaultFamily(
            "dropped-fact",
            "Vital fact dropped",
            "Sentences that state a vital fact are replaced by other sentences of the passages.",
            _drop_fact,
        ),
        FaultFamily("changed-number", "Number changed", "One digit of a number differs.", _change_number),
        FaultFamily("negation", "Negated", "A statement is negated.", _negate),
        FaultFamily("moved-citation", "Citation moved", "A statement cites another passage.", _move_citation),
        FaultFamily(
            "unsupported", "Unsupported sentence", "A sentence about another query is added.", _add_unsupported
        ),
        FaultFamily("wrong-language", "Language switched", "The answer is in another language.", _switch_language),
        FaultFamily("padding", "Padded", "The answer repeats itself until it is 50% longer.", _pad, of_length=True),
        FaultFamily(
            "copied-passage",
            "Passage copied",
            "The answer is replaced by a whole passage, word for word.",
            _copy_passage,
            of_length=True,
        ),
        FaultFamily(
            "instruction",
            "Instruction to the judge",
            "A sentence asks the judge to choose this answer.",
            _add_instruction,
        ),
        FaultFamily(
            CONTROL, "Own copy (control)", "The same answer twice, in both orders: no judge can prefer either.", _copy
        ),
    )
}
"""The families by name; the control is last."""
