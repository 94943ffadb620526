"""Findings of an evaluation in sentences, and suggested next commands."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from mirage import store
from mirage.battles.judge import verdict_judges
from mirage.pipeline.evaluating import EvaluationReport
from mirage.ranking.board import (
    first_systems,
    first_text,
    interval_text,
    languages_text,
    lead_text,
    leaderboard,
    rating_text,
)
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.judges import Judge
from mirage.ranking.records import JOINT
from mirage.stages.features.citation import NO_ORDER
from mirage.stages.judge.heuristic import HEURISTIC
from mirage.text.segmentation import as_sentence, count_text, join_first

PAIRS = 4
"""Maximum number of pairs of systems that a sentence names."""
LONG = 200
"""Characters of a remark beyond which a summary leaves it to `mirage rank`."""


def findings(report: EvaluationReport) -> list[str]:
    """Return who is best, by how much, what cannot be told apart, and what decided it: a sentence each."""
    ranking = report.ranking
    if ranking is None or len(list(ranking.languages.values())[-1].systems) < 2:
        # The heuristic judge needs reference answers or outcomes; where all its verdicts are unparsed there is none.
        decided = report.judge not in (None, HEURISTIC)
        return [*_counts(report.arena, decided=decided), *(map(as_sentence, report.remarks) if decided else ())]
    code = list(ranking.languages)[-1]
    rows = leaderboard(ranking, code).to_pylist()
    if not any(row["wins"] or row["losses"] for row in rows):
        ties = f"Every battle of the {len(rows)} systems is a tie: this judge sees no difference between them."
        return [ties, f"Decided by {Judge.from_name(str(report.judge)).basis(report.arena)}"]
    lines = [_best(ranking, code, rows), *_lead(ranking, code, rows), _alike(ranking, code)]
    return [*lines, *_by_language(ranking), f"Decided by {Judge.from_name(str(report.judge)).basis(report.arena)}"]


def caveats(report: EvaluationReport) -> list[str]:
    """Return the remarks that fit a summary; the command for the others is among the next."""
    return [line for line in report.remarks if len(line) <= LONG] if report.ranking is not None else []


def unmeasured_citations(arena: store.Arena) -> list[str]:
    """Return how many answers cite by number where no order of the passages is known."""
    if "features" not in arena.tables:
        return []
    sql = "SELECT count(*) AS n FROM features WHERE feature = 'n_citations' AND reason = ?"
    n = int(arena.sql(sql, [NO_ORDER])["n"][0].as_py())
    do = "import them again with the retriever of the passages shown"
    return [f"Citations of {count_text(n, 'answer')} are not measured: {NO_ORDER}; {do}"] if n else []


def next_commands(report: EvaluationReport) -> list[tuple[str, str]]:
    """Return the commands that make sense after an evaluation, each with its purpose, the most useful first."""
    arena, ranking = report.arena, report.ranking
    where = place_of(arena)
    n_systems = 0 if ranking is None else len(list(ranking.languages.values())[-1].systems)
    if n_systems < 2 and "judgments" not in arena.tables:
        command, purpose = next_command(arena)
        if not command.startswith("mirage evaluate"):
            return [(command, purpose)]
        return [
            (f"mirage import FILE --into {where}", "add the answers of another system"),
            (f"mirage evaluate {where} --baselines", "or compare with baselines, which need no model"),
            (f"mirage app {where}", "read the answers"),
        ]
    commands: list[tuple[str, str]] = []
    free = report.judge == HEURISTIC or (report.judge and Judge.from_name(report.judge).rests_on_labels)
    if free and {"queries", "answers"} <= set(arena.tables):
        judge = f"mirage evaluate {where} --judge MODEL --base-url URL --dry-run"
        commands.append((judge, "the cost of a model as judge"))
    if ranking is not None and n_systems >= 2:
        best, second = (row["system"] for row in leaderboard(ranking, list(ranking.languages)[-1]).to_pylist()[:2])
        judge = shlex.quote(str(report.judge))
        names = f"{shlex.quote(best)} {shlex.quote(second)}"
        commands.append(
            (
                f"mirage compare {where} {names} --judge {judge}",
                "two of the best, with the queries that a decision needs",
            )
        )
        if len(ranking.languages) > 1 or len(caveats(report)) < len(report.remarks):
            commands.append((f"mirage rank {where} --judge {judge}", "the ranking of each language, with all remarks"))
    return [*commands, (f"mirage app {where}", "open the battles behind the numbers")]


def next_command(arena: store.Arena) -> tuple[str, str]:
    """Return the recommended next command for an arena's contents, with its purpose."""
    where, tables = place_of(arena), set(arena.tables)
    if "answers" in tables or "outcomes" in tables:
        return f"mirage evaluate {where}", "measure the answers and rank the systems"
    if names := verdict_judges(arena):
        judge = f" --judge {shlex.quote(names[0])}" if len(names) > 1 else ""
        return f"mirage rank {where}{judge}", "rank the systems"
    if "retrieved" in tables and _labelled(arena):
        return f"mirage report retrieval {where}", "measure the retrievers"
    if "queries" in tables:
        retriever = " --retriever NAME" if "retrieved" in tables else ""
        return f"mirage generate {where} --system NAME --model MODEL --base-url URL{retriever}", "answer the queries"
    return f"mirage check {where}", "see the arena's contents"


def place_of(arena: store.Arena) -> str:
    """Return the path of an arena for a command, relative to the current folder if it is inside."""
    path = arena.path
    if path.is_relative_to(Path.cwd()):
        return shlex.quote(str(path.relative_to(Path.cwd())))
    return shlex.quote(arena.address)


def _best(ranking: RankingReport, code: str, rows: Sequence[dict[str, Any]]) -> str:
    best, first = rows[0], first_systems(rows)
    codes = [language for language in ranking.languages if language != JOINT]
    where = "" if codes == ["und"] else f" {languages_text(codes)}"
    n = count_text(ranking.languages[code].n_queries, "query")
    evidence = f"{rating_text(best['rating'])} logits, {interval_text(best['low'], best['high'])}, n = {n}"
    lead = f", {lead_text(ranking.tests[code].alike(first[0]), len(rows))}" if not first[1:] else ""
    return f"{first_text(first, len(rows))}{where} ({evidence}){lead}."


def _lead(ranking: RankingReport, code: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    if len(first_systems(rows)) > 1:
        return []
    gap = ranking.difference(rows[0]["system"], rows[1]["system"], language=code)
    by = f"{rating_text(gap.value)} logits ({interval_text(gap.low, gap.high)})"
    return [f"It leads {gap.second}, the next, by {by}."]


def _alike(ranking: RankingReport, code: str) -> str:
    """Return the pairs of systems that no test separates, the best first."""
    tests = ranking.tests[code]
    pairs = [pair for pair in combinations(tests.systems, 2) if not tests.are_separated(*pair)]
    if not pairs:
        return "A test separates every two systems."
    if len(pairs) <= PAIRS:
        return f"Not separable: {'; '.join(f'{first} and {second}' for first, second in pairs)}."
    tied = [system for system in tests.systems if tests.rank_range(system)[0] == 1]
    return (
        f"Not separable: {len(pairs):,} of {count_text(tests.n_pairs, 'pair')} of systems "
        f"(tied with the best: {join_first(tied)})."
    )


def _by_language(ranking: RankingReport) -> list[str]:
    """Return in how many languages a system ranks first alone, and in how many there is a tie; nothing for one."""
    leaders = [first_systems(leaderboard(ranking, code).to_pylist()) for code in ranking.languages if code != JOINT]
    if len(leaders) < 2:
        return []
    alone = Counter(first[0] for first in leaders if len(first) == 1)
    parts = [f"{system} alone has the highest rating in {n}" for system, n in alone.most_common()]
    shared = len(leaders) - alone.total()
    tied = [f"in {shared} several share it"] if shared else []
    return [f"Of {len(leaders)} languages {'; '.join([*parts, *tied])}."]


def _counts(arena: store.Arena, *, decided: bool) -> list[str]:
    """Return the numbers of systems and answers, the outcomes, and why there is no ranking unless a judge says so."""
    if "answers" not in arena.tables:
        return []
    rows = arena.sql("SELECT system, count(*) AS n FROM answers GROUP BY system ORDER BY system").to_pylist()
    systems = ", ".join(f"{row['system']} ({count_text(row['n'], 'answer')})" for row in rows)
    lines = [f"{count_text(len(rows), 'system')}: {systems}"]
    if "outcomes" in arena.tables:
        sql = "SELECT outcome, count(*) AS n FROM outcomes WHERE parser = 'strict' GROUP BY outcome ORDER BY n DESC"
        lines.append(", ".join(f"{row['n']:,} {row['outcome']}" for row in arena.sql(sql).to_pylist()) + ".")
    if len(rows) == 1:
        return [*lines, "A ranking needs two systems."]
    if decided:
        return lines
    lacking = "there are no verdicts, scores, relevance labels, nuggets or reference answers"
    return [*lines, f"Nobody decides between them: {lacking}."]


def _labelled(arena: store.Arena) -> bool:
    """Return whether passages have relevance labels."""
    if "passages" not in arena.tables:
        return False
    return bool(arena.sql("SELECT count(*) AS n FROM passages WHERE relevant IS NOT NULL")["n"][0].as_py())
