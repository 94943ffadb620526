"""Systems of the sample arena: each has one character, made by rule from sentences written for this project.

`CHARACTERS` says what each does. None is one fault in pure form: an answer follows the character in a share of the
queries alone, so that the systems differ by degrees and each is beaten somewhere. The shares are drawn from a hash of
system and query: the same files give the same answers.

Which facts an answer states is therefore known, without reading it: `assign_written`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sample_source import LICENCE, SampleNugget, WrittenAnswer

from mirage import schema
from mirage.stages.generate.baselines import ABSTAIN, ABSTENTIONS, BASELINES, EXTRACT, TEMPLATE, bm25
from mirage.stages.generate.stage import whole_system
from mirage.text.answers import compose_answer
from mirage.text.segmentation import sentences, terms

if TYPE_CHECKING:
    import pyarrow as pa

WRITTEN = "written"
"""Assigner of the nuggets that an answer states because it was put together from them."""
GUESSER = "guesser"
"""The system that answers from a retriever's passages."""
CHARACTERS = {
    "thorough": "states all facts, sometimes one less, each cited; seldom answers without support",
    "concise": "states the facts asked for, cited, and no other",
    "fluent": "sounds right; mostly a claim that no passage states, often citing an unrelated one",
    "uncited": "states facts without citing any passage",
    "half": "states half of the facts, seldom the half asked for, and cites in half of the answers",
    "cautious": "states all facts, cited, but says for nearly half of the queries that the passages hold no answer",
    "english": "answers in English, whatever the language of the query, and often finds no answer",
    "padded": "states one fact, often not the one asked for, between sentences that say nothing",
    "copier": "copies the passage nearest to the query, at times the next; never abstains",
    GUESSER: "answers from what a retriever found; if nothing relevant was found, it makes an answer up",
}
"""The systems by name, and the character of each."""
ABOUT = {
    "thorough": "states every fact",
    "concise": "answers just that",
    "fluent": "sounds right, unsupported",
    "uncited": "cites no passage",
    "half": "leaves half out",
    "cautious": "abstains too often",
    "english": "answers in English",
    "padded": "talks around it",
    "copier": "copies one passage",
    GUESSER: "guesses without evidence",
    schema.REFERENCE: "says when it cannot",
    EXTRACT: "copies nearest sentences",
    ABSTAIN: "always abstains",
}
"""The systems by name, and what each is in three words."""


_OWN = 0.15
"""Share of the queries in which a system's behaviour does not depend on how easy the query is."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """One written sentence and the nugget that it states."""

    text: str
    nugget: SampleNugget

    @property
    def cited(self) -> str:
        """The sentence with its citation."""
        return _cite(self.text, self.nugget.passage_id)


@dataclass(frozen=True, slots=True)
class _Query:
    """One query with all that answers to it are made from."""

    language: str
    query_id: str
    text: str
    facts: tuple[_Fact, ...]
    unsupported: str
    english: str
    padding: Sequence[str]
    passages: Sequence[tuple[str, str, bool]]
    """Id, text and label of each passage that the system is shown."""

    @property
    def vital(self) -> tuple[_Fact, ...]:
        """The facts that the query asks for."""
        return tuple(fact for fact in self.facts if fact.nugget.importance == "vital")

    def draw(self, *about: str) -> float:
        """Return a pseudo-random number in [0, 1) from the query and a purpose."""
        digest = hashlib.sha256("\0".join([*about, self.language, self.query_id]).encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    def ease(self, system: str) -> float:
        """Return how easy the query is for a system, in [0, 1): in most queries equally easy for all of them.

        Systems that fail on the same queries can be separated by fewer queries than systems that fail independently.
        """
        return self.draw(system) if self.draw(system, "own") < _OWN else self.draw("ease")


@dataclass(frozen=True, slots=True)
class _Made:
    """One answer, and the nuggets that it states."""

    text: str
    stated: Mapping[str, str] = field(default_factory=dict)
    """The sentence by nugget."""


def _cite(text: str, passage: str) -> str:
    return f"{text} [{passage}]"


def _abstain(query: _Query, language: str | None = None) -> _Made:
    return _Made(compose_answer(*ABSTENTIONS[language or query.language]))


def _state(facts: Sequence[_Fact], *, cited: bool = True) -> _Made:
    """Return an answer of some facts: all are the reason, those asked for the answer."""
    sentences = {fact.nugget.nugget_id: fact.cited if cited else fact.text for fact in facts}
    final = [sentences[fact.nugget.nugget_id] for fact in facts if fact.nugget.importance == "vital"]
    final = final or [*sentences.values()][:1]
    return _Made(
        compose_answer(" ".join(sentences.values()), " ".join(final)),
        {fact.nugget.nugget_id: fact.text for fact in facts},
    )


def _invent(query: _Query, passage: str | None) -> _Made:
    """Return the unsupported answer, citing a passage or none."""
    claim = query.unsupported if passage is None else _cite(query.unsupported, passage)
    return _Made(compose_answer(claim, claim))


def _pad(query: _Query, claim: str, stated: Mapping[str, str]) -> _Made:
    """Return an answer between sentences that say nothing, in its reason and in its answer."""
    first, second, third, fourth = query.padding
    return _Made(compose_answer(f"{first} {claim} {third}", f"{first} {second} {claim} {third} {fourth}"), stated)


def _drop(query: _Query, system: str, share: float) -> tuple[_Fact, ...]:
    """Return the facts, in a share of the queries without one that was not asked for."""
    others = [fact for fact in query.facts if fact.nugget.importance != "vital"]
    if not others or query.draw(system, "drop") >= share:
        return query.facts
    dropped = others[int(query.draw(system, "which") * len(others))]
    return tuple(fact for fact in query.facts if fact is not dropped)


def _first(query: _Query, *, relevant: bool) -> str | None:
    """Return the first passage with a label."""
    return next((passage for passage, _, label in query.passages if label is relevant), None)


def _thorough(query: _Query) -> _Made:
    ease = query.ease("thorough")
    if not query.facts:
        return _invent(query, _first(query, relevant=False)) if ease < 0.15 else _abstain(query)
    return _invent(query, _first(query, relevant=False)) if ease < 0.03 else _state(_drop(query, "thorough", 0.25))


def _concise(query: _Query) -> _Made:
    ease = query.ease("concise")
    if not query.facts:
        return _invent(query, None) if ease < 0.3 else _abstain(query)
    if ease < 0.07:
        return _invent(query, _first(query, relevant=True))
    return _abstain(query) if ease < 0.11 else _state(query.vital)


def _fluent(query: _Query) -> _Made:
    if query.facts and query.ease("fluent") > 0.88:
        return _state(query.vital, cited=False)
    claim = query.unsupported
    if query.draw("fluent", "cites") < 0.6:
        claim = _cite(claim, _first(query, relevant=False) or "")
    return _pad(query, claim, {})


def _answer_uncited(query: _Query) -> _Made:
    ease = query.ease("uncited")
    if not query.facts:
        return _invent(query, None) if ease < 0.45 else _abstain(query)
    if ease < 0.1:
        return _invent(query, None)
    return _abstain(query) if ease < 0.13 else _state(_drop(query, "uncited", 0.4), cited=False)


def _half(query: _Query) -> _Made:
    ease = query.ease("half")
    if not query.facts:
        return _invent(query, _first(query, relevant=False)) if ease < 0.6 else _abstain(query)
    if ease < 0.08:
        return _abstain(query)
    middle = (len(query.facts) + 1) // 2
    cited = query.draw("half", "cites") < 0.5
    return _state(query.facts[middle:] if ease < 0.74 else query.facts[:middle], cited=cited)


def _cautious(query: _Query) -> _Made:
    ease = query.ease("cautious")
    if not query.facts:
        return _invent(query, None) if ease < 0.05 else _abstain(query)
    return _abstain(query) if ease < 0.48 else _state(_drop(query, "cautious", 0.25))


def _english(query: _Query) -> _Made:
    ease = query.ease("english")
    if not query.facts:
        claim = query.english
        return _Made(compose_answer(claim, claim)) if ease < 0.5 else _abstain(query, "en")
    if ease < 0.72:
        return _abstain(query, "en")
    passages = sorted({fact.nugget.passage_id for fact in query.vital})
    claim = _cite(query.english, ", ".join(passages))
    return _Made(compose_answer(claim, claim), {fact.nugget.nugget_id: query.english for fact in query.vital})


def _answer_padded(query: _Query) -> _Made:
    ease = query.ease("padded")
    if not query.facts and ease > 0.8:
        return _abstain(query)
    others = [fact for fact in query.facts if fact not in query.vital]
    facts = query.vital if ease > 0.75 else others[:1]
    claim = " ".join(fact.cited for fact in facts) or query.unsupported
    return _pad(query, claim, {fact.nugget.nugget_id: fact.text for fact in facts})


def _copier(query: _Query) -> _Made:
    texts = {passage: text for passage, text, _ in query.passages}
    nearest = _rank(query, texts.values())[query.draw("copier") < 0.2]
    nearest, whole = [*texts.items()][nearest]
    claims = [(text[a:b], passage) for passage, text in texts.items() for a, b in sentences(text, query.language)]
    order = _rank(query, [claim for claim, _ in claims])
    sentence = next(claims[k][0] for k in order if claims[k][1] == nearest)
    # A nugget is true by the passage it names, so copying that passage states it.
    stated = {fact.nugget.nugget_id: whole for fact in query.facts if fact.nugget.passage_id == nearest}
    return _Made(compose_answer(_cite(whole, nearest), _cite(sentence, nearest)), stated)


def _rank(query: _Query, texts: Iterable[str]) -> list[int]:
    """Return the positions of texts by match with the query, best first; ties in order."""
    scores = bm25(terms(query.text), [terms(text) for text in texts])
    return sorted(range(len(scores)), key=lambda place: (-scores[place], place))


def _guesser(query: _Query) -> _Made:
    shown = {passage for passage, _, _ in query.passages}
    facts = [fact for fact in query.facts if fact.nugget.passage_id in shown]
    return _state(facts) if facts else _invent(query, query.passages[0][0] if query.passages else None)


_SYSTEMS: Mapping[str, Callable[[_Query], _Made]] = {
    "thorough": _thorough,
    "concise": _concise,
    "fluent": _fluent,
    "uncited": _answer_uncited,
    "half": _half,
    "cautious": _cautious,
    "english": _english,
    "padded": _answer_padded,
    "copier": _copier,
    GUESSER: _guesser,
}


def answer_as_systems(
    tables: Mapping[str, pa.Table],
    written: Mapping[tuple[str, str], WrittenAnswer],
    nuggets: Sequence[SampleNugget],
    *,
    retrievers: Iterable[str],
    depth: int,
) -> dict[str, pa.Table]:
    """Return the answers of the systems with a character, and the nuggets that each states.

    Args:
        tables: `queries`, `passages` and `retrieved`.
        written: the sentences.
        nuggets: the nuggets that they state.
        retrievers: the retrievers that `guesser` answers from, as one system each.
        depth: how many of their passages it is shown.

    Returns:
        Tables `answers`, and `nugget_assignments` of the assigner `written`. An answer states a nugget if it has the
        sentence written for it, or the English one for the facts asked for, or copies the passage that it names.
    """
    given, found = _passages(tables)
    labels = {part[0]: part for parts in given.values() for part in parts}
    answers, assignments = [], []
    for row in tables["queries"].select(["language", "query_id", "text"]).to_pylist():
        key = row["language"], row["query_id"]
        own = [nugget for nugget in nuggets if (nugget.language, nugget.query_id) == key]
        sentences = written[key]
        facts = tuple(_Fact(*pair) for pair in zip(sentences.facts, own, strict=True))
        claim, english, padding = sentences.unsupported, sentences.english, sentences.padding
        for name, answer in _SYSTEMS.items():
            for retriever in retrievers if name == GUESSER else [None]:
                system, shown = name, given[key]
                if retriever is not None:
                    system = whole_system(name, retriever)
                    shown = [labels[passage] for passage in found.get((*key, retriever), [])[:depth]]
                made = answer(_Query(*key, row["text"], facts, claim, english, padding, shown))
                over = (retriever, None if retriever is None else depth)
                answers.append(schema.Answer(*key, system, made.text, "ok", TEMPLATE, None, None, None, *over))
                assignments += [_assign(system, nugget, made) for nugget in own]
    return {
        "answers": schema.from_rows("answers", answers),
        "nugget_assignments": schema.from_rows("nugget_assignments", assignments),
    }


def _assign(system: str, nugget: SampleNugget, made: _Made) -> schema.NuggetAssignment:
    quote = made.stated.get(nugget.nugget_id)
    assignment: schema.Assignment = "not_support" if quote is None else "support"
    key = nugget.language, nugget.query_id, system, nugget.nugget_id
    return schema.NuggetAssignment(*key, WRITTEN, assignment, quote, None, None)


def _passages(tables: Mapping[str, pa.Table]) -> tuple[dict[Any, Any], dict[Any, list[str]]]:
    """Return the passages of each query, and the ids that each retriever found, best first."""
    given: dict[Any, Any] = {}
    columns = ["language", "query_id", "position", "passage_id", "text", "relevant"]
    ordered = [(column, "ascending") for column in columns[:3]]
    for row in tables["passages"].select(columns).sort_by(ordered).to_pylist():
        part = row["passage_id"], row["text"], row["relevant"]
        given.setdefault((row["language"], row["query_id"]), []).append(part)
    found: dict[Any, list[str]] = {}
    columns = ["language", "query_id", "retriever", "rank", "passage_id"]
    ordered = [(column, "ascending") for column in columns[:4]]
    for row in tables["retrieved"].select(columns).sort_by(ordered).to_pylist():
        found.setdefault((row["language"], row["query_id"], row["retriever"]), []).append(row["passage_id"])
    return given, found


def system_cards(retrievers: Iterable[str]) -> pa.Table:
    """Return a card for every system, with its character if it has one."""
    made, rest = "Made by rule from sentences written for this project, no model: ", (None,) * 7
    plain = {schema.REFERENCE: "Written for this project.", **dict.fromkeys(BASELINES, "A baseline of the program.")}
    cards = [schema.SystemCard(system, LICENCE, *rest, None, source, ABOUT[system]) for system, source in plain.items()]
    for name, character in CHARACTERS.items():
        for retriever in retrievers if name == GUESSER else [None]:
            system = name if retriever is None else whole_system(name, retriever)
            cards.append(schema.SystemCard(system, LICENCE, *rest, retriever, f"{made}{character}.", ABOUT[name]))
    return schema.from_rows("systems", cards)
