"""View of the board: who is best? Ratings, ranks and tests of every system by a judge, by language and over all."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.counts import SUBSETS
from mirage.battles.failures import SENTENCE, missing_lines
from mirage.battles.judge import choose_judge, judge_facts, verdict_judges
from mirage.ranking.board import (
    DIFFERENCES,
    NAMED,
    Board,
    Ranked,
    best_systems,
    change_lines,
    conclude,
    leaderboard,
    lines_on_failures,
    make_board,
    rank_table,
    unranked_remarks,
)
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.control import COVARIATES
from mirage.ranking.judges import Judge, battles_of, size, tallies
from mirage.ranking.pair_tests import BoardTests
from mirage.ranking.records import JOINT
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import RankSettings
from mirage.schema import Count, Share
from mirage.store.arena import Arena
from mirage.store.labels import source_phrase
from mirage.store.makers import makers_of
from mirage.store.search import sample_numbers
from mirage.text.languages import name_of
from mirage.text.numbers import FORMATS, span
from mirage.text.segmentation import MANY, as_sentence, count_text, join_first
from mirage.views.cache import cached_view, memoize, stored_view
from mirage.views.system_cards import release_words

Shown = Literal["win-rate", "logit", "arena"]
"""Scale of the ratings shown: `win-rate` is against the average system, or against the reference."""
VoteRow = tuple[str, str, str, str, str]
"""A vote: language, query_id, system_a, system_b, verdict."""
SKILLS: dict[schema.Skill, str] = {"both": "", "abstain": " at abstaining", "answer": " at answering"}
"""Skill by which labels rank, in a sentence."""
PAIRS = 4
"""Maximum number of pairs of systems that a sentence names."""
_ADDED = ("answers", "unclassified")
"""Columns that a board adds to those of a leaderboard."""
_VOTED = ("language", "query_id", "system_a", "system_b", "verdict")


@dataclass(frozen=True, slots=True)
class BoardChoice:
    """Choices of a board."""

    judges: tuple[str, ...] = ()
    """The judge that decides; several are pooled. Empty for the arena's."""
    languages: tuple[str, ...] = ()
    """Codes; those without battles are named in the view. Empty for all."""
    settings: RankSettings = RankSettings()
    """Battles that count, and the estimate; its languages and makers are ignored."""


DEFAULT = BoardChoice()
"""All languages, the arena's judge."""


@dataclass(frozen=True, slots=True)
class BoardRow(Ranked):
    """A row of a board: a system in a language, or over all."""

    answers: Count
    """Answers present, classified or not; by a judge its verdicts on the system, by nuggets battles."""
    unclassified: Share | None
    """Share of these that are unclassified, or unparsed; null if there are none."""


@dataclass(frozen=True, eq=False)
class BoardView:
    """Ratings of all systems over the chosen languages, with their tests and the conclusion."""

    ranking: RankingReport
    """The ranking, without its battles."""
    method: str
    """The method in one line."""
    languages: tuple[str, ...]
    """Rated languages."""
    lacking: Mapping[str, str]
    """Chosen languages that are not rated, with the reason."""
    everything: pa.Table
    """Rows of `BoardRow`: by language, `all` last, the best system first."""
    by_query: bool
    """Whether the battles were counted by query, so that the joint row can be recomputed."""
    unranked: tuple[str, ...]
    """The systems without evidence for a rating, each with the reason and what helps."""
    apart: tuple[str, ...]
    """Parts of the systems that no battle joins, one line each."""
    notes: tuple[str, ...]
    """Remarks on the battles."""
    counted: tuple[str, ...]
    """Remarks on the verdicts that were counted and left out."""
    caveats: tuple[str, ...]
    """Remarks on what the data cannot determine."""
    moved: Mapping[str, tuple[str, ...]]
    """By language, changes relative to the plain ranking; empty without a selection."""
    conclusion: str
    """Sentence that names the best system; empty for fewer than two systems."""

    @property
    def scope(self) -> str:
        """Language of the rows shown: `all`, or the only one."""
        return JOINT if JOINT in self.ranking.languages else self.languages[0]

    @cached_property
    def rows(self) -> pa.Table:
        """The joint rows, or those of the only language."""
        return self._of([self.scope])

    @cached_property
    def ranks(self) -> pa.Table:
        """The rows by language."""
        return self._of(self.languages)

    @property
    def rank_cells(self) -> list[dict[str, Any]]:
        """The rows by language, with `rating`, `low` and `high` as win rates."""
        return [row | _rates(row) for row in self.ranks.to_pylist()]

    @property
    def on_failures(self) -> str:
        """Sentences on how failed answers count and which have no row; empty if there are none."""
        said = [SENTENCE] if any(self.rows["failed"].to_pylist()) else []
        rated = {code: self.ranking.languages[code].systems for code in self.languages}
        missing = missing_lines(self.ranking.failed, rated)
        return " ".join(map(as_sentence, [*said, *missing]))

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return sum(self.ranking.languages[code].n_queries for code in self.languages)

    @property
    def remarks(self) -> tuple[str, ...]:
        """All remarks to show with the board."""
        return (*self.notes, *self.counted, *self.caveats)

    @property
    def findings(self) -> tuple[str, ...]:
        """The conclusion, the lead of the best system, the ties, and the best systems by language."""
        rows = self.rows.to_pylist()
        if len(rows) < 2 or not any(row["wins"] or row["losses"] for row in rows):
            return (self.conclusion,) if self.conclusion else ()
        tests, lead = self.ranking.tests[self.scope], []
        best = best_systems(tests, rows)
        if len(rows) > 2 and len(best) == 1:
            gap = self.ranking.difference(rows[0]["system"], rows[1]["system"], language=self.scope)
            rate, ends = FORMATS["rate"].write(win_rate(gap.value)), span(win_rate(gap.low), win_rate(gap.high), "rate")
            lead = [f"By the ratings, its win rate against {gap.second}, the next, is {rate} (95% CI {ends})."]
        said = (self.conclusion, *lead, _describe_ties(tests, best), *_by_language(self))
        return tuple(sentence for sentence in said if sentence)

    def _of(self, languages: Collection[str]) -> pa.Table:
        return self.everything.filter(pc.is_in(self.everything["language"], value_set=pa.array(list(languages))))

    @lru_cache(maxsize=64)  # noqa: B019  # views are cached anyway
    def shown_rows(self, reference: str | None = None, scale: Shown = "logit") -> pa.Table:
        """Return `rows` with `rating`, `low` and `high` on a scale.

        Args:
            reference: system from which the differences are shown instead of the ratings.
            scale: the scale.

        Raises:
            UnknownName: if the reference has no row.
        """
        if reference is not None:
            self.ranking.difference(reference, reference, language=self.scope)
        on = "logit" if scale == "win-rate" else scale
        scaled = leaderboard(self.ranking, self.scope, reference=reference, scale=on).to_pylist()
        shown = [row | own for row, own in zip(self.rows.to_pylist(), scaled, strict=True)]
        for row in shown:
            if reference is not None:
                row["rating"], row["low"], row["high"] = (row.pop(name) for name in DIFFERENCES)
            if scale == "win-rate":
                row |= _rates(row)
        return pa.Table.from_pylist(shown, schema=self.rows.schema)

    def system_rows(self, system: str) -> pa.Table:
        """Return a system's rows over all languages, then of each language, with `rating`, `low` and `high` as win
        rates.
        """
        rows = [row for row in self.everything.to_pylist() if row["system"] == system]
        rows.sort(key=lambda row: row["language"] != JOINT)
        return pa.Table.from_pylist([row | _rates(row) for row in rows], schema=self.everything.schema)

    def all_rows(self, reference: str | None = None) -> pa.Table:
        """Return `everything` in logits; with a reference, also the differences to it."""
        table = self.everything
        if reference is not None:
            with_differences = leaderboard(self.ranking, reference=reference)
            for name in DIFFERENCES:
                table = table.append_column(name, with_differences[name])
        return table


def _rates(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Return a rating and its interval as win rates."""
    return {name: win_rate(row[name]) for name in ("rating", "low", "high")}


def board_view(arena: Arena, choice: BoardChoice = DEFAULT, votes: tuple[VoteRow, ...] = ()) -> BoardView:
    """Rank the systems of an arena over the chosen languages.

    Args:
        arena: an arena with what the judge decides by.
        choice: the choices.
        votes: people's votes that replace the judges' verdicts on the same battles (`vote_rows`).

    Raises:
        TableMissing: if the arena lacks the judge's table.
        UnknownName: if the judge, a maker or a covariate is not known here.
        NotEnoughData: if none of the languages can be rated.
        BadInput: if a setting does not apply to the judge.
    """
    judge = judge_of(arena, choice)
    judge.refuse_options(choice.settings.changed | ({"votes"} if votes else set()))
    arena.need(judge.table)
    settings = replace(choice.settings, languages=None)
    if settings.without is not None or settings.exclude_own:
        settings = replace(settings, makers=makers_of(arena))
    languages = tuple(sorted(set(choice.languages)))
    every = set(languages) == set(arena.languages(judge.table))
    made = BoardChoice(choice.judges or (judge.name,), () if every else languages, settings)
    return compute_board(arena, made, votes)


@cached_view
def compute_board(arena: Arena, choice: BoardChoice, votes: tuple[VoteRow, ...] = ()) -> BoardView:
    """Compute the view of a choice that names its judge, and the makers if they count."""
    judge = judge_of(arena, choice)
    languages = choice.languages or size(arena, judge).languages
    settings = replace(choice.settings, languages=choice.languages or None)
    plain = settings == settings.plain and not votes
    counts = _answer_counts(tallies(arena, judge), judge)
    whole = stored_view(compute_board, arena, replace(choice, languages=())) if plain and choice.languages else None
    if whole is None or not whole.by_query or whole.counted:  # the last two count the verdicts of all languages
        board = _rank(arena, judge, settings, votes)
        rows = _rows(board.ranking, counts)
    else:
        board = _narrow(whole, arena, judge, settings)
        rows = _narrow_rows(whole.everything, board.ranking, counts)
    base = None if plain else compute_board(arena, replace(choice, settings=choice.settings.plain)).ranking
    return _describe(board, phrase_of(arena, judge), rows=rows, chosen=languages, base=base)


@dataclass(frozen=True, eq=False)
class RowsView:
    """The ranking of a table of verdicts without an arena, with its conclusion."""

    ranking: RankingReport
    """The ranking with its battles."""
    method: str
    """The method in one line."""
    remarks: tuple[str, ...]
    """Remarks to show with the ranking."""
    moved: Mapping[str, tuple[str, ...]]
    """By language, changes relative to the plain ranking; empty without a selection."""
    conclusion: str
    """Sentence that names the best system; empty for fewer than two systems."""


def rows_view(
    judgments: pa.Table, settings: RankSettings, judges: Sequence[str] = (), notes: Sequence[str] = ()
) -> RowsView:
    """Rank the systems of a table of verdicts; arguments and errors as of `rank_table`."""
    board = rank_table(judgments, settings, judges=judges, notes=notes)
    moved = {}
    if settings != settings.plain:
        moved = _changes(rank_table(judgments, settings.plain, judges=judges).ranking, board.ranking)
    by = f" by {board.ranking.judge}"
    return RowsView(board.ranking, board.method, board.remarks, moved, conclude(board.ranking, by))


def judge_of(arena: Arena, choice: BoardChoice = DEFAULT) -> Judge:
    """Return the judge of a choice: the named one or several, else the arena's.

    Raises:
        UnknownName: if there is no such judge.
        BadInput: if none is named and the arena has several, or a setting does not apply.
    """
    names = choice.judges or (choose_judge(arena),)
    of = choice.settings
    return Judge.from_names(names, skill=of.skill, parser=of.parser, failures=of.failures)


def phrase_of(arena: Arena, judge: Judge) -> str:
    """Return the judge in a sentence, with a space before it; of labels the skill, and their source."""
    return SKILLS[judge.skill] + source_phrase(arena) if judge.rests_on_labels else f" by {judge.phrase(arena)}"


def vote_rows(votes: pa.Table) -> tuple[VoteRow, ...]:
    """Return people's verdicts (`people_verdicts`) as an argument of the view."""
    return tuple(zip(*(votes[name].to_pylist() for name in _VOTED), strict=True))


def _rank(arena: Arena, judge: Judge, settings: RankSettings, votes: Sequence[VoteRow]) -> Board:
    replaced = pa.Table.from_pylist([dict(zip(_VOTED, row, strict=True)) for row in votes]) if votes else None
    return make_board(arena, judge, settings, votes=replaced)


def _narrow(whole: BoardView, arena: Arena, judge: Judge, settings: RankSettings) -> Board:
    """Return the board of some languages, given that of all: only their joint row is computed."""
    ranking = replace(whole.ranking, battles=battles_of(arena, judge)).narrow(settings.languages or ())
    return Board(ranking, judge.notes(arena, settings), lines_on_failures(ranking, settings))


def _describe(
    board: Board,
    by: str,
    *,
    rows: pa.Table,
    chosen: Collection[str],
    base: RankingReport | None,
) -> BoardView:
    """Return the view of a ranking.

    Args:
        board: the ranking.
        by: the judge in a sentence, such as ` by gpt-4o`.
        rows: its rows (`BoardRow`).
        chosen: codes of the chosen languages, those without battles among them.
        base: the plain ranking to compare with.
    """
    ranking = board.ranking
    unranked = {code: join_first(list(dict.fromkeys(row.values()))) for code, row in ranking.unranked.items()}
    lacking = {code: unranked.get(code, "no battle") for code in chosen if code not in ranking.languages}
    languages = tuple(code for code in ranking.languages if code != JOINT)
    return BoardView(
        ranking=replace(ranking, battles={}, layouts={}, tested=ranking.tests),
        method=board.method,
        languages=languages,
        lacking={**lacking, **board.lacking},
        everything=rows,
        by_query=bool(ranking.battles),
        unranked=tuple(unranked_remarks(ranking)),
        apart=tuple(ranking.apart),
        notes=tuple(board.notes),
        counted=board.counted,
        caveats=board.caveats,
        moved={} if base is None else _changes(base, ranking),
        conclusion=conclude(ranking, by),
    )


def _changes(base: RankingReport, ranking: RankingReport) -> dict[str, tuple[str, ...]]:
    """Return the changes of a ranking relative to another, by language."""
    return {code: tuple(change_lines(base, ranking, language=code)) for code in ranking.languages}


def _narrow_rows(
    everything: pa.Table, ranking: RankingReport, counts: Mapping[tuple[str, str], tuple[int, int]]
) -> pa.Table:
    """Return the rows of a ranking of some languages, given those of all: only the joint ones are computed."""
    rows = everything.filter(pc.field("language").isin([code for code in ranking.languages if code != JOINT]))
    return pa.concat_tables([rows, _rows(ranking, counts, JOINT)]) if JOINT in ranking.languages else rows


def _rows(
    ranking: RankingReport, counts: Mapping[tuple[str, str], tuple[int, int]], language: str | None = None
) -> pa.Table:
    """Return the rows of a ranking in a language, or in all, given the numbers of answers and unclassified answers by
    language and system.
    """
    languages = [code for code in ranking.languages if code != JOINT]
    table = leaderboard(ranking, language)
    added: dict[str, list[Any]] = {name: [] for name in _ADDED}
    for code, system in zip(table["language"].to_pylist(), table["system"].to_pylist(), strict=True):
        behind = [counts.get((own, system), (0, 0)) for own in (languages if code == JOINT else [code])]
        answers, unclassified = map(sum, zip(*behind, strict=True))
        for name, value in zip(_ADDED, (answers, unclassified / answers if answers else None), strict=True):
            added[name].append(value)
    for field in schema.arrow_schema(BoardRow):
        if field.name in added:
            table = table.append_column(field, pa.array(added[field.name], field.type))
    return table


def _answer_counts(counts: pa.Table, judge: Judge) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the numbers of answers and unclassified answers to the judge's queries, by language and system."""
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for row in counts.to_pylist():
        if row["subset"] in ("", *SUBSETS[judge.skill]):
            answers, undecided = sums.get((row["language"], row["system"]), (0, 0))
            sums[row["language"], row["system"]] = answers + row["answers"], undecided + row["undecided"]
    return sums


def _describe_ties(tests: BoardTests, best: Sequence[str]) -> str:
    """Return the pairs of systems that no test separates, the best first, but for what the conclusion said of the best;
    empty if nothing is left to say.
    """
    tied = [pair for pair in combinations(tests.systems, 2) if not tests.are_separated(*pair)]
    named = best if len(best) <= NAMED else ()
    pairs = [pair for pair in tied if not set(pair).issubset(named)]
    if not pairs and 1 < tests.n_pairs > len(tied):
        return f"All {'other ' if tied else ''}differences are significant."
    if len(pairs) <= PAIRS:
        return "; ".join(f"{first} and {second} are tied" for first, second in pairs) + ("." if pairs else "")
    who = "" if named else f" (tied for best: {join_first(best)})"
    return f"{len(tied):,} of {count_text(tests.n_pairs, 'pair')} of systems are tied{who}."


def _by_language(view: BoardView) -> list[str]:
    """Return in how many languages a system is significantly ahead of all others; nothing for one language."""
    if len(view.languages) < 2:
        return []
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in view.ranks.to_pylist():
        rows.setdefault(row["language"], []).append(row)
    best = [best_systems(view.ranking.tests[code], of_language) for code, of_language in rows.items()]
    alone = Counter(systems[0] for systems in best if len(systems) == 1)
    parts = [f"{system} is significantly ahead of all others in {n}" for system, n in alone.most_common()]
    if not parts:
        return [f"In each of the {len(best)} languages several are tied for best."]
    tied = [f"in {len(best) - alone.total()} several are tied for best"] if alone.total() < len(best) else []
    return [f"Of {len(best)} languages {'; '.join([*parts, *tied])}."]


def need_languages(arena: Arena, choice: BoardChoice) -> None:
    """Require every chosen language to have battles.

    Raises:
        UnknownName: if one has none.
        NotEnoughData: if the judge can rank no system of one.
    """
    if choice.languages:
        judge_of(arena, choice).check_languages(arena, choice.languages)


def families(arena: Arena) -> tuple[str, ...]:
    """Return the makers of an arena's judges, if there are several."""
    makers = makers_of(arena)
    names = sorted({makers.of(judge) for judge in verdict_judges(arena)})
    return tuple(names) if len(names) > 1 else ()


@memoize
def controls(arena: Arena) -> tuple[str, ...]:
    """Return the style features that ratings can be controlled for: those measured."""
    if "features" not in arena.tables:
        return ()
    measured = arena.sql("SELECT DISTINCT feature FROM features WHERE value IS NOT NULL")["feature"].to_pylist()
    return tuple(name for name, covariate in COVARIATES.items() if covariate.feature in measured)


def ranking_of(arena: Arena, choice: BoardChoice = DEFAULT) -> RankingReport:
    """Return the ranking behind a view with its battles, as a comparison of two systems needs it.

    Args:
        arena: the arena.
        choice: the choices; all verdicts count.

    Raises:
        MirageError: as `board_view` does.
    """
    view, nuggets = board_view(arena, choice), replace(choice.settings.of_nuggets, languages=None)
    battles = battles_of(arena, judge_of(arena, choice), nuggets) if view.by_query else {}
    rows = view.ranking.languages
    rated = {code: battles[code].subset(rows[code].systems) for code in view.languages if code in battles}
    return replace(view.ranking, battles=rated)


MEASURES = "Does it know when it cannot answer? Truth is not checked."
"""Meaning and limits of a ranking by relevance labels."""


def describe_data(arena: Arena, judge: Judge) -> str:
    """Describe the measurement by a judge in the whole arena, and its size."""
    data = size(arena, judge)
    over = f"{count_text(data.queries, 'query')} in {count_text(len(data.languages), 'language')}."
    released = release_words(arena, data.systems)
    if not judge.rests_on_labels:
        counts = count_text(data.answers, judge.counted.removesuffix("s"))
        several = len(judge.members(arena))
        decider = count_text(several, "judge") if several > 1 else judge.phrase(arena)
        about = judge_facts(arena).get(judge.name)
        decider += f" ({about.words})" if about is not None and about.words else ""
        return f"{counts} by {decider} on {len(data.systems)} systems{released}, {over}"
    noun = "real answer" if arena.label == "real replies" else "answer"
    systems = count_text(len(data.systems), "system")
    if "samples" in arena.tables:
        over += f" Of up to {len(sample_numbers(arena))} samples of an answer the first counts."
    return f"{MEASURES} {count_text(data.answers, noun)} of {systems}{released} to {over}"


def describe_selection(arena: Arena, judge: Judge, board: BoardView) -> str:
    """Describe the part of an arena that a board counts, and why the rest is excluded; empty if it counts all."""
    data, names = size(arena, judge), [name_of(code) for code in board.languages]
    if len(names) == len(data.languages) and board.n_queries == data.queries and not board.ranking.left_out:
        return ""
    summary = f"{board.n_queries:,} of {data.queries:,} queries in "
    summary += ", ".join(names) if len(names) <= 6 else f"{len(names)} of {len(data.languages)} languages"
    omitted = [
        f"{name_of(code)} ({reason})" for code, reason in board.lacking.items() if code not in board.ranking.unranked
    ]
    omitted = omitted if len(omitted) <= MANY else [count_text(len(omitted), "language")]
    why = "too few classified answers" if judge.rests_on_labels else "no battles in some of these languages"
    omitted += [f"{system} ({why})" for system in board.ranking.left_out]
    return f" Shown: {summary}" + (f"; excluded: {', '.join(omitted)}" if omitted else "") + "."
