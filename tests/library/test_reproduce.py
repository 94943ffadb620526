"""The paper's tables on any arena: against the program's own steps, the print, and what is missing."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_writer import read_rows, write_arena
from commands import mirage
from sklearn.ensemble import RandomForestRegressor

from benchmarks.simulated import SimulatedArena, simulate_arena
from mirage import open_arena, schema
from mirage.battles.verdict_rows import from_judgments
from mirage.papers.reproduction import (
    FEATURES,
    HELD_OUT,
    PRINTED,
    PaperSettings,
    Reproduction,
    default_judge,
    gather_material,
    random_splits,
    reproduce,
)
from mirage.ranking.judges import VerdictJudge
from mirage.ranking.paper import play
from mirage.stats.kendall import kendall
from mirage.store.arena import Arena

DRAWS = 8
SPLITS = 4


def renamed(simulated: SimulatedArena, names: dict[str, str]) -> dict[str, Any]:
    """The tables with other names of systems."""
    tables = {}
    for name, table in simulated.tables.items():
        rows = table.to_pylist()
        for row in rows:
            for column in ("system", "system_a", "system_b"):
                if column in row:
                    row[column] = names.get(row[column], row[column])
        tables[name] = schema.from_columns(
            name, {field.name: [record[field.name] for record in rows] for field in schema.columns(name)}
        )
    return tables


JUDGE = VerdictJudge("judge")


@pytest.fixture(scope="module")
def simulated() -> SimulatedArena:
    return simulate_arena(systems=7, queries=20, languages=["ar", "sw"], seed=11, tie=0.2, orders=2)


@pytest.fixture(scope="module")
def arena(simulated: SimulatedArena, module_path: Path) -> Arena:
    tables = renamed(simulated, {"sim-01": HELD_OUT[0], "sim-02": HELD_OUT[1], "sim-03": PRINTED["GPT-4o"]})
    folder = module_path / "a"
    return write_arena(folder, tables, label="simulated", title="Made up <b>")


@pytest.fixture(scope="module")
def reproduction(arena: Arena) -> Reproduction:
    told: list[tuple[int, int]] = []
    settings = PaperSettings(draws=DRAWS, forest_draws=2, splits=SPLITS)
    result = reproduce(arena, JUDGE, settings, progress=lambda done, total: told.append((done, total)))
    assert told[-2:] == [(1, 2), (2, 2)]  # languages, after the tournaments
    return result


def values(reproduction: Reproduction, item: str, **where: str) -> dict[tuple[str, str, str], Any]:
    """The figures of an item by setting, system and language."""
    own = [figure for figure in reproduction.figures if figure.item == item]
    return {
        (figure.setting, figure.system, figure.language): figure
        for figure in own
        if all(getattr(figure, name) == value for name, value in where.items())
    }


def test_table_2_is_the_forest_on_all_but_two_systems_against_the_mean_rating(
    arena: Arena, reproduction: Reproduction
) -> None:
    battles = from_judgments(arena.read("judgments"), judge="judge")
    draws = play(battles, tournaments=DRAWS).languages["sw"]
    truth = draws.mean()
    means: dict[tuple[str, str], list[float]] = {}
    for row in arena.read("features", languages=["sw"]).to_pylist():
        if row["value"] is not None:
            means.setdefault((row["system"], row["feature"]), []).append(row["value"])
    X = np.array([[np.mean(means[system, feature]) for feature in FEATURES] for system in draws.systems])
    train = [k for k, system in enumerate(draws.systems) if system not in HELD_OUT]
    forest = RandomForestRegressor(random_state=0).fit(X[train], truth[train])
    tau = float(kendall(forest.predict(X), truth))
    assert values(reproduction, "Table 2")["", "", "sw"].ours == pytest.approx(tau, abs=1e-9)
    assert values(reproduction, "Table 4")["All features (11)", "", "sw"].ours == pytest.approx(tau, abs=1e-9)
    ranked = values(reproduction, "Figure 4", language="sw", setting="judge: GPT-4o, pairwise")
    ranks = {PRINTED.get(system, system): figure.ours for (_, system, _), figure in ranked.items()}
    assert sorted(ranks, key=lambda system: ranks[system]) == [draws.systems[k] for k in np.argsort(-truth)]


def test_the_printed_figures_stand_beside_ours(reproduction: Reproduction) -> None:
    """Every one of the table `published` that the arena can have, and no other."""
    printed = {
        tuple(row[name] for name in ("item", "metric", "setting", "system", "language")): row["value"]
        for row in read_rows(open_arena("published"), "published")
        if row["source"] == "MIRAGE-Bench"
    }
    assert {figure.item for figure in reproduction.figures} == {*(f"Table {n}" for n in range(2, 6)), "Figure 4"}
    for figure in reproduction.figures:
        cell = (figure.item, figure.metric, figure.setting, figure.system, figure.language)
        assert figure.printed == printed.get(cell)
        assert (figure.difference is None) == (None in (figure.printed, figure.ours))
    compared = Counter(figure.item for figure in reproduction.figures if figure.difference is not None)
    # Two languages and the mean; Arabic alone by regressor and part, and by features; mean and two ends; three systems.
    assert compared == {"Table 2": 3, "Table 3": 10, "Table 4": 4, "Table 5": 6, "Figure 4": 12}
    made = reproduction.material
    assert (made.holdout, made.chosen, made.missing) == (HELD_OUT, "the two of the paper", {})


def test_table_3_is_over_random_splits_of_the_systems(reproduction: Reproduction, arena: Arena) -> None:
    """As its caption says: some systems drawn at random, R2 on the others, repeated; not the two of Table 5."""
    by_part = values(reproduction, "Table 3", language="sw")
    train, holdout = (by_part[f"{part}, Linear Regression", "", "sw"].ours for part in ("train", "holdout"))
    assert holdout < train
    assert train > 0.99  # five systems, eleven features
    material = gather_material(arena, JUDGE, PaperSettings(["sw"], draws=2))
    splits = random_splits(material, PaperSettings())
    # Of 7 systems the share that 4 of 19 are would be 1: R2 needs 2.
    assert {len(set(out)) for out in splits} == {2}
    assert set().union(*splits) == set(material.languages["sw"].systems)
    assert splits == random_splits(material, PaperSettings()) != random_splits(material, PaperSettings(seed=1))


def test_names_of_the_papers_systems_are_those_of_its_figure() -> None:
    printed = read_rows(open_arena("published"), "published")
    assert {row["system"] for row in printed if row["item"] == "Figure 4"} == set(PRINTED)
    assert set(HELD_OUT) <= set(PRINTED.values())


def test_an_empty_cell_of_an_ablation_says_why(tmp_path: Path, simulated: SimulatedArena) -> None:
    features = simulated.tables["features"].to_pylist()
    some = [row for row in features if row["feature"] in ("citation_MAP@10", "answer_rougeL", "reranker_score")]
    table = schema.from_columns(
        "features", {column.name: [row[column.name] for row in some] for column in schema.columns("features")}
    )
    opened = write_arena(tmp_path / "a", {**simulated.tables, "features": table})
    result = reproduce(opened, JUDGE, PaperSettings(["sw"], draws=2, forest_draws=1, splits=2))
    ablation = values(result, "Table 4")["Only LLM-as-judge (2)", "", "sw"]
    assert (ablation.ours, ablation.remark) == (None, "the arena has none of these features")
    assert result.material.missing["fluency_score"] == "the arena has no value of this feature"
    assert result.material.chosen.startswith("a quarter from the bottom and from the top")


# --- what is refused --------------------------------------------------------------------------------------------------


def test_an_arena_without_features_or_with_many_judges_says_what_to_do(tmp_path: Path) -> None:
    two = simulate_arena(systems=3, queries=3, languages=["en"], seed=1, judges=("x", "y"))
    opened = write_arena(tmp_path / "a", dict(two.tables))
    with pytest.raises(Exception, match="there are 2 judges: x, y"):
        default_judge(opened)
    bare = write_arena(tmp_path / "b", {"judgments": two.tables["judgments"]})
    assert (
        "mirage import FILE --as answers"
        in mirage("rank", "paper", bare.path, "--judge", "x", "--into", tmp_path / "out", code=2).stderr
    )
    assert (
        "five systems"
        in mirage("rank", "paper", opened.path, "--judge", "x", "--into", tmp_path / "out", code=2).stderr
    )


def test_an_undefeated_system_is_left_out_and_named(arena: Arena) -> None:
    verdicts = arena.read("judgments", languages=["sw"]).to_pylist()
    for row in verdicts:
        if "sim-07" in (row["system_a"], row["system_b"]):
            row["verdict"] = "A" if row["system_a"] == "sim-07" else "B"
    data = {column.name: [row[column.name] for row in verdicts] for column in schema.columns("judgments")}
    tables = {"judgments": schema.from_columns("judgments", data), "features": arena.read("features")}
    folder = arena.path.parent / "undefeated"
    opened = write_arena(folder, tables)
    material = gather_material(opened, JUDGE, PaperSettings(draws=2))
    assert "sim-07" not in material.languages["sw"].systems
    assert "never beaten" in material.missing["sw: sim-07"]


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_writes_every_figure_and_prints_a_row_per_item(arena: Arena, tmp_path: Path) -> None:
    options = ("--languages", "sw", "--draws", 2, "--format", "csv")
    result = mirage("rank", "paper", arena.path, "--into", tmp_path / "one", *options)
    (file,) = (tmp_path / "one").iterdir()
    assert result.stdout == file.read_text("utf-8")
    assert f"held out: {' and '.join(HELD_OUT)} (the two of the paper)" in result.stderr
    assert all(item in result.stdout for item in ("Table 2", "Table 3", "Table 4", "Table 5", "Figure 4"))


def test_an_arena_by_labels_can_be_reproduced_on() -> None:
    """NoMIRACL's published answers: two of the features, no judge."""
    opened = open_arena("nomiracl")
    judge = default_judge(opened)
    result = reproduce(opened, judge, PaperSettings(["sw"], draws=2, forest_draws=1, splits=2))
    assert judge.name == "relevance"
    assert set(result.material.missing) == {*FEATURES} - {"target_language", "english_language"}
    assert values(result, "Table 2")["", "", "sw"].ours is not None
