"""The test of language groups: known answers, error rate, power."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, ttest_ind

from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.bootstrap import LanguageRanking, RankingReport
from mirage.ranking.languages import LanguageEffect, kendall, language_effects
from mirage.stats.holm import holm
from mirage.text.languages import LANGUAGES

CODES = tuple(LANGUAGES)


def noisy_ranking(
    theta: dict[str, np.ndarray], error: float, rng: np.random.Generator, *, draws: int = 200
) -> RankingReport:
    """A ranking whose ratings are the truth with an error of this size, and whose draws say so."""
    languages = {}
    for code, truth in theta.items():
        names = tuple(f"s{k:02}" for k in range(len(truth)))
        seen = truth + rng.normal(0, error, len(truth))
        seen -= seen.mean()
        around = seen + rng.normal(0, error, (draws, len(truth)))
        record = np.ones((len(truth), 3), dtype=np.int64)
        languages[code] = LanguageRanking(code, names, seen, around, record, (names,), 100, np.full(len(names), 100), 0)
    return RankingReport("judge", "both", "half", draws, 0, "jeffreys", 1e-7, languages, ())


def ranking(thetas: dict[str, list[float]]) -> RankingReport:
    return noisy_ranking({code: np.array(t) for code, t in thetas.items()}, 0.0, np.random.default_rng(0), draws=10)


# --- Kendall and Holm -------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_tau_is_the_tau_b_of_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(kendall(a, b))
    else:
        assert kendall(a, b) == pytest.approx(kendalltau(a, b).statistic, abs=1e-12)


def test_holm_agrees_with_the_worked_example_of_statsmodels() -> None:
    # statsmodels.stats.multitest.multipletests([0.01, 0.04, 0.03, 0.005], method="holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_one_language_says_nothing_of_differences() -> None:
    with pytest.raises(NotEnoughData, match="one language"):
        language_effects(ranking({"en": [1.0, 0.0]}))


# --- unusual ----------------------------------------------------------------------------------------------------------


def scattered(rng: np.random.Generator, *, between: float, systems: int = 8) -> dict[str, np.ndarray]:
    quality = rng.normal(0, 1, systems)
    return {code: quality + rng.normal(0, between, systems) for code in CODES}


@pytest.mark.parametrize(
    ("by", "between", "error"), [("script", 0.4, 0.05), ("family", 0.3, 0.3), ("family", 0.0, 0.2)]
)
def test_without_an_effect_a_finding_in_all_cells_together_is_rare(by: str, between: float, error: float) -> None:
    """100 simulated rankings of 18 languages; 11 findings or more would say that the family-wise error is above 5%."""
    rng = np.random.default_rng(5)
    wrong = sum(
        bool(
            language_effects(noisy_ranking(scattered(rng, between=between), error, rng, draws=50), by=by).significant()
        )
        for _ in range(100)
    )
    assert wrong <= 10


def test_a_planted_effect_is_found_and_nothing_else() -> None:
    rng = np.random.default_rng(6)
    hits, others = 0, 0
    for _ in range(60):
        theta = scattered(rng, between=0.2)
        for code in ("sw", "yo"):
            theta[code][3] += 1.5
        cells = language_effects(noisy_ranking(theta, 0.1, rng)).significant()
        hits += any((e.system, e.group) == ("s03", "Atlantic-Congo") and e.estimate > 0 for e in cells)
        others += any(e.system != "s03" for e in cells)
    assert hits >= 54
    assert others <= 8


def test_intervals_of_an_effect_cover_it() -> None:
    rng = np.random.default_rng(7)
    inside = [
        e.low <= 0 <= e.high  # type: ignore[operator]  # a tested cell has an interval
        for _ in range(60)
        for e in language_effects(noisy_ranking(scattered(rng, between=0.3), 0.1, rng)).effects
        if e.p is not None
    ]
    assert 0.93 <= np.mean(inside) <= 0.98


def cell(effects: tuple[LanguageEffect, ...], system: str, group: str) -> LanguageEffect:
    (effect,) = (e for e in effects if (e.system, e.group) == (system, group))
    return effect


def test_without_sampling_error_it_is_the_two_sample_t_test() -> None:
    rng = np.random.default_rng(8)
    rated = noisy_ranking(scattered(rng, between=0.5), 0.0, rng)
    effect = cell(language_effects(rated, by="script").effects, "s02", "Latn")
    sides: dict[bool, list[float]] = {True: [], False: []}
    for code, language in rated.languages.items():
        sides[LANGUAGES[code].script == "Latn"].append(float(language.theta[2]))
    expected = ttest_ind(sides[True], sides[False])
    assert effect.p == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval(0.95)
    assert (effect.low, effect.high) == (pytest.approx(ends.low), pytest.approx(ends.high))
    assert (effect.n_languages, effect.n_elsewhere, effect.n_queries) == (8, 10, 800)


def test_where_languages_do_not_differ_the_error_is_that_of_the_draws() -> None:
    rng = np.random.default_rng(9)
    flat = noisy_ranking({code: np.array([1.0, 0.0, -1.0]) for code in CODES}, 0.0, rng)
    noisy = {
        code: dataclasses.replace(language, draws=language.theta + rng.normal(0, 0.2, language.draws.shape))
        for code, language in flat.languages.items()
    }
    effect = cell(language_effects(dataclasses.replace(flat, languages=noisy), by="script").effects, "s00", "Latn")
    assert effect.between == 0
    assert effect.error == pytest.approx(0.2 * np.sqrt(1 / 8 + 1 / 10), rel=0.05)


def test_a_family_of_one_language_has_an_estimate_and_no_test() -> None:
    rng = np.random.default_rng(10)
    result = language_effects(noisy_ranking(scattered(rng, between=0.3), 0.1, rng))
    effect = cell(result.effects, "s00", "Uralic")
    assert (effect.n_languages, effect.p, effect.p_holm, effect.low, effect.error) == (1, None, None, None, None)
    assert effect.reason == "the group has one language, so group and language are confounded"
    assert np.isfinite(effect.estimate)
    tested = [e for e in result.effects if e.p is not None]
    assert {e.group for e in tested} == {"Atlantic-Congo", "Germanic", "Indo-Aryan", "Romance"}
    assert len(tested) == result.tested == 4 * 8


def test_of_two_complementary_groups_one_is_tested() -> None:
    rng = np.random.default_rng(11)
    rated = noisy_ranking(scattered(rng, between=0.3), 0.1, rng)
    assert {e.group for e in language_effects(rated, by="direction").effects} == {"right to left"}
    assert {e.group for e in language_effects(rated, by="spaces").effects} == {"no spaces between words"}


def test_an_unbounded_rating_is_not_tested() -> None:
    rng = np.random.default_rng(12)
    rated = noisy_ranking(scattered(rng, between=0.3), 0.1, rng)
    en = rated.languages["en"]
    loose = dataclasses.replace(en, groups=(en.systems[1:], en.systems[:1]))
    effects = language_effects(dataclasses.replace(rated, languages={**rated.languages, "en": loose})).effects
    assert cell(effects, "s00", "Germanic").reason == "the data does not bound its rating in en"
    assert cell(effects, "s01", "Germanic").p is not None


def test_an_unknown_grouping_is_refused() -> None:
    with pytest.raises(BadInput, match="grouped by 'size'"):
        language_effects(ranking({"en": [1.0, 0.0], "fi": [1.0, 0.0]}), by="size")  # type: ignore[arg-type]


def test_relabelling_systems_permutes_the_result() -> None:
    rng = np.random.default_rng(13)
    rated = noisy_ranking(scattered(rng, between=0.3), 0.1, rng)
    turned = {
        code: dataclasses.replace(language, theta=language.theta[::-1], draws=language.draws[:, ::-1])
        for code, language in rated.languages.items()
    }
    before = {(e.system, e.group): e.estimate for e in language_effects(rated).effects}
    after = {
        (e.system, e.group): e.estimate for e in language_effects(dataclasses.replace(rated, languages=turned)).effects
    }
    names = next(iter(rated.languages.values())).systems
    mirror = dict(zip(names, reversed(names), strict=True))
    assert {(mirror[s], g): e for (s, g), e in after.items()} == before
