"""System cards: from files of every kind, refused by line, shown, filtered and exported; facts of published systems."""

import json
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_arena
from arena_writer import add_rows, write_arena
from commands import mirage
from golden.cases import read_table

import pages
from mirage import open_arena, schema
from mirage.errors import BadInput
from mirage.explorer.kit.text import link_html
from mirage.io.imports.cards import import_cards
from mirage.io.sources.cards import published_cards, read_cards
from mirage.store import arena as arenas
from mirage.store.systems import system_names
from mirage.views import system_cards as cards
from pages import html, page_text

CARD = {"system": "gpt-4", "open_weights": False, "price_out": 10.5, "released": "2024-05", "retriever": "bm25"}
OTHER = {"system": "aya-101", "licence": "Apache-2.0", "open_weights": True, "parameters": 13}


def as_yaml_list(path: Path) -> Path:
    path.write_text(json.dumps([CARD, OTHER]), "utf-8-sig")
    return path


def as_yaml_mapping(path: Path) -> Path:
    blocks = []
    for card in (CARD, OTHER):
        lines = [f"  {name}: {json.dumps(value)}" for name, value in card.items() if name != "system"]
        blocks += [f"{card['system']}:", *lines]
    path.write_text("\n".join(blocks).replace('"2024-05"', "2024-05"), "utf-8")
    return path


def as_csv(path: Path) -> Path:
    names = list(dict.fromkeys([*CARD, *OTHER]))
    rows = [",".join(str(card.get(name, "")) for name in names) for card in (CARD, OTHER)]
    path.write_text("\n".join([",".join(names), *rows]), "utf-8")
    return path


def as_jsonl(path: Path) -> Path:
    path.write_text("\n".join(json.dumps(card) for card in (CARD, OTHER)), "utf-8")
    return path


def as_parquet(path: Path) -> Path:
    pq.write_table(pa.Table.from_pylist([CARD | dict.fromkeys(OTHER.keys() - CARD.keys()), OTHER]), path)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.yaml", as_yaml_list),
        ("a.yml", as_yaml_mapping),
        ("a.csv", as_csv),
        ("a.jsonl", as_jsonl),
        ("a.parquet", as_parquet),
    ],
)
def test_every_kind_of_file_gives_the_same_cards(tmp_path: Path, name: str, write: object) -> None:
    table = read_cards(write(tmp_path / name)).table  # type: ignore[operator]
    nothing = {column.name: None for column in schema.columns("systems")}
    assert table.to_pylist() == [nothing | OTHER, nothing | CARD]


def test_another_word_for_a_field_is_understood_and_an_unknown_one_is_said(tmp_path: Path) -> None:
    file = tmp_path / "cards.yaml"
    file.write_text("m: {license: MIT, size: 7, colour: red, pricein: 1, released: 2024-05-13}", "utf-8")
    result = read_cards(file)
    (row,) = result.table.to_pylist()
    assert (row["licence"], row["parameters"], row["released"], row["price_in"]) == ("MIT", 7.0, "2024-05-13", None)
    assert len(result.ignored) == 2
    assert any("price_in" in clause for clause in result.ignored)


@pytest.mark.parametrize(*read_table("wrong_cards"))
def test_a_wrong_file_is_refused_with_its_line_and_changes_nothing(tmp_path: Path, text: str, where: str) -> None:
    arena = small_arena.write(tmp_path)
    file = tmp_path / "cards.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(BadInput) as refused:
        import_cards(file, arena.path)
    assert f"{file.name}{where}" in refused.value.where
    assert refused.value.do
    assert open_arena(arena.path).version == arena.version


def test_a_yaml_file_that_repeats_itself_without_end_is_read_in_no_time(tmp_path: Path) -> None:
    file = tmp_path / "cards.yaml"
    lines = ["a0: &a0 {licence: x}"] + [f"a{i}: &a{i} {{licence: [*a{i - 1}, *a{i - 1}]}}" for i in range(1, 60)]
    file.write_text("\n".join(lines), "utf-8")
    with pytest.raises(BadInput):
        read_cards(file)


def test_cards_join_an_arena_and_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    arena = small_arena.write(tmp_path, tables=("outcomes", "judgments"))
    file = as_yaml_list(tmp_path / "cards.yaml")
    file.write_text(json.dumps([CARD, OTHER | {"system": "aya-11"}]), "utf-8")
    done = import_cards(file, arena.path)
    assert (done.rows, done.replaced) == (2, 0)
    (stranger,) = done.strangers
    assert "aya-101" in stranger
    assert [row["system"] for row in done.arena.read("systems").to_pylist()] == ["aya-11", "gpt-4"]
    assert done.arena.read("outcomes") == arena.read("outcomes")
    assert import_cards(file, arena.path).arena.version == done.arena.version
    arenas.check(done.arena)


def test_the_command_says_what_it_read_kept_and_left_out(tmp_path: Path) -> None:
    arena = small_arena.write(tmp_path)
    file = tmp_path / "cards.jsonl"
    file.write_text('{"model": "gpt-4", "licens": "x"}\n{"model": "gtp-4", "licens": "y"}', "utf-8")
    told = mirage("import", "--as", "systems", file, "--into", arena.path, "--map", "licens=licence").stderr
    assert "2 system cards read" in told
    assert "gtp-4 (did you mean: gpt-4?)" in told
    exported = tmp_path / "systems.csv"
    mirage("export", "table", arena.path, "systems", "--out", exported)
    assert read_cards(exported).table == open_arena(arena.path).read("systems")


def test_every_published_system_has_a_card_and_every_fact_a_source() -> None:
    known = published_cards()
    bundled = arenas.bundled_arenas()
    nomiracl, printed = open_arena(bundled["nomiracl"]), open_arena(bundled["published"])
    figure = printed.sql("SELECT DISTINCT system FROM published WHERE item = 'Figure 4' AND source = 'MIRAGE-Bench'")
    systems = {*system_names(nomiracl, ("outcomes",)), *figure["system"].to_pylist()}
    assert set(known) == systems
    assert len(systems) == 30
    for card in known.values():
        assert card.source
        assert "read 20" in card.source
        assert card.url is None or card.url.startswith("https://")
        assert card.price_in is card.price_out is None


def test_an_arenas_own_card_goes_before_that_of_the_program(tmp_path: Path) -> None:
    table = schema.from_columns("systems", {"system": ["gpt-4-azure"], "licence": ["ours"]})
    arena = write_arena(tmp_path / "own", {"systems": table})
    assert cards.card_of(arena, "gpt-4-azure").licence == "ours"
    assert cards.card_lines(cards.card_of(arena, "gpt-4-azure")) == ("ours",)
    assert cards.card_lines(None) == ()


def test_rows_get_the_facts_as_columns_and_stay_as_they_are_without_any() -> None:
    arena = open_arena("published")
    rows = pa.table({"system": ["GPT-4o", "x"], "source": ["paper", "paper"]})
    more = cards.with_cards(rows, arena)
    assert more["context_length"].to_pylist() == [128000, None]
    assert more["source"].to_pylist() == ["paper", "paper"]
    assert cards.with_cards(rows.slice(1), arena) == rows.slice(1)


def test_only_https_is_a_link() -> None:
    for address in ("javascript:alert(1)", "http://x.org", "data:text/html,x", "//x.org"):
        assert "<a" not in link_html(address)
    link = link_html('https://x.org/"><script>')
    assert "<script>" not in link
    assert 'rel="noopener noreferrer"' in link


# The Leaderboard


open_page = partial(pages.open_page, "leaderboard")


def test_a_link_shows_some_systems_and_says_that_ranks_are_of_all() -> None:
    page = open_page(arena="published", weights="open")
    assert "16 of 19 systems" in page_text(page)
    shown = page.dataframe[0].value
    assert len(shown) == 16
    page = open_page(arena="published")
    assert len(page.dataframe[0].value) == 19
    assert "of 19 systems: " not in page_text(page)


def test_own_cards_filter_rated_systems_by_price_and_retriever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    arena = small_arena.write(tmp_path, "mine")
    facts = {"system": ["gpt-4", "aya-101"], "price_out": [10.0, 0.5], "retriever": ["dense", "bm25"]}
    add_rows(arena.path, systems=schema.from_columns("systems", facts))
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    whole = open_page(arena="mine").dataframe[0].value
    page = open_page(arena="mine", price="0.5")
    assert "1 of 4 systems" in page_text(page)
    (shown,) = page.dataframe[0].value["rank"].tolist()
    assert shown == whole[whole["system"] == "aya-101"]["rank"].item()
    none = open_page(arena="mine", price="0.5", retriever="dense")
    assert "showing all" in page_text(none)
    assert html(none) is not None
