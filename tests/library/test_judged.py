"""Real battles of LMArena, judged by people and by three models: what the data's own README says must come out."""

import gzip
from itertools import islice
from pathlib import Path

import pytest
from conftest import DATA

from mirage.io.imports.formats import import_file
from mirage.schema import PEOPLE
from mirage.views.exam import pairs_view

FILE = DATA / "judged" / "chatbot_arena_verdicts.csv.gz"
GPT4, CLAUDE, GPT35 = "gpt-4-0125-preview", "claude-3-opus-20240229", "gpt-3.5-turbo"

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the judged battles are not beside the checkout")


def test_every_verdict_is_kept(tmp_path: Path) -> None:
    """No row is dropped: 26,919 rows of four judges, also the 36 verdicts that repeat a battle."""
    imported = import_file(FILE, tmp_path / "arena")
    assert imported.summary.format == "lmarena"
    assert imported.arena.rows("judgments") == 4 * 26_919
    repeated = imported.arena.sql("SELECT count(*) AS n FROM judgments WHERE voter LIKE '%~2'")["n"].to_pylist()
    assert repeated == [36]
    assert "36 verdicts" in imported.summary.guessed["repeated battles"]
    both_bad = imported.arena.sql("SELECT judge, count(*) AS n FROM judgments WHERE verdict = 'both_bad' GROUP BY 1")
    assert both_bad.to_pylist() == [{"judge": "human", "n": 5_132}]


def test_people_are_not_compared_as_a_judge(tmp_path: Path) -> None:
    with gzip.open(FILE, "rt", encoding="utf-8") as rows:
        (tmp_path / "some.csv").write_text("".join(islice(rows, 400)), "utf-8")
    arena = import_file(tmp_path / "some.csv", tmp_path / "arena").arena
    pairs = {(pair.one, pair.other) for pair in pairs_view(arena) if pair.one != PEOPLE}
    assert pairs == {(CLAUDE, GPT35), (CLAUDE, GPT4), (GPT35, GPT4)}
