"""From a folder of documents to rates that people's audit corrects: questions, three systems, ballots, pages."""

from __future__ import annotations

from pathlib import Path

import browser
import pytest
from commands import mirage, rows
from misbehaving import Service
from testset_cases import ScriptedModel, towns_in, write_corpus

from mirage import store
from mirage.people import votes

HIDDEN = 0
"""Of the unanswerable queries of each ballot, the one that the voter finds answerable."""


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

    mirage("votes", "audit", board, "--n", 48, "--out", tmp_path / "audit.html")
    subset = {row["text"]: row["subset"] for row in store.open_arena(board).read("queries").to_pylist()}
    with browser.server(arenas, MIRAGE_HOME=str(tmp_path / "home")) as url, browser.chromium() as start:
        opened = start()
        page = browser.show(opened, f"{url}/hallucination?arena=bridges")
        page.get_by_text("labels not audited").first.wait_for()
        for language in ("de", "sw"):
            ballot = start().page
            ballot.goto((tmp_path / f"audit-{language}.html").as_uri())
            ballot.fill("#voter", "amina")
            ballot.keyboard.press("Enter")
            wrong = 0
            for _ in range(24):
                shown = ballot.locator("#item").inner_text()
                (label,) = {label for text, label in subset.items() if towns_in(text)[0] in shown and text in shown}
                if answered := label == "relevant" or wrong == HIDDEN:
                    wrong += label != "relevant"
                for key in ("1", "4" if answered else "5", "7"):
                    ballot.keyboard.press(key)
            with ballot.expect_download() as saved:
                ballot.click("#save")
            saved.value.save_as(tmp_path / f"{language}.jsonl")
            mirage("votes", "import", tmp_path / f"{language}.jsonl", "--arena", board)
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
