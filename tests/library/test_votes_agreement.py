"""Agreement of people with judges and with each other: known figures, other programs' figures, and chance."""

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from votes_agreement_cases import ballot, judgments

from mirage.people.votes.agreement import Agreement, agreement
from mirage.people.votes.opinions import alphas, coincidences, kappas


def row(agreements: list[Agreement], judge: str = "j", language: str = "sw") -> Agreement:
    return next(result for result in agreements if (result.judge, result.language) == (judge, language))


# --- the coefficients -------------------------------------------------------------------------------------------------


def _alpha(counts: np.ndarray) -> float:
    return float(alphas(coincidences(counts).sum(axis=0, keepdims=True))[0])


def test_kappa_of_the_textbook() -> None:
    # Cohen (1960), Table 1 as probabilities of 200 cases: kappa 0.492.
    table = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]], dtype=float)
    (kappa,) = kappas(table[None])
    assert kappa == pytest.approx(0.492, abs=5e-4)


@given(st.lists(st.lists(st.sampled_from([None, 0, 1, 2]), min_size=3, max_size=3), min_size=2, max_size=15))
def test_alpha_is_that_of_evalica(units: list[list[int | None]]) -> None:
    counts = np.array([[sum(v == c for v in unit) for c in range(3)] for unit in units], dtype=float)
    comparable = counts[counts.sum(axis=1) > 1]
    value = _alpha(counts)
    if not len(comparable) or (comparable.sum(axis=0) > 0).sum() < 2:
        assert np.isnan(value)
        return
    expected = evalica.alpha(pd.DataFrame(units, dtype=float).T, distance="nominal").alpha
    assert value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("AB_"), st.sampled_from("AB_"), st.booleans()), min_size=1, max_size=20))
def test_names_of_systems_do_not_matter(opinions: list[tuple[str, str, bool]]) -> None:
    word = {"A": "A", "B": "B", "_": "tie"}
    results = []
    for renamed in (False, True):
        cast, rows = [], []
        for k, (human, judge, other) in enumerate(opinions):
            first, second = ("z", "b") if renamed and other else ("a", "b")
            cast.append(ballot(k, word[human], system_a=first, system_b=second))
            rows.append(("sw", f"q{k:03}", "j", first, second, word[judge]))
        results.append(row(agreement(cast, judgments(rows))))
    for name in ("raw", "kappa", "alpha"):
        original, relabelled = (getattr(result, name) for result in results)
        assert (original is None) == (relabelled is None)
        assert original is None or original == pytest.approx(relabelled)


# --- what is compared -------------------------------------------------------------------------------------------------


def test_each_order_shown_a_flip_and_words_that_a_judge_lacks() -> None:
    cast = [
        ballot(0, "A"),
        ballot(1, "B", system_a="b", system_b="a"),
        ballot(2, "both_bad"),
        ballot(3, "tie"),
        ballot(4, "A"),
        ballot(5, "skip"),
        ballot(6, "A"),
        ballot(7, "A", control=False),
        ballot(9, "B"),
    ]
    rows = [
        ("sw", "q000", "j", "b", "a", "B"),  # a, as the vote
        ("sw", "q001", "j", "a", "b", "A"),  # a, as the vote
        ("sw", "q002", "j", "a", "b", "tie"),  # as both bad
        ("sw", "q003", "j", "a", "b", "A"),
        ("sw", "q003", "j", "b", "a", "A"),  # the other order, the other winner: a tie, as the vote
        ("sw", "q004", "j", "a", "b", "A"),
        ("sw", "q004", "j", "b", "a", "unparsed"),  # a, as the vote
        ("sw", "q005", "j", "a", "b", "A"),
        ("sw", "q006", "j", "a", "b", "unparsed"),  # nothing to compare with
        ("sw", "q007", "j", "a", "b", "A"),
        ("sw", "q009", "j", "a", "b", "A"),  # not as the vote
    ]
    result = row(agreement(cast, judgments(rows)))
    assert (result.n, result.queries, result.voters) == (6, 6, 1)
    assert result.raw == pytest.approx(5 / 6)
    assert (result.skipped, result.both_bad, result.unread) == (1, 1, 1)
    assert row(agreement(cast, judgments(rows), control=False)).n == 7


def test_people_among_themselves_kappa_for_two_alpha_for_more() -> None:
    two = [
        ballot(k, word, voter=voter) for voter, words in (("p", "AABB"), ("q", "AABA")) for k, word in enumerate(words)
    ]
    (result,) = agreement(two, None)
    assert (result.judge, result.n, result.raw, result.voters) == ("people", 4, 0.75, 2)
    assert result.kappa == pytest.approx(0.5)  # winners pooled: chance is one half
    (more,) = agreement([*two, ballot(0, "tie", voter="r")], None)
    assert (more.n, more.raw, more.kappa, more.voters) == (6, 3 / 6, None, 3)
    assert more.alpha is not None
    assert "kappa is of two, these are 3 people" in str(more.reason)
    (alone,) = agreement([ballot(k, "A") for k in range(40)], None)
    assert (alone.n, alone.raw, alone.enough) == (0, None, False)
    assert alone.reason == "no battle has votes of two people"


def test_few_votes_have_no_interval_but_a_reason_and_are_not_enough() -> None:
    rows = [("sw", f"q{k:03}", "j", "a", "b", "AB"[k % 3 == 0]) for k in range(60)]
    for n, interval, enough in ((9, False, False), (10, True, False), (29, True, False), (30, True, True)):
        result = row(agreement([ballot(k, "AB"[k % 2]) for k in range(n)], judgments(rows)))
        assert (result.raw_low is not None, result.kappa_low is not None, result.enough) == (interval, interval, enough)
        assert (result.reason is None) == interval
    assert "votes on fewer than 10 queries" in str(
        row(agreement([ballot(k, "A") for k in range(9)], judgments(rows))).reason
    )


def test_where_all_agree_the_interval_is_not_a_point_and_chance_has_no_value() -> None:
    rows = [("sw", f"q{k:03}", "j", "a", "b", "tie") for k in range(20)]
    result = row(agreement([ballot(k, "tie") for k in range(20)], judgments(rows)))
    assert (result.raw, result.raw_high) == (1, 1)
    assert 0.8 < (result.raw_low or 0) < 0.9
    assert (result.kappa, result.alpha) == (None, None)
    assert result.reason == "no kappa or alpha: all opinions are the same"


def test_languages_weigh_equally_and_those_with_few_votes_are_named_and_left_out() -> None:
    cast, rows = [], []
    for code, n, agree in (("sw", 40, 36), ("te", 20, 4), ("yo", 3, 0)):
        for k in range(n):
            cast.append(ballot(k, "A", language=code, voter=code))
            rows.append((code, f"q{k:03}", "j", "a", "b", "A" if k < agree else "B"))
    result = row(agreement(cast, judgments(rows)), language="all")
    assert (result.raw, result.n, result.voters, result.enough) == (pytest.approx(0.55), 63, 3, True)
    assert result.reason == "too few votes for an interval in yo"


def test_the_order_of_rows_and_rows_of_others_change_nothing() -> None:
    rng = np.random.default_rng(5)
    cast = [ballot(k, str(rng.choice(["A", "B", "tie"])), language=c) for c in ("sw", "te") for k in range(20)]
    rows = [(c, f"q{k:03}", j, "a", "b", "A") for c in ("sw", "te") for k in range(20) for j in ("i", "j")]
    whole = agreement(cast, judgments(rows))
    assert whole == agreement(list(reversed(cast)), judgments(list(reversed(rows))))
    part = agreement(cast[:20], judgments([r for r in rows if r[2] == "j"]))
    assert row(part) == row(whole)
