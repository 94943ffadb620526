"""What the design leaves badly known, said in words; and the scales that ratings are shown on."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from mirage.battles.counts import Battles
from mirage.errors import BadInput
from mirage.ranking.design import design, designs, minimum_cut
from mirage.ranking.scale import on_scale


def battles(met: dict[tuple[int, int], int], n: int) -> Battles:
    """Battles of n systems, a query for each; the sides win in turn, and every fifth is a tie."""
    rows = [(pair, k) for pair, times in met.items() for k in range(times)]
    wins = np.zeros((len(rows), n, n), dtype=np.uint8)
    ties = np.zeros_like(wins)
    for q, ((i, j), k) in enumerate(rows):
        if k % 5 == 4:
            ties[q, i, j] = ties[q, j, i] = 1
        else:
            wins[(q, i, j) if k % 2 else (q, j, i)] = 1
    names = tuple(f"s{k}" for k in range(n))
    queries = tuple(f"q{q:05d}" for q in range(len(rows)))
    return Battles(names, queries, wins, ties, np.zeros(len(rows), dtype=np.intp), "judge", "both")


def complete(systems: list[int], times: int) -> dict[tuple[int, int], int]:
    return dict.fromkeys(itertools.combinations(systems, 2), times)


@pytest.mark.parametrize("n", [2, 3, 4, 8, 19])
def test_nothing_is_said_of_a_complete_design(n: int) -> None:
    assert design(battles(complete(list(range(n)), 10), n)) == ()


def test_nothing_is_said_of_random_pairs_that_nearly_all_met() -> None:
    rng = np.random.default_rng(0)
    met: dict[tuple[int, int], int] = {}
    for _ in range(600):
        i, j = sorted(rng.choice(8, 2, replace=False).tolist())
        met[i, j] = met.get((i, j), 0) + 1
    assert design(battles(met, 8)) == ()


def test_a_star_is_named_with_its_centre() -> None:
    met = {(2, k) if k > 2 else (k, 2): 20 for k in range(8) if k != 2}
    star, *rest = design(battles(met, 8))
    assert (star.kind, star.systems, star.battles) == ("star", ("s2",), 140)
    assert [finding.kind for finding in rest] == ["unmet"]
    assert "every battle" in star.text


def test_a_star_with_a_few_other_battles_is_still_one() -> None:
    met = {(0, k): 20 for k in range(1, 8)} | {(1, 2): 3, (3, 4): 3}
    assert ("star", ("s0",)) in {(finding.kind, finding.systems) for finding in design(battles(met, 8))}


def test_parts_that_hang_on_few_battles_are_named() -> None:
    met = complete([0, 1, 2, 3], 10) | complete([4, 5, 6], 10) | {(3, 4): 2, (0, 6): 1}
    link = next(finding for finding in design(battles(met, 7)) if finding.kind == "link")
    assert link.systems == ("s4", "s5", "s6")
    assert link.battles == 3
    apart = complete([0, 1, 2, 3], 10) | complete([4, 5, 6], 10)
    link = next(finding for finding in design(battles(apart, 7)) if finding.kind == "link")
    assert link.battles == 0


def test_a_system_with_few_battles_is_named_and_hides_no_weak_link() -> None:
    met = complete([0, 1, 2, 3], 10) | complete([4, 5, 6], 10) | {(3, 4): 3, (0, 7): 1, (1, 7): 1}
    kinds = {finding.kind: finding for finding in design(battles(met, 8))}
    assert kinds["few"].systems == ("s7",)
    assert kinds["few"].battles == 2
    assert set(kinds["link"].systems) in ({"s4", "s5", "s6"}, {"s4", "s5", "s6", "s7"})


def test_a_system_with_few_battles_in_a_complete_design_is_all_that_is_said() -> None:
    met = complete(list(range(7)), 20) | {(k, 7): 2 for k in range(7)}
    (few,) = design(battles(met, 8))
    assert (few.kind, few.systems, few.battles) == ("few", ("s7",), 14)


def test_the_share_of_pairs_that_never_met_is_told() -> None:
    met = {pair: 5 for pair in itertools.combinations(range(10), 2) if (pair[1] - pair[0]) in (1, 2, 8, 9)}
    (unmet,) = [finding for finding in design(battles(met, 10)) if finding.kind == "unmet"]
    assert f"{45 - len(met)} of 45" in unmet.text


def test_what_holds_in_several_languages_is_said_once_with_the_worst() -> None:
    met = complete(list(range(7)), 20) | {(k, 7): 2 for k in range(7)}
    less = complete(list(range(7)), 20) | {(k, 7): 1 for k in range(7)}
    (line,) = designs({"de": battles(met, 8), "en": battles(less, 8), "fr": battles(complete(list(range(8)), 5), 8)})
    assert line.startswith("en: s7 has 7 battles")
    assert "1 more of 3" in line


@pytest.mark.parametrize("seed", range(30))
def test_the_minimum_cut_is_that_of_maximum_flow(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    counts = np.triu(rng.integers(0, 9, (n, n)) * (rng.random((n, n)) < 0.5), 1)
    counts = counts + counts.T
    cut, part = minimum_cut(counts)
    graph = csr_array(counts.astype(np.int32))
    assert cut == min(maximum_flow(graph, 0, k).flow_value for k in range(1, n))
    rest = [k for k in range(n) if k not in part]
    assert part
    assert rest
    assert counts[np.ix_(part, rest)].sum() == cut
    assert minimum_cut(counts, below=cut + 1)[0] == cut
    assert minimum_cut(counts, below=cut)[1] == ()


def test_the_arena_scale_is_a_tenfold_of_the_odds_every_400_points() -> None:
    assert on_scale(0.0, "arena") == 1000
    assert on_scale(math.log(10), "arena") == pytest.approx(1400)
    assert on_scale(-math.log(10), "arena", difference=True) == pytest.approx(-400)
    assert on_scale(1.25, "logit") == 1.25
    assert on_scale(None, "arena") is None
    with pytest.raises(BadInput):
        on_scale(1.0, "elo")  # type: ignore[arg-type]
