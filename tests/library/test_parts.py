"""Shares of an arena on machines that know nothing of each other: together they are what one machine makes."""

import itertools
from pathlib import Path

import pyarrow.compute as pc
import pytest
from arena_writer import write_arena
from commands import mirage
from generating_cases import command, generate, write
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import Service, error
from parts_cases import by_text, tables

from mirage import schema
from mirage.errors import BadInput
from mirage.llm.engines.shards import Shard, read_shard
from mirage.pipeline.parts import merge
from mirage.store import arena as arenas
from mirage.store.arena import open_arena
from mirage.store.ledger import ledger_path

PARTS = 3


def in_parts(path: Path, *arguments: str) -> list[Path]:
    """Run a command share by share."""
    for number in range(1, PARTS + 1):
        mirage(*arguments, "--shard", f"{number}/{PARTS}")
    return [path.with_name(f"{path.name}.part-{number}-of-{PARTS}") for number in range(1, PARTS + 1)]


@given(st.integers(1, 40), st.text(max_size=4), st.text(max_size=8))
def test_every_query_belongs_to_one_shard(count: int, language: str, query_id: str) -> None:
    assert sum(Shard(number, count).has(language, query_id) for number in range(1, count + 1)) == 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/0", "a/b", "1/3/4", "-1/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a shard"):
        read_shard(text)


def test_shards_together_are_the_same_bytes_as_the_whole_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    whole, shared = write(tmp_path / "whole", n=6), write(tmp_path / "shared", n=6)
    with Service(by_text) as service:
        for path, run in ((whole, mirage), (shared, None)):
            steps = [
                command(path, service, "--limit", "5"),
                command(path, service, "--limit", "5", system="other", model="big"),
                ["measure", "features", str(path), "--reference", "mine"],
                ["judge", str(path), "--judge", "heuristic"],
                ["judge", str(path), "--judge", "j", "--model", "m", "--base-url", service.url, "--queries", "3"],
            ]
            for step in steps:
                if run is not None:
                    run(*step)
                else:
                    mirage("arena", "merge", path, *map(str, in_parts(path, *step)))
            sent = len(service.calls)
            assert tables(path) == tables(whole)
        before = len(service.calls)
        for step in steps[:2]:
            mirage(*step)
        assert len(service.calls) == before, "the ledger has what the parts have paid for"
        assert sent == 2 * len({(call.content, call.body["model"]) for call in service.calls})


def test_the_order_of_parts_does_not_matter_nor_how_often_they_are_merged(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=4)
    with Service(by_text) as service:
        parts = in_parts(path, *command(path, service))
    results = set()
    for number, order in enumerate(itertools.permutations(parts)):
        into = write(tmp_path / str(number), n=4)
        for part in order:
            merge(into, [part])
        version = open_arena(into).version
        assert sum(merge(into, list(reversed(order))).rows.values()) == 0
        assert open_arena(into).version == version
        results.add(str(tables(into)))
    assert len(results) == 1


def test_an_answer_replaces_a_failed_call_and_the_measurements_of_the_failure_go(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=4)
    with Service(lambda call: error(500) if "q001" in call.content else by_text(call)) as service:
        generate(path, service)
        mirage("measure", "features", path)
        service.behave = by_text
        parts = in_parts(path, *command(path, service))
    report = merge(path, parts)
    assert report.rows == {"answers": 2}
    arena = open_arena(path)
    assert set(arena.read("answers")["status"].to_pylist()) == {"ok"}
    assert "q001" not in arena.read("features")["query_id"].to_pylist()
    assert merge(path, parts).rows == {}
    assert arenas.check(open_arena(path))


def test_two_values_under_one_key_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=4)
    with Service(by_text) as service:
        parts = in_parts(path, *command(path, service))
        answers = open_arena(parts[0]).read("answers")
        other = answers.set_column(3, "text", pc.binary_join_element_wise(answers["text"], "else", " "))
        twin = tmp_path / "twin"
        write_arena(twin, {"answers": other.cast(schema.arrow_schema("answers"))})
    version = open_arena(path).version
    key = answers.to_pylist()[0]
    with pytest.raises(BadInput, match=f"language {key['language']}, query_id {key['query_id']}, system mine"):
        merge(path, [*parts, twin])
    assert open_arena(path).version == version
    assert not ledger_path(path).exists()


def test_parts_made_in_two_ways_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=4)
    with Service(by_text) as service:
        mirage(*command(path, service), "--shard", "1/2")
        mirage(*command(path, service, "--temperature", "0.9"), "--shard", "2/2")
    with pytest.raises(BadInput, match=r"temperature 0\.9"):
        merge(path, [tmp_path / "a.part-1-of-2", tmp_path / "a.part-2-of-2"])


def test_a_share_without_queries_is_no_error_and_what_cannot_be_shared_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=1, languages=("en",))
    with Service(by_text) as service:
        empty = next(n for n in (1, 2) if not Shard(n, 2).has("en", "q000"))
        assert "no queries" in mirage(*command(path, service), "--shard", f"{empty}/2").stderr
        assert merge(path, [tmp_path / f"a.part-{empty}-of-2"]).rows == {}
        assert "--replace" in mirage(*command(path, service, "--replace"), "--shard", "1/2", code=2).stderr
        assert "--dry-run" in mirage(*command(path, service, "--dry-run"), "--shard", "1/2", code=2).stderr
        assert service.calls == []
