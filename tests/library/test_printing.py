"""Tables to print, of any columns and any texts: read again by readers that are not the writer's."""

import csv
import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import payloads
import pytest
from arena_writer import make_judgment, write_arena
from commands import mirage as run
from conftest import ROOT
from exporting_tables_cases import read_markdown
from hypothesis import given, settings
from hypothesis import strategies as st
from printing_cases import latex_cells

import mirage
from mirage.errors import BadInput
from mirage.text.numbers import three_digits
from mirage.text.printing import PrintedColumn, latex_table, markdown_table, single_line

SAMPLE = str(ROOT / "data" / "sample")
NUMBERS = ("", "+0.31", "−1.20", "12,345", "3.4%", "[−0.10, +0.42]", "+0.31 [−0.10, +∞]", "–", "∞")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(payloads.PAYLOADS)
TABLES = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.builds(PrintedColumn, TEXTS, st.tuples(*[TEXTS] * n))
        | st.builds(PrintedColumn, TEXTS, st.tuples(*[st.sampled_from(NUMBERS)] * n), st.just(True)),
        min_size=1,
        max_size=4,
    )
)


@settings(max_examples=60)
@given(TABLES)
def test_latex_prints_every_cell_as_it_is(columns: list[PrintedColumn]) -> None:
    latex = latex_table(columns)
    expected = [[single_line(column.head) for column in columns]]
    expected += [[single_line(cell) for cell in row] for row in zip(*(c.cells for c in columns), strict=True)]
    assert latex_cells(latex) == expected
    assert rf"\begin{{tabular}}{{{''.join('r' if c.number else 'l' for c in columns)}}}" in latex
    assert not re.search(r"\\\\\n\s*[\[*]", latex), "an option of the line's end"


@settings(max_examples=60)
@given(TABLES)
def test_markdown_shows_every_cell_as_it_is(columns: list[PrintedColumn]) -> None:
    cells = read_markdown(markdown_table(columns))
    assert cells.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    expected = [[column.head for column in columns], *zip(*(column.cells for column in columns), strict=True)]
    assert [[cell.strip() for cell in row] for row in cells.rows] == [
        [single_line(text) for text in row] for row in expected
    ]


@pytest.mark.parametrize("command", [["report", "rates", SAMPLE, "--languages", "sw"], ["report", "judges", SAMPLE]])
def test_a_command_prints_the_same_rows_in_every_format(command: list[str]) -> None:
    def printed(kind: str) -> str:
        result = run(*command, "--format", kind)
        return result.stdout

    rows = json.loads(printed("json"))
    names = list(csv.DictReader(StringIO(printed("csv"))))
    latex, markdown = latex_cells(printed("latex")), read_markdown(printed("markdown")).rows
    assert len(rows) == len(names) == len(latex) - 1 == len(markdown) - 1 > 0
    assert [head.replace(" ", "_") for head in latex[0]] == [head.replace(" ", "_") for head in markdown[0]]
    assert [head.replace(" ", "_") for head in latex[0]] == list(rows[0])
    for row, tex, shown in zip(rows, latex[1:], markdown[1:], strict=True):
        for value, cell, other in zip(row.values(), tex, shown, strict=True):
            assert cell.replace("−", "-") == other.replace("−", "-")
            assert not isinstance(value, str) or cell == value
            assert value is not None or cell == ""


def test_what_a_terminal_cannot_show_or_would_obey_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text("a,b\0\x1b[2J,a,b\n")
    judgment = make_judgment("en", "q", "j", "mod\u00e8le", "b", "A")
    write_arena(tmp_path / "arena", {"judgments": [judgment]})
    for command in (["import", str(path)], ["judges", str(tmp_path / "arena")], ["rank", str(tmp_path / "arena")]):
        done = subprocess.run(
            [sys.executable, "-m", "mirage", *command],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=False,
        )
        told = done.stdout + done.stderr
        assert b"Traceback" not in told
        assert not {0, 27} & set(told)


def test_draws_are_bounded() -> None:
    with pytest.raises(BadInput):
        mirage.rank([{"system_a": "a", "system_b": "b", "verdict": "A"}], draws=99_999_999_999)
    run("rank", ROOT / "data" / "sample", "--draws", "99999999999", code=2)


@pytest.mark.parametrize(("value", "text"), [(83512.3, "83,512"), (999.6, "1,000"), (46.94, "46.9")])
def test_a_number_is_not_printed_in_powers_of_ten(value: float, text: str) -> None:
    assert three_digits(value) == text
