"""Pickers of the judge and of the queries that count, for pages about ratings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

from mirage.battles.referee import NUGGETS, Referee
from mirage.explorer.kit.pick import check_link, pick, pick_segments
from mirage.schema import Skill


def referee(referees: Sequence[str], role: str, *, listed: bool = False) -> str:
    """Select a referee; nothing is drawn if there is only one.

    Args:
        referees: their names.
        role: what the referee does on this page, as a sentence.
        listed: always draw a list, where a row is full.
    """
    if len(referees) == 1 and not check_link("referee", "referee", referees):
        return referees[0]
    few = len(referees) <= 4 and not listed
    draw = pick_segments if few else pick
    chosen: str = draw(
        "Judge",
        referees,
        key="referee",
        kind="referee",
        width="content" if few else 200,
        help=f"{role} relevance: human relevance labels, no model."
        + (" nuggets: the answer that states more of the vital nuggets in full." if NUGGETS in referees else ""),
    )
    return chosen


def referee_with_skill(
    referees: Sequence[str], role: str, skills: Callable[[str], Sequence[Skill]] = lambda _: get_args(Skill)
) -> Referee:
    """Select a referee (`referee`), and by relevance labels the queries that count, unless there is a single choice.

    Args:
        referees: their names.
        role: what the referee does on this page, as a sentence.
        skills: returns the available choices of a referee by its name.
    """
    name = referee(referees, role)
    chosen = Referee.from_name(name)
    if not chosen.by_labels:
        return chosen
    available = skills(name)
    if len(available) == 1:
        return Referee.from_name(name, skill=available[0])
    skill: Skill = pick_segments(
        "Skill",
        available,
        key="skill",
        kind="skill",
        help="abstain: queries no passage answers. answer: queries a passage answers. both: the two weighted equally.",
    )
    return Referee.from_name(name, skill=skill)
