"""View of an arena: what it holds, what an evaluation of it found, and which command comes next."""

from __future__ import annotations

import shlex
from pathlib import Path

from mirage.battles.judge import verdict_judges
from mirage.errors import NotEnoughData
from mirage.pipeline.evaluating import EvaluationReport
from mirage.ranking.judges import Judge
from mirage.ranking.settings import RankSettings
from mirage.stages.features.citation import NO_ORDER
from mirage.stages.judge.heuristic import HEURISTIC
from mirage.store.arena import Arena
from mirage.text.segmentation import as_sentence, count_text
from mirage.views.board import BoardChoice, BoardView, board_view

LONG = 200
"""Characters of a remark beyond which a summary leaves it to `mirage rank`."""


def board_of(report: EvaluationReport) -> tuple[BoardView | None, tuple[str, ...]]:
    """Return the board that an evaluation ends with and its remarks; without a board, why there is none."""
    if report.judge is None:
        return None, ("nothing decides between systems",)
    try:
        board = board_view(report.arena, choice_of(report))
    except NotEnoughData as error:
        return None, tuple(filter(None, (error.what, error.where, error.do and f"to do: {error.do}")))
    return board, board.remarks


def choice_of(report: EvaluationReport) -> BoardChoice:
    """Return the choices of the board that an evaluation ends with."""
    names = () if report.judge is None else (report.judge,)
    return BoardChoice(names, (), RankSettings(draws=report.draws, seed=report.seed))


def findings(report: EvaluationReport) -> list[str]:
    """Return who is best, by how much, what cannot be told apart, and what decided it: a sentence each."""
    board, remarks = board_of(report)
    if board is None or len(board.rows) < 2:
        # The heuristic judge needs reference answers or outcomes; where all its verdicts are unparsed there is none.
        decided = report.judge not in (None, HEURISTIC)
        return [*_counts(report.arena, decided=decided), *(map(as_sentence, remarks) if decided else ())]
    return [*board.findings, f"Decided by {Judge.from_name(str(report.judge)).basis(report.arena)}"]


def caveats(report: EvaluationReport) -> list[str]:
    """Return the remarks that fit a summary; the command for the others is among the next."""
    board, remarks = board_of(report)
    return [line for line in remarks if len(line) <= LONG] if board is not None else []


def unmeasured_citations(arena: Arena) -> list[str]:
    """Return how many answers cite by number where no order of the passages is known."""
    if "features" not in arena.tables:
        return []
    sql = "SELECT count(*) AS n FROM features WHERE feature = 'n_citations' AND reason = ?"
    n = int(arena.sql(sql, [NO_ORDER])["n"][0].as_py())
    do = "import them again with the retriever of the passages shown"
    return [f"Citations of {count_text(n, 'answer')} are not measured: {NO_ORDER}; {do}"] if n else []


def next_commands(report: EvaluationReport) -> list[tuple[str, str]]:
    """Return the commands that make sense after an evaluation, each with its purpose, the most useful first."""
    arena, (board, remarks) = report.arena, board_of(report)
    where = place_of(arena)
    n_systems = 0 if board is None else len(board.rows)
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
    if board is not None and n_systems >= 2:
        best, second = board.rows["system"].to_pylist()[:2]
        judge = shlex.quote(str(report.judge))
        names = f"{shlex.quote(best)} {shlex.quote(second)}"
        commands.append(
            (
                f"mirage compare {where} {names} --judge {judge}",
                "two of the best, with the queries that a decision needs",
            )
        )
        if len(board.languages) > 1 or len(caveats(report)) < len(remarks):
            commands.append((f"mirage rank {where} --judge {judge}", "the ranking of each language, with all remarks"))
    return [*commands, (f"mirage app {where}", "open the battles behind the numbers")]


def next_command(arena: Arena) -> tuple[str, str]:
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


def place_of(arena: Arena) -> str:
    """Return the path of an arena for a command, relative to the current folder if it is inside."""
    path = arena.path
    if path.is_relative_to(Path.cwd()):
        return shlex.quote(str(path.relative_to(Path.cwd())))
    return shlex.quote(arena.address)


def _counts(arena: Arena, *, decided: bool) -> list[str]:
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


def _labelled(arena: Arena) -> bool:
    """Return whether passages have relevance labels."""
    if "passages" not in arena.tables:
        return False
    return bool(arena.sql("SELECT count(*) AS n FROM passages WHERE relevant IS NOT NULL")["n"][0].as_py())
