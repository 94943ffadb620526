"""Tags narrow an arena: what is read and ranked of it, in any way, is of the queries that have them."""

from pathlib import Path

import pytest
import small_arena
from arena_writer import read_rows, write_arena
from commands import mirage

from mirage import schema
from mirage.errors import BadInput, TableMissing, UnknownName
from mirage.ranking.judges import LabelJudge, size
from mirage.store.arena import Arena
from mirage.store.tags import count_queries, parse_tag, select_tagged


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    return small_arena.tagged(module_path / "tagged")


def keys(arena: Arena, table: str) -> set[tuple[str, str]]:
    rows = arena.read(table, columns=["language", "query_id"]).to_pylist()
    return {(row["language"], row["query_id"]) for row in rows}


def with_tags(arena: Arena, *pairs: tuple[str, str]) -> set[tuple[str, str]]:
    rows = [row for row in read_rows(arena, "tags") if (row["tag"], row["value"]) in pairs]
    return {(row["language"], row["query_id"]) for row in rows}


def test_every_table_of_queries_is_narrowed_and_keeps_its_order(arena: Arena) -> None:
    part = select_tagged(arena, [("domain", "finance")])
    expected = with_tags(arena, ("domain", "finance"))
    for table in part.tables:
        if "query_id" not in schema.key(table):
            assert part.read(table) == arena.read(table)
            continue
        whole = read_rows(arena, table)
        kept = [row for row in whole if (row["language"], row["query_id"]) in expected]
        assert read_rows(part, table) == kept != whole
        assert part.rows(table) == len(kept)
        assert set(part.languages(table)) == {row["language"] for row in kept}
        assert part.sql(f"SELECT count(*) AS n FROM {table}")["n"][0].as_py() == len(kept)


def test_text_read_as_numbers_is_narrowed_alike(arena: Arena) -> None:
    part = select_tagged(arena, [("domain", "finance")])
    for table in part.tables:
        assert part.read(table, encoded=("language", "query_id")).to_pylist() == read_rows(part, table)


def test_columns_that_were_not_asked_for_do_not_appear(arena: Arena) -> None:
    part = select_tagged(arena, [("domain", "finance")])
    assert part.read("outcomes", columns=["outcome"]).column_names == ["outcome"]


def test_values_of_one_tag_widen_and_tags_narrow(arena: Arena) -> None:
    both = select_tagged(arena, [("domain", "finance"), ("domain", "law")])
    assert keys(both, "queries") == with_tags(arena, ("domain", "finance"), ("domain", "law"))
    crossed = select_tagged(arena, [("domain", "finance"), ("type", "comparative")])
    assert keys(crossed, "queries") == with_tags(arena, ("domain", "finance")) & with_tags(
        arena, ("type", "comparative")
    )


def test_two_parts_of_an_arena_are_not_mistaken_for_another(arena: Arena) -> None:
    """Views keep what they computed by arena."""
    finance, law = (select_tagged(arena, [("domain", value)]) for value in ("finance", "law"))
    sizes = [size(part, LabelJudge()).queries for part in (finance, law, arena)]
    assert sizes[0] + sizes[1] == sizes[2]
    assert count_queries(finance) + count_queries(law) == count_queries(arena)


def test_no_tags_is_the_whole_arena(arena: Arena) -> None:
    assert select_tagged(arena, []) == arena == select_tagged(arena, [("domain", "law")]).whole


def test_what_does_not_exist_is_refused_by_name(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="domain"):
        select_tagged(arena, [("domian", "law")])
    with pytest.raises(UnknownName, match="law"):
        select_tagged(arena, [("domain", "lew")])
    with pytest.raises(TableMissing):
        select_tagged(small_arena.write(tmp_path), [("domain", "law")])
    assert parse_tag("domain = tax=law") == ("domain", "tax=law")
    for bad in ("domain", "=law", "domain="):
        with pytest.raises(BadInput):
            parse_tag(bad)


def test_the_command_ranks_on_a_tag(arena: Arena, tmp_path: Path) -> None:
    part = select_tagged(arena, [("domain", "law")])
    alone = write_arena(tmp_path / "alone", {name: part.read(name) for name in part.tables})
    options = ("--judge", "judge-x", "--draws", "50", "--format", "csv")
    narrowed = mirage("rank", arena.path, *options, "--tag", "domain=law")
    assert narrowed.stdout == mirage("rank", alone.path, *options).stdout
    assert f"{count_queries(part)} of {count_queries(arena)} queries" in narrowed.stderr


@pytest.mark.parametrize("wrong", [("--tag", "domain"), ("--tag", "domain=tax"), ("--tag", "domain=law", "--store")])
def test_the_command_refuses_what_it_cannot_do(arena: Arena, wrong: tuple[str, ...]) -> None:
    done = mirage("rank", arena.path, "--judge", "judge-x", *wrong, code=2)
    assert "to do:" in done.stderr
