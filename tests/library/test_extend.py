"""docs/extend.md: its recipes work in a copy of the program."""

from __future__ import annotations

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

from mirage import schema
from mirage.ranking.board import rank_arena
from mirage.ranking.judges import VerdictJudge
from mirage.store import writing
from mirage.store.arena import open_arena
from mirage.views.board import BoardChoice, board_view

GUIDE = ROOT / "docs" / "extend.md"
BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def sections() -> dict[str, str]:
    """The guide's sections by heading."""
    parts = HEADING.split(GUIDE.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def apply(section: str, folder: Path) -> None:
    """Do to a copy of the program what the blocks of a section say: files as they are, differences applied."""
    blocks = BLOCK.findall(sections()[section])
    assert blocks, f"{section} has no block with a file's name"
    for kind, name, body in blocks:
        file = folder / name
        if kind != "diff":
            file.write_text(body, encoding="utf-8")
            continue
        lines = body.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        text = file.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} does not hold the lines that {section} changes, once"
        file.write_text(text.replace(before, after), encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, with its bytecode: it holds for each file that stays as it is."""
    shutil.copytree(ROOT / "mirage", tmp_path / "copy" / "mirage")
    return tmp_path / "copy"


def run(copy: Path, *args: str | Path) -> str:
    """A command of the copied program."""
    result = subprocess.run(
        [sys.executable, "-m", "mirage", *map(str, args)],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def arena(copy: Path, language: str) -> Path:
    """An arena of two queries, two systems and a judge, by the commands that users have, of the program as it is."""
    folder = copy / "arena"
    queries = write(
        copy / "queries.jsonl",
        *(
            {
                "language": language,
                "query_id": f"q{k}",
                "text": "Which city is the capital?",
                "subset": subset,
                "passages": [{"passage_id": f"p{k}", "text": "A city.", "relevant": subset == "relevant"}],
            }
            for k, subset in enumerate(("relevant", "non_relevant"))
        ),
    )
    answers = write(
        copy / "answers.jsonl",
        *(
            {"language": language, "query_id": f"q{k}", "system": system, "text": text}
            for k in range(2)
            for system, text in (("red", "Which city? Yes, answer is present."), ("blue", "I don't know."))
        ),
    )
    judgments = write(
        copy / "judgments.jsonl",
        *(
            {"language": language, "query_id": "q0", "judge": "j", "system_a": a, "system_b": b, "verdict": verdict}
            for a, b, verdict in (("red", "blue", "A"), ("blue", "red", "B"))
        ),
    )
    for file in (queries, answers, judgments):
        mirage("import", file, "--into", folder)
    return folder


def test_a_language_needs_no_line(tmp_path: Path) -> None:
    folder = arena(tmp_path, "ta")
    mirage("measure", "outcomes", folder)
    mirage("measure", "features", folder)
    rates = json.loads(mirage("report", "rates", folder, "--format", "json").stdout)
    assert {row["language"] for row in rates} >= {"ta"}
    ranking = json.loads(mirage("rank", folder, "--judge", "j", "--format", "json").stdout)
    assert [(row["language"], row["system"], row["rank"]) for row in ranking] == [("ta", "red", 1), ("ta", "blue", 2)]
    assert "ta" in mirage("measure", "features", folder, "--format", "json").stdout
    board = board_view(open_arena(folder), BoardChoice(("j",)))
    assert (board.languages, board.rows.num_rows) == (("ta",), 2)


def test_a_feature_is_a_file_and_a_line(copy: Path) -> None:
    apply("A feature", copy)
    folder = arena(copy, "en")
    run(copy, "measure", "features", folder)
    rows = json.loads(run(copy, "measure", "features", folder, "--format", "json"))
    values = {row["system"]: row["mean"] for row in rows if row["feature"] == "query_words"}
    # "Which city is the capital?": which, city and is come back in the answer of red, none in that of blue.
    assert values == {"red": pytest.approx(3 / 5), "blue": 0}


def test_a_verdict_is_two_lines(copy: Path) -> None:
    """`both_good`, counted as a tie by whoever reads verdicts: one that was forgotten would drop it or count a win."""
    apply("A verdict", copy)
    folder = arena(copy, "en")
    judgments = write(
        copy / "more.jsonl",
        *(
            {"language": "en", "query_id": "q1", "judge": "j", "system_a": a, "system_b": b, "verdict": "both_good"}
            for a, b in (("red", "blue"), ("blue", "red"))
        ),
    )
    run(copy, "import", judgments, "--into", folder)
    (first, second) = json.loads(run(copy, "rank", folder, "--judge", "j", "--format", "json"))
    assert [(row["wins"], row["ties"], row["losses"]) for row in (first, second)] == [(2, 2, 0), (0, 2, 2)]
    (row,) = json.loads(run(copy, "report", "judges", folder, "--format", "json"))
    assert (row["tie_rate"], row["tie_n"], row["unparsed_rate"], row["flip_rate"]) == (0.5, 4, 0, 0)
    asked_of = (
        "import sys; from pathlib import Path; import mirage; from mirage.store.arena import open_arena\n"
        "from mirage.battles.decision import decisions\nfrom mirage.ranking.judges import VerdictJudge\n"
        "from mirage.views.win_matrix import matrix\n"
        "arena = open_arena(Path(sys.argv[1])); cell = matrix(arena, VerdictJudge('j')).cells['blue', 'red']\n"
        "winners = [decision.winner for decision in decisions(arena.read('judgments'))['j'].values()]\n"
        "print(winners, cell.wins, cell.ties, cell.losses)\n"
        "print(mirage.rank(sys.argv[2]).languages['en'].record.tolist())"
    )
    command = [sys.executable, "-c", asked_of, str(folder), str(judgments)]
    result = subprocess.run(
        command, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)}, capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines() == ["['second', 'tie'] 0 1 1", "[[0, 2, 0], [0, 2, 0]]"]


def test_an_input_format_is_a_table(copy: Path) -> None:
    apply("An input format", copy)
    file = write(copy / "file.jsonl", {"prompt": "Which city?", "model": "red", "completion": "Rome."})
    run(copy, "import", file, "--into", copy / "arena")
    arena = open_arena(copy / "arena")
    assert arena.read("answers").select(["language", "system", "text"]).to_pylist() == [
        {"language": "en", "system": "red", "text": "Rome."}
    ]
    assert arena.read("queries")["text"].to_pylist() == ["Which city?"]


def python(copy: Path, code: str, *args: str | Path) -> str:
    """What a program prints that imports the copy."""
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "MIRAGE_HOME": str(copy / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_page_is_a_file_and_a_line(copy: Path) -> None:
    for name in ("pages", ".streamlit", "data/sample"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "app.py", copy)
    apply("A page", copy)
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        "page = AppTest.from_file('pages/passages.py', default_timeout=120).run()\n"
        "assert not page.exception, page.exception\n"
        "print(' '.join(element.proto.body for element in page.get('html')))"
    )
    passages = open_arena(ROOT / "data" / "sample").rows("passages")
    assert f"{passages:,} passages" in python(copy, code)


def test_a_regressor_is_a_function_and_a_line(copy: Path) -> None:
    apply("A regressor", copy)
    code = (
        "import numpy as np\n"
        "from mirage.ranking.surrogate.regressors import ESTIMATORS, REGRESSORS, _median, fit_and_predict\n"
        "print(list(REGRESSORS), fit_and_predict(_median(0), np.eye(3), np.array([1.0, 2.0, 9.0]), np.zeros((2, 3))))"
    )
    printed = python(copy, code)
    assert "'median'" in printed
    assert "[2. 2.]" in printed


def test_a_column_of_the_leaderboard_is_two_lines(copy: Path) -> None:
    apply("A column of the leaderboard", copy)
    folder = arena(copy, "en")
    rows = json.loads(run(copy, "rank", folder, "--judge", "j", "--format", "json"))
    assert {row["system"]: row["points"] for row in rows} == {"red": 1.0, "blue": 0.0}
    assert "points" in run(copy, "rank", folder, "--judge", "j", "--format", "markdown")
    code = (
        "import sys; from pathlib import Path; from mirage.store.arena import open_arena\n"
        "from mirage.explorer.leaderboard import ratings\n"
        "from mirage.views.board import BoardChoice, board_view\n"
        "board = board_view(open_arena(Path(sys.argv[1])), BoardChoice(('j',)))\n"
        "print(board.shown_rows()['points'].to_pylist())\n"
        "print('points' in board.all_rows().column_names)\n"
        "print('points' in [column.name for column in ratings.columns(board.rows, counted='verdicts', every=True)])"
    )
    assert python(copy, code, folder).splitlines() == ["[1.0, 0.0]", "True", "True"]


def test_an_option_of_rank_is_a_field_and_its_use(copy: Path) -> None:
    apply("An option of rank", copy)
    battle = {"language": "en", "query_id": "q", "judge": "j", "system_a": "a", "system_b": "b", "verdict": "A"}
    table = schema.from_columns("judgments", {name: [value] for name, value in (battle | {"points": 0.6}).items()})
    graded = writing.write(copy / "arena", {"judgments": table}, title="A", label="example", made_by="a test")
    plain = rank_arena(graded, VerdictJudge("j")).ranking.table()["rating"].to_pylist()
    whole = json.loads(run(copy, "rank", graded.path, "--whole", "--format", "json"))
    assert max(row["rating"] for row in whole) > max(plain), "a win is worth more than 0.6 of it"


def test_the_recipes_pass_make_lint(tmp_path: Path) -> None:
    """All of them in one copy: style, types of the new files, layers, and the budgets, each by itself."""
    copy = tmp_path / "copy"
    for name in ("mirage", "pages"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "pyproject.toml", copy)
    limits = tomllib.loads((ROOT / ".ci" / "budgets.toml").read_text(encoding="utf-8"))
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
    return budgets["count_tokens"](file.read_text(encoding="utf-8")) if file.exists() and file.suffix == ".py" else 0


def test_every_file_that_the_guide_names_is_there() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:mirage|pages|tests|docs|benchmarks|data)/[\w/.-]+\.(?:py|css|md|txt|csv))`", text))
    added = {name for _, name, _ in BLOCK.findall(text)}
    assert len(named) > 10
    assert {name for name in named - added - {"pages/NAME.py"} if not (ROOT / name).is_file()} == set()
