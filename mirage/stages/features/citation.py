"""Citation features: cited passages, and whether they are relevant."""

from collections.abc import Collection, Sequence

from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, each
from mirage.text.answers import cited_ids

CUTOFF = 10
"""Number of cited passages that count for MAP and recall."""
NO_ORDER = "numbers are cited, and the order of the passages is not known"


def average_precision(ranking: Sequence[str], relevant: Collection[str], cutoff: int) -> float:
    """Return the average precision of a ranking at a cutoff, as trec_eval's `map_cut`: float in [0, 1].

    The sum, over the relevant items among the first `cutoff`, of the precision at their rank, divided by the number of
    all relevant items, even if that exceeds the cutoff.
    """
    hits, total = 0, 0.0
    for rank, item in enumerate(ranking[:cutoff], start=1):
        if item in relevant:
            hits += 1
            total += hits / rank
    return total / len(relevant)


def recall(ranking: Sequence[str], relevant: Collection[str], cutoff: int) -> float:
    """Return the share of all relevant items among the first `cutoff` of a ranking, as trec_eval's `recall`."""
    return sum(item in relevant for item in ranking[:cutoff]) / len(relevant)


def measure(answer: MeasuredAnswer) -> tuple[Measured, ...]:
    """Return the numbers of distinct passages cited and of unknown labels, MAP@10 and recall@10, or reasons."""
    if not answer.passage_ids:
        return ("the passages are not known",) * 4
    if not answer.ordered and any(mention.label.isdigit() and not mention.known for mention in answer.mentions):
        return (NO_ORDER,) * 4
    cited_passages = cited_ids(answer.mentions)
    ranking = cited_ids(answer.mentions, unknown=True)
    counts: tuple[Measured, ...] = (float(len(cited_passages)), float(len(ranking) - len(cited_passages)))
    if any(label is None for label in answer.relevant):
        return counts + ("the passages carry no relevance labels",) * 2
    relevant = {passage for passage, label in zip(answer.passage_ids, answer.relevant, strict=True) if label}
    if not relevant:
        return counts + ("no passage is relevant",) * 2
    return (*counts, average_precision(ranking, relevant, CUTOFF), recall(ranking, relevant, CUTOFF))


_SOURCE = (
    "MIRAGE-Bench, section 4.1, by trec_eval's definitions. Its program (mirage_bench/evaluate/util.py) reads"
    " [12#0, 34#1] as no citation, collects citations in a set, which loses the order of mention, and drops cited ids"
    " that are no passage; in ours they hold their place in the ranking."
)

FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="n_citations",
            title="Passages cited",
            meaning="How many different passages the answer cites, by id or, where the prompt numbered them, by number."
            " 0 where it cites none; null where there is no answer or its passages are not known.",
            unit="passages",
            high=None,
            direction="none",
            source="Ours.",
            needs=("answers", "passages"),
        ),
        FeatureSpec(
            name="n_unknown_citations",
            title="Unknown citations",
            meaning="How many different ids or numbers the answer cites that are none of the passages it was given.",
            unit="citations",
            high=None,
            direction="lower",
            source="Ours.",
            needs=("answers", "passages"),
        ),
        FeatureSpec(
            name="citation_MAP@10",
            title="Citation MAP@10",
            meaning="Average precision of the citations, in order of first mention and each once, against the human"
            " relevance labels: the sum of the precision at each relevant passage among the first 10 cited, divided by"
            " the number of relevant passages shown. 0 where nothing is cited; null without a label for every passage"
            " and where none is relevant.",
            source=_SOURCE,
            needs=("answers", "passages"),
        ),
        FeatureSpec(
            name="citation_Recall@10",
            title="Citation recall@10",
            meaning="Share of the relevant passages shown that are among the first 10 the answer cites. 0 where nothing"
            " is cited; null without a label for every passage and where none is relevant.",
            source=_SOURCE,
            needs=("answers", "passages"),
        ),
    ),
    measure=each(measure),
)
