"""The page of benchmarks lists every benchmark, and is what the last run of each wrote."""

import re

import pytest

from benchmarks import page
from benchmarks.__main__ import main
from benchmarks.harness import Row

ROWS = [Row("what | with a bar", "1 ms", "other: 2 ms", "2 times", "at least 1 times")]


def test_the_page_lists_every_benchmark_and_no_other() -> None:
    written = page.README.read_text("utf-8")
    assert re.findall(r"^## (\w+)$", written, flags=re.MULTILINE) == page.modules()
    for section in re.split(r"^## ", written, flags=re.MULTILINE)[1:]:
        name = section.split("\n", 1)[0]
        assert section.startswith(f"{name}\n\n{page.about(name)}\n\nLast run: Python "), "the module's own text"
        assert re.search(
            r"^Last run: .+ cores, load [\d.]+ before, commit \w+(-dirty)?\.$", section, flags=re.MULTILINE
        )
        assert section.count("\n| ") >= 3


def test_a_run_replaces_its_own_section_and_escapes_what_would_break_the_table() -> None:
    first, second = page.modules()[:2]
    both = page.render(page.render("", second, ROWS, "one"), first, ROWS, "one")
    assert re.findall(r"^## (\w+)$", both, flags=re.MULTILINE) == [first, second]
    again = page.render(both, first, ROWS, "another")
    assert again.count("Last run: another.") == 1
    assert again.count("Last run: one.") == 1
    assert again.count(r"what \| with a bar") == 2
    assert "## gone" not in page.render(both + "\n## gone\n\ntext\n", first, ROWS, "one")


def test_an_unknown_benchmark_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["nothing"])
    assert "there are" in capsys.readouterr().err
