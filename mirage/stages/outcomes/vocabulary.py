"""Vocabularies of the rules: one file a language in `vocabularies/`, named by its code.

A file (TOML) has the tables `free` (fields of `Wording`), `nomiracl` (fields of `Phrases`), `parts` and `examples`.
An expression is a regular expression in lower case for the folded text of `fold.py` (so one spelling of an apostrophe,
of Arabic yeh and kaf and of a full stop suffices): stems that allow endings, not whole sentences. A list is read as
alternatives, and `<name>` as the part of that name. In scripts without word boundaries for `re` (it does not count
vowel signs as word characters), stems stand alone. `examples` are answers with their outcome; the tests check that
the rules read each as labelled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from mirage.stages.outcomes.fold import compile_folded
from mirage.text.data import load_words

_GAP = r"(?:\"[^\"\n]*\"|[^.?!:\n\"]){0,160}?"
"""The part `<gap>`: text between "the answer" and "is present" in a sentence, such as a place or a quoted question."""
_TOKENS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
"""Pieces of an expression: an escape, a set, or a character."""
_IN_ORDER = ("short", "turns", "concedes", "supposes")
"""Fields whose first matching alternative counts, not only whether there is one."""
Fields = dict[str, str]
_FILES = [entry.name for entry in (files("mirage.stages.outcomes") / "vocabularies").iterdir()]
LANGUAGES = frozenset(name.removesuffix(".toml") for name in _FILES if name.endswith(".toml"))
"""Codes of the languages with a vocabulary."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Compiled expressions of free answers in one language. A field that the file lacks matches nothing."""

    sources: re.Pattern[str]
    """Documents, passages, context, text."""
    nouns: re.Pattern[str]
    """Sources and their content: information, answer, details."""
    statutes: re.Pattern[str]
    """Texts that a question can be about: an act that does not mention eels is a fact, not a gap."""
    denies: re.Pattern[str]
    """Negated predicates of containing, saying, finding and answering; with one of `nouns` in the clause, a gap."""
    gap: re.Pattern[str]
    """A gap by itself: "I don't know", "is not mentioned", "no information"."""
    short: re.Pattern[str]
    """A whole answer that abstains in a word or two."""
    turns: re.Pattern[str]
    """Adversative words between clauses: but, however, although."""
    concedes: re.Pattern[str]
    """Concessive words at the start of a sentence whose first comma ends a clause: although, while."""
    topic: re.Pattern[str]
    """Statements of what the sources are about."""
    about: re.Pattern[str]
    """Verbs of a topic, which need no subject after a gap: "It describes the gardens"."""
    only: re.Pattern[str]
    """Words that say that the sources have nothing else: only, instead, mainly."""
    implies: re.Pattern[str]
    """Words for an implication of the sources: a claim, even with a denial in it."""
    known: re.Pattern[str]
    """Words of general knowledge: a claim, whatever stands before it."""
    reports: re.Pattern[str]
    """Words by which a clause about the sources claims: according to, states that."""
    hedges: re.Pattern[str]
    """Words of a guess: a clause with one that is not about the sources claims, whatever it doubts."""
    sorry: re.Pattern[str]
    """Apologies."""
    aside: re.Pattern[str]
    """Offers, advice, words about the writer, what leads to an answer."""
    offers: re.Pattern[str]
    """Questions that offer more."""
    asks: re.Pattern[str]
    """Asks the reader what is meant."""
    declines: re.Pattern[str]
    """Will not help."""
    negates: re.Pattern[str]
    """Any negation: a gap in a clause about sources, or once sources were spoken of."""
    me: re.Pattern[str]
    """The writer: a negation with it is a gap."""
    weak: re.Pattern[str]
    """Clauses that beside a gap claim nothing: of another source ("the second one"), unreal ("would"), a guess."""
    given: re.Pattern[str]
    """What the reader gave, named by that: "the list you sent"."""
    wants: re.Pattern[str]
    """Asks for more material, as what was given is not enough: a gap."""
    figure: re.Pattern[str]
    """Words of a question for a number or a date: how many, when."""
    there: re.Pattern[str]
    """Places in the sources, by anaphora: in it, among them, nowhere. With a negation, a gap after other clauses."""
    lacks: re.Pattern[str]
    """Words for something that is missing or does not come up: after other clauses, a gap."""
    hence: re.Pattern[str]
    """Words by which a gap follows from what stands before it: so, therefore."""
    supposes: re.Pattern[str]
    """A condition up to its end: "If you are unable to pay,". A negation in it is no gap unless about sources."""
    affirm: re.Pattern[str]
    """Says that the sources answer."""
    because: re.Pattern[str]
    """Words that give a reason: a denial with one is a fact, unless it is about sources or the writer."""


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


def _factored(expression: str) -> str:
    """Return an expression that matches the same texts faster: a common anchor is tried once for all alternatives."""
    alternatives, depth = [""], 0
    for piece in _TOKENS.findall(expression):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            alternatives.append("")
        else:
            alternatives[-1] += piece
    parts: dict[str, list[str]] = {}
    for alternative in alternatives:
        head = next((head for head in (r"\b", "^") if alternative.startswith(head)), "")
        parts.setdefault(head, []).append(alternative.removeprefix(head))
    return "|".join(f"{head}(?:{'|'.join(rests)})" for head, rests in parts.items())


@cache
def _wording(code: str) -> Wording:
    free, nomiracl = _tables(code)[:2]
    if nomiracl:
        # In a list of documents, "2. Yes, the mayor is mentioned".
        free = free | {"affirm": rf"{nomiracl['affirm']}|^(?:{nomiracl['yes']}),"}
    texts = {field.name: free.get(field.name) or r"(?!)" for field in fields(Wording)}
    return Wording(
        **{name: compile_folded(text if name in _IN_ORDER else _factored(text), code) for name, text in texts.items()}
    )


@cache
def wordings(code: str, english: bool) -> tuple[Wording, ...]:
    """Return the wordings to read a language with: its own, and that of English if the text has English words."""
    own = (_wording(code),) if code in LANGUAGES else ()
    return own if code == "en" or (own and not english) else (*own, _wording("en"))


@cache
def phrases(code: str) -> tuple[Phrases, ...]:
    """Return the expressions to read NoMIRACL's replies with: those of English, then the language's own if any."""
    return tuple(
        Phrases(**table) for each in dict.fromkeys(("en", code)) if each in LANGUAGES and (table := _tables(each)[1])
    )


def examples(code: str) -> tuple[LabelledAnswer, ...]:
    """Return the labelled answers of a language with a vocabulary."""
    return _tables(code)[2]
