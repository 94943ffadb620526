"""docs/extend.md: its recipes work in a copy of the program."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from commands import mirage
from commands import write_jsonl as write
from conftest import ROOT

from mirage.store.arena import open_arena
from mirage.views.board import BoardChoice, board_view

GUIDE = ROOT / "docs" / "extend.md"
BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def sections() -> dict[str, str]:
    """The guide's sections by heading."""
    parts = HEADING.split(GUIDE.read_text("utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def apply(section: str, folder: Path) -> None:
    """Do to a copy of the program what the blocks of a section say: files as they are, differences applied."""
    blocks = BLOCK.findall(sections()[section])
    assert blocks, f"{section} has no block with a file's name"
    for kind, name, body in blocks:
        file = folder / name
        if kind != "diff":
            file.write_text(body, "utf-8")
            continue
        lines = body.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        text = file.read_text("utf-8")
        assert text.count(before) == 1, f"{name} does not hold the lines that {section} changes, once"
        file.write_text(text.replace(before, after), "utf-8")


@pytest.fixture(scope="module")
def copy(module_path: Path) -> Path:
    """A copy of the program to which all recipes were applied."""
    for name in ("mirage", "pages", ".streamlit", "data/sample"):
        shutil.copytree(ROOT / name, module_path / name)
    shutil.copy(ROOT / "app.py", module_path)
    for section, text in sections().items():
        if BLOCK.search(text):
            apply(section, module_path)
    return module_path


def arena(folder: Path, language: str) -> Path:
    """An arena of two queries, two systems and a judge, by the commands that users have."""
    folder.mkdir(exist_ok=True)
    files = {
        "queries": [
            {"query_id": f"q{k}", "text": "Which city is the capital?", "subset": subset}
            | {"passages": [{"passage_id": f"p{k}", "text": "A city.", "relevant": subset == "relevant"}]}
            for k, subset in enumerate(("relevant", "non_relevant"))
        ],
        "answers": [
            {"query_id": f"q{k}", "system": system, "text": text}
            for k in range(2)
            for system, text in (("red", "Which city? Yes, answer is present."), ("blue", "I don't know."))
        ],
        "judgments": [
            {"query_id": "q0", "judge": "j", "system_a": a, "system_b": b, "verdict": verdict}
            for a, b, verdict in (("red", "blue", "A"), ("blue", "red", "B"))
        ],
    }
    for name, rows in files.items():
        file = write(folder / f"{name}.jsonl", *({"language": language, **row} for row in rows))
        mirage("import", file, "--into", folder / "arena")
    return folder / "arena"


def test_a_language_needs_no_line(tmp_path: Path) -> None:
    folder = arena(tmp_path, "ta")
    mirage("measure", "outcomes", folder)
    assert "ta" in mirage("measure", "features", folder, "--format", "json").stdout
    rates = json.loads(mirage("report", "rates", folder, "--format", "json").stdout)
    assert {row["language"] for row in rates} >= {"ta"}
    ranking = json.loads(mirage("rank", folder, "--judge", "j", "--format", "json").stdout)
    assert [(row["language"], row["system"], row["rank"]) for row in ranking] == [("ta", "red", 1), ("ta", "blue", 2)]
    board = board_view(open_arena(folder), BoardChoice(("j",)))
    assert (board.languages, board.rows.num_rows) == (("ta",), 2)


RECIPES = {
    "A feature": """
mirage("measure", "features", "arena")
rows = printed("measure", "features", "arena")
values = {row["system"]: row["mean"] for row in rows if row["feature"] == "query_words"}
# "Which city is the capital?": which, city and is come back in the answer of red, none in that of blue.
assert values == {"red": approx(3 / 5), "blue": 0}, values
""",
    # `both_good`, counted as a tie by whoever reads verdicts: one that was forgotten would drop it or count a win.
    "A verdict": """
from mirage.battles.decision import decisions
from mirage.ranking.judges import VerdictJudge
from mirage.views.win_matrix import matrix
battle = {"language": "en", "query_id": "q1", "judge": "j", "verdict": "both_good"}
orders = [battle | {"system_a": a, "system_b": b} for a, b in (("red", "blue"), ("blue", "red"))]
mirage("import", write_jsonl(Path("more.jsonl"), *orders), "--into", "arena")
first, second = printed("rank", "arena", "--judge", "j")
assert [(row["wins"], row["ties"], row["losses"]) for row in (first, second)] == [(2, 2, 0), (0, 2, 2)]
(row,) = printed("report", "judges", "arena")
assert (row["tie_rate"], row["tie_n"], row["unparsed_rate"], row["flip_rate"]) == (0.5, 4, 0, 0)
arena = open_arena("arena")
cell = matrix(arena, VerdictJudge("j")).cells["blue", "red"]
assert (cell.wins, cell.ties, cell.losses) == (0, 1, 1)
assert [one.winner for one in decisions(arena.read("judgments"))["j"].values()] == ["second", "tie"]
assert package.rank("more.jsonl").languages["en"].record.tolist() == [[0, 2, 0], [0, 2, 0]]
""",
    "An input format": """
file = write_jsonl(Path("file.jsonl"), {"prompt": "Which city?", "model": "red", "completion": "Rome."})
mirage("import", file, "--into", "own")
(answer,), (query,) = (open_arena("own").read(table).to_pylist() for table in ("answers", "queries"))
assert (answer["language"], answer["system"], answer["text"]) == ("en", "red", "Rome.")
assert query["text"] == "Which city?"
""",
    "A page": """
from streamlit.testing.v1 import AppTest
page = AppTest.from_file(f"{COPY}/pages/passages.py", default_timeout=120).run()
assert not page.exception, page.exception
n = open_arena(f"{COPY}/data/sample").rows("passages")
assert f"{n:,} passages" in " ".join(element.proto.body for element in page.get("html"))
""",
    "A regressor": """
import numpy as np
from mirage.ranking.surrogate.regressors import ESTIMATORS, REGRESSORS, _median, fit_and_predict
assert "median" in REGRESSORS
predicted = fit_and_predict(_median(0), np.eye(3), np.array([1.0, 2.0, 9.0]), np.zeros((2, 3)))
assert predicted.tolist() == [2, 2]
""",
    "A column of the leaderboard": """
from mirage.explorer.leaderboard import ratings
from mirage.views.board import BoardChoice, board_view
assert {row["system"]: row["points"] for row in printed("rank", "arena", "--judge", "j")} == {"red": 1, "blue": 0}
assert "points" in mirage("rank", "arena", "--judge", "j", "--format", "markdown").stdout
board = board_view(open_arena("arena"), BoardChoice(("j",)))
assert board.shown_rows()["points"].to_pylist() == [1, 0]
assert "points" in board.all_rows().column_names
assert "points" in [column.name for column in ratings.columns(board.rows, counted="verdicts", every=True)]
""",
    "An option of rank": """
battle = {"language": "en", "query_id": "q", "judge": "j", "system_a": "a", "system_b": "b", "verdict": "A"}
mirage("import", write_jsonl(Path("graded.jsonl"), battle | {"points": 0.6}), "--into", "graded")
plain, whole = (printed("rank", "graded", *words) for words in ((), ("--whole",)))
assert max(row["rating"] for row in whole) > max(row["rating"] for row in plain), "a win is worth more than 0.6 of it"
""",
}
"""By section: what its changes must do in a folder with the arena."""
RUN = """
import contextlib, io, json, os, shutil, sys, traceback
from pathlib import Path
from commands import mirage, write_jsonl
from pytest import approx
import mirage as package
from mirage import open_arena
COPY, recipes = sys.argv[1], json.loads(sys.argv[2])
assert package.__file__.startswith(COPY)
def printed(*words):
    return json.loads(mirage(*words, "--format", "json").stdout)
said = {}
for name, code in recipes.items():
    os.chdir(COPY)
    shutil.copytree("given", f"try {name}")
    os.chdir(f"try {name}")
    try:
        exec(code, globals())
    except BaseException:
        said[name] = traceback.format_exc()
print(json.dumps(said))
"""
"""Runs the program of every recipe in one process, and prints the errors."""


@pytest.fixture(scope="module")
def said(copy: Path) -> dict[str, str]:
    """What went wrong with each recipe."""
    arena(copy / "given", "en")
    fixtures = str(ROOT / "tests" / "fixtures")
    result = subprocess.run(
        [sys.executable, "-c", RUN, str(copy), json.dumps(RECIPES)],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": f"{copy}{os.pathsep}{fixtures}", "MIRAGE_HOME": str(copy / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout.splitlines()[-1]))


def test_every_recipe_with_a_block_is_tried() -> None:
    assert {name for name, text in sections().items() if BLOCK.search(text)} == set(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_does_what_it_says(name: str, said: dict[str, str]) -> None:
    assert said.get(name, "") == ""


def test_the_recipes_pass_make_lint(tmp_path: Path) -> None:
    """All of them in one copy: style, types of the new files, layers, and the budgets, each by itself."""
    copy = tmp_path / "copy"
    for name in ("mirage", "pages"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "pyproject.toml", copy)
    limits = tomllib.loads((ROOT / ".ci" / "budgets.toml").read_text("utf-8"))
    budgets = runpy.run_path(str(ROOT / ".ci" / "budgets.py"))
    files: set[str] = set()
    for section in (name for name, text in sections().items() if BLOCK.search(text)):
        names = {name for _, name, _ in BLOCK.findall(sections()[section])}
        changed = {name: tokens(copy / name, budgets) for name in names}
        apply(section, copy)
        added = Counter[str]()
        for file, before in changed.items():
            added[budgets["room_of"](Path(file))] += tokens(copy / file, budgets) - before
        for room, n in added.items():
            limit = limits[f"tokens {room}"]
            assert n <= budgets["ceiling"](limit) - limit, f"{section} adds {n} tokens to {room}"
        files |= {file for file in changed if file.endswith(".py")}
    new = sorted(file for file in files if not (ROOT / file).exists())
    contracts = "from importlinter.cli import lint_imports_command as lint; lint()"
    for command in (
        ("-m", "ruff", "check", *sorted(files)),
        ("-m", "ruff", "format", "--check", *sorted(files)),
        ("-m", "mypy", "--follow-imports=skip", *new),
        ("-c", contracts),
    ):
        result = subprocess.run(
            [sys.executable, *command],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr


def tokens(file: Path, budgets: dict[str, Any]) -> int:
    """Return the code tokens of a file, 0 before a recipe writes it, and for data."""
    return budgets["count_tokens"](file.read_text("utf-8")) if file.exists() and file.suffix == ".py" else 0


def test_every_file_that_the_guide_names_is_there() -> None:
    text = GUIDE.read_text("utf-8")
    named = set(re.findall(r"`((?:mirage|pages|tests|docs|benchmarks|data)/[\w/.-]+\.(?:py|css|md|txt|csv))`", text))
    added = {name for _, name, _ in BLOCK.findall(text)}
    assert len(named) > 10
    assert {name for name in named - added - {"pages/NAME.py"} if not (ROOT / name).is_file()} == set()
