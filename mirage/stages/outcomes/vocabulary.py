"""Vocabularies of the rules: one file a language in `vocabularies/`, named by its code.

A file (TOML) has the tables `free` (fields of `Wording`), `nomiracl` (fields of `Phrases`), `parts` and `examples`.
An expression is a regular expression in lower case for the folded text of `fold.py` (so one spelling of an apostrophe,
of Arabic yeh and kaf and of a full stop suffices): stems that allow endings, not whole sentences. A list is read as
alternatives, and `<name>` as the part of that name. In scripts without word boundaries for `re` (it does not count
vowel signs as word characters), stems stand alone. `examples` are answers with their outcome; the tests check that
the rules read each as labelled.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from mirage.stages.outcomes.fold import fold_pattern
from mirage.text.data import load_words

_GAP = r"(?:\"[^\"\n]*\"|[^.?!:\n\"]){0,160}?"
"""The part `<gap>`: text between "the answer" and "is present" in a sentence, such as a place or a quoted question."""
Fields = dict[str, str]
_FILES = [entry.name for entry in (files("mirage.stages.outcomes") / "vocabularies").iterdir()]
LANGUAGES = frozenset(name.removesuffix(".toml") for name in _FILES if name.endswith(".toml"))
"""Codes of the languages with a vocabulary."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Expressions of free answers in one language. A field that the file lacks matches nothing."""

    sources: str
    """Documents, passages, context, text."""
    nouns: str
    """Sources and their content: information, answer, details."""
    cites: str
    """The sources as an authority: "according to the documents". They are not the subject, so a claim follows."""
    statutes: str
    """Texts that a question can be about: an act that does not mention eels is a fact, not a gap."""
    denies: str
    """Negated predicates of containing, saying, finding and answering; with one of `nouns` in the clause, a gap."""
    gap: str
    """A gap by itself: "I don't know", "is not mentioned", "no information"."""
    short: str
    """A whole answer that abstains in a word or two."""
    turns: str
    """Adversative words between clauses: but, however, although."""
    concedes: str
    """Concessive words at the start of a sentence whose first comma ends a clause: although, while."""
    topic: str
    """Statements of what the sources are about."""
    about: str
    """Verbs of a topic, which need no subject after a gap: "It describes the gardens"."""
    only: str
    """Words that say that the sources have nothing else: only, instead, mainly."""
    implies: str
    """Words for an implication of the sources: a claim, even with a denial in it."""
    known: str
    """Words of general knowledge: a claim, whatever precedes it."""
    reports: str
    """Words by which a clause about the sources claims: according to, states that."""
    quotes: str
    """Reported speech, up to what is said: "the mayor told them that", "according to the police"."""
    sorry: str
    """Apologies."""
    aside: str
    """Offers, advice, words about the writer, what leads to an answer."""
    offers: str
    """Questions that offer more."""
    asks: str
    """Asks the reader what is meant."""
    declines: str
    """Will not help."""
    negates: str
    """Any negation: a gap in a clause about sources, or once sources were spoken of."""
    me: str
    """The writer: a negation with it is a gap."""
    weak: str
    """Clauses that beside a gap claim nothing: of another source ("the second one"), unreal ("would"), a guess."""
    given: str
    """Material from the reader, named as such: "the list you sent"."""
    wants: str
    """Asks for more material, as what was given is not enough: a gap."""
    figure: str
    """Words of a question for a number or a date: how many, when."""
    lacks: str
    """Words for something that is missing or does not come up: after other clauses, a gap."""
    hence: str
    """Words that make a gap follow from the preceding text: so, therefore."""
    supposes: str
    """A condition up to its end: "If you are unable to pay,". A negation in it is not a gap, unless about sources."""
    affirm: str
    """Says that the sources answer."""


LanguageReader = Mapping[str, re.Pattern[str]]
"""Pattern of each field of `Wording` in one language, or in it and English."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Expressions of NoMIRACL's replies in one language; English is tried for every language."""

    yes: str
    """Affirmative openings of an answer."""
    no: str
    """Negative openings of an answer."""
    affirm: str
    """Statements that an answer is present."""
    deny: str
    """Statements that the answer is unknown or absent."""
    asks: str
    """Lines that are questions without a question mark."""


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """A labelled answer."""

    answer: str
    right: str
    """Its outcome."""
    query: str = ""


@cache
def _tables(code: str) -> tuple[Fields, Fields, tuple[LabelledAnswer, ...]]:
    """Read a file: the fields of free answers, those of NoMIRACL's replies, and the examples."""
    content = load_words(f"vocabularies/{code}", "mirage.stages.outcomes")
    parts = {"gap": _GAP} | content.get("parts", {})
    names = re.compile("<(" + "|".join(parts) + ")>")

    def expand(expression: str) -> str:
        return names.sub(lambda match: expand(parts[match[1]]), expression)

    free, nomiracl = (
        {
            name: expand(value if isinstance(value, str) else "|".join(value))
            for name, value in content.get(table, {}).items()
        }
        for table in ("free", "nomiracl")
    )
    return free, nomiracl, tuple(LabelledAnswer(**row) for row in content.get("examples", ()))


@cache
def reader(code: str, *, english: bool) -> LanguageReader:
    """Return the reader of a language: with its own expressions, and those of English if the text has English words."""
    own = (code,) if code in LANGUAGES else ()
    codes = own if code == "en" or (own and not english) else (*own, "en")
    expressions: dict[str, list[str]] = {field.name: [] for field in fields(Wording)}
    for each in codes:
        free, nomiracl = _tables(each)[:2]
        if nomiracl:
            # In a list of documents, "2. Yes, the mayor is mentioned".
            free = free | {"affirm": rf"{nomiracl['affirm']}|^(?:{nomiracl['yes']}),"}
        for name, expression in free.items():
            expressions[name].append(fold_pattern(expression, each))
    return {
        name: re.compile(_factor_anchors("|".join(texts) or "(?!)"), re.MULTILINE)
        for name, texts in expressions.items()
    }


_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[]", re.DOTALL)
"""An escape, a set or another character of a regular expression."""


def _factor_anchors(expression: str) -> str:
    """Write an anchor once for all alternatives that begin with it: `re` then tests it once a position."""
    alternatives, depth = [""], 0
    for piece in _PIECE.findall(expression):
        depth += {"(": 1, ")": -1}.get(piece, 0)
        if piece == "|" and not depth:
            alternatives.append("")
        else:
            alternatives[-1] += piece
    of_anchor: dict[str, list[str]] = {}
    for alternative in alternatives:
        anchor = next(anchor for anchor in ("^", r"\b", "") if alternative.startswith(anchor))
        of_anchor.setdefault(anchor, []).append(alternative.removeprefix(anchor))
    return "|".join(f"{anchor}(?:{'|'.join(rests)})" for anchor, rests in of_anchor.items())


@cache
def phrases(code: str) -> tuple[Phrases, ...]:
    """Return the expressions to read NoMIRACL's replies with: those of English, then the language's own if any."""
    return tuple(
        Phrases(**table) for each in dict.fromkeys(("en", code)) if each in LANGUAGES and (table := _tables(each)[1])
    )


def examples(code: str) -> tuple[LabelledAnswer, ...]:
    """Return the labelled answers of a language with a vocabulary."""
    return _tables(code)[2]
