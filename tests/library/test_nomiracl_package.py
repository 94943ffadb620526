"""The doors of the NoMIRACL package: models that answer prompts, prompt templates, and samples of the data."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest
from engine_vllm_cases import StandIn
from misbehaving import Service, reply

import mirage as api
from mirage.errors import BadInput, UnknownName


def test_load_model_answers_prompts_as_the_package_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", module := StandIn())
    model = api.load_model("vllm", "tiny", weights_path="folder", max_new_tokens=6)
    assert (model.temperature, model.top_p, model.max_new_tokens) == (0.95, 0.95, 6)
    prompts = ["What is the capital of France?", "What is the capital of Italy?"]
    assert model.call(prompts) == model.batch_call(prompts, batch_size=1) == [f"re {prompt}" for prompt in prompts]
    assert [loaded["model"] for loaded in module.loaded] == ["folder"]
    with Service(lambda call: reply(f"re {call.content}")) as service:
        served = api.load_model("openai", "m", base_url=service.url)
        assert served.call(prompts) == [f"re {prompt}" for prompt in prompts]
        assert service.calls[0].body["temperature"] == 0.95
    with pytest.raises(UnknownName, match="hugingface"):
        api.load_model("hugingface", "tiny")


def test_load_prompt_template_renders_the_published_prompt() -> None:
    template = api.load_prompt_template("vanilla", count=3)
    prompt = template(query="Which is best?", passages=["Python is.", "Go is.", "C is."])
    assert prompt.startswith("I will give you a question and several contexts")
    assert "QUESTION:\nWhich is best?\n\nCONTEXTS:\n[1] Python is.\n\n[2] Go is.\n\n[3] C is.\n\nOUTPUT:" in prompt
    assert api.load_prompt_template("explanation").count == 10
    with pytest.raises(BadInput, match="2 passages"):
        template("q", ["a", "b"])
    with pytest.raises(UnknownName):
        api.load_prompt_template("hagrid")
    with pytest.raises(BadInput, match="count is 0"):
        api.VanillaTemplate(0)


def test_a_template_is_subclassed_as_the_readme_of_the_package_shows() -> None:
    class CustomTemplate(api.VanillaTemplate):
        def __init__(self, count: int = 1) -> None:
            super().__init__(count)
            self.template = (
                f'This is a pairwise prompt template. Respond as either "{self.answer}" or "{self.no_answer}".'
                "\n\nQUESTION:\n{query}\n\nCONTEXT:\n"
                + "\n\n".join([f"[{i}] {{{passage}}}" for i, passage in enumerate(self.passage_variables, 1)])
                + "\n\nOUTPUT:\n"
            )

    prompt = CustomTemplate(count=2)(query="Which?", passages=["{braces} stay.", "Go."])
    assert prompt == (
        'This is a pairwise prompt template. Respond as either "Yes, answer is present" or "I don\'t know".'
        "\n\nQUESTION:\nWhich?\n\nCONTEXT:\n[1] {braces} stay.\n\n[2] Go.\n\nOUTPUT:\n"
    )


def nomiracl(folder: Path, relevant: int, non_relevant: int) -> Path:
    """Files of one language, in the published form."""
    root = folder / "data" / "swahili"
    corpus = []
    for subset, n in (("relevant", relevant), ("non_relevant", non_relevant)):
        ids = [f"{subset[0]}{k}" for k in range(n)]
        lines = {
            "topics": [f"{query_id}\tQuery {query_id}?" for query_id in ids],
            "qrels": [f"{i} Q0 {i}#{k} {int(subset == 'relevant' and k == 0)}" for i in ids[::-1] for k in range(2)],
        }
        for kind, rows in lines.items():
            (root / kind).mkdir(parents=True, exist_ok=True)
            (root / kind / f"test.{subset}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        corpus += [{"docid": f"{i}#{k}", "title": f"Title {i}", "text": "A\ntext"} for i in ids for k in range(2)]
    (root / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("counts", "ratios", "pool", "sizes"),
    [
        ((9, 5), (0.5, 0.5), None, (5, 5)),
        ((5, 9), (0.5, 0.5), None, (5, 5)),
        ((9, 5), (0.5, 0.5), 3, (3, 3)),
        ((9, 9), (0.25, 0.75), None, (3, 9)),
        ((9, 9), (0.75, 0.25), None, (9, 3)),
        ((9, 5), (0.0, 1.0), None, (0, 5)),
        ((9, 5), (0.3, 0.0), 7, (7, 0)),
    ],
)
def test_load_data_sample_draws_what_the_package_draws(
    tmp_path: Path, counts: tuple[int, int], ratios: tuple[float, float], pool: int | None, sizes: tuple[int, int]
) -> None:
    folder = nomiracl(tmp_path, *counts)
    corpus, queries, qrels = api.load_data_sample("sw", "test", *ratios, max_sample_pool=pool, data_dir=folder)
    state = random.getstate()
    # The package seeds the global generator with 42, and draws from the queries in the order of the qrels.
    random.seed(42)
    drawn = [
        random.sample([f"{letter}{k}" for k in range(n)][::-1], size)
        for letter, n, size in zip("rn", counts, sizes, strict=True)
    ]
    random.setstate(state)
    assert [list(queries[subset]) for subset in ("relevant", "non_relevant")] == drawn
    assert all(sum(labels.values()) == 1 for labels in qrels["relevant"].values())
    assert all(sum(labels.values()) == 0 for labels in qrels["non_relevant"].values())
    shown_ids = {passage_id for part in qrels.values() for labels in part.values() for passage_id in labels}
    assert corpus.keys() == shown_ids
    assert {row["text"] for row in corpus.values()} == {"A text"}
    for data_dir in (folder, folder / "data" / "swahili"):
        loader = api.NoMIRACLDataLoader(language="swahili", split="test", data_dir=data_dir)
        same = loader.load_data_sample(relevant_ratio=ratios[0], non_relevant_ratio=ratios[1], max_sample_pool=pool)
        assert same == (corpus, queries, qrels)


def test_a_sample_that_cannot_be_is_rejected(tmp_path: Path) -> None:
    folder = nomiracl(tmp_path, 2, 2)
    with pytest.raises(UnknownName):
        api.load_data_sample("sw", "train", data_dir=folder)
    with pytest.raises(UnknownName):
        api.load_data_sample("klingon", data_dir=folder)
    with pytest.raises(BadInput):
        api.load_data_sample("sw", relevant_ratio=-1.0, data_dir=folder)
    with pytest.raises(UnknownName, match="mine"):
        api.NoMIRACLDataLoader(hf_dataset_name="mine")
