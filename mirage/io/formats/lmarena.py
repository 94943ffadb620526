"""Battles of LMArena (Chatbot Arena): two models, two conversations, and who won by people's votes or by other judges.

One row is one battle as it was shown. `winner` is the vote of people, `judge` the voter's pseudonym. A further column
with names of winners holds the verdicts of a judge, named by the column. Texts are conversations, or a prompt and two
responses, each a text or a list of turns; there the winner may be one of three flags.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import PurePath
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.battles import (
    PEOPLE,
    WINNERS,
    Turns,
    asks,
    by_people,
    conversation,
    given_answer,
    hold_texts,
    winner,
)
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import FIELDS, first, need, number, plain, text
from mirage.io.formats.pairs import VERDICTS
from mirage.io.formats.spec import GivenAnswer, GivenVerdict, Item, Record, Sample, load_names
from mirage.io.values import unpack
from mirage.text.content import content_id
from mirage.text.segmentation import count_text

_NO_WINNERS = frozenset(load_names("lmarena")["others"])
_FLAGS = {"winner_model_a": "A", "winner_model_b": "B", "winner_tie": "tie"}
_TAGS = ("turn", "anony")
_LANGUAGE = "en"
"""Default language of unpublished queries."""


def recognise(sample: Sample) -> str | None:
    """Detect records with two models and a column for the winner."""
    if not sample.fields >= {"model_a", "model_b"} or hold_texts(*sample.columns("model_a", "model_b")):
        return None
    judges = sorted({name for record in sample.records for name in _verdicts(record)})
    return f"has model_a, model_b, and who won in {', '.join(judges)}" if judges else None


class _BattleRows:
    """Battles read so far: judge columns, and earlier rows on the same battle."""

    def __init__(self) -> None:
        self.judges: dict[str, None] = {}
        self.rows: dict[tuple[str | None, ...], dict[int, None]] = defaultdict(dict)
        self.texts: dict[tuple[str | None, str], list[dict[str, str | None]]] = defaultdict(list)
        self.repeated = 0
        """Verdicts of the same judge and voter on a battle that came before."""
        self.renamed = 0
        """Rows with an id that rows before have with other texts."""

    def number(self, key: tuple[str | None, ...], value: Mapping[str, Any]) -> int:
        """Number distinct rows with the same key, from 1."""
        rows = self.rows[key]
        row = hash(json.dumps(value, sort_keys=True, default=str))
        self.repeated += bool(rows) and row not in rows
        return list(rows.setdefault(row) or rows).index(row) + 1

    def query_id(self, language: str | None, query_id: str, texts: Mapping[str, str | None]) -> str:
        """Return the id, with `~2` if earlier rows use it for another query, or another answer of one of the systems.

        Args:
            language: of the query, if the row gives it.
            query_id: the id.
            texts: answers by system, and the query under the empty name.
        """
        known = self.texts[language, query_id]
        fits = (all(held.get(name, content) == content for name, content in texts.items()) for held in known)
        place = next((number for number, fit in enumerate(fits, start=1) if fit), len(known) + 1)
        known[place - 1 : place] = [{**(known[place - 1] if place <= len(known) else {}), **texts}]
        self.renamed += place > 1
        return query_id if place == 1 else f"{query_id}~{place}"


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Read each row as one battle with a verdict of each judge.

    Votes on one query share its id and differ by the voter. Identical rows are read once. If a system has another
    answer to the same id, it becomes another query, whose id ends with `~2`.
    """
    battles = _BattleRows()
    for record in records:
        yield from _battle(record, builder, battles)
    if battles.repeated:
        builder.note_guess(
            "repeated battles",
            f"{count_text(battles.repeated, 'verdict')} of the same judge and voter on a battle that came before: the "
            "voter is called ~2, ~3 ...",
        )
    if battles.renamed:
        builder.note_guess(
            "repeated queries",
            f"{count_text(battles.renamed, 'row')} with other texts under an id that came before: the query_id ends "
            "with ~2, ~3 ...; intervals take these for different queries, and are too narrow if they are not",
        )


def _battle(record: Record, builder: Builder, battles: _BattleRows) -> Iterator[Item]:
    systems = need(record, "model_a"), need(record, "model_b")
    verdicts = _verdicts(record.value)
    battles.judges |= dict.fromkeys(verdicts)
    for name in battles.judges.keys() - verdicts.keys():
        if record.value.get(name) not in (None, ""):
            raise BadInput(
                f"{name} is {record.value[name]!r}, which does not name a winner",
                where=record.where,
                do=f"write one of {', '.join(WINNERS)}, or map it: --value {name}:THEIRS=tie",
            )
    if not verdicts:
        raise BadInput("no column says who won", where=record.where, do="map the winner's column: --map THEIRS=winner")
    if systems[0] == systems[1]:
        builder.left_out("battles of a model with itself", "they say nothing about two systems", len(verdicts))
        return
    item = _query(record, builder, systems, battles)
    key = item.language, item.query_id
    given = []
    for judge, verdict in verdicts.items():
        person = judge == "winner" or by_people(judge)
        voter = text(record, "judge") if person else None
        number = battles.number((*key, *systems, judge, voter), record.value)
        voter = f"{voter or ''}~{number}" if number > 1 else voter
        _note_judge(builder, judge, verdict, person)
        name = PEOPLE if judge == "winner" else judge
        given.append(GivenVerdict(name, *systems, verdict=verdict, person=person, voter=voter))
    yield replace(item, verdicts=given)


def _query(record: Record, builder: Builder, systems: tuple[str, str], battles: _BattleRows) -> Item:
    """Return the query of a battle, with its answers if there are conversations."""
    conversations = _turns(record, "a"), _turns(record, "b")
    prompts = asks(conversations[0])
    if conversations[1] and asks(conversations[1]) != prompts:
        raise BadInput(
            "the user says something else in conversation_a than in conversation_b",
            where=record.where,
            do="correct the record: a battle is two answers to one query",
        )
    language, query_id = text(record, "language"), text(record, "question_id", "id")
    given = {
        system: given_answer(turns)
        for system, side, turns in zip(systems, "ab", conversations, strict=True)
        if turns and not record.value.keys().isdisjoint((f"conversation_{side}", f"response_{side}"))
    }
    if not query_id and not prompts:
        query_id = PurePath(record.where).name
        builder.note_guess(
            "query_id",
            "the rows have neither an id nor a text: each battle is a separate query, named by file and line; "
            "intervals treat battles as independent",
        )
    else:
        known_as = query_id or content_id(*prompts)
        texts = given | ({"": json.dumps(prompts)} if prompts else {})
        unique = battles.query_id(language, known_as, texts)
        if not query_id and unique == known_as:
            builder.unnamed.add(record.where)
        query_id = unique
    if language is None and not prompts:
        language = _LANGUAGE
        builder.note_guess("language", "not given, and no text: assumed English; change it with --set language=CODE")
    for turns in conversations:
        if earlier := len(turns) - len(asks(turns)) - (given_answer(turns) is not None):
            builder.left_out(
                "earlier answers", "earlier turns belong to the query, and each system gave its own", earlier
            )
    return Item(
        prompts[-1] if prompts else None,
        query_id=query_id,
        language=language,
        tags={name: str(record.value[name]).lower() for name in _TAGS if record.value.get(name) not in (None, "")},
        turns=[("user", earlier) for earlier in prompts[:-1]],
        answers=[GivenAnswer(system, answer) for system, answer in given.items()],
        where=record.where,
    )


def _turns(record: Record, side: str) -> Turns:
    """Return the conversation with one of the two systems; empty if the record has no texts."""
    if given := conversation(record, f"conversation_{side}"):
        return given
    texts = []
    for name, *others in (("prompt", *FIELDS["question"]), (f"response_{side}",)):
        content = unpack(first(record.value, name, *others))
        every = content if isinstance(content, list) else [] if content is None else [content]
        texts.append([shapes.text(entry, name, record.where) for entry in every])
    turns: Turns = []
    for asked, said in zip_longest(*texts):
        turns += [("user", asked or "")] + ([] if said is None else [("assistant", said)])
    return turns


def _note_judge(builder: Builder, judge: str, verdict: str, person: bool) -> None:
    if judge == "winner":
        builder.note_guess(
            "people", f"winner holds people's votes, of the judge {PEOPLE}; those of a program: --map winner=ITS-NAME"
        )
    elif person:
        builder.note_guess(judge, f"its name suggests people's verdicts; for a program's: --map {judge}=ITS-NAME")
    if verdict == "both_bad":
        builder.note_guess("both bad", "a tie where both are bad is the verdict both_bad, which counts as a tie")


def _verdicts(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the verdict of each column for a winner, a place or one of the two models, or of the flag that is set."""
    chosen = [verdict for name, verdict in _FLAGS.items() if number(value.get(name)) == 1]
    if len(chosen) == 1:
        return {"winner": chosen[0]}
    places = {str(model).strip().casefold(): side.upper() for side in "ab" if (model := value.get(f"model_{side}"))}
    verdicts = {name: winner(word) for name, word in value.items() if name not in _NO_WINNERS}
    for name in verdicts:
        if plain(name) in VERDICTS:
            verdicts[name] = verdicts[name] or places.get(str(value[name]).strip().casefold())
    return {name: verdict for name, verdict in verdicts.items() if verdict is not None}


FORMAT = Format(*describe("lmarena"), recognise=recognise, read=read)
