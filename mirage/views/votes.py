"""Views of people's votes and scores: agreement with judges, and corrected rankings and levels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.people.levels.labels import how_to_label, label_measures, read_labels
from mirage.people.levels.levels import CorrectedLevel, correct_levels
from mirage.people.votes.agreement import Agreement
from mirage.people.votes.belonging import VoteLog, log_votes
from mirage.people.votes.kinds import Evidence, Vote
from mirage.people.votes.opinions import ENOUGH
from mirage.people.votes.raters import ScoreMean, score_means
from mirage.people.votes.stage import correct_ranking, vote_agreement
from mirage.ranking.compare.measures import RATE
from mirage.schema import PEOPLE, Parser
from mirage.store.arena import Arena
from mirage.text.languages import name_of
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import as_sentence, count_text
from mirage.views.cache import cached_view, memoize

NO_EVIDENCE: VoteLog[Evidence] = log_votes(())


@dataclass(frozen=True, eq=False)
class AgreementView:
    """Agreement of people with each judge and with each other."""

    rows: tuple[Agreement, ...]
    """By judge and language, `all` after the languages; people last."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Reasons why values or intervals are lacking."""
        return tuple(f"{row.judge}, {row.language}: {row.reason}" for row in self.rows if row.reason)

    def joint_row(self, judge: str) -> Agreement | None:
        """Return the row of a judge over the languages, or in the only one; None without votes."""
        return next((row for row in reversed(self.rows) if row.judge == judge), None)


@cached_view
def agreement_view(arena: Arena, votes: VoteLog[Vote], languages: tuple[str, ...] = ()) -> AgreementView:
    """Compare people with each judge of an arena, and with each other, in some languages; all if empty.

    Raises:
        NotEnoughData: without votes on battles drawn at random in the languages.
    """
    return AgreementView(tuple(vote_agreement(arena, votes.votes, languages=languages or None)))


def conclude_agreement(row: Agreement) -> str:
    """Return a row as a sentence: the agreement, its interval, and its n."""
    subject = "each other" if row.judge == PEOPLE else row.judge
    if row.raw is None:
        return f"People agree with {subject}: no data yet"
    write = FORMATS["rate"].write
    who = "this person" if row.voters == 1 else f"these {row.voters} people"
    ends = "" if row.raw_low is None else f"95% interval {write(row.raw_low)} to {write(row.raw_high)} over queries"
    sure = f"{ends}, of {who}" if ends else "no interval"
    return f"People agree with {subject}: {write(row.raw)} ({sure}), n = {row.n:,}"


def explain_agreement(row: Agreement) -> str:
    """Explain the basis of a row, and why it is unreliable if it is."""
    where = "all languages with enough votes" if row.language == "all" else name_of(row.language)
    people = count_text(row.voters, "person")
    sentence = (
        f"{count_text(row.n, 'vote')} of {people} on {count_text(row.queries, 'query')} drawn at random, {where}."
    )
    if not row.enough:
        sentence += f" Not reliable yet: {ENOUGH} queries are needed."
    return f"{sentence} {as_sentence(row.reason)}" if row.reason else sentence


@dataclass(frozen=True, eq=False)
class CorrectedView:
    """A judge's ranking corrected by people's votes, in the languages with enough votes."""

    table: pa.Table
    """Rows of `mirage.people.votes.correct.CorrectedRating`: by language, the best first; `all` last."""
    methods: Mapping[str, str]
    """Method by language, and `all`."""
    languages: tuple[str, ...]
    """Codes of the languages behind the last scope."""
    refused: Mapping[str, str]
    """Reason why a language has none, by code."""

    @property
    def scope(self) -> str:
        """`all`, or the only language."""
        return "all" if "all" in self.methods else next(iter(self.methods))


@cached_view
def corrected_view(arena: Arena, judge: str, votes: VoteLog[Vote], languages: tuple[str, ...] = ()) -> CorrectedView:
    """Correct a judge's ranking by people's votes in some languages, all with votes if empty, and overall.

    Raises:
        UnknownName: if the judge has no verdict here.
        NotEnoughData: if no language has enough votes.
    """
    result = correct_ranking(arena, votes.votes, judge=judge, languages=languages or None)
    methods = {code: correction.method for code, correction in result.languages.items()}
    *_, last = result.languages.values()
    refused = {code: error.what for code, error in result.refused.items()}
    return CorrectedView(result.table(), methods, last.languages or (last.language,), refused)


@dataclass(frozen=True, eq=False)
class LevelsView:
    """Levels of a measure corrected by people's labels."""

    measure: str
    """The measure."""
    rows: tuple[CorrectedLevel, ...]
    """By language, subset and system; `all` last."""
    remarks: tuple[str, ...]
    """Labels used and left out, and languages that are not checked."""


def all_levels(
    arena: Arena, measures: Iterable[str] | None, log: VoteLog[Evidence], languages: tuple[str, ...] = ()
) -> list[LevelsView]:
    """Correct the levels of some measures; None for all with people's labels.

    Raises:
        NotEnoughData: if there are no labels, or as `levels_view` does.
    """
    names = labelled_measures(arena, log) if measures is None else tuple(measures)
    if not names:
        raise NotEnoughData(f"no answer of {arena.name} has people's labels", do=how_to_label(arena, RATE))
    return [levels_view(arena, name, log, languages) for name in names]


@memoize
def labelled_measures(arena: Arena, log: VoteLog[Evidence] = NO_EVIDENCE) -> tuple[str, ...]:
    """Return the measures with people's labels on answers."""
    return label_measures(arena, log.votes)


@cached_view
def levels_view(
    arena: Arena,
    measure: str,
    log: VoteLog[Evidence] = NO_EVIDENCE,
    languages: tuple[str, ...] = (),
    parser: Parser = "strict",
) -> LevelsView:
    """Correct the levels of a measure by people's labels, in some languages and over them; all if empty.

    Args:
        arena: with the table of the measure.
        measure: `rate`, `feature:NAME` or `score:NAME`.
        log: votes on citations, including those of other arenas.
        languages: codes.
        parser: parser whose outcomes are corrected, for `rate`.

    Raises:
        NotEnoughData: if people labelled no answer.
        UnknownName: if there is no such measure, language or parser.
        TableMissing: if the arena lacks the table of the measure.
    """
    labels = read_labels(arena, measure, log.votes, languages=languages or None, parser=parser)
    levels = correct_levels(labels)
    return LevelsView(measure, levels.rows, tuple(levels.notes()))


@dataclass(frozen=True, eq=False)
class ScoresView:
    """Mean scores of the systems, by people and programs."""

    rows: pa.Table
    """Rows of `ScoreMean`."""

    @property
    def joint(self) -> pa.Table:
        """The rows over all languages, or in the only language of a measure."""
        rows = self.rows.to_pylist()
        over = {(row["measure"], row["person"]) for row in rows if row["language"] == "all"}
        kept = [row["language"] == "all" or (row["measure"], row["person"]) not in over for row in rows]
        return self.rows.filter(pa.array(kept, pa.bool_()))


@cached_view
def scores_view(arena: Arena, languages: tuple[str, ...] = ()) -> ScoresView:
    """Average the scores of an arena in some languages; all if empty.

    Raises:
        TableMissing: if the arena has no scores.
    """
    return ScoresView(schema.from_rows(ScoreMean, score_means(arena.read("scores", languages=languages or None))))
