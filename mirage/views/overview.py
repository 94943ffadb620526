"""View of an arena: its contents, its main finding, and the next commands.

Counts are of the whole arena; the finding is the conclusion of the board by its default judge. Only `overview_view`
imports ranking, because the contents are shown beside every page.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from mirage import schema
from mirage.battles.judge import HEURISTIC, judges, verdict_judges
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking.settings import DRAWS, SEED, RankSettings
from mirage.schema import Count
from mirage.store.arena import Arena
from mirage.store.labels import label_phrase
from mirage.store.systems import system_names
from mirage.store.tags import count_queries
from mirage.text.languages import in_order
from mirage.text.segmentation import as_sentence, count_text, join_first
from mirage.views.cache import memoize

if TYPE_CHECKING:
    from mirage.ranking.judges import Judge
    from mirage.views.behaviour import BehaviourView
    from mirage.views.board import BoardChoice, BoardView

LONG = 200
"""Characters of a remark beyond which a summary leaves it to `mirage rank`."""
TRAINING = 5
"""Minimum number of systems for the surrogate's leave-one-out predictions."""
_BEHAVIOUR = {"queries", "answers", "features"}
"""Tables that answer behaviour is measured from."""
_OUTCOMES = {"unparsed": "could not be classified", "clarification": "asked back", "api_error": "failed"}
"""Outcomes in words, if their names do not say it."""
_WITH_SYSTEMS = ("ratings", "published", "outcomes", "answers", "judgments")
"""Tables that name every system."""


class NextCommand(NamedTuple):
    """A suggested command."""

    command: str
    """The command, for the current folder."""
    purpose: str
    """Its purpose, in words."""


@dataclass(frozen=True, slots=True)
class ArenaTable:
    """A table of an arena, and its size."""

    key = ("table",)

    table: str
    """Name of the table."""
    rows: Count
    """Number of rows."""
    languages: Count
    """Number of languages of the rows; 0 for a table without languages."""


@dataclass(frozen=True, eq=False)
class Contents:
    """Tables, languages, systems and counts of an arena."""

    tables: pa.Table
    """Rows of `ArenaTable`, in the order of the schema."""
    languages: tuple[str, ...]
    """Languages of all tables."""
    systems: tuple[str, ...]
    """Systems with answers, outcomes, verdicts or ratings, by name."""
    n_queries: int
    """Number of queries; a query in two languages counts twice."""
    answers: Mapping[str, int]
    """Number of answers by system."""
    outcomes: Mapping[str, int]
    """Number of answers by outcome, the most frequent first."""
    labels: str
    """The labels of the queries, by who made them."""

    @property
    def summary(self) -> str:
        """The numbers of systems, queries, answers and languages, in a sentence."""
        counts = (len(self.systems), "system"), (self.n_queries, "query"), (sum(self.answers.values()), "answer")
        held = [count_text(n, noun) for n, noun in counts if n]
        return f"{', '.join(held) or 'Nothing'} in {count_text(len(self.languages), 'language')}."


@dataclass(frozen=True, slots=True)
class OverviewChoice:
    """Choices of an overview: the judge and the draws behind its finding."""

    draws: int = DRAWS
    """Bootstrap draws of the ranking."""
    seed: int = SEED
    """Their seed."""
    failures: schema.Failures = "count"
    """Whether failed answers count."""
    judge: str = ""
    """The judge; empty for the arena's default."""


@dataclass(frozen=True, eq=False)
class OverviewView:
    """Contents of an arena, the findings by its default judge, and the next commands."""

    place: str
    """The arena, as an argument of a command."""
    contents: Contents
    """Its contents."""
    judge: str
    """The default judge; empty without one."""
    choice: BoardChoice
    """Choices of the board."""
    board: BoardView | None
    """The board by the default judge; None if nothing can be ranked."""
    behaviour: BehaviourView | None
    """Behaviour of the answers; None with a board, or if nothing is measured."""
    findings: tuple[str, ...]
    """The best system, its lead, the ties and the judge; without a board, the contents and why nothing is ranked."""
    conclusion: str
    """Conclusion of the board, else of the printed ranks; empty if there is neither."""
    remarks: tuple[str, ...]
    """Remarks for a summary; the long ones are shown below the ranking only."""
    next: tuple[NextCommand, ...]
    """Suggested commands, the most useful first."""


@memoize
def contents_view(arena: Arena) -> Contents:
    """Count the tables, languages, systems, queries and answers of an arena."""
    names = [name for name in schema.TABLES if name in arena.tables]
    sizes = [ArenaTable(name, arena.rows(name), len(arena.languages(name))) for name in names]
    answers = "SELECT system AS name, count(*) AS n FROM answers GROUP BY name ORDER BY name"
    outcomes = "SELECT outcome AS name, count(*) AS n FROM outcomes WHERE parser = 'strict' GROUP BY name"
    return Contents(
        schema.from_rows(ArenaTable, sizes),
        tuple(in_order(code for name in names for code in arena.languages(name))),
        tuple(filter(None, system_names(arena, _WITH_SYSTEMS))),
        count_queries(arena),
        _count_names(arena, "answers", answers),
        _count_names(arena, "outcomes", f"{outcomes} ORDER BY n DESC, name"),
        label_phrase(arena),
    )


def overview_view(arena: Arena, choice: OverviewChoice = OverviewChoice()) -> OverviewView:
    """Return the contents of an arena, the findings by its default judge, and the next commands."""
    from mirage.ranking.judges import Judge
    from mirage.views.behaviour import behaviour_view
    from mirage.views.board import BoardChoice, board_view
    from mirage.views.printed import published_ranks

    contents, judge = contents_view(arena), choice.judge or next(iter(judges(arena)), "")
    if judge == HEURISTIC not in (arena.judge, choice.judge):
        judge = ""  # it decides only by request
    settings = RankSettings(failures=choice.failures, draws=choice.draws, seed=choice.seed)
    of_board = BoardChoice((judge,) * bool(judge), (), settings)
    board, why = None, tuple[str, ...]()
    try:
        board = board_view(arena, of_board) if judge else None
    except (NotEnoughData, UnknownName) as error:
        why = tuple(filter(None, (error.what, error.where, error.do and f"to do: {error.do}")))
    conclusion = "" if board is None else board.conclusion
    if "published" in arena.tables and not judges(arena):
        conclusion = published_ranks(arena, ()).conclusion
    decider = Judge.from_name(judge) if judge else None
    if decider is not None and board is not None and len(board.rows) > 1:
        findings = (*board.findings, f"Decided by {decider.basis(arena)}")
    else:
        decided = judge != ""
        told = why if board is None else board.remarks
        described = _describe(arena, contents, decided=decided)
        findings = (*filter(None, [conclusion]), *described, *(map(as_sentence, told) if decided else ()))
    said = () if board is None else board.remarks
    brief = [remark for remark in said if len(remark) <= LONG]
    return OverviewView(
        place=place_of(arena),
        contents=contents,
        judge=judge,
        choice=of_board,
        board=board,
        behaviour=behaviour_view(arena) if board is None and set(arena.tables) >= _BEHAVIOUR else None,
        findings=findings,
        conclusion=conclusion,
        remarks=(*_unmeasured_citations(arena), *brief),
        next=tuple(_next_commands(arena, board, decider, all_said=len(brief) == len(said))),
    )


def next_step(arena: Arena) -> NextCommand:
    """Return the next command for an arena by its tables alone, without ranking."""
    where, tables = place_of(arena), set(arena.tables)
    if "answers" in tables or "outcomes" in tables:
        return NextCommand(f"mirage evaluate {where}", "measure the answers and rank the systems")
    if names := verdict_judges(arena):
        judge = f" --judge {shlex.quote(names[0])}" if len(names) > 1 else ""
        return NextCommand(f"mirage rank {where}{judge}", "rank the systems")
    if "retrieved" in tables and _has_labels(arena):
        return NextCommand(f"mirage report retrieval {where}", "measure the retrievers")
    if "queries" in tables:
        retriever = " --retriever NAME" if "retrieved" in tables else ""
        command = f"mirage generate {where} --system NAME --model MODEL --base-url URL{retriever}"
        return NextCommand(command, "answer the queries")
    return NextCommand(f"mirage check {where}", "see the arena's contents")


def filling_command(arena: Arena) -> str:
    """Return the command that brings what the pages need and an arena lacks; empty if none does."""
    if "answers" not in arena.tables:
        return arena.command("answers")
    decided = judges(arena)
    if "features" not in arena.tables or not decided:
        if "features" in arena.tables:
            return f"mirage evaluate {arena.argument} --judge MODEL --base-url URL"
        return f"mirage evaluate {arena.argument}"
    from mirage.ranking.judges import Judge, size

    judge = decided[0]
    if "predictions" in arena.tables or len(size(arena, Judge.from_name(judge)).systems) < TRAINING:
        return ""
    return arena.fill(f"mirage rank surrogate DIR --judge {shlex.quote(judge)} --store")


def place_of(arena: Arena) -> str:
    """Return the name of a bundled arena, or a path for a command, relative to the current folder if it is inside."""
    if arena.bundled is None and arena.path.is_relative_to(Path.cwd()):
        return shlex.quote(str(arena.path.relative_to(Path.cwd())))
    return arena.argument


def _describe(arena: Arena, contents: Contents, *, decided: bool) -> list[str]:
    """Return the numbers of systems and answers, the outcomes, and why there is no ranking unless a judge says so."""
    if not contents.answers:
        return []
    systems = ", ".join(f"{system} ({count_text(n, 'answer')})" for system, n in contents.answers.items())
    lines = [f"{count_text(len(contents.answers), 'system')}: {systems}"]
    if contents.outcomes:
        lines.append(", ".join(_count_outcome(name, n) for name, n in contents.outcomes.items()) + ".")
    if len(contents.answers) == 1:
        return [*lines, "A ranking needs two systems."]
    if decided:
        return lines
    if not {"outcomes", "features"} & set(arena.tables):
        return [*lines, "The answers are not evaluated."]
    if not len(arena.sql("SELECT 1 FROM answers GROUP BY language, query_id HAVING count(*) > 1")):
        return [*lines, "No two systems answered the same query, so none can be compared."]
    lacking = "there are no verdicts, scores, nuggets or labels, and no reference is known to tell what is answerable"
    if measures := _measures(arena):
        lacking = f"no name of a score says that more of it is better ({join_first(measures)})"
    return [*lines, f"Nothing in the file says which is better: {lacking}."]


def _count_outcome(name: str, n: int) -> str:
    """Return how many answers have an outcome."""
    if name in ("answered", "abstained"):
        return f"{n:,} {name}"
    return f"{count_text(n, 'answer')} {_OUTCOMES.get(name, f'are {name}')}"


def _measures(arena: Arena) -> list[str]:
    """Return the measures of an arena's scores by name."""
    scores = arena.read_optional("scores")
    return [] if scores is None else sorted(scores["measure"].unique().to_pylist())


def _unmeasured_citations(arena: Arena) -> list[str]:
    """Return how many answers cite by number where no order of the passages is known."""
    if "features" not in arena.tables:
        return []
    from mirage.stages.features.citation import NO_ORDER

    sql = "SELECT count(*) AS n FROM features WHERE feature = 'n_citations' AND reason = ?"
    n = int(arena.sql(sql, [NO_ORDER])["n"][0].as_py())
    do = "import them again with the retriever of the passages shown"
    return [f"Citations of {count_text(n, 'answer')} are not measured: {NO_ORDER}; {do}"] if n else []


def _next_commands(arena: Arena, board: BoardView | None, judge: Judge | None, *, all_said: bool) -> list[NextCommand]:
    """Return the next commands, given the board by the default judge and whether all its remarks are shown."""
    where, n_systems = place_of(arena), 0 if board is None else len(board.rows)
    command = f"mirage evaluate {where} --judge MODEL --base-url URL --dry-run"
    by_model = NextCommand(command, "the cost of a model as judge")
    unranked = judge is None or (board is None and "judgments" not in arena.tables)
    if unranked and "features" in arena.tables and len(contents_view(arena).answers) > 1:
        by_scores = [
            NextCommand(
                f"mirage votes scores {where} --verdicts-from {shlex.quote(measure)}",
                "where more of this score is better",
            )
            for measure in _measures(arena)[:1]
        ]
        return [
            by_model,
            *by_scores,
            NextCommand(f"mirage import FILE --into {where}", "or add reference answers, scores or verdicts"),
            NextCommand(f"mirage app {where}", "read the answers"),
        ]
    if n_systems < 2 and "judgments" not in arena.tables:
        step = next_step(arena)
        if not {"features", "outcomes"} & set(arena.tables) or not step.command.startswith("mirage evaluate"):
            return [step]
        return [
            NextCommand(f"mirage import FILE --into {where}", "add the answers of another system"),
            NextCommand(f"mirage evaluate {where} --baselines", "or compare with baselines, which need no model"),
            NextCommand(f"mirage app {where}", "read the answers"),
        ]
    commands: list[NextCommand] = []
    free = judge is not None and (judge.name == HEURISTIC or judge.rests_on_labels)
    if free and {"queries", "answers"} <= set(arena.tables):
        commands.append(by_model)
    if judge is not None and board is not None and n_systems >= 2:
        best, second = map(shlex.quote, board.rows["system"].to_pylist()[:2])
        by = shlex.quote(judge.name)
        command = f"mirage compare {where} {best} {second} --judge {by}"
        commands.append(NextCommand(command, "two systems, with the queries that a decision needs"))
        if len(board.languages) > 1 or not all_said:
            command = f"mirage rank {where} --judge {by}"
            commands.append(NextCommand(command, "the ranking of each language, with all remarks"))
    return [*commands, NextCommand(f"mirage app {where}", "open the battles behind the numbers")]


def _count_names(arena: Arena, table: str, sql: str) -> dict[str, int]:
    """Return the number of rows of a table by name; none if the arena lacks it."""
    return {row["name"]: row["n"] for row in arena.sql(sql).to_pylist()} if table in arena.tables else {}


def _has_labels(arena: Arena) -> bool:
    """Return whether passages have relevance labels."""
    if "passages" not in arena.tables:
        return False
    return bool(arena.sql("SELECT count(*) AS n FROM passages WHERE relevant IS NOT NULL")["n"][0].as_py())
