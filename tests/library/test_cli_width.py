"""Tables of commands on narrow terminals: names first, numbers whole, columns dropped by importance and named."""

import re
from pathlib import Path

import pytest
import rich_arena
from click.testing import Result
from commands import CliRunner, lines_within, print_on_a_terminal
from golden.cases import read_table
from waiting import until

from mirage.cli import app, output
from mirage.cli.output import MOST_COLUMNS, MOST_ROWS


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    return rich_arena.write(module_path / "rich").path


@pytest.mark.parametrize(*read_table("printed_tables"))
def test_a_table_fits_with_its_names_and_whole_numbers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    check_tables([str(folder) if word == "DIR" else word for word in command], (80, 140), monkeypatch)


def check_tables(words: list[str], widths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command without a terminal, and once on a terminal of each width."""
    wide = CliRunner().invoke(app, words)
    assert wide.exit_code in (0, 1), wide.output
    for width in widths:
        print_on_a_terminal(width, monkeypatch)
        check_table(wide, CliRunner().invoke(app, words), width)


def check_table(wide: Result, narrow: Result, width: int) -> None:
    """Check what a terminal of a width shows of a table: every line fits, and names and numbers are whole."""
    assert narrow.exit_code == wide.exit_code, width
    lines = lines_within(narrow.stdout, width)
    numbers = {number for line in wide.stdout.splitlines() for number in line.split() if re.search(r"\d", number)}
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip())
        assert all(cell in wide.stdout or not re.fullmatch(r"[+-]?[\d.,]+%?", cell) for cell in cells), line
        assert all(word in numbers for word in line.split() if re.fullmatch(r"[+-]?[\d.,]+%?", word)), line
    assert "…" not in narrow.stdout
    rows = [line for line in lines if line.startswith(" ") and "─" not in line]
    assert all(len(re.split(r"\s{3,}", row.strip())) <= MOST_COLUMNS for row in rows), width
    said = [line for line in narrow.output.splitlines() if line.strip()]
    if re.search(r" (ranks first|tied for best|better than|significantly) ", narrow.output):
        assert re.search(r"\w", said[0])
        assert not said[0].startswith(" "), "the verdict comes first"
    heads, shown = (
        next((line.split() for line in text if {"system", "language"} & set(line.split())), [])
        for text in (wide.stdout.splitlines(), lines)
    )
    assert {"system", "language"} & set(heads) <= set(shown), lines[:4]


def test_a_long_table_shows_its_ends_and_says_how_many_rows_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"system": f"s{k}", "rating": float(k)} for k in range(MOST_ROWS + 7)]
    output.show(rows, ["system", "rating"], "table")
    table, messages = capsys.readouterr()
    assert "s0 " in table
    assert f"s{MOST_ROWS + 6} " in table
    assert "s24 " in table
    assert "s25 " not in table
    assert f"{MOST_ROWS - 43} of {MOST_ROWS + 7} rows" in messages
    output.show(rows[:MOST_ROWS], ["system", "rating"], "table")
    assert "s25 " in capsys.readouterr().out
    output.show(rows, ["system", "rating"], "csv")
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 1


def test_pitfall_169_progress_is_told_in_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(output, "EVERY", 0.01)
    monkeypatch.setattr(output, "note", told.append)
    with output.progress("Asking") as update:
        until(lambda: told, "a line before anything has come")
        update(3, 20, "Asking (1 failed)")
        until(lambda: told[-1] != told[0], "a line with the numbers")
        assert (told[0], told[-1]) == ("Asking ...", "Asking (1 failed): 3 of 20")
        update(10, 20, "Asking (1 failed)")
        until(lambda: "10 of 20" in told[-1], "a line with the time left")
    assert re.fullmatch(r"Asking \(1 failed\): 10 of 20, about \d+ s left", told[-1])
