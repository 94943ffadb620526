"""Agreement between the languages of parallel queries, for a system's decisions and vital nuggets and a judge's
verdicts.

For each query asked in several languages, every pair of its languages is compared. The agreement is the share
of comparisons with the same label, averaged first over those of a query. The expected agreement is the probability of
the same label if labels were drawn independently from those of each language.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from mirage.stages.across.estimate import unit_mean


@dataclass(frozen=True, slots=True)
class Label:
    """Label by a system or a judge for one item of a query in one language."""

    name: str
    """The system or judge."""
    language: str
    """Language of the query."""
    query_id: str
    """Id of the query, the same in all its languages."""
    item: str
    """The labelled item: a nugget or a pair of systems; empty for the answer."""
    label: str
    """The label."""
    group: str = ""
    """Group within which labels are expected to be similar, such as the battles of one pair of systems."""


@dataclass(frozen=True, slots=True)
class LanguageAgreement:
    """Agreement of one system or judge with itself across languages."""

    name: str
    """The system or judge."""
    measure: str
    """The compared labels: `decision`, `vital nuggets` or `verdict`."""
    first: str
    """First language; `all` for all pairs of languages."""
    second: str
    """Second language."""
    agreement: float
    """Share of comparisons with the same label, in [0, 1]; mean over queries."""
    low: float | None
    """Lower end of its 95% interval over parallel queries; null with fewer than two."""
    high: float | None
    """Upper end."""
    independent: float
    """Expected agreement if the labels in the two languages were independent."""
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
