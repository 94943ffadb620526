"""The report of an arena: what its one file holds, what it never holds, and that it is recomputed from the arena."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any

import browser
import pytest
from arena_writer import write_arena
from board_cases import HOSTILE, PERSON, SECRET, make_arena
from commands import mirage
from conftest import ROOT
from golden.cases import read_table

from mirage import open_arena
from mirage.errors import ArenaError, BadInput
from mirage.publish.html_report import check_report, text_permission, write_report
from mirage.ranking.scale import win_rate
from mirage.store.arena import Arena
from mirage.text.numbers import FORMATS
from mirage.views.board import BoardChoice, board_view
from mirage.views.influence import influence_view


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return make_arena(tmp_path_factory.mktemp("arena"))


@pytest.fixture(scope="module")
def report(arena: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert write_report(arena, path).allowed
    return path


def json_of(page: str) -> dict[str, Any]:
    return json.loads(re.findall(r'id="figures">(.*?)</script>', page, re.DOTALL)[0])


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
    assert {"ratings", "rates", "battles", "page"} <= parts.keys()


def test_the_conclusion_leads_one_judge_ranks_in_percent_and_another_is_a_choice(
    arena: Arena, report: Path, tmp_path: Path
) -> None:
    default = json_of(report.read_text("utf-8"))
    assert {row["judge"] for row in default["tables"]["ratings"]} == {default["ranking"]["judge"]} == {"relevance"}
    mirage("export", "html", arena.path, "--judge", "judge-x", "--into", tmp_path / "other.html")
    page = (tmp_path / "other.html").read_text("utf-8")
    figures = json_of(page)
    view = board_view(arena, BoardChoice(("judge-x",)))
    shown = re.sub(r"<[^>]+>", " ", unescape(page.partition("<main>")[2]))
    order = [shown.index(view.conclusion), table := shown.index("Win rate")]
    order += [shown.index(system, table) for system in view.rows["system"].to_pylist()]
    assert order == sorted(order)
    assert {row["judge"] for row in figures["tables"]["ratings"]} == {"judge-x"}
    best = view.rows.to_pylist()[0]
    assert FORMATS["rate"].write(win_rate(best["rating"])) in shown
    assert "logit" not in shown.partition("Method of the ranking")[0]
    assert figures["tables"]["battles"] == influence_view(arena, BoardChoice(("judge-x",))).battles.to_pylist()
    assert passes(tmp_path / "other.html", arena)
    for name in ("nobody", "pooled"):
        mirage("export", "html", arena.path, "--judge", name, "--into", tmp_path / "none.html", code=2)
    assert not (tmp_path / "none.html").exists()


@pytest.mark.parametrize(*read_table("changed_reports"))
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


def passes(path: Path, arena: Arena) -> bool:
    """Return whether `mirage check` finds nothing in a report."""
    try:
        return not any(part.mismatches for part in check_report(path, arena))
    except BadInput:
        return False


OTHER_TYPES = ("1", 1, 1.5, True, None, [], {}, {"a": 1}, ["1"], "\ud800", 10**400, float("nan"), -0.5)
MARKUP = (
    "<style>tr:nth-child(1) { display: none }</style>",
    "<script>document.title = 1</script>",
    '<meta http-equiv="refresh" content="0; url=https://example.org">',
    "<!-- -->",
    "<p>* corrected</p>",
    '<a href="https://example.org">source</a>',
    " ",
    "\u202e",
    "\r",
    "\n",
)


def edit_value(figures: dict[str, Any], draw: random.Random) -> None:
    """Change one value, member or row of a report's figures, anywhere."""
    holder = figures
    while True:
        place = draw.choice([*holder]) if isinstance(holder, dict) else draw.randrange(len(holder))
        if not isinstance(holder[place], dict | list) or not holder[place] or draw.random() < 0.15:
            break
        holder = holder[place]
    value = holder[place]
    kind = draw.choice(("type", "value", "remove", "add", "move"))
    if kind == "value" and isinstance(value, float):
        holder[place] = value * 1.01 + 0.001
    elif kind == "value" and isinstance(value, str):
        holder[place] = value[:-1] or "x"
    elif kind == "remove":
        del holder[place]
    elif kind == "move" and isinstance(holder, dict):
        holder[place] = holder.pop(place)
    elif kind == "move":
        holder.insert(draw.randrange(len(holder)), holder.pop(place))
    elif kind == "add" and isinstance(holder, dict):
        holder[f"{place} "] = value
    elif kind == "add":
        holder.insert(draw.randrange(len(holder) + 1), value)
    else:
        holder[place] = draw.choice(OTHER_TYPES)


def edit_json(page: str, draw: random.Random) -> str:
    """Change the figures that a page holds, or how they are written."""
    before, block, after = re.split('(?<=id="figures">)(.*?)(?=</script>)', page, maxsplit=1, flags=re.DOTALL)
    figures = json.loads(block)
    edit_value(figures, draw)
    with suppress(ValueError):
        block = json.dumps(figures, ensure_ascii=False, indent=0).replace("<", "\\u003c")
    twice = '\n"tables": {},\n' + block[1:].lstrip()
    return before + draw.choice([block] * 8 + ["{" + twice, f"{block}\n"]) + after


def edit_lines(page: str, draw: random.Random) -> str:
    """Remove, double, move or replace a line of a page or a part of one."""
    lines = page.split("\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.choice(("remove", "double", "swap", "move"))
    if kind == "remove":
        del lines[first]
    elif kind == "double":
        lines.insert(second, lines[first])
    elif kind == "swap":
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines.insert(second, lines.pop(first))
    return "\n".join(lines)


def edit_letters(page: str, draw: random.Random) -> str:
    """Change a digit, a name, an attribute, or add markup, inside the figures or outside of them."""
    place = draw.randrange(len(page))
    if (kind := draw.randrange(5)) == 0:
        return page[:place] + draw.choice(MARKUP) + page[place:]
    if kind == 1:
        return page[:place] + page[place + 1 :]
    pattern = (r"\d+", r'(?<==")[^"]*', r"(?<=>)[^<>]+")[kind - 2]
    found = draw.choice([*re.finditer(pattern, page)])
    return page[: found.start()] + draw.choice(("7", "x", "<b>1</b>", "")) + page[found.end() :]


def swap_names(page: str, draw: random.Random) -> str:
    """Give two systems each other's name everywhere, as a forger does who changes texts, charts and figures alike."""
    first, second = draw.sample(sorted({row["system"] for row in json_of(page)["tables"]["rates"]}), 2)
    return page.replace(first, "\0").replace(second, first).replace("\0", second)


def read_by_people(page: str) -> str:
    """Return a page with the numbers of its figures to the decimals that anybody reads."""
    return re.sub(r"(?<=: )-?\d+\.\d+(?=,?\n)", lambda number: f"{float(number[0]):.5f}", page)


def test_random_edits_are_all_found_pitfall_231(arena: Arena, report: Path, tmp_path: Path) -> None:
    page, changed, draw = report.read_text("utf-8"), tmp_path / "changed.html", random.Random(231)
    edits = (edit_json, edit_json, edit_lines, edit_letters, swap_names)
    missed, drawn = [], 0
    while drawn < 150:
        edit, state = draw.choice(edits), draw.getstate()
        text = edit(page, draw)
        if read_by_people(text) == read_by_people(page):
            continue
        drawn += 1
        changed.write_bytes(text.encode("utf-8", "surrogatepass"))
        if passes(changed, arena):
            missed.append((edit.__name__, state))
    assert not missed


@pytest.mark.parametrize("encode", [gzip.compress, lambda data: b"\xef\xbb\xbf" + data, lambda data: data + b"\xff"])
def test_another_encoding_is_found(
    arena: Arena, report: Path, tmp_path: Path, encode: Callable[[bytes], bytes]
) -> None:
    changed = tmp_path / "changed.html"
    changed.write_bytes(encode(report.read_bytes()))
    assert not passes(changed, arena)


def test_a_report_that_unpacks_to_too_much_is_not_unpacked(arena: Arena, tmp_path: Path) -> None:
    changed = tmp_path / "changed.html"
    changed.write_bytes(gzip.compress(bytes(65_000_000), 1))
    with pytest.raises(BadInput, match="too long"):
        [*check_report(changed, arena)]


def test_a_report_of_another_processor_passes(tmp_path: Path) -> None:
    name = "sample-across"  # those of the other bundled arenas are checked with their overview
    path = tmp_path / "report.html"
    other = {"OPENBLAS_CORETYPE": "Nehalem", "PYTHONHASHSEED": "231", "MIRAGE_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "mirage", "export", "html", name, "--into", str(path)]
    subprocess.run(command, cwd=ROOT, env=os.environ | other, check=True, capture_output=True)
    assert passes(path, open_arena(name))


def test_texts_without_a_licence_are_the_owners_and_shown_unless_told_otherwise(tmp_path: Path) -> None:
    arena = make_arena(tmp_path / "arena", licence="")
    said = mirage("export", "html", arena.path, "--into", tmp_path / "report.html").stderr
    assert said.count("--no-texts") == 1
    assert "built in 1902" in (tmp_path / "report.html").read_text("utf-8")
    mirage("export", "html", arena.path, "--into", tmp_path / "report.html", "--no-texts")
    assert "built in 1902" not in (tmp_path / "report.html").read_text("utf-8")
    assert passes(tmp_path / "report.html", arena)


@pytest.mark.parametrize("licence", ["CC BY-NC 4.0", "all rights reserved; MIT", "see the source"])
def test_texts_stay_where_no_licence_lets_them_go(tmp_path: Path, licence: str) -> None:
    arena = make_arena(tmp_path / "arena", licence=licence)
    assert not text_permission(arena).allowed
    assert text_permission(arena, True).allowed
    assert not write_report(arena, tmp_path / "report.html").allowed
    assert "alert(1)" not in (tmp_path / "report.html").read_text("utf-8")
    assert not [found for part in check_report(tmp_path / "report.html", arena) for found in part.mismatches]


def test_an_arena_without_results_is_refused(arena: Arena, tmp_path: Path) -> None:
    bare = write_arena(tmp_path / "bare", {"queries": arena.read("queries")})
    with pytest.raises(ArenaError, match="no answers"):
        write_report(bare, tmp_path / "report.html")
    mirage("export", "html", arena.path, "--into", tmp_path / "report.pdf", code=2)
    assert list(tmp_path.glob("report.*")) == []
    mirage("check", tmp_path / "none.html", "--arena", arena.path, code=2)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_it_opens_from_disk_without_a_script_fits_a_phone_and_prints_whole(
    start: Callable[..., browser.Opened], report: Path, width: int, scheme: str
) -> None:
    opened = start(width=width, scheme=scheme)
    page = opened.page
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cell = page.locator("table").first.locator("tbody tr").first.locator("td").nth(3).bounding_box()
    table = page.locator(".wide").first.bounding_box()
    assert cell["x"] + cell["width"] <= table["x"] + table["width"], "rank, system, win rate and interval are in sight"
    assert cell["y"] + cell["height"] <= 900
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    assert any(HOSTILE in text for text in page.locator("li summary").all_inner_texts())
    assert page.locator("svg[role=img]").count() == 1
    assert page.locator("svg[role=img] g").first.bounding_box()["width"] > 0
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = false })")
    page.emulate_media(media="print")
    assert page.locator(".answer").first.bounding_box()["height"] > 0, "paper cannot be unfolded"
    assert (opened.errors, opened.dialogs) == ([], [])
    assert all(url.startswith("file:") for url in opened.outside)
