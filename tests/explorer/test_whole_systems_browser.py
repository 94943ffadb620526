"""Whole systems in one sitting: an arena made by commands alone, of two retrievers and baselines that answer from each,
and then in a browser from the retrievers to where answers are lost, the answers of a cause, and their nuggets.

With MIRAGE_PICTURES=DIR every step leaves a picture in that folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest
from browser import Opened
from commands import mirage
from conftest import ROOT
from sample_source import read_nuggets, read_sample

from mirage import store
from mirage.stages.generate.baselines import BASELINES

pytestmark = pytest.mark.browser

SOURCE = ROOT / "data" / "sample" / "source"
CODES = ("ar", "en")
"""The first causes of the flow, from top to bottom."""
SYSTEM = "baseline/bm25-3+tail"


def write_files(folder: Path) -> None:
    """The sample in two languages as files of others: topics, qrels and corpora of TREC, banks of nuggetizer."""
    sample = read_sample(SOURCE)
    for code in CODES:
        queries, passages = (
            [row for row in sample[name].to_pylist() if row["language"] == code] for name in ("queries", "passages")
        )
        docs = {row["passage_id"]: row for row in passages}
        nuggets: dict[str, list[dict[str, str]]] = {}
        for nugget in read_nuggets(SOURCE):
            if nugget.language == code:
                nuggets.setdefault(nugget.query_id, []).append({"text": nugget.text, "importance": nugget.importance})
        texts = {row["query_id"]: row["text"] for row in queries}
        files: dict[str, list[Any]] = {
            f"trec/topics.{code}.tsv": [f"{query_id}\t{text}" for query_id, text in texts.items()],
            f"trec/qrels.{code}.tsv": [f"{r['query_id']} 0 {r['passage_id']} {int(r['relevant'])}" for r in passages],
            f"trec/corpus.{code}.jsonl": [
                json.dumps({"docid": name, "title": row["title"] or "", "text": row["text"]})
                for name, row in docs.items()
            ],
            f"nuggets/nuggets.{code}.jsonl": [
                json.dumps({"qid": query_id, "query": texts[query_id], "nuggets": bank})
                for query_id, bank in nuggets.items()
            ],
        }
        for name, lines in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_tail(run: Path, tail: Path) -> None:
    """A bad retriever: the last three of each list, the last one first."""
    tail.mkdir()
    for file in sorted(run.iterdir()):
        by_query: dict[str, list[str]] = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            query_id, _, passage_id, *_ = line.split()
            by_query.setdefault(query_id, []).append(passage_id)
        lines = [
            f"{query_id} Q0 {name} {rank} {1 / rank} tail"
            for query_id, names in by_query.items()
            for rank, name in enumerate(names[:-4:-1], start=1)
        ]
        (tail / file.name).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpus and labels in, two retrievers, the baselines over each, outcomes, nuggets, a judge, a ranking."""
    folder = tmp_path_factory.mktemp("whole")
    path = folder / "arenas" / "whole"
    write_files(folder)
    mirage("import", "--as", "trec", folder / "trec", "--into", path)
    mirage("import", "--as", "nuggets", folder / "nuggets", "--into", path)
    mirage("generate", "retrieve", path, "--depth", 5)
    mirage("export", "run", path, "--retriever", "bm25", "--out", folder / "run")
    write_tail(folder / "run", folder / "tail")
    mirage("import", "--as", "trec", folder / "tail", "--into", path)
    for retriever in ("bm25", "tail"):
        mirage("generate", path, "--baselines", "--retriever", retriever, "--depth", 3)
    mirage("measure", path)
    mirage("judge", path, "--judge", "heuristic", "--queries", 3)
    for judge in ("heuristic", "relevance"):
        mirage("rank", path, "--judge", judge, "--draws", 20, "--store")
    opened = store.open_arena(path)
    assert store.check(opened)
    systems = {f"{name}+{retriever}" for name in BASELINES for retriever in ("bm25", "tail")}
    assert set(opened.read("ratings")["system"].to_pylist()) == systems
    return path


@pytest.fixture(scope="module")
def url(arena: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browser.server(arena.parent, MIRAGE_HOME=str(tmp_path_factory.mktemp("home"))) as url:
        yield url


def arrived(opened: Opened, title: str) -> None:
    opened.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    opened.settle()


def look(opened: Opened, name: str, width: int, scheme: str) -> None:
    """A step: it stays within the window, and nothing went wrong."""
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert opened.heard == ([], [], [])
    if folder := os.environ.get("MIRAGE_PICTURES"):
        opened.page.screenshot(path=Path(folder) / f"whole-{name}-{width}-{scheme}.png")


@pytest.mark.parametrize(("width", "scheme"), [(1360, "light"), (390, "dark")])
def test_from_the_retrievers_to_the_nuggets_of_a_lost_answer(url: str, width: int, scheme: str) -> None:
    with browser.chromium() as start:
        opened = start(width=width, height=900, scheme=scheme)
        page: Any = opened.page
        page.set_default_timeout(15000)

        # Where answers are lost: most by the retriever, where that is the bad one.
        browser.show(opened, f"{url}/hallucination?arena=whole&section=Errors")
        causes = page.locator(".st-key-causes")
        causes.scroll_into_view_if_needed()
        assert "not retrieved" in "".join(causes.locator("text").all_text_contents())
        look(opened, "2-losses", width, scheme)

        # A part of a bar leads to its answers alone.
        rows = causes.locator(".ytick text").all_text_contents()
        parts = page.locator(".st-key-causes .legendtext").all_text_contents()
        number = parts.index("not retrieved")
        bars = causes.locator(".barlayer .trace.bars").nth(number).locator(".point")
        bars.nth(rows.index(SYSTEM)).click(force=True)  # Plotly hears clicks through a sheet over the marks
        opened.settle()
        link = page.get_by_role("button", name="not retrieved")
        link.click()
        arrived(opened, "Answers")
        assert "cause=not_retrieved" in page.url
        assert page.locator(".mg-hit .mg-name").all_inner_texts() == [SYSTEM]
        assert page.get_by_text("Not retrieved: none of").first.is_visible()
        look(opened, "4-answers", width, scheme)

        # Its nuggets, which it does not state, beside those of the good retriever's answer.
        page.get_by_text("full support, ◐ partial").scroll_into_view_if_needed()
        matrix = page.locator(".mg-nuggets")
        assert matrix.locator("tbody tr").count() > 0
        assert matrix.locator("td.mg-not_support").count() > 0
        look(opened, "5-nuggets", width, scheme)
        browser.show(opened, f"{url}/battle?arena=whole&languages=ar&a=baseline/bm25-3%2Bbm25&b=baseline/bm25-3%2Btail")
        page.locator(".mg-nuggets").scroll_into_view_if_needed()
        assert page.locator(".mg-nuggets thead bdi").all_text_contents() == ["baseline/bm25-3+bm25", SYSTEM]
        assert page.locator(".mg-nuggets tbody th").first.get_attribute("dir") == "rtl"
        look(opened, "6-battle", width, scheme)
