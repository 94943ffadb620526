"""A ranking by a referee: which battles count, and what a reader must know of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mirage import rank, schema
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.rank import DRAWS, SEED
from mirage.rank.battles import RELEVANCE

if TYPE_CHECKING:
    import pyarrow as pa


def ranking(
    table: pa.Table,
    referee: str,
    *,
    skill: schema.Skill = "both",
    parser: schema.Parser = "strict",
    languages: Sequence[str] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: schema.Ties = "half",
) -> rank.Ranking:
    """Rank the systems by a referee.

    Args:
        table: `outcomes` if the referee is `relevance`, else `judgments`.
        referee: `relevance`, or a judge's name.
        skill: which questions count; a judge has only `both`.
        parser: whose outcomes decide.
        languages: codes; None for all that can be ranked.
        draws: bootstrap draws.
        seed: seed of the draws.
        ties: how ties count.

    Raises:
        UnknownName: if a language or judge has no battles.
        NotEnoughData: if a chosen language lacks what the skill needs.
        BadInput: if a skill is asked of a judge.
    """
    chosen = battles_of(table, referee, skill=skill, parser=parser, languages=languages)
    return rank.rate(chosen, draws=draws, seed=seed, ties=ties)


def battles_of(
    table: pa.Table,
    referee: str,
    *,
    skill: schema.Skill = "both",
    parser: schema.Parser = "strict",
    languages: Sequence[str] | None = None,
) -> dict[str, rank.Battles]:
    """The battles that a referee decided, by language; arguments and errors as for `ranking`."""
    if referee == RELEVANCE:
        battles = rank.from_outcomes(table, skill=skill, parser=parser)
        short = rank.lacking(table, skill=skill)
    else:
        if skill != "both":
            raise BadInput(f"{referee} judges answers, not the skill {skill!r}", do="leave the skill out")
        battles, short = rank.from_judgments(table, judge=referee), {}
    for code in languages or ():
        if code in short:
            raise NotEnoughData(f"{code} has {short[code]}", do=f"leave {code} out, or choose another skill")
        if code not in battles:
            raise UnknownName("language", code, battles, where=f"battles by {referee}")
    return battles if languages is None else {code: battles[code] for code in languages}


def ordered(found: rank.Ranking) -> pa.Table:
    """The table of a ranking to be read from top to bottom: by language, `all` last, the best system first."""
    table = found.table()
    order = list(found.languages)
    rows = sorted(table.to_pylist(), key=lambda row: (order.index(row["language"]), row["rank"], row["system"]))
    return type(table).from_pylist(rows, schema=table.schema)


def remarks(found: rank.Ranking, table: pa.Table, *, languages: Sequence[str] | None = None) -> list[str]:
    """What a reader of a ranking must know besides the table.

    Args:
        found: the ranking.
        table: what it was made from (`ranking`).
        languages: what was asked for; of other languages nothing is said.
    """
    said = []
    single = [one for code, one in found.languages.items() if code != "all"]
    if found.referee == RELEVANCE and languages is None:
        short = rank.lacking(table, skill=found.skill)
        if short:
            said.append("not ranked: " + ", ".join(f"{code} ({why})" for code, why in short.items()))
    if found.left_out:
        said.append("not in the joint row, without battles in some language: " + ", ".join(found.left_out))
    unparsed = sum(one.unparsed for one in single)
    if unparsed:
        said.append(f"{unparsed:,} battles left out, their verdict could not be read")
    side = {"above": "no upper bound", "below": "no lower bound", "both": "no bound"}
    loose = [f"{s} ({one.language}: {side[at]})" for one in single for s, at in one.unbounded.items()]
    if loose:
        said.append(
            "never beaten, or never winning, against the rest, so that only the ridge bounds the rating: "
            + ", ".join(loose)
        )
    few = [f"{one.language} ({one.n_queries})" for one in single if one.few]
    if few:
        said.append(f"fewer than {rank.FEW} questions, so that intervals cover less than they say: " + ", ".join(few))
    alike = [one.language for one in found.tiers.values() if one.few and one.tests]
    if alike:
        said.append("too few questions to separate any two systems, hence one tier: " + ", ".join(alike))
    apart = [
        f"{system} ({language}: {ratio:.1f} times)"
        for language, systems in rank.disagreements(found).items()
        for system, ratio in systems.items()
    ]
    if apart:
        said.append("intervals whose width, by the bootstrap, is not near the analytic one: " + ", ".join(apart))
    return said
