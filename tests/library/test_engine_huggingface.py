"""Models that transformers loads on this machine, with a tiny checkpoint made on the spot; and the package's doors."""

import random
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import mirage, write_jsonl
from engine_vllm_cases import StandIn
from generating_cases import shown, write
from golden.cases import read_table
from llm_cases import ledger, replies_of  # noqa: F401  # a fixture
from misbehaving import Service, reply
from tiny_model import make, needed

import mirage as api
from mirage.errors import BadInput, UnknownName, Unreachable
from mirage.io.sources.nomiracl import seeded
from mirage.llm import asking, engine_huggingface
from mirage.llm.calls import ChatModel, Settings
from mirage.llm.completion import Reply
from mirage.store.ledger import Ledger


@pytest.fixture(scope="module")
def tiny(module_path: Path) -> Path:
    needed()
    return make(module_path / "tiny-chat")


def model_of(tiny: Path, options: Mapping[str, Any] | None = None, **settings: Any) -> ChatModel:
    chosen = {"temperature": 0.0, "max_tokens": 8, "service": "huggingface"} | settings
    return ChatModel(Settings(str(tiny), **chosen), options=dict(options or {}))


def ask(model: ChatModel, ledger: Ledger, *queries: str) -> list[Reply]:
    conversations = [[{"role": "user", "content": query}] for query in queries]
    replies = replies_of(asking.ask(conversations, model, ledger))
    return [reply for reply in replies if reply is not None]


QUERIES = ["Why?", "What is the capital of Kenya, and since when?", "Nini?", "为什么？", "q " * 40]


def test_replies_have_the_models_template_its_tokens_and_do_not_depend_on_the_group(tiny: Path, tmp_path: Path) -> None:
    import transformers

    texts = []
    for size in (1, 3):
        with Ledger(tmp_path / f"{size}.sqlite") as ledger:
            replies = ask(model_of(tiny, {"batch_size": size, "dtype": "float32"}), ledger, *QUERIES)
        texts.append([reply.text for reply in replies])
    assert texts[0] == texts[1]
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny)
    prompt = [{"role": "user", "content": QUERIES[0]}]
    rendered = tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True)
    assert replies[0].tokens_in == len(tokenizer(rendered, add_special_tokens=False)["input_ids"])
    assert all(reply.tokens_out and reply.tokens_out <= 8 for reply in replies)
    assert {reply.status for reply in replies} <= {"ok", "truncated", "empty"}


def test_a_seed_fixes_what_is_sampled_and_the_random_state_stays(tiny: Path, tmp_path: Path) -> None:
    import torch

    drawn = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        before = torch.random.get_rng_state()
        with Ledger(tmp_path / f"{name}.sqlite") as ledger:
            replies = ask(model_of(tiny, temperature=1.0, seed=seed), ledger, *QUERIES)
        drawn.append([reply.text for reply in replies])
        assert torch.equal(before, torch.random.get_rng_state())
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_prompt_beyond_the_context_is_a_row_and_the_rest_is_answered(tiny: Path, ledger: Ledger) -> None:
    replies = ask(model_of(tiny, {"max_length": 60}), ledger, "short", "long " * 100)
    assert [reply.status == "api_error" for reply in replies] == [False, True]
    assert "60" in (replies[1].reason or "")


def test_generate_loads_the_model_once_and_not_again(tiny: Path, tmp_path: Path, monkeypatch: Any) -> None:
    path = write(tmp_path / "a", n=2)
    command = ["generate", str(path), "--system", "mine", "--provider", "huggingface", "--model", str(tiny)]
    mirage(*command, "--max-tokens", "4", "--engine-args", '{"batch_size": 2}')
    assert len(shown(path)) == 4
    assert {row["outcome"] for row in shown(path)} <= {"ok", "truncated", "empty"}
    monkeypatch.setattr(engine_huggingface, "load", lambda model: pytest.fail("everything is in the ledger"))
    mirage(*command, "--max-tokens", "4", "--engine-args", '{"batch_size": 2}')
    assert "0 calls" in mirage(*command, "--max-tokens", "4", "--dry-run").stderr


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"quantization_config": {"load_in_4bit": True}}, "bitsandbytes"),
        ({"batch_size": 0}, "batch_size"),
        ({"no_such_option": 1}, "no_such_option"),
    ],
)
def test_an_option_that_cannot_be_is_named(tiny: Path, ledger: Ledger, options: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        ask(model_of(tiny, options), ledger, "q")


def test_a_model_that_is_not_there_is_unreachable_with_advice(tmp_path: Path, ledger: Ledger) -> None:
    needed()
    (tmp_path / "empty").mkdir()
    with pytest.raises((Unreachable, BadInput), match="transformers"):
        ask(model_of(tmp_path / "empty"), ledger, "q")


@pytest.mark.parametrize("options", [["--batch"], ["--engine", "ray"]])
def test_what_another_engine_does_is_rejected(tmp_path: Path, options: list[str]) -> None:
    path = write(tmp_path / "a", n=1)
    mirage("generate", path, "--system", "s", "--provider", "huggingface", "--model", "m", *options, code=2)


# The doors of the NoMIRACL package


def test_load_model_answers_prompts_as_the_package_does(tiny: Path) -> None:
    model = api.load_model("huggingface", "tiny", weights_path=str(tiny), max_new_tokens=6)
    assert (model.temperature, model.top_p, model.max_new_tokens) == (0.95, 0.95, 6)
    prompts = ["What is the capital of France?", "What is the capital of Italy?"]
    texts = model.call(prompts)
    assert len(texts) == 2
    assert all(isinstance(text, str) for text in texts)
    assert len(model.batch_call(prompts, batch_size=2)) == 2
    with Service(lambda call: reply(f"re {call.content}")) as service:
        served = api.load_model("openai", "m", base_url=service.url)
        assert served.call(prompts) == [f"re {prompt}" for prompt in prompts]
        assert service.calls[0].body["temperature"] == 0.95
    with pytest.raises(UnknownName, match="hugingface"):
        api.load_model("hugingface", "tiny")


def test_the_call_of_the_nomiracl_readme_loads_by_vllm_with_its_arguments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    vllm = StandIn()
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    model = api.load_model("vllm", "m", cache_dir=str(tmp_path), batch_size=2, num_gpus=1, concurrency=2)
    assert model.call(["What is the capital of France?"]) == ["re What is the capital of France?"]
    (loaded,) = vllm.loaded
    assert loaded == {"model": "m", "seed": 0, "tensor_parallel_size": 1, "download_dir": str(tmp_path)}
    with Service(lambda call: reply("a")) as service:
        served = api.load_model(
            "openai", "m", base_url=service.url, cache_dir="c", batch_size=2, num_gpus=1, concurrency=2
        )
        assert served.call("q") == ["a"]


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
            (root / kind / f"test.{subset}.tsv").write_text("\n".join(rows) + "\n", "utf-8")
        corpus += [{"docid": f"{i}#{k}", "title": f"Title {i}", "text": "A\ntext"} for i in ids for k in range(2)]
    write_jsonl(root / "corpus.jsonl", *corpus)
    return folder


@pytest.mark.parametrize(*read_table("seeded_samples"))
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


def test_without_a_network_a_sample_names_the_folder_that_it_takes(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(into: Path, **_: object) -> None:
        into.mkdir(parents=True, exist_ok=True)
        raise Unreachable("no network", do="try again")

    monkeypatch.setattr(seeded, "pull_nomiracl", refuse)
    loader = api.NoMIRACLDataLoader(
        language="swahili", split="test", hf_dataset_name="miracl/nomiracl", load_from_huggingface=True
    )
    with pytest.raises(Unreachable) as told:
        loader.load_data_sample(relevant_ratio=0.5, non_relevant_ratio=0.5, max_sample_pool=250)
    folder = re.findall(r"into (\S+), or", told.value.do)[0]
    shutil.copytree(nomiracl(tmp_path / "files", 3, 3), folder, dirs_exist_ok=True)
    assert "data/swahili/" in told.value.do
    assert loader.load_data_sample(relevant_ratio=0.5, non_relevant_ratio=0.5, max_sample_pool=250)[1]


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
