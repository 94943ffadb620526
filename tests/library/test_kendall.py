"""Kendall's tau and Holm's correction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from mirage.stats.holm import holm
from mirage.stats.kendall import kendall


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
    assert not len(holm([]))
