"""CSV that a spreadsheet opens: no text is a formula, and a file comes back as it was."""

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest
from arena_writer import make_answer, make_judgment, write_arena
from commands import mirage
from hypothesis import given
from hypothesis import strategies as st

from mirage.store import export as exporting
from mirage.store.arena import open_arena
from mirage.store.files import csv_rows
from mirage.store.sheets import csv_text

FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1+1", "＝1", "'=1", "=1\n=2"]
COMPUTED = "=+-@＝＋－＠\t\r\n"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_begins_like_a_formula(text: str) -> None:
    (row,) = rows_of(csv_text(["system", "rating"], [(text, -1.5)]))
    assert row["system"].lstrip()[0] not in COMPUTED
    assert row["rating"] == "-1.5", "a number is no formula"
    (exact,) = rows_of(csv_text(["system", "rating"], [(text, -1.5)], exact=True))
    assert exact == {"system": text, "rating": "-1.5"}


def test_pitfall_179_only_csv_for_spreadsheets_has_a_byte_order_mark() -> None:
    rows = pa.table({"system": ["模型"]})
    text = exporting.to_csv(rows)
    assert text.encode().decode("utf-8-sig") == text.removeprefix("\ufeff") != text


def test_texts_that_are_none_are_left_as_they_are() -> None:
    assert csv_text(["a", "b"], [("x", None), ("1-1=0", 2)]) == "a,b\nx,\n1-1=0,2\n"
    assert csv_text(["a"], [("-",)]) == "a\n-\n", "a dash alone says that there is nothing"


@given(texts=st.lists(st.text(alphabet=st.sampled_from("='+-@ ab,\"\t")) | st.text(), min_size=1, max_size=5))
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    texts = [text.replace("\0", "").encode("utf-8", "ignore").decode() for text in texts]
    file = tmp_path_factory.mktemp("sheet") / "a.csv"
    for exact in (False, True):
        sheet = csv_text(["n", "text"], list(enumerate(texts)), exact=exact)
        file.write_bytes(sheet.encode())
        back = [line.value for line in csv_rows(file)]
        expected = [{"n": str(n), "text": text} for n, text in enumerate(texts)]
        assert [{**row, "text": row["text"].replace("\r\n", "\n").replace("\r", "\n")} for row in back] == [
            {**row, "text": row["text"].replace("\r\n", "\n").replace("\r", "\n")} for row in expected
        ]


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    answers = [make_answer("en", f"q{i}", text, text) for i, text in enumerate(FORMULAS[:4])]
    verdicts = [make_judgment("en", "q0", "=j", *pair, "A") for pair in (("=a", "b"), ("b", "=a"))]
    tables = {
        "answers": answers,
        "judgments": verdicts,
    }
    write_arena(tmp_path / "a", tables)
    return tmp_path / "a"


def test_an_export_is_imported_again_without_a_quote_more(tmp_path: Path, arena: Path) -> None:
    out, into = tmp_path / "answers.csv", tmp_path / "again"
    mirage("export", "table", arena, "answers", "--out", out)
    assert not [row for row in rows_of(out.read_text("utf-8")) if row["system"][0] in COMPUTED]
    mirage("import", "--as", "answers", out, "--into", into)
    columns = ["language", "query_id", "system", "text"]
    before, after = (open_arena(path).read("answers", columns=columns) for path in (arena, into))
    assert after.equals(before)


def test_what_a_command_prints_and_a_page_offers_is_safe_and_json_is_exact(arena: Path) -> None:
    printed = mirage("report", "judges", arena, "--format", "csv")
    assert {row["judge"] for row in rows_of(printed.stdout)} == {"'=j"}
    exact = mirage("report", "judges", arena, "--format", "csv-exact")
    assert {row["judge"] for row in rows_of(exact.stdout)} == {"=j"}
    table = pa.table({"system": FORMULAS})
    assert not [row for row in rows_of(exporting.to_csv(table)) if row["system"].lstrip()[0] in COMPUTED]
    assert "'=cmd" not in exporting.to_json(table, {})
