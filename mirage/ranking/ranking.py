"""Rankings by a judge, and the remarks a reader needs besides the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mirage.battles import verdict_rows
from mirage.battles.counts import ABSENT, QUERIES, SUBSETS, unranked_notes
from mirage.battles.judge import NUGGETS, POOLED, RELEVANCE, Judge
from mirage.battles.verdict_rows import COLUMNS, judges_of
from mirage.errors import BadInput
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.control import covariates
from mirage.ranking.design import designs
from mirage.ranking.records import FEW, JOINT
from mirage.ranking.sandwich import disagreements
from mirage.ranking.settings import RankSettings
from mirage.ranking.whatif import RankComparison, WhatIfResult, recompute
from mirage.schema import Penalty
from mirage.stats.units import shared_ids
from mirage.text.segmentation import count_text, join_first

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


def read_decisions(arena: Arena, judge: Judge, settings: RankSettings = RankSettings()) -> tuple[pa.Table, list[str]]:
    """Read the table that a ranking by a judge is computed from, and remarks on it.

    Args:
        arena: the arena.
        judge: the judge.
        settings: settings of the ranking; the margin and the assigner of nuggets count here.

    Returns:
        Table `outcomes`; `judgments` without rationales; or the verdicts of nugget scores in the same columns.

    Raises:
        TableMissing: if the arena lacks the table.
        UnknownName: if there is no such assigner.
        NotEnoughData: if nugget scores decide no battle.
    """
    if judge.kind == "nuggets":
        from mirage.ranking.nugget_battles import nugget_battles

        decided = nugget_battles(arena, settings)
        return decided.verdicts, decided.lines
    notes = _note_people(arena, judge) if judge.kind == "single" else []
    return arena.read(judge.table, columns=None if judge.by_labels else COLUMNS), notes


def _note_people(arena: Arena, judge: Judge) -> list[str]:
    """Return a remark if the judge is people: each favours some systems, and a ranking resamples queries only."""
    if "judgments" not in arena.tables:
        return []
    sql = "SELECT bool_or(person) AS person, count(DISTINCT voter) AS n FROM judgments WHERE judge = ?"
    found = arena.sql(sql, [judge.name]).to_pylist()[0]
    if not found["person"]:
        return []
    who = count_text(found["n"], "person") if found["n"] else "unnamed people"
    return [f"verdicts of {who}: intervals and tests hold for other queries, not for other people"]


def what_if(
    judgments: pa.Table,
    judges: Sequence[str],
    settings: RankSettings,
    *,
    features: pa.Table | None = None,
    votes: pa.Table | None = None,
) -> WhatIfResult:
    """Rank the systems by one judge or several pooled, with the verdicts that the settings select.

    Args:
        judgments: table `judgments`, or the verdicts of nugget scores.
        judges: names; `pooled` for every judge of the table; `nuggets` alone.
        settings: the settings; the bias reduction is always by Jeffreys' prior.
        features: table `features`, for style control.
        votes: people's verdicts that replace the judges' (`ranking.whatif.recompute`).

    Raises:
        UnknownName: if a judge, maker, covariate or language is not known here.
        NotEnoughData: if nothing is left to rate.
        BadInput: if relevance labels, or nuggets with others or a choice of verdicts, are among the judges, or style
            control is combined with a model of ties.
    """
    if RELEVANCE in judges:
        raise BadInput(
            "relevance labels are not a judge: options for judges (pooling, makers, style control) do not apply",
            do="choose judges, or drop the options for judges",
        )
    if NUGGETS in judges and (len(judges) > 1 or votes is not None or replace(settings, control=()).selects_verdicts):
        raise BadInput(
            "nuggets are not a judge: options for judges (pooling, makers, both orders, votes) do not apply",
            do="rank by nuggets alone, with style control if you like",
        )
    names = judges_of(judgments) if POOLED in judges else list(dict.fromkeys(judges))
    verdicts = {name: verdict_rows.verdicts(judgments, judge=name) for name in names}
    style = covariates(features, settings.control) if features is not None and settings.control else None
    return recompute(verdicts, settings, style=style, votes=votes)


def counted_lines(result: WhatIfResult) -> list[str]:
    """Return lines on the verdicts that a ranking counts and excludes."""
    lines = []
    if len(result.n_verdicts) > 1:
        counts = ", ".join(f"{judge} {n:,}" for judge, n in result.n_verdicts.items())
        lines.append(
            f"verdicts of {len(result.n_verdicts)} judges pooled, with equal weight for each verdict: {counts}"
        )
    lines += [f"{n:,} verdicts left out: {reason}" for reason, n in result.left_out.items()]
    if result.voted:
        lines.append(f"{result.voted:,} verdicts replaced by people's votes")
    if result.lacking:
        lines.append("not ranked: " + ", ".join(f"{code} ({reason})" for code, reason in result.lacking.items()))
    if result.controlled is not None:
        missing = sum(result.controlled.n_missing.values())
        if missing:
            lines.append(f"{missing:,} battles left out: a covariate of one of the answers is not known")
        last = list(result.controlled.coefficients)[-1]
        for coefficient in result.controlled.coefficients[last]:
            worth = (
                coefficient.reason
                if coefficient.value is None
                else f"{coefficient.value:+.2f} logits ({coefficient.low:+.2f} to {coefficient.high:+.2f})"
            )
            lines.append(f"{coefficient.covariate}, {last}: {worth} for {coefficient.per}")
        outside: dict[tuple[str, str], list[str]] = {}
        for code, systems in result.controlled.outside.items():
            for system, names in systems.items():
                for name in names:
                    outside.setdefault((name, system), []).append(code)
        for name in result.controlled.names:
            far = [f"{system} ({', '.join(codes)})" for (of, system), codes in outside.items() if of == name]
            if far:
                lines.append(
                    f"ratings that rely on extrapolation, since at least half of the system's answers are far outside "
                    f"the others' in {name}: {', '.join(far)}"
                )
    return lines


def change_lines(comparison: RankComparison, *, language: str) -> list[str]:
    """Return lines on the changed ranks, missing systems and a disconnected comparison graph of a language or `all`."""
    moves = comparison.of(language)
    descriptions = [
        f"{m.system} {m.before} to {m.after}" + ("" if m.within else " (outside its interval)") for m in moves
    ]
    lines = [f"{count_text(len(moves), 'rank')} moved: {', '.join(descriptions)}" if moves else "no rank moved"]
    if language in comparison.gone:
        lines.append("no battle left: " + ", ".join(comparison.gone[language]))
    if language in comparison.apart:
        parts = " | ".join(", ".join(group) for group in comparison.apart[language])
        lines.append(f"the comparison graph fell apart into {len(comparison.apart[language])} groups: {parts}")
    return lines


_PRIOR: dict[Penalty, str] = {"jeffreys": "Jeffreys' prior", "none": "a tiny ridge penalty"}
"""What determines a rating that the data does not bound."""


def _joint_remarks(ranking: RankingReport) -> list[str]:
    """Return remarks on the row of all languages."""
    joint = ranking.languages.get(JOINT)
    if joint is None:
        return []
    lines = []
    if joint.unbounded:
        ways = {"above": "upwards", "below": "downwards", "both": "both ways"}
        of_system = {
            system: [code for code, row in ranking.languages.items() if code != JOINT and system in row.unbounded]
            for system in joint.unbounded
        }
        listed = join_first([f"{s} {ways[joint.unbounded[s]]} ({', '.join(of_system[s])})" for s in joint.unbounded])
        lines.append(f"the mean over languages is unbounded where one language is: {listed}")
    if ranking.unit != "query" and ranking.battles:
        shared = len(shared_ids({code: battles.queries for code, battles in ranking.battles.items()}))
        lines.append(
            f"{count_text(shared, 'query id')} {'occurs' if shared == 1 else 'occur'} in several languages: each is "
            "one unit, resampled and tested jointly"
        )
    return lines


def _weighted_remarks(ranking: RankingReport) -> list[str]:
    """Return the remark on verdicts that were chosen by earlier verdicts."""
    weighted = sum(battles.weighted for battles in ranking.battles.values())
    if not weighted:
        return []
    total = sum(
        int(battles.wins.sum(dtype=int) + battles.ties.sum(dtype=int) // 2) for battles in ranking.battles.values()
    )
    chosen = f"{weighted:,} verdicts were chosen by earlier verdicts (mirage judge --until)"
    lines = [f"{chosen}: each is weighted by its inverse inclusion probability, so that the ratings are of all battles"]
    if ranking.ties != "half":
        lines.append(
            f"ties {ranking.ties} counts verdicts without these weights, so pairs judged more often count more"
        )
    if weighted < total:
        lines.append(
            f"{total - weighted:,} further verdicts have no inclusion probability and count as certainly included"
        )
    return lines


def name_absent(ranking: RankingReport, arena: Arena) -> RankingReport:
    """Return a ranking that also names the systems without a single answer in a ranked language: every call failed."""
    if "answers" not in arena.tables:
        return ranking
    sql = "SELECT language, system FROM answers GROUP BY ALL HAVING NOT bool_or(trim(coalesce(text, '')) <> '')"
    without = {code: dict(systems) for code, systems in ranking.unranked.items()}
    for row in arena.sql(sql).to_pylist():
        ranked = ranking.languages.get(row["language"])
        if ranked is not None and row["system"] not in ranked.systems:
            without.setdefault(row["language"], {})[row["system"]] = ABSENT
    return replace(ranking, unranked=without)


def unranked_remarks(ranking: RankingReport) -> list[str]:
    """Return remarks on the systems without evidence, with what helps, and on languages that count by the only kind of
    queries that they have.
    """
    lines = unranked_notes(ranking.unranked)
    if ranking.judge != RELEVANCE or ranking.skill != "both":
        return lines
    kinds = {code: set(np.unique(battles.strata).tolist()) for code, battles in ranking.battles.items()}
    words = [f"{QUERIES[subset]} queries" for subset in SUBSETS["both"]]
    return lines + [
        f"ranked by {words[kind]} only, since there are no others: {join_first(codes)}"
        for kind in range(2)
        if (codes := [code for code, there in kinds.items() if there == {kind}])
    ]


def remarks(ranking: RankingReport) -> list[str]:
    """Return the remarks a reader of a ranking needs besides its table."""
    lines = unranked_remarks(ranking)
    single = [row for code, row in ranking.languages.items() if code != "all"]
    if ranking.left_out:
        lines.append("not in the joint row, without battles in some language: " + join_first(ranking.left_out))
    unparsed = sum(row.unparsed for row in single)
    if unparsed:
        lines.append(f"{unparsed:,} battles excluded: unparsed verdict")
    lines += _weighted_remarks(ranking)
    side = {"above": "no upper bound", "below": "no lower bound", "both": "no bound"}
    loose = [f"{s} ({row.language}: {side[direction]})" for row in single for s, direction in row.unbounded.items()]
    if loose:
        lines.append(
            "never beaten, or never winning, against the rest: the data puts no bound on that end of the interval, and "
            f"the rating depends on {_PRIOR[ranking.penalty]}: " + join_first(loose)
        )
    lines += _joint_remarks(ranking)
    few = [f"{row.language} ({row.n_queries})" for row in single if row.few]
    if few:
        lines.append(f"fewer than {FEW} queries, so intervals cover less than their nominal level: " + join_first(few))
    if not ranking.battles:
        return lines
    lines += designs(ranking.battles)
    alike = [tests.language for tests in ranking.tests.values() if tests.few and tests.n_pairs]
    if alike:
        lines.append("too few queries to separate any two systems, so all are tied with the best: " + join_first(alike))
    apart = [
        f"{system} ({language}: {ratio:.1f} times)"
        for language, systems in disagreements(ranking).items()
        for system, ratio in systems.items()
    ]
    if apart:
        lines.append("bootstrap and analytic intervals differ in width: " + join_first(apart))
    return lines
