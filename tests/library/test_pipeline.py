"""The stages in their order: what a run writes, what it keeps, and what it takes away because it is out of date."""

from pathlib import Path

import pyarrow.compute as pc
import pytest
from arena_writer import read_rows, write_arena
from derivation import STAGES
from golden.cases import read_table
from pipeline_cases import judgments, published_answers
from store_cases import snapshot

from mirage import open_arena, schema
from mirage.errors import ArenaError, BadInput, NotEnoughData, UnknownName
from mirage.io.imports.formats import FileImport, import_file
from mirage.io.imports.public import import_nomiracl_queries, import_outputs
from mirage.ranking.board import rank_arena
from mirage.ranking.judges import Judge, LabelJudge, VerdictJudge
from mirage.ranking.settings import RankSettings
from mirage.ranking.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
from mirage.stages.features.stage import FEATURES
from mirage.stages.stage import run
from mirage.store import arena as arenas
from mirage.store.arena import Arena
from mirage.store.lineage import LINEAGE, derived_tables


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return import_outputs(published_answers(tmp_path / "in"), tmp_path / "arena")


def test_every_stage_uses_tables_of_the_contract_and_none_of_a_later_stage() -> None:
    tables = {"queries", "passages", "answers", "judgments", "nuggets"}
    for stage in STAGES:
        assert set(stage.reads) | set(stage.writes) <= set(schema.TABLES)
        assert set(stage.reads) <= tables
        for table in stage.writes:
            assert set(stage.reads) | set(stage.uses) <= {table, *LINEAGE[table].sources}
        tables |= set(stage.writes)


@pytest.mark.parametrize(*read_table("derived_tables"))
def test_what_is_made_from_a_table_is_known(written: list[str], derived: list[str]) -> None:
    assert list(derived_tables(written)) == derived


def test_import_brings_answers_and_their_outcomes_in_one_write(arena: Arena) -> None:
    assert arena.tables == ("queries", "passages", "answers", "outcomes")
    assert arena.rows("outcomes") == 2 * arena.rows("answers") == 2 * 48
    assert arena.label == "real replies"
    assert arena.manifest["about"] == "48 replies of 3 systems to 16 questions in 2 languages."
    made_from = arena.manifest["made"]["answers"]["from"]
    assert {file["name"] for file in made_from[1:]} == {
        f"{subset}/{code}.test.vanilla_prompt.jsonl.gz"
        for subset in ("relevant", "non_relevant")
        for code in ("en", "fi")
    }
    assert all(len(file["sha256"]) == 64 for file in made_from[1:])


def texts(arena: Arena) -> dict[tuple[str, str], str]:
    return {(row["query_id"], row["system"]): row["text"] for row in read_rows(arena, "answers")}


def test_what_was_made_from_older_answers_goes_with_them_and_stays_with_the_same(arena: Arena, tmp_path: Path) -> None:
    run(FEATURES, arena.path, made_by="a test")
    run(RELEVANCE_RATINGS, arena.path, made_by="a test", part="judge")
    same = import_outputs(tmp_path / "in", arena.path)
    assert {"features", "ratings"} <= set(same.tables)
    before = texts(same)
    other = import_outputs(published_answers(tmp_path / "other", yes="Maybe."), arena.path)
    assert "ratings" not in other.tables
    changed = {key for key, text in texts(other).items() if before[key] != text}
    assert 0 < len(changed) < len(before)
    measured = {(row["query_id"], row["system"]) for row in read_rows(other, "features")}
    assert measured == before.keys() - changed
    assert arenas.check(other)


def test_features_measured_one_by_one_join_those_that_are_there(arena: Arena) -> None:
    def measured() -> list[str]:
        return sorted(pc.unique(open_arena(arena.path).read("features")["feature"]).to_pylist())

    for name in ("length", "n_citations"):
        run(FEATURES, arena.path, made_by="a test", part="feature", only=[name])
    assert measured() == ["length", "n_citations"]
    version = open_arena(arena.path).version
    run(FEATURES, arena.path, made_by="a test", part="feature", only=["length"])
    assert open_arena(arena.path).version == version, "measuring again changes nothing"
    run(FEATURES, arena.path, made_by="a test")
    assert len(measured()) > 2
    with pytest.raises(UnknownName, match="did you mean: length"):
        run(FEATURES, arena.path, made_by="a test", only=["lengths"])


def take(file: Path, folder: Path) -> FileImport:
    return import_file(file, folder)


def test_ratings_of_several_judges_stand_side_by_side_with_their_settings(arena: Arena, tmp_path: Path) -> None:
    take(judgments(tmp_path / "j.csv", judge="j:1"), arena.path)
    relevance = {"made_by": "a test", "part": "judge", "settings": {"seed": 1}}
    judged = {"made_by": "a test", "part": "judge", "settings": {"seed": 2}, "judge": "j:1"}
    run(RELEVANCE_RATINGS, arena.path, **relevance)
    run(JUDGED_RATINGS, arena.path, **judged)
    both = run(RELEVANCE_RATINGS, arena.path, **relevance | {"settings": {"seed": 3}})
    ratings = both.read("ratings")
    assert sorted(pc.unique(ratings["judge"]).to_pylist()) == ["j:1", "relevance"]
    assert sorted(pc.unique(ratings["skill"]).to_pylist()) == ["abstain", "answer", "both"]
    assert both.manifest["made"]["ratings"]["settings"] == {"j:1": {"seed": 2}, "relevance": {"seed": 3}}


def test_verdicts_are_added_and_a_repeated_battle_is_replaced(arena: Arena, tmp_path: Path) -> None:
    take(judgments(tmp_path / "1.csv"), arena.path)
    run(JUDGED_RATINGS, arena.path, made_by="a test", part="judge", judge="j")
    second = take(judgments(tmp_path / "2.csv", "B", ids="r0 r2"), arena.path)
    table = second.arena.read("judgments")
    assert table.filter(pc.equal(table["query_id"], "r0"))["verdict"].to_pylist() == ["B", "B"]
    assert len(table) == 8
    assert "ratings" not in second.arena.tables, "made from older verdicts"
    other = take(judgments(tmp_path / "3.csv", judge="k"), arena.path)
    assert len(other.arena.read("judgments")) == 14
    assert [file["name"] for file in other.arena.manifest["made"]["judgments"]["from"]] == ["1.csv", "2.csv", "3.csv"]


def test_queries_are_not_put_under_answers_to_others(arena: Arena, tmp_path: Path) -> None:
    before = snapshot(arena.path)
    with pytest.raises(ArenaError, match=r"has answers to its current queries(.|\n)*use a new folder"):
        import_nomiracl_queries(tmp_path, arena.path)
    assert snapshot(arena.path) == before


def test_a_ranking_refuses_what_it_has_no_battles_for(arena: Arena, tmp_path: Path) -> None:
    outcomes = arena.read("outcomes")
    with pytest.raises(UnknownName, match="no language 'sw'"):
        rank_arena(arena, LabelJudge(), RankSettings(languages=("sw",)))
    half = outcomes.filter(pc.or_(pc.equal(outcomes["language"], "en"), pc.equal(outcomes["subset"], "relevant")))
    part = write_arena(tmp_path / "half", {"outcomes": half})
    with pytest.raises(NotEnoughData, match="fi cannot be ranked") as refused:
        rank_arena(part, LabelJudge(), RankSettings(languages=("fi",)))
    assert "no unanswerable queries" in str(refused.value)
    assert any("Finnish: no unanswerable queries" in remark for remark in rank_arena(part, LabelJudge()).remarks)
    judged = take(judgments(tmp_path / "j.csv"), arena.path).arena
    with pytest.raises(BadInput, match="a skill applies to relevance labels"):
        Judge.from_name("j", skill="abstain")
    with pytest.raises(UnknownName, match="'jj'"):
        rank_arena(judged, VerdictJudge("jj"))


# --- the bundled arenas -----------------------------------------------------------------------------------------------


BUNDLED = ("queries", "outcomes", "features", "ratings", "predictions", "importances")


def test_the_bundled_arena_is_small_and_without_texts() -> None:
    arena = open_arena("nomiracl")
    assert arena.size < 4_000_000
    assert arena.tables == BUNDLED
    queries = arena.read("queries")
    assert queries["text"].null_count == len(queries) == 8_045
    assert arena.rows("outcomes") == 2 * 88_495
    assert arena.label == "real replies"
    assert "88,469 replies of 11 systems to 8,045 questions in 17 languages" in arena.manifest["about"]
