"""Tokens of a text: by the model's own tokenizer where it is at hand, else by an estimate from its script."""

from pathlib import Path

import pytest
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st

from mirage.errors import BadInput
from mirage.llm.tokens import TokenEstimate, tokens_of


@pytest.mark.parametrize(*read_table("greetings"))
def test_the_estimate_is_near_a_current_tokenizer_and_rather_above(text: str, tokens: int) -> None:
    """One greeting in the languages of the published table, our own wording, and the tokens that o200k needs for one of
    about that length there: the estimate must be near, and rather above."""
    assert 0.9 * tokens <= TokenEstimate().count(text) <= 1.6 * tokens


@given(st.text(), st.integers(0, 50))
def test_a_cut_is_the_longest_beginning_within_the_limit(text: str, limit: int) -> None:
    tokens = TokenEstimate()
    cut = tokens.cut(text, limit)
    assert text.startswith(cut)
    assert tokens.count(cut) <= limit
    if cut != text:
        assert tokens.count(text[: len(cut) + 1]) > limit


def test_a_model_whose_tokenizer_is_not_at_hand_is_estimated_and_nothing_is_fetched() -> None:
    for model in ("gpt-4o-mini", "nobody/has-this", "a/b/c", "with space", ""):
        assert tokens_of(model) == TokenEstimate()


def test_a_model_s_own_tokenizer_counts_and_cuts(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra `local`: pip install tokenizers")
    words = ["one", "two", "three", "[UNK]", "火"]
    model = tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]")
    encoder = tokenizers.Tokenizer(model)
    encoder.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    encoder.enable_truncation(2)
    assert tokens_of(str(tmp_path)) == TokenEstimate()
    encoder.save(str(tmp_path / "tokenizer.json"))
    tokens = tokens_of(str(tmp_path))
    assert tokens.name == str(tmp_path)
    assert tokens.count("one two  three 火 four") == 5
    assert tokens.cut("one two  three 火 four", 3) == "one two  three"
    assert tokens.cut("one two", 3) == "one two"
    assert tokens.cut("one two", 0) == ""
    (tmp_path / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(BadInput, match="cannot be read"):
        tokens_of(str(tmp_path))
