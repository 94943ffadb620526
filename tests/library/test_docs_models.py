"""The page "Models and services": its commands run in its order, against services on this machine."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from batch_service import BatchService
from commands import CliRunner
from conftest import ROOT
from misbehaving import Act, Call, Service
from tiny_model import make, needed

import mirage
from mirage import store
from mirage.cli import app
from mirage.io.sources.nomiracl import seeded

PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash(?: (\w+))?\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the page finds in a checkout."""
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "data" / "sample")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def run(line: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a line of the page, with its addresses replaced."""
    words = shlex.split(line)
    if words[0] == "cp":
        shutil.copytree(words[-2], words[-1])
    elif words[0] == "export":
        monkeypatch.setenv(*words[1].split("="))
    else:
        options = [url if word.startswith(("http://", "https://")) else word for word in words[1:]]
        result = CliRunner().invoke(app, options)
        assert result.exit_code == 0, f"{line}\n{result.output}"


def test_the_commands_of_batches_run_in_the_order_of_the_page(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with BatchService() as service:
        for label, text in BLOCKS:
            for line in text.splitlines() if not label else ():
                run(line, service.url, monkeypatch)
        assert len(service.batches) == 2
        assert set(service.paid.values()) == {1}
        assert not service.single
    answers = store.open_arena(here / "my-arena").read("answers").to_pylist()
    assert sum(row["system"] == "my-model" and row["status"] == "ok" for row in answers) == 20


def test_a_model_on_this_machine_answers_and_judges_as_the_page_says(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed()
    tiny = str(make(tmp_path / "tiny-chat"))
    shutil.copytree(here / "data" / "sample", here / "my-arena")
    for label, text in BLOCKS:
        for line in text.splitlines() if label == "local" else ():
            run(line.replace("Qwen/Qwen3-0.6B", tiny) + " --max-tokens 4", "", monkeypatch)
    answers = store.open_arena(here / "my-arena").read("answers").to_pylist()
    assert sum(row["system"] == "my-qwen" for row in answers) == 3
    (code,) = re.findall(r"^```python doors\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    monkeypatch.setattr(seeded, "fetch_language", lambda language: queries(here))
    names: dict[str, Any] = {}
    exec(compile(code.replace("Qwen/Qwen3-0.6B", tiny), "docs/models.md", "exec"), names)
    assert len(names["texts"]) == 2


def queries(folder: Path) -> Path:
    """Three relevant and three non-relevant queries with ten passages each, in the published form."""
    root = folder / "data" / "swahili"
    corpus = []
    for subset in ("relevant", "non_relevant"):
        ids = [f"{subset[0]}{k}" for k in range(3)]
        topics = "".join(f"{i}\tQuery {i}?\n" for i in ids)
        labels = "".join(f"{i} Q0 {i}#{k} {int(subset == 'relevant' and k == 0)}\n" for i in ids for k in range(10))
        for kind, content in (("topics", topics), ("qrels", labels)):
            (root / kind).mkdir(parents=True, exist_ok=True)
            (root / kind / f"test.{subset}.tsv").write_text(content, encoding="utf-8")
        corpus += [{"docid": f"{i}#{k}", "title": "T", "text": "A text."} for i in ids for k in range(10)]
    (root / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus), encoding="utf-8")
    return folder


def ask(call: Call) -> Act:
    """Answer as the page says that its two services do."""
    if "question" in call.body:
        answer: object = {"answer": "It is so [1].", "contexts": ["A passage.", "Another."]}
    else:
        assert call.body["options"] == {"language": "en", "k": 3}
        hits = [{"passage": f"Passage {k}.", "id": f"d{k}", "score": 1 / k} for k in (1, 2, 3)]
        answer = {"result": {"text": "Yes [2]."}, "hits": hits}
    return Act(body=json.dumps(answer).encode())


def test_the_commands_of_a_live_rag_run_in_the_order_of_the_page(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(here / "data" / "sample", here / "my-arena")
    with Service(ask) as service:
        for label, text in BLOCKS:
            for line in text.splitlines() if label == "rag" else ():
                run(line, service.url, monkeypatch)
        assert len(service.calls) == 10
        (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
        code = re.sub(r"http://[^\"]+", service.url, code)
        exec(compile(code, "docs/models.md", "exec"), {"mirage": mirage, "arena": mirage.open_arena("my-arena")})
        assert len(service.calls) == 10, "the same questions of the same system"
    arena = store.open_arena(here / "my-arena")
    assert store.check(arena)
    lists = arena.read("retrieved").to_pylist()
    assert {row["passage_id"] for row in lists if row["retriever"] == "my-rag-2"} == {"d1", "d2", "d3"}
    cited = [row for row in arena.read("features").to_pylist() if row["system"] == "my-rag-2"]
    assert cited
