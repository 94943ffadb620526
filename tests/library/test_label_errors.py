"""Rates corrected for label errors: by hand, the ends of what an audit can find, and coverage."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.errors import NotEnoughData
from mirage.stages.outcomes.corrected import correct_rates
from mirage.stages.outcomes.rates import rates
from mirage.stats.intervals import wilson
from mirage.stats.label_errors import (
    AuditedQuery,
    LabelAudit,
    ObservedShare,
    QueryLabels,
    correct_shares,
)


def observed(k: int, n: int) -> ObservedShare:
    return ObservedShare(k / n, *wilson(k, n), n)


def test_a_correction_by_hand() -> None:
    # H = 0.1 and A = 0.8, with 10% and 20% wrong: q0 = 0.9 * 0.1 + 0.1 * 0.8, q1 = 0.8 * 0.8 + 0.2 * 0.1.
    first, second = correct_shares(observed(17, 100), observed(66, 100), (observed(5, 50), observed(10, 50)))
    assert (first.value, second.value) == pytest.approx((0.1, 0.8))
    assert first.low < 0.1 < first.high
    assert second.low < 0.8 < second.high


@given(st.integers(0, 80), st.integers(0, 80))
def test_without_error_and_with_a_huge_audit_nothing_changes(a: int, b: int) -> None:
    none = observed(0, 10**9)
    for share, plain in zip(
        correct_shares(observed(a, 80), observed(b, 80), (none, none)), (observed(a, 80), observed(b, 80)), strict=True
    ):
        assert (share.value, share.low, share.high) == pytest.approx((plain.value, plain.low, plain.high), abs=1e-4)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 4), st.integers(0, 4))
def test_a_corrected_share_lies_in_its_interval(a: int, b: int, wrong: int, other: int) -> None:
    for times in (1, 4):
        errors = observed(wrong * times, 20 * times), observed(other * times, 20 * times)
        share = correct_shares(observed(a, 60), observed(b, 60), errors)[0]
        assert 0 <= share.low <= share.value <= share.high <= 1


def test_labels_no_better_than_chance_are_refused() -> None:
    for errors in ((observed(10, 10), observed(10, 10)), (observed(5, 10), observed(5, 10))):
        with pytest.raises(NotEnoughData, match="cannot be corrected"):
            correct_shares(observed(5, 50), observed(40, 50), errors)


def audit_of(language: str, *counts: tuple[bool, int, int], start: int = 0) -> list[AuditedQuery]:
    """Return audited queries: (label, wrong, number) each."""
    return [
        AuditedQuery(language, f"{answerable}-{start + k}", answerable, k < wrong)
        for answerable, wrong, n in counts
        for k in range(n)
    ]


def test_errors_are_wilsons_and_need_enough_of_each_label() -> None:
    rows = audit_of("en", (True, 5, 20))
    _, answerable = LabelAudit((*rows, *audit_of("en", (False, 0, 10)))).errors("en")
    assert answerable == observed(5, 20)
    with pytest.raises(NotEnoughData, match="9 queries labelled unanswerable"):
        LabelAudit((*rows, *audit_of("en", (False, 0, 9)), *audit_of("de", (False, 0, 9)))).errors("en")


def outcome_rows(language: str, subset: str, answered: int, abstained: int) -> list[dict[str, Any]]:
    words = ["answered"] * answered + ["abstained"] * abstained
    return [
        {
            "language": language,
            "query_id": f"{subset}-{language}-{k}",
            "system": "s",
            "parser": "strict",
            "subset": subset,
            "outcome": word,
            "rule": "made up",
        }
        for k, word in enumerate(words)
    ]


def outcome_table(*languages: str) -> Any:
    import pyarrow as pa

    rows = [row for code in languages for row in outcome_rows(code, "non_relevant", 17, 83)]
    rows += [row for code in languages for row in outcome_rows(code, "relevant", 66, 34)]
    return pa.Table.from_pylist(rows)


def cells(table: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["language"], row["subset"]): row for row in table.to_pylist()}


def test_rates_get_the_corrected_value_beside_the_printed_one() -> None:
    plain = rates(outcome_table("en", "de"))
    audit = LabelAudit(
        (*audit_of("en", (False, 2, 20), (True, 4, 20)), *audit_of("de", (False, 0, 60), (True, 0, 60), start=100))
    )
    found = cells(correct_rates(plain, QueryLabels(automatic=True, audit=audit)))
    for (language, subset), row in found.items():
        before = cells(plain)[language, subset]
        assert {name: row[name] for name in ("rate", "rate_low", "rate_high", "n")} == {
            name: before[name] for name in ("rate", "rate_low", "rate_high", "n")
        }
        assert row["labels"] == "audited"
        assert row["corrected_low"] < row["corrected"] < row["corrected_high"]
    assert found["en", "non_relevant"]["corrected"] == pytest.approx(0.1)
    assert found["en", "relevant"]["corrected"] == pytest.approx(0.2)
    # Each language has its own errors, and `all` is their mean, however many queries were audited in each.
    assert found["de", "non_relevant"]["corrected"] == pytest.approx(0.17)
    assert found["all", "non_relevant"]["corrected"] == pytest.approx((0.1 + 0.17) / 2)
    assert found["all", "relevant"]["label_error"] == pytest.approx(0.1)
    assert found["all", "non_relevant"]["audited"] == 80
    assert found["all", "non_relevant"]["label_reason"] is None


def test_a_language_with_few_audited_queries_takes_no_others_errors() -> None:
    few = audit_of("de", (False, 0, 4), (True, 0, 40), start=100)
    audit = LabelAudit((*audit_of("en", (False, 2, 20), (True, 4, 20)), *few))
    found = cells(correct_rates(rates(outcome_table("en", "de")), QueryLabels(automatic=True, audit=audit)))
    german, joint = found["de", "non_relevant"], found["all", "non_relevant"]
    assert (german["corrected"], german["audited"]) == (None, None)
    assert german["label_reason"].startswith("not checked")
    assert joint["corrected"] == pytest.approx(found["en", "non_relevant"]["corrected"])
    assert "de" in joint["label_reason"]


def test_what_cannot_be_corrected_says_why() -> None:
    plain = rates(outcome_table("en"))
    for audit, reason in (
        (audit_of("en", (False, 20, 20), (True, 20, 20)), "cannot be corrected"),
        (audit_of("en", (False, 0, 2), (True, 0, 20)), "2 queries labelled unanswerable"),
        ([], "not checked"),
    ):
        for row in correct_rates(plain, QueryLabels(automatic=True, audit=LabelAudit(tuple(audit)))).to_pylist():
            assert row["corrected"] is None
            assert reason in row["label_reason"]
            assert row["rate"] is not None
    one_subset = rates(outcome_table("en").slice(0, 100))
    (row, *_) = correct_rates(
        one_subset, QueryLabels(audit=LabelAudit(tuple(audit_of("en", (False, 1, 20), (True, 1, 20)))))
    ).to_pylist()
    assert row["corrected"] is None
    assert "both labels" in row["label_reason"]


def test_translated_queries_widen_the_mean_over_languages() -> None:
    def width_of_all(**start: int) -> float:
        audit = (
            *audit_of("en", (False, 2, 20), (True, 4, 20)),
            *audit_of("de", (False, 2, 20), (True, 4, 20), **start),
        )
        table = correct_rates(rates(outcome_table("en", "de")), QueryLabels(automatic=True, audit=LabelAudit(audit)))
        row = cells(table)["all", "non_relevant"]
        return float(row["corrected_high"] - row["corrected_low"])

    assert width_of_all() > 1.02 * width_of_all(start=100)


@pytest.mark.parametrize(
    ("rates_", "errors", "queries", "audited"),
    [((0.1, 0.7), (0.1, 0.05), 50, 20), ((0.3, 0.9), (0.2, 0.2), 100, 30), ((0.6, 0.9), (0.05, 0.0), 250, 100)],
)
def test_intervals_cover_the_truth(
    rates_: tuple[float, float], errors: tuple[float, float], queries: int, audited: int
) -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(600):
        found = rng.binomial(audited // 2, errors)
        wrong = found + rng.binomial((queries - audited) // 2, errors)
        n = queries // 2
        answers = rng.binomial(wrong, rates_[::-1]) + rng.binomial(n - wrong, rates_)
        pair = (observed(int(found[0]), audited // 2), observed(int(found[1]), audited // 2))
        first, _second = correct_shares(observed(int(answers[0]), n), observed(int(answers[1]), n), pair)
        held += first.low <= rates_[0] <= first.high
    assert 0.93 <= held / 600 <= 0.995, "more than 95% only where an estimate meets 0"


def test_a_system_that_contradicts_the_audit_keeps_its_doubt() -> None:
    """It answers exactly by the labels, of which people find a seventh wrong: its rates are not known for sure."""
    pair = (observed(2, 14), observed(0, 14))
    first, second = correct_shares(observed(0, 16), observed(16, 16), pair)
    assert (first.value, second.value) == (0, 1)
    assert first.high >= observed(0, 16).high
    assert second.low <= observed(16, 16).low
