"""Support and the reranker score with real models: tiny ones with random weights and a trained tokenizer."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from commands import refuses
from features_local_cases import TABLES, TEXTS, save, trained_tokenizer
from flawed_systems import flawed_answers

from mirage import schema
from mirage.errors import BadInput, Unreachable
from mirage.stages.features.pairs import PairModel
from mirage.stages.features.spec import Tools
from mirage.stages.features.support import MAX_TOKENS
from mirage.stages.features.table import compute
from mirage.store.ledger import Ledger

PAIRS = [(TEXTS[n][: 20 + 7 * n % 300], TEXTS[n + 4][: 10 + 11 * n % 120]) for n in range(0, len(TEXTS) - 4, 30)]


@pytest.fixture(scope="module", autouse=True)
def local_models() -> None:
    """Skip without the extra; imported with the first test, since every worker collects this file."""
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason="the extra `local` (torch, transformers) is not installed")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return trained_tokenizer()


@pytest.fixture(scope="module")
def nli(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    labels = ["entailment", "neutral", "contradiction"]
    return save(tmp_path_factory.mktemp("nli"), tokenizer, "deberta", labels)


@pytest.fixture(scope="module")
def ranker(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("ranker"), tokenizer, "xlmr", ["LABEL_0"])


def one_by_one(folder: Path, pairs: list[tuple[str, str]]) -> list[list[float]]:
    """What the model says of each pair alone, without padding."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    scores = []
    with torch.inference_mode():
        for a, b in pairs:
            inputs = tokenizer(a, b, return_tensors="pt", truncation="longest_first", max_length=MAX_TOKENS)
            scores.append(model(**inputs).logits[0].tolist())
    return scores


@pytest.mark.parametrize("kind", ["nli", "ranker"])
def test_batched_scores_are_the_raw_scores_of_each_pair_alone(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    model = PairModel(str(folder), max_tokens=MAX_TOKENS, batch_tokens=2_000, device="cpu")
    pairs = [*PAIRS, *PAIRS[:3], (TEXTS[0] * 30, TEXTS[1])]
    scores = model.scores(pairs)
    for batched, alone in zip(scores, one_by_one(folder, pairs), strict=True):
        assert batched == pytest.approx(alone, abs=1e-3)
    assert scores[:3] == scores[len(PAIRS) : len(PAIRS) + 3]
    assert len({round(row[0], 2) for row in scores}) > 10, "scores that tell nothing apart test nothing"
    assert 0 <= model.padding < 0.3 * model.tokens
    assert model.scores([]) == []


def test_what_was_scored_is_kept_when_the_run_is_stopped(nli: Path, tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(scored: int, total: int) -> None:
        if scored > total / 2:
            raise Stopped

    whole = PairModel(str(nli), max_tokens=64, batch_tokens=500)
    expected = whole.scores(PAIRS)
    with Ledger(tmp_path / "scores.sqlite") as ledger:
        first = PairModel(str(nli), max_tokens=64, batch_tokens=500, ledger=ledger, progress=stop)
        with pytest.raises(Stopped):
            first.scores(PAIRS)
    with Ledger(tmp_path / "scores.sqlite") as ledger:
        again = PairModel(str(nli), max_tokens=64, batch_tokens=500, ledger=ledger)
        assert again.scores(PAIRS) == [pytest.approx(row, abs=1e-3) for row in expected]
        assert 0 < again.tokens < whole.tokens * 0.6
        assert again.tokens + first.tokens == pytest.approx(whole.tokens, rel=0.1)
        third = PairModel(str(nli), max_tokens=64, ledger=ledger)
        assert third.scores(PAIRS) == again.scores(PAIRS)
        assert third.tokens == 0


def test_scores_of_another_model_or_another_limit_are_not_mistaken_for_these(
    nli: Path, tokenizer: Any, tmp_path: Path
) -> None:
    other = save(tmp_path / "other", tokenizer, "deberta", ["entailment", "neutral", "contradiction"], seed=1)
    with Ledger(tmp_path / "scores.sqlite") as ledger:
        for folder, limit in ((nli, 64), (other, 64), (nli, 32)):
            model = PairModel(str(folder), max_tokens=limit, ledger=ledger)
            model.scores(PAIRS[:5])
            assert model.tokens > 0
    assert PairModel(str(nli), max_tokens=64).identity != PairModel(str(other), max_tokens=64).identity


def test_support_and_relevance_of_the_sample_are_measured_and_in_range(nli: Path, ranker: Path) -> None:
    ids = pa.array(["sw-01", "sw-09"])
    queries, passages = (TABLES[n].filter(pc.is_in(TABLES[n]["query_id"], ids)) for n in ("queries", "passages"))
    answers = flawed_answers(queries, passages)
    tools = Tools(
        support=PairModel(str(nli), max_tokens=MAX_TOKENS), reranker=PairModel(str(ranker), max_tokens=MAX_TOKENS)
    )
    only = ["support_entailment", "support_neutral", "reranker_score"]
    table = compute(queries, passages, answers, tools=tools, only=only)
    schema.validate("features", table)
    for row in table.to_pylist():
        cites = row["system"] not in ("baseline/abstain", "baseline/bm25-uncited")
        assert (row["value"] is not None) == cites, row
        if cites and row["feature"] != "reranker_score":
            assert 0 < row["value"] < 1
    assert compute(queries, passages, answers, tools=tools, only=only).equals(table)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be loaded"):
        PairModel(str(tmp_path), max_tokens=64)


def test_a_model_that_is_neither_here_nor_reachable_is_an_error_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with refuses(Unreachable, "nobody/nothing is not on this machine", do="folder of a local copy"):
        PairModel("nobody/nothing", max_tokens=8)
