"""Surrogates on an arena: joining, predictions as a table, a new system's place, the command, sets of features."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from arena_writer import write_arena
from commands import mirage, rows

from benchmarks.simulated import simulate_arena
from mirage import open_arena, schema
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking.bootstrap import rate
from mirage.ranking.judges import LabelJudge, VerdictJudge
from mirage.ranking.surrogate import stage as ablation
from mirage.ranking.surrogate.data import LanguageData, Training
from mirage.ranking.surrogate.evaluate import leave_one_out
from mirage.ranking.surrogate.reporting import Report, report_on
from mirage.ranking.surrogate.reporting import held_out as read_held_out
from mirage.ranking.surrogate.reporting import summary as summarise
from mirage.ranking.surrogate.stage import JUDGED_PREDICTIONS
from mirage.ranking.surrogate.training import training
from mirage.stages.stage import run
from mirage.store.arena import Arena
from mirage.store.lineage import derived_tables
from mirage.views.surrogate import predicted_judges

FEW = ["linear", "svr", "ridge"]
JUDGE = VerdictJudge("judge")


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return dict(simulate_arena(systems=7, queries=30, languages=["en", "sw"], seed=21).tables)


@pytest.fixture(scope="module")
def reported(tables: dict[str, pa.Table]) -> Report:
    return report_on(training(tables["features"], tables["judgments"], JUDGE), JUDGE, regressors=FEW)


@pytest.fixture
def arena(tables: dict[str, pa.Table], tmp_path: Path) -> Arena:
    return write_arena(tmp_path / "arena", tables, label="simulated")


def without(judgments: pa.Table, system: str) -> pa.Table:
    other = pc.and_(pc.not_equal(judgments["system_a"], system), pc.not_equal(judgments["system_b"], system))
    return judgments.filter(other)


# --- the table --------------------------------------------------------------------------------------------------------


def test_predictions_keep_the_contract_and_carry_the_ratings_of_the_ranking(
    tables: dict[str, pa.Table], reported: Report
) -> None:
    table = reported.table()
    schema.validate("predictions", table)
    rated = rate(from_judgments(tables["judgments"], judge="judge"), draws=2).table().to_pylist()
    ratings = {(r["language"], r["system"]): r["rating"] for r in rated}
    for row in table.to_pylist():
        assert row["judged"] == pytest.approx(ratings[row["language"], row["system"]], abs=1e-6)
        assert row["low"] < row["rating"] < row["high"]
    assert {row["regressor"] for row in table.to_pylist()} == set(FEW)
    assert {row["regressor"] for row in table.to_pylist() if row["default"]} == {[*reported.held_out][-1]}
    for code in ("en", "sw", "all"):
        ranks = [r.rank for r in reported.rows if (r.language, r.regressor) == (code, "ridge")]
        assert sorted(ranks) == list(range(1, 8))


def test_stored_predictions_give_the_comparison_back(reported: Report) -> None:
    held_out = read_held_out(reported.table(), JUDGE)
    summary = {row.regressor: row for row in summarise(held_out)}
    for row in summarise(reported.held_out):
        for name in ("tau", "rmse", "r2", "slope", "covered", "tau_all", "p", "systems", "chosen"):
            assert getattr(summary[row.regressor], name) == pytest.approx(getattr(row, name)), name
    assert list(summary) == FEW
    assert summary["linear"].published == "Linear Regression"
    assert summary["ridge"].p is None


def test_ratings_of_systems_without_features_count_but_are_not_learnt_from(tables: dict[str, pa.Table]) -> None:
    features = tables["features"].filter(pc.not_equal(tables["features"]["system"], "sim-02"))
    seen = training(features, tables["judgments"], JUDGE)
    whole = training(tables["features"], tables["judgments"], JUDGE)
    partial, full = seen.languages["en"], whole.languages["en"]
    assert "sim-02" not in partial.systems
    back = partial.ratings(frozenset()) + partial.offset
    np.testing.assert_allclose(back, np.delete(full.ratings(frozenset()), full.systems.index("sim-02")), atol=1e-9)


# --- a new system -----------------------------------------------------------------------------------------------------


def test_a_new_system_is_predicted_near_where_its_battles_put_it(tables: dict[str, pa.Table]) -> None:
    seen = training(tables["features"], without(tables["judgments"], "sim-04"), JUDGE)
    assert seen.new == ("sim-04",)
    table = report_on(seen, JUDGE, regressors=["linear", "ridge"]).table()
    schema.validate("predictions", table)
    new = {(row["language"], row["regressor"]): row for row in table.to_pylist() if row["system"] == "sim-04"}
    assert set(new) == {(code, name) for code in ("en", "sw", "all") for name in ("linear", "ridge")}
    whole = training(tables["features"], tables["judgments"], JUDGE)
    for code in ("en", "sw"):
        row = new[code, "ridge"]
        ranked = seen.languages[code].ratings(frozenset())
        assert row["rank"] in range(1, 8)
        assert row["judged"] is None
        assert row["low"] < whole.languages[code].ratings(frozenset())[3] * 7 / 6 < row["high"]
        assert np.nanmin(ranked) - 1 < row["rating"] < np.nanmax(ranked) + 1
    both = [new[code, "ridge"]["rating"] for code in ("en", "sw")]
    assert new["all", "ridge"]["rating"] == pytest.approx(np.mean(both))


# --- what is refused --------------------------------------------------------------------------------------------------


def test_what_cannot_be_predicted_is_refused_with_what_to_do(tables: dict[str, pa.Table], reported: Report) -> None:
    with pytest.raises(UnknownName, match="judge"):
        training(tables["features"], tables["judgments"], VerdictJudge("nobody"))
    with pytest.raises(NotEnoughData, match="has a feature"):
        training(tables["features"].slice(0, 0), tables["judgments"], JUDGE)
    with pytest.raises(NotEnoughData, match="no predictions for the judge other") as refused:
        read_held_out(reported.table(), VerdictJudge("other"))
    assert "mirage rank surrogate DIR --judge other --store" in str(refused.value)


# --- the command and the view -----------------------------------------------------------------------------------------


def test_the_command_says_what_a_prediction_saves_and_writes_nothing(arena: Arena) -> None:
    result = mirage("rank", "surrogate", arena.path, "--judge", "judge", "--regressor", "ridge", "--format", "csv")
    (summary,) = rows(result)
    assert (summary["regressor"], summary["chosen"], summary["systems"]) == ("ridge", "true", "7")
    # Every query of both languages, against each of the six others, once.
    assert "judging a system like the others took 360" in result.stderr.replace("\n", " ")
    assert "predictions" not in open_arena(arena.path).tables


def test_the_command_refuses_in_words(arena: Arena, tmp_path: Path) -> None:
    assert (
        "forrest"
        in mirage("rank", "surrogate", arena.path, "--judge", "judge", "--regressor", "forrest", code=2).stderr
    )
    store_some = ("rank", "surrogate", arena.path, "--judge", "judge", "--store", "--languages", "sw")
    assert "--store needs all languages" in mirage(*store_some, code=2).stderr
    assert "mirage import FILE --as answers" in mirage("rank", "surrogate", arena.path, code=2).stderr
    bare = write_arena(tmp_path / "bare", {"judgments": arena.read("judgments")})
    assert (
        "mirage import FILE --as answers" in mirage("rank", "surrogate", bare.path, "--judge", "judge", code=2).stderr
    )


def test_stored_predictions_go_when_what_they_were_made_from_changes(
    arena: Arena, reported: Report, tables: dict[str, pa.Table]
) -> None:
    stored = write_arena(arena.path, {"predictions": reported.table()})
    assert predicted_judges(stored) == (("judge", "both"),)
    for name in ("features", "judgments"):
        assert "predictions" in derived_tables([name])
    stage = JUDGED_PREDICTIONS
    assert stage.writes == ("predictions", "importances")
    again = run(stage, arena.path, made_by="a test", part="judge", judge="judge", regressors=FEW)
    assert schema.sort("predictions", again.read("predictions")).equals(schema.sort("predictions", reported.table()))


def test_on_real_answers_single_answers_tell_more_than_means() -> None:
    arena = open_arena("nomiracl")
    seen = training(
        arena.read("features", languages=["en", "sw"]),
        arena.read("outcomes", languages=["en", "sw"]),
        LabelJudge(),
    )
    assert len(seen.systems) == 10
    # No answer has citation scores here; they are no feature, rather than zeros.
    assert not {name for name in seen.features if name.startswith("citation")}

    def taus(name: str) -> float:
        quality = leave_one_out(seen, name).quality()
        return float(np.mean([q.tau or 0 for q in quality if q.language != "all"]))

    assert taus("answers") > taus("ridge") + 0.1


# --- sets of features -------------------------------------------------------------------------------------------------


def test_a_left_out_system_has_no_say_in_which_features_are_kept(tables: dict[str, pa.Table]) -> None:
    seen = training(tables["features"], tables["judgments"], JUDGE)
    system = seen.systems[0]
    features = ablation.strongest(seen, [system])
    assert len(features) == ablation.KEPT < len(seen.features)
    rows = {code: language.values.copy() for code, language in seen.languages.items()}
    for code, language in seen.languages.items():
        rows[code][:, language.systems.index(system)] *= -3.0
    moved = Training(
        seen.features,
        {
            code: LanguageData(
                code,
                language.systems,
                rows[code],
                language.weights,
                language.strata,
                language.points,
                language.ratings,
                language.offset,
            )
            for code, language in seen.languages.items()
        },
    )
    assert ablation.strongest(moved, [system]) == features


def test_a_set_of_features_that_the_arena_cannot_tell_from_all_has_the_reason() -> None:
    sets = ablation.sets(["length", "english_language", "target_language"])
    assert sets["Without LLM-as-judge"] == sets["Only LLM-as-judge"] == "no LLM graded a feature"
    assert sets["Without low-correlation"] == "none is dropped: there are only 3 features"
    graded = ablation.sets(["length", "fluency_score"])
    assert (graded["Without LLM-as-judge"], graded["Only LLM-as-judge"]) == (("length",), ("fluency_score",))
