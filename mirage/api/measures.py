"""Measures of an arena: rates, levels, retrieval, variance, attribution, nuggets."""

from collections.abc import Iterable, Sequence

from mirage import schema
from mirage.api.results import Rows, as_tuple, make_rows
from mirage.io.rows import make_table
from mirage.store.arena import Arena


def rates(
    arena: Arena,
    *,
    languages: Iterable[str] | None = None,
    systems: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
    url: str | None = None,
) -> Rows:
    """Compute hallucination and error rates (NoMIRACL): answering without a relevant passage, abstaining despite one.

    If people audited the labels of the queries, rates corrected for label errors are added, with intervals that
    carry the audit's uncertainty; if a program made the labels and there is no audit, `labels` says so.

    Args:
        arena: with the table `outcomes`.
        languages: codes; None for all.
        systems: names; None for all.
        parser: parser whose outcomes count.
        url: database of the votes of the audit; None for MIRAGE_VOTES_URL, else the file in the user's folder.

    Returns:
        Rows of `mirage.stages.outcomes.rates.Rate`: a row per language, subset and system, with 95% intervals.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if it has no such language, system or parser.
        Unreachable: if a program made the labels, and the votes do not respond.
    """
    from mirage.people.votes.database import Votes
    from mirage.people.votes.labels import read_labels
    from mirage.stages.outcomes.rates import Rate, keep_named
    from mirage.stats.label_errors import NOT_AUDITED
    from mirage.views.rates import RateChoice, rates_view

    arena.need("outcomes")
    with Votes(url) as database:
        labels = read_labels(arena, database)
    view = rates_view(arena, RateChoice(arena.known_languages("outcomes", languages), parser), labels)
    table = keep_named(view.cells, "system", as_tuple(systems))
    title = f"Rates of {arena.name}, with 95% intervals; the row `all` is the mean over languages"
    first = ["language", "subset", "system", "n", "rate", "rate_low", "rate_high", "unclassified"]
    if labels.unaudited:
        title += f"; {NOT_AUDITED}"
    if labels.audit is not None:
        first[7:7] = ["corrected", "corrected_low", "corrected_high", "audited"]
    names = [column.name for column in schema.columns(Rate)]
    return Rows(table.select(names), title, tuple(first), (view.conclusion, *view.remarks))


def levels(
    arena: Arena,
    measure: str | None = None,
    *,
    languages: Iterable[str] | None = None,
    url: str | None = None,
) -> Rows:
    """Correct levels (rates, means of features and scores) by people's labels on answers.

    Args:
        arena: with the table of the measure, and people's scores, or votes on citations or nuggets.
        measure: `rate`, `nuggets`, `feature:NAME` or `score:NAME`; None for all that people labelled.
        languages: codes; None for all.
        url: database of votes; None for the user's own.

    Returns:
        Rows of `mirage.people.levels.CorrectedLevel`: a row per measure, language, subset and system.

    Raises:
        NotEnoughData: if people labelled no answer.
        UnknownName: if there is no such measure, language or feature.
        TableMissing: if the arena lacks the table of the measure.
    """
    from mirage.people.levels.levels import read_log
    from mirage.people.votes.belonging import log_votes
    from mirage.views.votes import all_levels

    measures = None if measure is None else (measure,)
    views = all_levels(arena, measures, log_votes(read_log(url)), as_tuple(languages) or ())
    rows = [row for view in views for row in view.rows]
    title = "; ".join(dict.fromkeys(line for view in views for line in view.remarks))
    first = ("measure", "language", "system", "uncorrected", "n", "corrected", "low", "high", "labels", "status")
    return make_rows(rows, f"Corrected levels of {arena.name}: {title}", first)


def retrieval_measures(
    arena: Arena,
    *,
    measures: Sequence[str] | None = None,
    languages: Iterable[str] | None = None,
    relevant_from: int = 1,
) -> Rows:
    """Evaluate each retriever on the queries with relevance labels.

    The retriever `given` is the passages supplied with the queries. Unlabelled passages count as not relevant;
    judged@k accompanies every measure at k.

    Args:
        arena: with the table `passages`, and `retrieved` if anything was retrieved.
        measures: names as in ir_measures; None for nDCG@10, R@10, R@100, RR@10, AP@100 and judged@10.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.

    Returns:
        Rows of `mirage.stages.retrieve.measures.RetrievalMean`: a row per language, retriever and measure, with 95%
            intervals over queries; the language `all` is the mean over languages.

    Raises:
        NotEnoughData: if no passage has a label.
        UnknownName: if there is no such measure or language.
    """
    from mirage.stages.retrieve.measures import MEASURES
    from mirage.views.retrieval import RetrievalChoice, retrieval_view

    choice = RetrievalChoice(
        as_tuple(languages) or (), tuple(MEASURES if measures is None else measures), relevant_from
    )
    title = f"Retrievers of {arena.name}, with 95% intervals; relevant from grade {relevant_from}"
    first = ("language", "retriever", "measure", "mean", "low", "high", "n", "total")
    return Rows(retrieval_view(arena, choice).means, title, first)


def variance(
    arena: Arena,
    *,
    judges: Sequence[str] | None = None,
    languages: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
) -> Rows:
    """Split the noise of a rate, or of a difference between systems, into its sources.

    Args:
        arena: with outcomes (and samples), or with judgments.
        judges: split the noise of these judges' verdicts; None for that of hallucination and error rates.
        languages: codes; None for all.
        parser: parser whose outcomes count.

    Returns:
        Rows of `mirage.ranking.variance.NoiseSource`; the title has the interval of each estimate.

    Raises:
        TableMissing: if the arena lacks the table.
        UnknownName: if there is no such judge or language.
        NotEnoughData: if there are too few queries.
    """
    from mirage.views.noise import NoiseChoice, noise_view

    view = noise_view(arena, NoiseChoice(as_tuple(judges) or (), as_tuple(languages) or (), parser))
    return Rows(view.rows, " ".join(view.remarks))


def attribution(
    arena: Arena, *, languages: Iterable[str] | None = None, relevant_from: int = 1, answers: bool = False
) -> Rows:
    """Attribute every failure to the retriever or the model, by labels of the passages.

    Args:
        arena: with the table `outcomes`; `answers` and `passages` are used if present.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.
        answers: return a row per answer, with its evidence, instead of a row per system and cause.

    Returns:
        Rows of `mirage.stages.retrieve.attribution.CauseShare`, with 95% intervals over queries, or of `Attribution`.

    Raises:
        TableMissing: if it lacks outcomes.
        UnknownName: if it has no such language.
    """
    from mirage.views.causes import CauseChoice, answer_causes, causes_view

    arena.need("outcomes")
    choice = CauseChoice(arena.known_languages("outcomes", languages), relevant_from=relevant_from)
    if answers:
        return make_rows(answer_causes(arena, choice), f"Where each answer of {arena.name} went")
    title = f"Where answers of {arena.name} are lost, with 95% intervals over queries"
    return Rows(causes_view(arena, choice).shares, title)


def nugget_scores(arena: Arena, *, assigner: str | None = None, languages: Iterable[str] | None = None) -> Rows:
    """Compute the mean nugget scores of each system, with 95% intervals over queries.

    Args:
        arena: with the tables `answers`, `nuggets` and `nugget_assignments`.
        assigner: use the assignments of this assigner; None for the one with the most assignments. The word matcher
            `baseline/terms` is the default only if there is no other.
        languages: codes; None for all.

    Returns:
        A row per language, system and score (`feature`), with the mean over queries, its 95% interval (`low`, `high`),
        `n` queries with a value and `total` queries; the language `all` is the mean over languages.

    Raises:
        TableMissing: if the arena lacks one of the tables.
        UnknownName: if there is no such assigner.
    """
    from mirage.stages.features.stage import nugget_means

    chosen, means = nugget_means(arena, assigner=assigner, languages=as_tuple(languages))
    title = f"Scores of {arena.name} by nuggets, assigned by {chosen}, with 95% intervals over queries"
    first = ("language", "system", "feature", "mean", "low", "high", "n", "total")
    return Rows(make_table([{name: getattr(row, name) for name in first} for row in means]), title, first)
