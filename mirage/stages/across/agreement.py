"""Agreement between the languages of parallel queries: of a system's decisions and vital nuggets, and of a judge.

For each query that is asked in several languages, every pair of its languages is compared. The agreement is the share
of comparisons with the same label, averaged first over those of a query. Beside it stands what independence would give:
the probability of the same label if it were drawn in each language from that language's labels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from mirage.stages.across.estimate import unit_mean


@dataclass(frozen=True, slots=True)
class Label:
    """Label that a system or a judge gives one item of a query in one language."""

    name: str
    """The system or judge."""
    language: str
    """Language of the query."""
    query_id: str
    """The query, whose id its languages share."""
    item: str
    """What is labelled: a nugget, a pair of systems; empty for the answer."""
    label: str
    """The label."""
    group: str = ""
    """Items whose labels are alike without agreement, such as the battles of one pair of systems."""


@dataclass(frozen=True, slots=True)
class LanguageAgreement:
    """Agreement of one system or judge with itself over languages."""

    name: str
    """The system or judge."""
    measure: str
    """What is compared: `decision`, `vital nuggets` or `verdict`."""
    first: str
    """Language of the one query; `all` for all pairs of languages."""
    second: str
    """Language of the other."""
    agreement: float
    """Share of comparisons with the same label, in [0, 1]; mean over queries."""
    low: float | None
    """Lower end of its 95% interval over parallel queries; null with fewer than two."""
    high: float | None
    """Upper end."""
    independent: float
    """Agreement if the labels in the two languages were independent."""
    n: int
    """Number of comparisons."""
    units: int
    """Number of parallel queries: the unit of the interval."""


def agreements(labels: Iterable[Label], measure: str) -> list[LanguageAgreement]:
    """Compare the languages of parallel queries, for each pair of languages and all pairs.

    Args:
        labels: one for each name, language, query and item.
        measure: name of the measure.
    """
    by_item: dict[tuple[str, str, str], dict[str, Label]] = defaultdict(dict)
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for label in labels:
        by_item[label.name, label.query_id, label.item][label.language] = label
        counts[label.name, label.group, label.language][label.label] += 1
    cells: dict[tuple[str, str, str], dict[str, list[tuple[bool, float]]]] = defaultdict(lambda: defaultdict(list))
    for (name, query_id, _), of_language in by_item.items():
        for first, second in combinations(sorted(of_language), 2):
            one, other = of_language[first], of_language[second]
            chance = _chance(counts[name, one.group, first], counts[name, other.group, second])
            for pair in ((first, second), ("all", "all")):
                cells[(name, *pair)][query_id].append((one.label == other.label, chance))
    result = []
    for (name, first, second), queries in sorted(cells.items()):
        values = [
            {unit: sum(part[k] for part in parts) / len(parts) for unit, parts in queries.items()} for k in (0, 1)
        ]
        mean = unit_mean({"all": values[0]}, low=0.0, high=1.0)
        independent = unit_mean({"all": values[1]}, low=0.0, high=1.0).mean
        n = sum(map(len, queries.values()))
        result.append(
            LanguageAgreement(name, measure, first, second, mean.mean, mean.low, mean.high, independent, n, mean.units)
        )
    return result


def _chance(first: Counter[str], second: Counter[str]) -> float:
    """Return the probability that two independent labels are the same."""
    return sum(count * second[label] for label, count in first.items()) / (first.total() * second.total())
