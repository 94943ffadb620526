"""Rankings, comparisons, agreement, and the exam of judges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.api.results import Ranking, Rows, SystemComparison, as_tuple, make_rows, values_of
from mirage.api.rows import read_votes
from mirage.errors import BadInput, NotEnoughData
from mirage.io.rows import read_judgments
from mirage.io.verdict_files import read_judgments_file
from mirage.ranking import bootstrap
from mirage.ranking.settings import DRAWS, MOVED, SEED, CompareSettings, RankSettings
from mirage.store.arena import Arena

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.people.votes.correct import Correction


def rank(
    battles: Any,
    *,
    judge: str | None = None,
    languages: Iterable[str] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: schema.Ties = "half",
    penalty: schema.Penalty = "jeffreys",
    failures: schema.Failures = "count",
    assigner: str | None = None,
    nugget_margin: float = 0.0,
) -> Ranking:
    """Rank systems by their battles: Bradley-Terry ratings with 95% intervals, tests and rank intervals.

    Args:
        battles: an arena; or rows of battles: a data frame (pandas, polars), an Arrow table, a list of mappings, or a
            file (.csv, .jsonl, .parquet). Required columns `system_a`, `system_b` and `verdict` (`A`, `B`, `tie`;
            `unparsed` is excluded and counted). Optional: `query_id` (the resampling unit; without it each battle is
            its own query), `language` (ranked separately and jointly), `judge`, `voter` (a person, whose votes are a
            cluster beside the queries), and `points`, system_a's share of the battle's point, in [0, 1].
        judge: judge whose verdicts count, or of an arena `relevance` for its outcomes by labels, `nuggets` for
            its nugget scores; None for that of `evaluate`, else the only one; `pooled` for all.
        languages: codes; None for all that can be ranked.
        draws: bootstrap draws for the intervals.
        seed: random seed; the same seed gives the same numbers.
        ties: how ties count: as `half` a win, by `davidson`'s model, or not (`drop`).
        penalty: `jeffreys`, or `none` for maximum likelihood.
        failures: failed answers count as wrong (`count`), or are left out (`drop`).
        assigner: assigner of nuggets, with `nuggets`; None for the default.
        nugget_margin: largest difference of two nugget scores that ties, with `nuggets`.

    Raises:
        BadInput: if a column is missing, a value cannot be read (naming the row), or an option cannot apply.
        UnknownName: if the judge or a language has no verdict.
        NotEnoughData: if there is no battle to rate.

    Source: Bradley and Terry, Biometrika 39 (1952); Firth, Biometrika 80 (1993).
    """
    from mirage.battles.judge import choose_judge
    from mirage.views.board import BoardChoice, board_view, need_languages, ranking_of, rows_view

    settings = RankSettings(
        draws=draws,
        seed=seed,
        ties=ties,
        penalty=penalty,
        failures=failures,
        assigner=assigner,
        nugget_margin=nugget_margin,
        languages=as_tuple(languages),
    )
    if isinstance(battles, Arena):
        choice = BoardChoice((choose_judge(battles, judge),), settings.languages or (), settings)
        need_languages(battles, choice)
        view, ranking = board_view(battles, choice), ranking_of(battles, choice)
        return make_ranking(ranking, (*filter(None, [view.conclusion]), *view.remarks))
    table, notes = _read_any(battles)
    rows = rows_view(table, settings, () if judge is None else (judge,), notes)
    return make_ranking(rows.ranking, (*filter(None, [rows.conclusion]), *rows.remarks))


def make_ranking(report: bootstrap.RankingReport, remarks: tuple[str, ...]) -> Ranking:
    """Return a ranking of the API: the report with its remarks."""
    values = {field.name: getattr(report, field.name) for field in fields(report)}
    return Ranking(**(values | {"tested": report.tests}), remarks=remarks)


def compare(
    data: Any,
    first: str,
    second: str | None = None,
    *,
    against: Arena | None = None,
    measure: str = "rating",
    judge: str | None = None,
    margin: float = 0.0,
    languages: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
    failures: schema.Failures = "count",
    assigner: str | None = None,
    moved: int = MOVED,
    draws: int = DRAWS,
    seed: int = SEED,
) -> SystemComparison:
    """Compare two systems by their difference over the queries that both answered.

    Args:
        data: an arena; or, for ratings, a ranking or rows of battles as for `rank`.
        first: the system under test.
        second: the baseline system; None for the system of the same name in `against`.
        against: another arena that holds the second system, on the same queries.
        measure: `rating`, `rate`, `nuggets` or `feature:NAME`.
        judge: judge of the battles, for ratings, or `relevance` or `nuggets`; None as for `rank`.
        margin: equivalence margin, in the unit of the measure.
        languages: codes; None for all. Only with an arena.
        parser: parser whose outcomes count, for `rate`.
        failures: as for `rank`.
        assigner: assigner of nuggets; None for the default.
        moved: number of queries with the largest differences to list.
        draws: bootstrap draws for the intervals of ratings.
        seed: random seed.

    Raises:
        BadInput: if both systems are the same, an option does not apply to the data, or a row cannot be read.
        UnknownName: if there is no such system, language, measure or judge.
        TableMissing: if the arena lacks a table that the measure needs.
        NotEnoughData: if the systems share no query.
    """
    from mirage.views.comparison import comparison_view, ranking_comparison

    settings = CompareSettings(
        measure=measure,
        judge=judge,
        margin=margin,
        languages=as_tuple(languages),
        parser=parser,
        failures=failures,
        assigner=assigner,
        moved=moved,
        draws=draws,
        seed=seed,
    )
    if isinstance(data, Arena):
        labels = None
        if measure == "rate":
            from mirage.people.votes.database import Votes
            from mirage.people.votes.labels import read_labels

            with Votes() as database:
                labels = read_labels(data, database)
        view = comparison_view(data, first, second, settings, against, labels)
    else:
        if against is not None or languages is not None or measure != "rating":
            raise BadInput("battles without an arena are compared by rating, in all languages", do="pass an arena")
        ranked = isinstance(data, bootstrap.RankingReport)
        ranking = data if ranked else rank(data, judge=settings.judge, draws=draws, seed=seed)
        view = ranking_comparison(ranking, first, second or first, settings)
    return SystemComparison(**values_of(view))


def agreement(votes: Any, judgments: Any, *, control: bool = False) -> Rows:
    """Measure the agreement of people with each judge and with each other, with 95% intervals over queries.

    Args:
        votes: rows of votes: `query_id`, `system_a`, `system_b`, `verdict` (`A`, `B`, `tie`, `both_bad`, `skip`);
            optional `voter`, `language` and `control`, as in `mirage.people.votes.kinds.Vote`.
        judgments: rows of verdicts, as for `rank`, with `query_id` and `judge`; or an arena.
        control: count only votes whose column `control` is true: battles drawn at random.

    Returns:
        Rows of `mirage.people.votes.agreement.Agreement`.

    Raises:
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage.people.votes import agreement as comparison

    log = read_votes(votes)
    table, _ = _read_any(judgments)
    return Rows(
        schema.from_rows(comparison.Agreement, comparison.agreement(log, table, control=control)),
        "Agreement of people with judges and with each other, with 95% intervals",
    )


def correct(judgments: Any, votes: Any, *, judge: str | None = None) -> Correction:
    """Correct a judge's ranking by people's votes on randomly drawn battles.

    Args:
        judgments: rows of verdicts, as for `rank`, with `query_id`; or an arena.
        votes: rows of votes, as for `agreement`; all count as drawn at random, unless their column `control` says no.
        judge: name of the judge; None if there is only one.

    Returns:
        The corrected ranking of the only language, or of all jointly. Languages with too few votes are excluded;
        `left_out` gives the reasons.

    Raises:
        NotEnoughData: if there are too few votes, saying how many are missing.
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage.battles.decision import decisions as decide_all
    from mirage.battles.verdict_rows import judges_of, only_judge
    from mirage.people.votes import correct as correction

    table, _ = _read_any(judgments)
    name = only_judge(judges_of(table), judge)
    decisions = decide_all(table)[name]
    log = read_votes(votes)
    corrections, left_out = [], {}
    for code in sorted({vote.language for vote in log}):
        try:
            corrections.append(correction.correct(log, decisions, language=code, judge=name))
        except NotEnoughData as error:
            left_out[code] = error.what
    if not corrections:
        raise NotEnoughData(
            f"no ranking by {name} can be corrected",
            where="; ".join(left_out.values()) or "no vote counts",
            do="vote on more battles drawn at random",
        )
    joined = corrections[0] if len(corrections) == 1 else correction.join_corrections(corrections)
    return replace(joined, left_out=left_out)


def judge_exam(
    arena: Arena,
    votes: Any = None,
    *,
    judges: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    ratings: str | None = None,
    seed: int = SEED,
) -> Rows:
    """Evaluate every judge against people on the same battles: agreement, position bias, and the order of systems.

    Args:
        arena: with judgments; its imported human verdicts and scores count as people's.
        votes: further rows of votes, as for `agreement`.
        judges: names; None for all.
        languages: codes; None for all languages with human decisions.
        ratings: count the scores of this measure as people's; None if people scored only one measure.
        seed: seed of the draws for the intervals of the order.

    Returns:
        Rows of `mirage.people.exam.ExamMeasure`: one per judge, language and measure; agreement among people last.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if there is no such judge, language or measure.
        NotEnoughData: if people decided no battle that counts.
    """
    from mirage.people.exam import nobody_decided
    from mirage.people.votes.belonging import log_votes
    from mirage.views.exam import ExamChoice, exam_view

    log = [] if votes is None else [replace(vote, arena=arena.name) for vote in read_votes(votes)]
    choice = ExamChoice(as_tuple(languages) or (), as_tuple(judges) or (), ratings, seed)
    view = exam_view(arena, choice, log_votes(log))
    if not view.exams:
        raise nobody_decided()
    return Rows(view.exam_table(), "A judge's exam", remarks=tuple(filter(None, [view.conclusion])))


def judge_passport(arena: Arena, judge: str, *, languages: Iterable[str] | None = None) -> Rows:
    """Report how often a judge prefers an answer to its copy with a planted fault.

    Args:
        arena: with verdicts of `judge(..., passport=True)`.
        judge: the judge.
        languages: codes; None for all.

    Returns:
        Rows of `mirage.stages.judge.passport.PassportRow`: by fault and language, `all` after the languages.

    Raises:
        NotEnoughData: if the arena has no planted faults, or the judge has decided none in these languages.
        UnknownName: if the judge has decided none.
    """
    from mirage.views.exam import passport_view

    return make_rows(passport_view(arena, judge, as_tuple(languages) or ()), f"Passport of {judge}")


def _read_any(data: Any) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the verdicts of an arena, of a file or in rows, and the assumptions made."""
    return read_judgments_file(Path(data)) if isinstance(data, str | Path) else read_judgments(data)
