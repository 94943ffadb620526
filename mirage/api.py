"""The door for programmers: what `import mirage` gives.

    arena = mirage.open_arena("nomiracl")            # a bundled arena by name, or a folder
    mirage.rates(arena, languages=["sw"])            # how often each system is wrong
    ranking = mirage.rank(battles)                   # a data frame, rows, or a file of battles
    ranking.difference("a", "b"); ranking.tiers      # with intervals, and what can be told apart

Results know how they were made; as text they are ten lines, in a notebook a table. `to_pandas()` gives all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mirage.rank as ranks
from mirage import schema, store
from mirage.comparison.records import ComparisonReport
from mirage.deciding.records import ChoiceReport, Requirements
from mirage.errors import BadInput, MirageError, NotEnoughData, UnknownName
from mirage.intervals import CONFIDENCE
from mirage.names import NAMES, normalise_name
from mirage.rank import DRAWS, SEED, Difference
from mirage.store import Arena

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from mirage.abstention import Method
    from mirage.engines.tasks import Executor
    from mirage.placement import Placement
    from mirage.rank.large import VerdictFiles, VerdictSource
    from mirage.votes import Correction, Vote

__all__ = [
    "Arena",
    "BadInput",
    "Difference",
    "MirageError",
    "NotEnoughData",
    "Ranking",
    "Rows",
    "SystemChoice",
    "SystemComparison",
    "UnknownName",
    "agreement",
    "attribution",
    "compare",
    "correct",
    "decide",
    "import_file",
    "judge_exam",
    "nugget_scores",
    "open_arena",
    "place",
    "rank",
    "rates",
    "retrieval_measures",
    "risk_coverage",
]

SHOWN, COLUMNS = 10, 9
"""Rows and columns of a result that are printed at most."""

_BATTLE = ("system_a", "system_b", "verdict")
_UNDETERMINED = "und"
"""BCP 47 code of a language that is not known."""


@dataclass(frozen=True, eq=False, repr=False)
class Rows(Sequence[Mapping[str, Any]]):
    """A table of results: a sequence of rows, each a mapping from column to value."""

    table: pa.Table
    """All rows; what a column means stands in the documentation of its record."""
    title: str
    """What the rows are, in a line."""
    first: tuple[str, ...] = ()
    """Columns that are printed; none for as many as fit."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, index: Any) -> Any:
        return self.table.to_pylist()[index]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.table.to_pylist())

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a data frame."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def __repr__(self) -> str:
        return _text(self.title, self.table, self.first)

    def _repr_html_(self) -> str:
        return _html(self.title, self.table, self.first)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(ranks.Ranking):
    """Ratings of systems by language, with intervals, tiers and differences."""

    remarks: tuple[str, ...] = ()
    """What a reader must know: what was left out, and what the data cannot tell."""

    def to_pandas(self, language: str | None = None) -> pd.DataFrame:
        """One row a language and system, best first: rating, interval, rank, tier and record (`schema.Rating`).

        Args:
            language: code, or `all`; None for every one.

        Raises:
            UnknownName: if the language is not ranked here.
        """
        frame: pd.DataFrame = _of_language(self._ordered(), language).to_pandas()
        return frame

    def to_latex(self, language: str | None = None) -> str:
        """One language as a LaTeX table (`booktabs`): a rule between tiers, the best tier bold, how it was made below.

        Args:
            language: code, or `all`; None for the last, which is `all` where there are several.

        Raises:
            UnknownName: if the language is not ranked here.
        """
        from mirage.exports.leaderboard import to_latex

        return to_latex(self, language, notes=self.remarks)

    def to_markdown(self, language: str | None = None) -> str:
        """One language as a Markdown table. Args and errors: as for `to_latex`."""
        from mirage.exports.leaderboard import to_markdown

        return to_markdown(self, language, notes=self.remarks)

    def plot(self, language: str | None = None) -> Any:
        """The ratings of one language with their intervals, as a figure of plotly.

        Args:
            language: code, or `all`; None for the last, which is `all` where there are several.

        Raises:
            UnknownName: if the language is not ranked here.
        """
        import plotly.graph_objects as go

        from mirage.charts import leaderboard

        code = list(self.languages)[-1] if language is None else language
        rows = _of_language(self._ordered(), code).to_pylist()
        return go.Figure(leaderboard.whiskers(rows, mode="light", title=leaderboard.axis_title(ties=self.ties)))

    def _ordered(self) -> pa.Table:
        places = {code: k for k, code in enumerate(self.languages)}
        rows = self.table().to_pylist()
        return _table(sorted(rows, key=lambda row: (places[row["language"]], row["rank"], row["system"])))

    def _shown(self) -> tuple[str, pa.Table]:
        code = list(self.languages)[-1]
        row = self.languages[code]
        where = "" if code == _UNDETERMINED else f" in {code}"
        title = f"{len(row.systems)} systems{where}, {row.n_queries:,} queries: {self.method}"
        title = "\n".join([title, *self.remarks])
        columns = ["rank", "system", "rating", "low", "high", "tier", "battles"]
        return title, _of_language(self._ordered(), code).select(columns)

    def __repr__(self) -> str:
        return _text(*self._shown())

    def _repr_html_(self) -> str:
        return _html(*self._shown())


@dataclass(frozen=True, eq=False, repr=False)
class SystemChoice(ChoiceReport):
    """Which system to take: a row a language, `all` last where there are several."""

    def to_pandas(self) -> pd.DataFrame:
        """One row a language (`mirage.deciding.LanguageChoice`)."""
        frame: pd.DataFrame = self._table().to_pandas()
        return frame

    def systems(self) -> pd.DataFrame:
        """One row a system, those worth most first (`mirage.deciding.SystemOption` and its `SystemFacts`)."""
        from mirage.deciding.reports import option_records

        frame: pd.DataFrame = _table(option_records(self)).to_pandas()
        return frame

    def _table(self) -> pa.Table:
        from mirage.deciding.reports import language_records

        return _table([row | {"contenders": ", ".join(row["contenders"])} for row in language_records(self)])

    def _shown(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        from mirage.deciding.reports import notes

        columns = ("language", "choice", "contenders", "p_right", "regret", "one_regret", "n_queries")
        return "\n".join(notes(self)), self._table(), columns

    def __repr__(self) -> str:
        return _text(*self._shown())

    def _repr_html_(self) -> str:
        return _html(*self._shown())


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(ComparisonReport):
    """Whether one system is better than another: a row a language, `all` last where there are several."""

    def to_pandas(self) -> pd.DataFrame:
        """One row a language (`mirage.comparison.Comparison`)."""
        frame: pd.DataFrame = self._table().to_pandas()
        return frame

    def to_markdown(self) -> str:
        """The summary that `mirage compare --markdown` writes."""
        from mirage.comparison.reports import to_markdown

        return to_markdown(self)

    def _table(self) -> pa.Table:
        return _table([asdict(row) for row in self.rows])

    def _shown(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        from mirage.comparison.reports import notes

        columns = ("language", "verdict", "difference", "low", "high", "p_holm", "n_queries", "detectable", "more")
        return "\n".join(notes(self)), self._table(), columns

    def __repr__(self) -> str:
        return _text(*self._shown())

    def _repr_html_(self) -> str:
        return _html(*self._shown())


def open_arena(arena: str | Path) -> Arena:
    """Open an arena: a bundled one by its name, or a folder.

    Args:
        arena: `nomiracl`, the name of another bundled arena, the path of a folder, or an address on object storage
            (`s3://bucket/folder`).

    Raises:
        UnknownName: if it is neither the name of a bundled arena nor a folder.
        BadInput: if the address is none, or holds credentials.
        Unreachable: if the object storage does not answer.
        ArenaError: if the folder is not an arena, or not a sound one.
    """
    folders = store.bundled()
    if str(arena) in folders and not store.is_arena(Path(arena)):
        return store.open_arena(folders[str(arena)])
    folder = store.located(arena) if isinstance(arena, str) else arena
    if not store.is_remote(folder) and not folder.is_dir():
        raise UnknownName("arena", str(arena), folders, where="the bundled arenas, and this is no folder either")
    return store.open_arena(folder)


def import_file(
    path: str | Path,
    into: str | Path,
    *,
    kind: str | None = None,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> Arena:
    """Read a file of yours, in any known format, into an arena, new or existing, in one step.

    Args:
        path: JSON, JSON Lines, CSV or Parquet, packed or not, or a folder of such files.
        into: the arena's folder.
        kind: the format: `rag`, `ragas`, `lmarena` ...; None: it is told by what the file holds.
        names: our field by the file's: `{"q": "question"}`.
        values: by our field, the value of every record without it: `{"system": "my-model"}`.

    Raises:
        BadInput: listing every wrong record; nothing is then imported.
        ArenaError: if a query or passage would change that the arena has answers to, or the arena cannot be written.
    """
    from mirage.imports import import_file as imported
    from mirage.sources.files import Options

    return imported(Path(path), Path(into), name=kind, options=Options(names or {}, values or {})).arena


def rates(
    arena: Arena,
    *,
    languages: Iterable[str] | None = None,
    systems: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
) -> Rows:
    """How often each system answers where no passage has the answer, and abstains where one has (NoMIRACL).

    Args:
        arena: with the table `outcomes`.
        languages: codes; None for all.
        systems: names; None for all.
        parser: whose reading of the answers counts.

    Returns:
        Rows of `mirage.outcomes.Rate`: a row a language, subset and system, with 95% intervals.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if it has no such language, system or parser.
    """
    from mirage import outcomes

    table = outcomes.rates(
        arena.read("outcomes"),
        parser=parser,
        languages=None if languages is None else list(languages),
        systems=None if systems is None else list(systems),
    )
    title = f"Rates of {arena.name}, with 95% intervals; the row `all` is the mean over languages"
    return Rows(table, title, ("language", "subset", "system", "n", "rate", "rate_low", "rate_high", "undecided"))


def retrieval_measures(
    arena: Arena,
    *,
    measures: Sequence[str] | None = None,
    languages: Iterable[str] | None = None,
    relevant_from: int = 1,
) -> Rows:
    """How well each retriever did on the queries whose passages people have labelled.

    `given` is the passages that came with the queries. judged@k stands beside every measure at k: a passage that nobody
    has labelled counts as not relevant.

    Args:
        arena: with the table `passages`, and `retrieved` where anything was retrieved.
        measures: names as ir_measures has them; None for nDCG@10, R@10, R@100, RR@10, AP@100 and judged@10.
        languages: codes; None for all.
        relevant_from: the least grade that counts as relevant.

    Returns:
        Rows of `mirage.retrieval.measures.RetrievalMean`: a row a language, retriever and measure, with 95% intervals
        over queries; the language `all` is the mean over languages.

    Raises:
        NotEnoughData: if no passage has a label.
        UnknownName: if there is no such measure or language.
    """
    from mirage.retrieval import summary
    from mirage.retrieval.measures import MEASURES, means

    codes = None if languages is None else list(languages)
    chosen = MEASURES if measures is None else measures
    table = summary.measured(arena, measures=chosen, languages=codes, relevant_from=relevant_from)
    rows = _table([asdict(row) for row in means(table)])
    title = f"Retrievers of {arena.name}, with 95% intervals; relevant from grade {relevant_from}"
    return Rows(rows, title, ("language", "retriever", "measure", "mean", "low", "high", "n", "total"))


def risk_coverage(
    arena: Arena,
    signal: str,
    *,
    error: float = 0.1,
    loss: str = "hallucination",
    higher: bool | None = None,
    method: Method = "conformal",
    confidence: float = CONFIDENCE,
    languages: Iterable[str] | None = None,
    systems: Iterable[str] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Rows:
    """What a signal of an answer buys when weak answers are withheld: risk against coverage, and a promised error.

    Args:
        arena: with the signal, and `outcomes` or `scores` for the loss.
        signal: a feature, or a measure of `scores`.
        error: the error to promise, between 0 and 1.
        loss: `hallucination`, `wrong`, or a measure of `scores` whose scale is known.
        higher: whether more of the signal speaks for the answer; None: as the feature declares, else yes.
        method: `conformal` or `tested` (`mirage.abstention.Promise`).
        confidence: of `tested`: the least probability that the promise holds.
        languages: codes; None for all.
        systems: names; None for all.
        draws: of the bootstrap of the queries, at least 2.
        seed: of the draws and of the split of the queries into calibration and test.

    Returns:
        A row a language and system, with the fields of `mirage.abstention.Curve` and of its `Promise`; those of the
        promise that the curve has too begin with `test_`.

    Raises:
        TableMissing: if the arena lacks the table of the signal or of the loss.
        UnknownName: if there is no such signal, loss, language or system.
        BadInput: if the error or the confidence cannot be, or a scale is not known.
    """
    from mirage import abstention

    traded = abstention.tradeoffs(
        arena,
        signal,
        error=error,
        loss=loss,
        higher=higher,
        method=method,
        confidence=confidence,
        languages=languages,
        systems=systems,
        draws=draws,
        seed=seed,
    )
    title = f"{signal} of {arena.name}: area under risk against coverage, and the threshold for an error of {error:g}"
    return Rows(_table([row.flat() for row in traded]), title, abstention.SHOWN)


def attribution(
    arena: Arena, *, languages: Iterable[str] | None = None, relevant_from: int = 1, answers: bool = False
) -> Rows:
    """Whether the retriever or the model failed: the cause of every answer, by people's labels of the passages.

    Args:
        arena: with the table `outcomes`, and `answers` and `passages` where they are there.
        languages: codes; None for all.
        relevant_from: the least grade that counts as relevant.
        answers: whether each answer has a row, with its evidence; else each system and cause has.

    Returns:
        Rows of `mirage.retrieval.attribution.CauseShare`, with 95% intervals over queries, or of `Attribution`.

    Raises:
        TableMissing: if it lacks outcomes.
        UnknownName: if it has no such language.
    """
    from mirage.retrieval import summary
    from mirage.retrieval.attribution import cause_shares

    codes = None if languages is None else list(languages)
    entries = summary.attributions(arena, languages=codes, relevant_from=relevant_from)
    causes = [entry.attribution for entry in entries]
    if answers:
        return Rows(_table([asdict(row) for row in causes]), f"Where each answer of {arena.name} went")
    title = f"Where answers of {arena.name} are lost, with 95% intervals over queries"
    rows = _table([asdict(row) for row in cause_shares(causes)])
    return Rows(rows, title, ("language", "system", "cause", "k", "n", "share", "low", "high"))


def nugget_scores(arena: Arena, *, assigner: str | None = None, languages: Iterable[str] | None = None) -> Rows:
    """Which share of the facts that a good answer states each system's answers state (nuggetizer, TREC RAG 2024).

    Args:
        arena: with the tables `answers`, `nuggets` and `nugget_assignments`.
        assigner: whose assignments count; None for who made most of them, and the matcher of shared words,
            `baseline/terms`, only where it is alone.
        languages: codes; None for all.

    Returns:
        A row a language, system and score (`feature`), with the mean over queries, its 95% interval (`low`, `high`),
        `n` queries with a value and `total` queries; the language `all` is the mean over languages.

    Raises:
        TableMissing: if the arena lacks one of the tables.
        UnknownName: if nobody of this name made assignments.
    """
    from mirage.features.stage import nugget_means

    chosen, means = nugget_means(arena, assigner=assigner, languages=None if languages is None else list(languages))
    title = f"Scores of {arena.name} by nuggets, assigned by {chosen}, with 95% intervals over queries"
    first = ("language", "system", "feature", "mean", "low", "high", "n", "total")
    return Rows(_table([{name: getattr(row, name) for name in first} for row in means]), title, first)


def rank(
    battles: Any,
    *,
    judge: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: schema.Ties = "half",
    penalty: ranks.Penalty = "jeffreys",
    executor: Executor | None = None,
) -> Ranking:
    """Rank systems by their battles: Bradley-Terry ratings with 95% intervals, tests and tiers.

    Args:
        battles: an arena; or rows of battles: a data frame (pandas, polars), an Arrow table, a list of mappings, or a
            file (.csv, .jsonl, .parquet). Columns `system_a`, `system_b` and `verdict` (`A`, `B`, `tie`; `unparsed` is
            left out and counted). Where the counts would not fit in memory, a block of queries is counted at a time.
            Optional: `query_id` (battles on one query are drawn together; without it each battle is a query of its
            own), `language` (each is ranked, and all together), `judge`, and `points`, what
            system_a takes of the battle's point, in [0, 1].
        judge: whose verdicts, or `relevance` for an arena's outcomes by human labels; None where there is only one.
        draws: bootstrap draws behind the intervals.
        seed: their seed; the same seed gives the same numbers.
        ties: how ties count: `half` a win, by `davidson`'s model, or `drop`.
        penalty: `jeffreys`, or `none` for the maximum of the likelihood.
        executor: what counts verdicts that do not fit in memory: `mirage.engines.processes.Processes(8)`, or
            `mirage.engines.cluster.Cluster(32, "HOST:PORT")` for Ray; None counts them here. The result is the same.

    Raises:
        BadInput: if a column is missing or a value cannot be read, saying which row; if an engine is not there.
        UnknownName: if the judge has no verdict.
        NotEnoughData: if there is no battle to rate.

    Source: Bradley and Terry, Biometrika 39 (1952); Firth, Biometrika 80 (1993).
    """
    from mirage.battles.referee import Referee, only_judge, referees
    from mirage.battles.verdict_rows import judges_of
    from mirage.rank.large import VerdictTable, rank_files
    from mirage.rank.ranking import rank_by, remarks

    notes: list[str] = []
    verdicts: VerdictSource | None = _files(battles, judge)
    if not isinstance(battles, Arena) and (verdicts is None or not verdicts.large):
        verdicts = VerdictTable.of(_judgments(_frame(battles), notes))
    if verdicts is not None and verdicts.large:
        how: dict[str, Any] = {"draws": draws, "seed": seed, "ties": ties, "penalty": penalty}
        result = rank_files(verdicts, judge=judge, executor=executor, **how)
        notes += [*remarks(result), "counted a block of queries at a time: too many battles for memory"]
        return Ranking(**{field.name: getattr(result, field.name) for field in fields(result)}, remarks=tuple(notes))
    if isinstance(verdicts, VerdictTable):
        table = verdicts.table
        name = only_judge(judges_of(table), judge)
    else:
        name = only_judge(referees(battles), judge, noun="referee")
        table = battles.read(Referee.named(name).table)
    result = rank_by(table, name, draws=draws, seed=seed, ties=ties, penalty=penalty)
    notes += remarks(result, table if Referee.named(name).by_labels else None)
    return Ranking(**{field.name: getattr(result, field.name) for field in fields(result)}, remarks=tuple(notes))


def compare(
    data: Any,
    first: str,
    second: str | None = None,
    *,
    against: Arena | None = None,
    measure: str = "rating",
    referee: str | None = None,
    margin: float = 0.0,
    languages: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
    assigner: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> SystemComparison:
    """Is one system better than another: the difference over the queries that both have, with a verdict.

    Args:
        data: an arena; or, for ratings, a ranking or rows of battles as for `rank`.
        first: the system that is compared.
        second: the system it is compared with; None for one of the same name in `against`.
        against: another arena that holds the second system, on the same queries.
        measure: `rating`, `rate`, `nuggets` or `feature:NAME`.
        referee: who decides the battles, for ratings; None where there is only one.
        margin: differences of at most this count as none, in the unit of the measure.
        languages: codes; None for all. Only of an arena.
        parser: whose reading of the answers counts, for `rate`.
        assigner: whose assignments of nuggets count; None for the default.
        draws: bootstrap draws behind the intervals of ratings.
        seed: their seed.

    Raises:
        BadInput: if the two are one, an option does not go with the data, or a row cannot be read.
        UnknownName: if a system, language, measure or referee is not there.
        TableMissing: if the arena lacks a table that the measure needs.
        NotEnoughData: if there is no query of both.
    """
    from mirage.comparison import compare_ratings, compare_systems

    if isinstance(data, Arena):
        report = compare_systems(
            data,
            first,
            second,
            against=against,
            measure=measure,
            referee=referee,
            margin=margin,
            languages=None if languages is None else list(languages),
            parser=parser,
            assigner=assigner,
            draws=draws,
            seed=seed,
        )
    else:
        if against is not None or languages is not None or measure != "rating":
            raise BadInput("battles alone are compared by rating, in all languages", do="give an arena")
        ranked = isinstance(data, ranks.Ranking)
        ranking = data if ranked else rank(data, judge=referee, draws=draws, seed=seed)
        report = compare_ratings(ranking, first, first if second is None else second, margin=margin)
    return SystemComparison(**{field.name: getattr(report, field.name) for field in fields(report)})


def decide(
    arena: Arena,
    *,
    weights: Mapping[str, float] | None = None,
    referee: str | None = None,
    budget: float | None = None,
    seconds: float | None = None,
    licences: Iterable[str] = (),
    open_weights: bool = False,
    context_length: int | None = None,
    margin: float = 0.0,
    languages: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
    assigner: str | None = None,
    tokens_in: float | None = None,
    tokens_out: float | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> SystemChoice:
    """Which system to take: the cheapest that cannot be told apart from the best, in each language and for all.

    Args:
        arena: an arena; its cards and ledger tell price and latency.
        weights: of measures (`rating`, `rate`, `nuggets`, `feature:NAME`); None for ratings alone.
        referee: who decides the battles, for ratings; None where there is only one.
        budget: most US dollars for 1,000 answers.
        seconds: most seconds for an answer, the median.
        licences: licences that will do; empty for any.
        open_weights: only systems whose weights can be downloaded.
        context_length: least tokens of prompt and answer together.
        margin: differences of at most this count as none, in the unit of the worth.
        languages: codes; None for all.
        parser: whose reading of the answers counts, for `rate` and ratings by relevance labels.
        assigner: whose assignments of nuggets count; None for the default.
        tokens_in: prompt tokens of an answer, for systems without calls in the ledger.
        tokens_out: tokens of an answer, likewise.
        draws: draws behind intervals and chances.
        seed: their seed.

    Raises:
        BadInput: if a weight, a requirement or the margin is none.
        UnknownName: if a measure, referee or language is not there.
        TableMissing: if the arena lacks a table that a measure needs.
        NotEnoughData: if no language has a system with all measures.
    """
    from mirage.deciding import choose_systems

    report = choose_systems(
        arena,
        weights=weights,
        referee=referee,
        requirements=Requirements(budget, seconds, tuple(licences), open_weights, context_length),
        margin=margin,
        languages=None if languages is None else list(languages),
        parser=parser,
        assigner=assigner,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        draws=draws,
        seed=seed,
    )
    return SystemChoice(**{field.name: getattr(report, field.name) for field in fields(report)})


def agreement(votes: Any, judgments: Any, *, control: bool = False, seed: int = SEED) -> Rows:
    """How far people agree with each judge, and with each other, with 95% intervals over queries.

    Args:
        votes: rows of votes: `query_id`, `system_a`, `system_b`, `verdict` (`A`, `B`, `tie`, `both_bad`, `skip`);
            optional `voter`, `language` and `control`. What `mirage.votes.Vote` says of each.
        judgments: rows of verdicts, as for `rank`, with `query_id` and `judge`; or an arena.
        control: whether only votes count that a column `control` marks as drawn at random.
        seed: seed of the draws.

    Returns:
        Rows of `mirage.votes.Agreement`.

    Raises:
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage import votes as people

    log = _votes(_frame(votes))
    table = judgments.read("judgments") if isinstance(judgments, Arena) else _judgments(_frame(judgments), [])
    return Rows(
        schema.from_rows(people.Agreement, people.agreement(log, table, control=control, seed=seed)),
        "Agreement of people with judges and with each other, with 95% intervals",
    )


def correct(judgments: Any, votes: Any, *, judge: str | None = None, seed: int = SEED) -> Correction:
    """Correct a judge's ranking by votes of people on battles that were drawn at random.

    Args:
        judgments: rows of verdicts, as for `rank`, with `query_id`; or an arena.
        votes: rows of votes, as for `agreement`; all of them count as drawn at random, unless a column `control` or
            `inclusion` says otherwise.
        judge: whose verdicts; None where there is only one.
        seed: seed of the draws behind the intervals of the ranks.

    Returns:
        The corrected ranking of the one language, or of all together. A language whose votes do not allow one is left
        out, and `left_out` says why.

    Raises:
        NotEnoughData: if the votes are too few, saying how many are lacking.
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage import votes as people
    from mirage.battles.decision import decisions as decide_all
    from mirage.battles.referee import only_judge
    from mirage.battles.verdict_rows import judges_of

    table = judgments.read("judgments") if isinstance(judgments, Arena) else _judgments(_frame(judgments), [])
    name = only_judge(judges_of(table), judge)
    decisions = decide_all(table)[name]
    log = _votes(_frame(votes))
    corrections, left_out = [], {}
    for code in sorted({vote.language for vote in log}):
        try:
            corrections.append(people.correct(log, decisions, language=code, judge=name, seed=seed))
        except NotEnoughData as error:
            left_out[code] = error.what
    if not corrections:
        raise NotEnoughData(
            f"no ranking by {name} can be corrected",
            where="; ".join(left_out.values()) or "no vote counts",
            do="vote on more battles drawn at random",
        )
    joined = corrections[0] if len(corrections) == 1 else people.join_corrections(corrections)
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
    """How every judge does beside people on the same battles: agreement, errors, leanings, and the order of systems.

    Args:
        arena: with judgments. People are those whose verdicts or scores it came with, and the votes given.
        votes: rows of votes, as for `agreement`; None for none beside those of the arena.
        judges: names; None for all.
        languages: codes; None for all that people decided in.
        ratings: the measure whose scores count as people's; None for the only one that people scored.
        seed: seed of the draws behind the intervals of the order.

    Returns:
        Rows of `mirage.exam.ExamMeasure`: one a judge, language and measure; people among themselves last.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if a judge, a language or the measure is not there.
        NotEnoughData: if people decided no battle that counts.
    """
    from mirage.exam import exam

    log = [] if votes is None else [replace(vote, arena=arena.name) for vote in _votes(_frame(votes))]
    result = exam(arena, votes=log, judges=judges, languages=languages, ratings=ratings, seed=seed)
    return Rows(result.table(), " ".join(choice.sentence for choice in result.choices) or "A judge's exam")


def place(arena: Arena, system: str, *, judge: str | None = None, seed: int = SEED) -> Placement:
    """Where a new system stands among the judged ones, and the battles that would settle its tier.

    Args:
        arena: with judgments, and features or answers of the new system.
        system: the new system.
        judge: the judge; None where there is only one.
        seed: seed of the battles drawn at random.

    Raises:
        TableMissing: if the arena has no judgments, or neither answers nor features.
        UnknownName: if the system has no answers, or the judge no battles.
        NotEnoughData: if there are not two judged systems.
    """
    from mirage import placement as placing

    return placing.place(arena, system, referee=judge, seed=seed)


def _files(battles: Any, judge: str | None) -> VerdictFiles | None:
    """The Parquet files that battles are read from, where they are verdicts in such files."""
    from mirage.battles.referee import POOLED, RELEVANCE
    from mirage.rank.large import VerdictFiles

    if isinstance(battles, Arena):
        judged = "judgments" in battles.tables and judge not in (RELEVANCE, POOLED)
        return VerdictFiles.of_arena(battles) if judged else None
    return VerdictFiles.of_file(Path(battles)) if isinstance(battles, str | Path) else None


# --- rows in ----------------------------------------------------------------------------------------------------------


def _frame(rows: Any) -> pa.Table:
    """Any kind of rows as an Arrow table."""
    import pyarrow as pa

    if isinstance(rows, str | Path):
        lines = list(store.records(Path(rows)))
        return _table([line.value for line in lines])
    if isinstance(rows, pa.Table):
        return rows
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if isinstance(rows, Mapping):
        return pa.table(dict(rows))
    if isinstance(rows, Iterable):
        return _table([dict(row) for row in rows])
    raise BadInput(
        f"battles cannot be a {type(rows).__name__}",
        do="give a data frame, an Arrow table, a list of mappings, or the path of a .csv, .jsonl or .parquet file",
    )


def _judgments(rows: pa.Table, notes: list[str]) -> pa.Table:
    """Rows of battles as table `judgments`; what was assumed goes to the notes."""
    from mirage.battles.decision import VERDICTS

    _need(rows, _BATTLE)
    n = len(rows)
    columns = {name: _texts(rows, name) for name in _BATTLE}
    columns["verdict"] = [schema.verdict_word(word) for word in columns["verdict"]]
    words = Counter(columns["verdict"])
    unknown = [word for word in words if word not in VERDICTS]
    if unknown:
        row = columns["verdict"].index(unknown[0])
        raise BadInput(
            f"the verdict {unknown[0]!r} is none of {', '.join(VERDICTS)}",
            where=f"row {row + 1:,}",
            do="write A where system_a is better, B where system_b is, tie where neither is",
        )
    if "query_id" in rows.column_names:
        columns["query_id"] = _texts(rows, "query_id")
    else:
        columns["query_id"] = [f"{k:08}" for k in range(n)]
        notes.append("no query_id: each battle counts as a query of its own, so intervals take battles for independent")
    columns["language"] = _texts(rows, "language", _UNDETERMINED)
    columns["judge"] = _texts(rows, "judge", "judge")
    if "points" in rows.column_names:
        columns["points"] = rows["points"].to_pylist()
    return _typed(columns)


def _typed(columns: Mapping[str, list[Any]]) -> pa.Table:
    import pyarrow as pa

    kinds = {name: pa.float64() if name == "points" else pa.string() for name in columns}
    return pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})


def _votes(rows: pa.Table) -> list[Vote]:
    from mirage import votes as people
    from mirage.battles.decision import READABLE

    verdict = "vote" if "vote" in rows.column_names else "verdict"
    _need(rows, ("query_id", "system_a", "system_b", verdict))
    language, voters = _texts(rows, "language", _UNDETERMINED), _texts(rows, "voter", "somebody")
    drawn = rows["control"].to_pylist() if "control" in rows.column_names else [True] * len(rows)
    chances = rows["inclusion"].to_pylist() if "inclusion" in rows.column_names else [None] * len(rows)
    names = ("query_id", "system_a", "system_b", verdict)
    log = []
    known = (*READABLE, "skip")
    for k, (query, a, b, told) in enumerate(zip(*(_texts(rows, name) for name in names), strict=True)):
        if (word := schema.verdict_word(told)) not in known:
            raise BadInput(f"the vote {told!r} is none of {', '.join(known)}", where=f"row {k + 1:,}", do="correct it")
        chance = chances[k]
        if chance is not None and not 0 < chance <= 1:
            raise BadInput(
                f"an inclusion of {chance} is no probability",
                where=f"row {k + 1:,}",
                do="give one above 0, at most 1, or leave it empty",
            )
        log.append(
            people.Vote(
                vote_id=f"{k:08}",
                time="",
                arena="",
                language=language[k],
                query_id=query,
                system_a=a,
                system_b=b,
                voter=voters[k],
                vote=word,  # type: ignore[arg-type]  # it is one of the words known
                control=bool(drawn[k]),
                why="",
                note=None,
                undoes=None,
                seconds=None,
                session=None,
                shown=None,
                inclusion=chance,
            )
        )
    return log


def _need(rows: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.column_names]
    if missing:
        raise BadInput(
            f"there is no column {' and no column '.join(missing)}; there are {', '.join(rows.column_names)}",
            do=f"rename columns so that there are {', '.join(names)}",
        )


def _texts(rows: pa.Table, name: str, default: str | None = None) -> list[str]:
    """A column as texts: numbers are written out, and nothing may be missing. Without the column: the default."""
    if default is not None and name not in rows.column_names:
        return [default] * len(rows)
    values = rows[name].to_pylist()
    for k, value in enumerate(values):
        if value is None or value == "" or value != value:
            raise BadInput(f"{name} is missing", where=f"row {k + 1:,}", do="fill it in, or leave the row out")
    return [normalise_name(str(value)) if name in NAMES else str(value) for value in values]


# --- results out ------------------------------------------------------------------------------------------------------


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist([dict(row) for row in rows])


def _of_language(table: pa.Table, language: str | None) -> pa.Table:
    import pyarrow.compute as pc

    if language is None:
        return table
    languages = list(dict.fromkeys(table["language"].to_pylist()))
    if language not in languages:
        raise UnknownName("language", language, languages)
    return table.filter(pc.equal(table["language"], language))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _shorter(table: pa.Table, first: Sequence[str]) -> tuple[list[str], list[list[str]], str]:
    """The columns to print, the first rows of them, and what is left out."""
    names = list(first) or [name for name in table.column_names if table[name].null_count < len(table)][:COLUMNS]
    rows = [[_cell(row[name]) for name in names] for row in table.slice(0, SHOWN).to_pylist()]
    more, hidden = len(table) - len(rows), len(table.column_names) - len(names)
    rest = [f"{more:,} more rows"] * bool(more) + [f"{hidden} more columns"] * bool(hidden)
    return names, rows, f"... {' and '.join(rest)}: to_pandas() has all" if rest else ""


def _text(title: str, table: pa.Table, first: Sequence[str] = ()) -> str:
    names, rows, rest = _shorter(table, first)
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [names, *rows]
    ]
    return "\n".join([title, *lines, *([rest] if rest else [])])


def _html(title: str, table: pa.Table, first: Sequence[str] = ()) -> str:
    names, rows, rest = _shorter(table, first)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td dir='auto'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<p>{escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
        f"<p>{escape(rest)}</p>" if rest else ""
    )
