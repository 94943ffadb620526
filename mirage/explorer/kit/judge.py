"""Pickers of the judge and of the queries that count, for pages about ratings."""

from collections.abc import Callable, Sequence
from typing import get_args

from mirage.explorer.kit.pick import check_link, pick, pick_segments
from mirage.ranking.judges import Judge
from mirage.schema import Skill

QUERIES: dict[str, str] = {"both": "all", "abstain": "unanswerable", "answer": "answerable"}
"""Queries that count, by skill."""


def judge(judges: Sequence[str], role: str, *, listed: bool = False) -> str:
    """Select a judge; nothing is drawn if there is only one.

    Args:
        judges: their names.
        role: what the judge does on this page, as a sentence.
        listed: always draw a list, where a row is full.
    """
    if len(judges) == 1 and not check_link("judge", "judge", judges):
        return judges[0]
    few = len(judges) <= 4 and not listed
    rules = [f"{name}: an answer wins if {rule}." for name in judges if (rule := Judge.from_name(name).rule)]
    draw = pick_segments if few else pick
    chosen: str = draw(
        "Judge",
        judges,
        key="judge",
        kind="judge",
        width="content" if few else 200,
        help=" ".join((role, *rules)),
    )
    return chosen


def judge_with_skill(
    judges: Sequence[str], role: str, skills: Callable[[str], Sequence[Skill]] = lambda _: get_args(Skill)
) -> Judge:
    """Select a judge (`judge`), and by relevance labels the queries that count, unless there is a single choice.

    Args:
        judges: their names.
        role: what the judge does on this page, as a sentence.
        skills: returns the available choices of a judge by its name.
    """
    name = judge(judges, role)
    chosen = Judge.from_name(name)
    if len(chosen.skills) == 1:
        return chosen
    available = skills(name)
    if len(available) == 1:
        return Judge.from_name(name, skill=available[0])
    skill: Skill = pick_segments(
        "Queries",
        available,
        key="skill",
        kind="skill",
        named=QUERIES.__getitem__,
        help="unanswerable: no passage answers them. answerable: a passage does. all: both weighted equally.",
    )
    return Judge.from_name(name, skill=skill)
