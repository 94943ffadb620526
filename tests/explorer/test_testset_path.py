"""From a folder of documents to rates that people's audit corrects: questions, three systems, ballots, pages."""

from __future__ import annotations

import json
from pathlib import Path

import browser
import pytest
from commands import mirage, rows
from misbehaving import Service
from testset_cases import ScriptedModel, write_corpus

from mirage import store
from mirage.people import votes


@pytest.mark.browser
def test_documents_become_rates_that_an_audit_corrects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(votes.URL, raising=False)
    arenas = tmp_path / "arenas"
    board = arenas / "bridges"
    corpus = write_corpus(tmp_path / "docs", 40)
    with Service(ScriptedModel()) as service:
        at = ("--base-url", service.url)
        mirage("testset", board, "--corpus", corpus, "--languages", "sw,de", "--n", 24, "--model", "m", *at)
        for system in ("bold", "careful", "steady"):
            mirage("generate", board, "--system", system, "--model", system, *at)
    mirage("measure", "outcomes", board)
    printed = mirage("report", "rates", board, "--format", "csv")
    before = {(row["system"], row["subset"]): row for row in rows(printed) if row["language"] == "all"}
    assert float(before["bold", "non_relevant"]["rate"]) == 1
    assert float(before["careful", "non_relevant"]["rate"]) == 0
    assert {row["labels"] for row in before.values()} == {"not audited"}

    file = tmp_path / "audit.jsonl"
    mirage("votes", "audit", board, "--n", 48, "--voter", "amina", "--out", file)
    rows_of = store.open_arena(board).read("queries").to_pylist()
    subset = {(row["language"], row["query_id"]): row["subset"] for row in rows_of}
    ballot = [line.value for line in store.records(file)]
    label = {row["item"]: subset[row["language"], row["item"].rpartition(":")[0]] for row in ballot}
    hidden = {row["language"]: row["item"] for row in ballot if label[row["item"]] != "relevant"}
    for row in ballot:
        answered = label[row["item"]] == "relevant" or row["item"] in hidden.values()
        row["vote"] = "yes" if answered else "no"
    file.write_text("".join(json.dumps(row) + "\n" for row in ballot), encoding="utf-8")
    with browser.server(arenas, MIRAGE_HOME=str(tmp_path / "home")) as url, browser.chromium() as start:
        opened = start()
        page = browser.show(opened, f"{url}/hallucination?arena=bridges")
        page.get_by_text("labels not audited").first.wait_for()
        mirage("votes", "import", file, "--arena", board)
        printed = mirage("report", "rates", board, "--format", "csv")
        after = {(row["system"], row["subset"]): row for row in rows(printed) if row["language"] == "all"}
        for key, row in after.items():
            assert row["labels"] == "audited"
            assert row["rate"] == before[key]["rate"], "the printed rate stays"
            assert float(row["corrected_low"]) <= float(row["corrected"]) <= float(row["corrected_high"])
            wide, narrow = (float(row[f"{of}_high"]) - float(row[f"{of}_low"]) for of in ("corrected", "rate"))
            assert wide >= narrow, "an audit of a part leaves no less doubt"
        page = browser.show(opened, f"{url}/hallucination?arena=bridges&view=label+errors")
        page.get_by_text("Rates corrected for the label errors").first.wait_for()
        assert not page.get_by_text("labels not audited").count()
        assert opened.heard == ([], [], [])
