"""The sources of noise against an independent generator with known components."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from arena_writer import write_arena
from commands import mirage, rows, write_jsonl

import mirage as api
from mirage import schema
from mirage.battles.decision import verdict_of_points
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking.variance import components, judge_variance, rate_variance
from mirage.store.arena import open_arena

LEVELS = ("query", "judge", "order")
TRUE = (0.5, 0.3, 0.2, 0.4)
"""Variances of query, judge within query, order within judge, and repeat."""


def generate(rng: np.random.Generator, numbers: tuple[int, ...], groups: int = 2) -> pd.DataFrame:
    """Normal effects, nested, added level by level; groups are 3 standard deviations from each other."""
    shape = (groups, *numbers)
    value = 3 * rng.normal(size=(groups, 1, 1, 1, 1)) * np.ones(shape)
    for level, variance in enumerate(TRUE, start=2):
        size = (*shape[:level], *(1,) * (5 - level))
        value = value + np.sqrt(variance) * rng.normal(size=size)
    index = np.indices(shape).reshape(5, -1)
    return pd.DataFrame(index[:4].T, columns=["group", *LEVELS]).assign(value=value.ravel())


def test_components_are_those_of_the_generator() -> None:
    rng = np.random.default_rng(0)
    found = [[variance for variance, _ in components(generate(rng, (60, 3, 2, 2)), LEVELS)] for _ in range(75)]
    assert np.mean(found, axis=0) == pytest.approx(TRUE, abs=0.03)


def test_unequal_numbers_of_repeats_do_not_bias_a_component() -> None:
    rng, found = np.random.default_rng(2), []
    for _ in range(75):
        data = generate(rng, (60, 3, 2, 3))
        found.append([variance for variance, _ in components(data[rng.random(len(data)) < 0.6], LEVELS)])
    assert np.mean(found, axis=0) == pytest.approx(TRUE, abs=0.04)


def test_what_there_is_only_one_of_is_unknown_and_part_of_what_is_above() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(60):
        query, judge, order, repeat = (variance for variance, _ in components(generate(rng, (80, 1, 2, 1)), LEVELS))
        assert judge is repeat is None
        found.append([query, order])
    query, order = np.mean(found, axis=0)
    assert query == pytest.approx(TRUE[0] + TRUE[1], abs=0.05)
    assert order == pytest.approx(TRUE[2] + TRUE[3], abs=0.05)


def test_too_few_queries_are_an_error() -> None:
    with pytest.raises(NotEnoughData, match="queries"):
        components(generate(np.random.default_rng(6), (5, 2, 2, 2)), LEVELS)


# --- arenas -----------------------------------------------------------------------------------------------------------


def test_rates_split_into_queries_and_samples(tmp_path: Path) -> None:
    """Half of the noise between answers is the query's: p is 0.2 or 0.8, so p's variance is 0.09 and p(1 - p) 0.16."""
    rng, n, m = np.random.default_rng(7), 400, 3
    chance = rng.choice([0.2, 0.8], n)
    queries = [{"query_id": f"q{q:03}", "language": "en", "text": f"{q}?", "subset": "non_relevant"} for q in range(n)]
    texts = ("I don't know.", "Yes, answer is present.")
    answers = [
        {"query_id": f"q{q:03}", "language": "en", "system": "s", "template": "vanilla", "sample": k}
        | {"text": texts[int(rng.random() < chance[q])]}
        for q in range(n)
        for k in range(m)
    ]
    for name, lines in (("queries", queries), ("answers", answers)):
        write_jsonl(tmp_path / f"{name}.jsonl", *lines)
        mirage("import", tmp_path / f"{name}.jsonl", "--into", tmp_path / "a")
    mirage("measure", "outcomes", tmp_path / "a")
    (report,) = rate_variance(open_arena(tmp_path / "a"))
    query, sample = report.sources
    assert (query.source, sample.source, query.n, sample.n) == ("query", "sample", n, m)
    assert query.variance == pytest.approx(0.09, abs=0.02)
    assert sample.variance == pytest.approx(0.16, abs=0.02)
    assert query.share + sample.share == pytest.approx(1)
    assert report.half_width == pytest.approx(1.96 * ((0.09 + 0.16 / 3) / n) ** 0.5, abs=0.003)
    printed = rows(mirage("report", "noise", tmp_path / "a", "--format", "csv"))
    assert [float(row["variance"]) for row in printed] == pytest.approx([query.variance, sample.variance])
    assert "with 400 queries" in mirage("report", "noise", tmp_path / "a").stderr
    table = api.variance(open_arena(tmp_path / "a")).to_pandas()
    assert list(table["source"]) == ["query", "sample"]


def judged(seed: int, *, judges: int = 2, n: int = 300, bias: float = 0.0) -> list[schema.Judgment]:
    """Graded verdicts on one pair in both orders: the points have known effects of query, judge and order."""
    rng, found = np.random.default_rng(seed), []
    for q in range(n):
        of_query = rng.normal(0, 0.10)
        for j in range(judges):
            of_judge = rng.normal(0, 0.06) + (0.05 if j else -0.05)
            for swapped in (False, True):
                points = 0.5 + of_query + of_judge + rng.normal(0, 0.03) + (-bias if swapped else bias)
                share = float(np.clip(1 - points if swapped else points, 0, 1))
                pair = ("y", "x") if swapped else ("x", "y")
                verdict = verdict_of_points(share)
                found.append(schema.Judgment("en", f"q{q:03}", f"j{j}", *pair, verdict, None, None, None, share))
    return found


@pytest.mark.parametrize("bias", [0.0, 0.15])
def test_differences_split_into_queries_judges_and_orders_without_bias(tmp_path: Path, bias: float) -> None:
    rows_ = schema.from_rows("judgments", judged(8, bias=bias))
    arena = write_arena(tmp_path / "a", {"judgments": rows_})
    report = judge_variance(arena, judges=["j0", "j1"])
    found = {source.source: source.variance for source in report.sources}
    # A difference is 2 x points - 1, so its variances are four times those of points.
    assert found["query"] == pytest.approx(4 * 0.10**2, rel=0.3)
    assert found["judge"] == pytest.approx(4 * 0.06**2, rel=0.3)
    assert found["order"] == pytest.approx(4 * 0.03**2, rel=0.3)
    assert found["repeat"] is None
    alone = judge_variance(arena, judges=["j0"])
    assert alone.sources[1].reason == "only one judge: its noise is part of the source above"
    with pytest.raises(UnknownName, match="j1"):
        judge_variance(arena, judges=["j9"])


def test_repeats_of_a_judge_are_a_source(tmp_path: Path) -> None:
    """Each repeat adds noise of its own, and one more of it helps."""
    rng, found = np.random.default_rng(10), []
    for row in judged(11, judges=1):
        for repeat in range(3):
            share = float(np.clip(row.points + rng.normal(0, 0.08), 0, 1))  # type: ignore[operator]
            values = {name: getattr(row, name) for name in row.__slots__}
            found.append(schema.Judgment(**values | {"points": share, "repeat": repeat or None}))
    write_arena(tmp_path / "a", {"judgments": found})
    report = judge_variance(open_arena(tmp_path / "a"), judges=["j0"])
    repeat = report.sources[-1]
    assert (repeat.source, repeat.n) == ("repeat", 3)
    assert repeat.variance == pytest.approx(4 * 0.08**2, rel=0.15)
