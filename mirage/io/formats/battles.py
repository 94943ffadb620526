"""Shared parts of battle formats: words for a winner, conversations, and detection of human judges."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mirage import schema
from mirage.io.formats import shapes
from mirage.io.formats.fields import list_field, wrong
from mirage.io.formats.spec import SAMPLED, Record

PEOPLE = "human"
"""Name of the judge for a group of people with votes in a file."""
WINNERS = (*schema.VERDICT_WORDS, "tie", "both_bad")
"""Words for a winner, in lower case. Ours, such as `A`, are excluded, since other columns hold letters too."""
_PEOPLE = re.compile(r"(human|people|person|crowd|expert|author|annotator|assessor|user|voter)s?([ _-].*|\d*)", re.I)

_LONGEST_NAME = 6
"""Words of a name of a system."""
_END = re.compile(r"[.!?;…。！？।؟][\"'»”)]*$")

Turns = list[tuple[str, str]]
"""Speaker and text of each turn."""


def by_people(judge: str) -> bool:
    """Return whether the name of a judge means people: `human`, `expert_3`, `annotator 2`."""
    return _PEOPLE.fullmatch(judge.strip()) is not None


def winner(value: Any) -> str | None:
    """Return the verdict of a word; None for any other value."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return schema.verdict_word(word) if word in WINNERS else None


def conversation(record: Record, name: str) -> Turns:
    """Return the turns of a conversation in OpenAI's message format; empty if there is none.

    Raises:
        BadInput: if it is not a list of objects with a role and a content.
    """
    given = list_field(record, name)
    if not all(isinstance(turn, Mapping) and "role" in turn for turn in given):
        raise wrong(record, name, "a list of objects with role and content", given)
    return [(str(turn["role"]), shapes.text(turn.get("content"), name, record.where) or "") for turn in given]


def asks(turns: Turns) -> list[str]:
    """Return the user's turns."""
    return [text for speaker, text in turns if speaker == "user"]


def given_answer(turns: Turns) -> str | None:
    """Return the system's last turn, if it follows the user's last."""
    return turns[-1][1] if turns and turns[-1][0] != "user" else None


def turns_until(turns: Turns, place: int) -> Turns:
    """Return the conversation up to the answer to the user's n-th turn, counting from 1."""
    starts = [k for k, (speaker, _) in enumerate(turns) if speaker == "user"]
    return turns[: starts[place]] if place < len(starts) else turns


def hold_texts(*columns: Sequence[Any]) -> bool:
    """Return whether columns hold texts and not names: sentences, or no value of a full sample repeats."""
    cells = [str(cell).strip() for column in columns for cell in column if cell not in (None, "")]
    sentences = sum(len(cell.split()) > _LONGEST_NAME or bool(_END.search(cell)) for cell in cells)
    return 2 * sentences > len(cells) or (len(cells) >= len(columns) * SAMPLED and len(set(cells)) == len(cells))
