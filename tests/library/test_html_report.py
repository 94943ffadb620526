"""The report of an arena: what its one file holds, what it never holds, and that it is recomputed from the arena."""

from __future__ import annotations

import json
import re
from pathlib import Path

import browser
import pytest
from board_cases import HOSTILE, PERSON, SECRET, make_arena
from commands import mirage

from mirage.errors import ArenaError, BadInput
from mirage.publish.html_report import FORMAT, check_report, text_permission, write_report
from mirage.store import writing
from mirage.store.arena import Arena


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return make_arena(tmp_path_factory.mktemp("arena"))


@pytest.fixture(scope="module")
def report(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert write_report(arena, path).allowed
    return path


def figures(path: Path) -> dict[str, object]:
    return json.loads(re.findall(r'id="figures">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)[0])


def test_nothing_private_leaves_texts_are_escaped_and_nothing_is_loaded(report: Path) -> None:
    page = report.read_text("utf-8")
    for secret in (SECRET, "private thoughts", PERSON, "/home/somebody", "<script>alert"):
        assert secret not in page
    assert page.count("<script") == 1
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="(?!#)', page)
    assert 'lang="en" dir="auto"' in page
    assert "The castle was built in 1902" in page


def test_what_it_was_made_of_gives_it_again(arena: Arena, report: Path) -> None:
    parts = {part.subject: part for part in check_report(report, arena)}
    assert all(part.reason is None and not part.mismatches and part.rows for part in parts.values())
    assert {"ratings", "rates", "page"} <= parts.keys()


@pytest.mark.parametrize(
    ("old", "new", "subject", "column"),
    [
        (r'"rank": 1,', '"rank": 2,', "ratings", "rank"),
        (r'"error_value": [\d.]+,', '"error_value": 0.123,', "rates", "error_value"),
        (r'"Title": "[^"]*"', '"Title": "Another"', "arena, methods and texts", "Title"),
        (r"<td>1</td>", "<td>2</td>", "page", "HTML"),
        (r"built in 1902", "built in 1903", "page", "HTML"),
    ],
)
def test_a_changed_value_is_named(
    arena: Arena, report: Path, tmp_path: Path, old: str, new: str, subject: str, column: str
) -> None:
    changed = tmp_path / "changed.html"
    text, n = re.subn(old, new, report.read_text("utf-8"), count=1)
    assert n == 1
    changed.write_text(text, "utf-8")
    found = [found for part in check_report(changed, arena) if part.subject == subject for found in part.mismatches]
    assert [one.column for one in found] == [column]
    printed = json.loads(mirage("check", changed, "--arena", arena.path, "--format", "json", code=2).stdout)
    assert [row["column"] for row in printed] == [column]


@pytest.mark.parametrize(
    "change",
    [
        ('"stated": null', '"stated": "yes"'),
        ('"rank": 1', '"place": 1'),
        ('"rating": ', '"rating": NaN, "x": '),
        ('id="figures"', 'id="other"'),
        (FORMAT, "mirage report 0"),
    ],
)
def test_a_damaged_report_is_refused(arena: Arena, report: Path, tmp_path: Path, change: tuple[str, str]) -> None:
    damaged = tmp_path / "damaged.html"
    damaged.write_text(report.read_text("utf-8").replace(*change), "utf-8")
    with pytest.raises(BadInput, match="report"):
        list(check_report(damaged, arena))


@pytest.mark.parametrize("licence", ["", "CC BY-NC 4.0", "all rights reserved; MIT", "see the source"])
def test_texts_stay_where_no_licence_lets_them_go(tmp_path: Path, licence: str) -> None:
    arena = make_arena(tmp_path / "arena", licence=licence)
    assert not text_permission(arena).allowed
    assert text_permission(arena, True).allowed
    assert not write_report(arena, tmp_path / "report.html").allowed
    assert "alert(1)" not in (tmp_path / "report.html").read_text("utf-8")
    assert not [found for part in check_report(tmp_path / "report.html", arena) for found in part.mismatches]


def test_an_arena_without_results_is_refused(arena: Arena, tmp_path: Path) -> None:
    bare = writing.write(tmp_path / "bare", {"queries": arena.read("queries")}, made_by="a test")
    with pytest.raises(ArenaError, match="no answers"):
        write_report(bare, tmp_path / "report.html")
    mirage("export", "html", arena.path, "--into", tmp_path / "report.pdf", code=2)
    assert list(tmp_path.glob("report.*")) == []
    mirage("check", tmp_path / "none.html", "--arena", arena.path, code=2)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_it_opens_from_disk_without_a_script(report: Path, width: int, scheme: str) -> None:
    with browser.chromium() as start:
        opened = start(width=width, scheme=scheme)
        opened.page.goto(report.as_uri())
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        opened.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        assert HOSTILE in opened.page.locator("article h3").first.inner_text()
        assert opened.page.locator("svg[role=img]").count() == 3
        assert opened.page.locator("svg[role=img] g").first.bounding_box()["width"] > 0
        assert (opened.errors, opened.dialogs) == ([], [])
        assert all(url.startswith("file:") for url in opened.outside)
