"""What the formats of battles share: the words for a winner, conversations, and whose verdicts are people's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mirage import schema
from mirage.formats.fields import listed, wrong
from mirage.formats.spec import Record

PEOPLE = "human"
"""The judge that stands for a crowd of people whose votes a file holds."""
WINNERS = (*schema.VERDICT_WORDS, "tie", "both_bad")
"""The words for a winner, in small letters. Ours, such as `A`, are none: other columns hold letters too."""
_PEOPLE = re.compile(r"(human|people|person|crowd|expert|author|annotator|assessor|user|voter)s?([ _-].*|\d*)", re.I)

Turns = list[tuple[str, str]]
"""Speaker and text of each turn."""


def by_people(judge: str) -> bool:
    """Whether the name of a judge says that people decided: `human`, `expert_3`, `annotator 2`."""
    return _PEOPLE.fullmatch(judge.strip()) is not None


def winner(value: Any) -> str | None:
    """The verdict that a word stands for; None for any other value."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return schema.verdict_word(word) if word in WINNERS else None


def conversation(record: Record, name: str) -> Turns:
    """The turns of a conversation in the form of OpenAI's messages; empty where there is none.

    Raises:
        BadInput: if it is no list of objects with a role and a content.
    """
    given = listed(record, name)
    if not all(isinstance(turn, Mapping) and "role" in turn for turn in given):
        raise wrong(record, name, "a list of objects with role and content", given)
    return [(str(turn["role"]), _content(turn.get("content"))) for turn in given]


def _content(value: Any) -> str:
    """The text of a turn; of a content in parts, those that are text."""
    if isinstance(value, list):
        return "\n".join(str(part.get("text") or "") for part in value if isinstance(part, Mapping)).strip("\n")
    return "" if value is None else str(value)


def asks(turns: Turns) -> list[str]:
    """What the user said, turn by turn."""
    return [text for speaker, text in turns if speaker == "user"]


def given_answer(turns: Turns) -> str | None:
    """What the system said last, if it said anything after the user did."""
    return turns[-1][1] if turns and turns[-1][0] != "user" else None


def until(turns: Turns, place: int) -> Turns:
    """The conversation up to the answer to what the user said in one place, from 1."""
    starts = [k for k, (speaker, _) in enumerate(turns) if speaker == "user"]
    return turns[: starts[place]] if place < len(starts) else turns
