"""Votes on nuggets: blind on the page, kept like other votes, compared with every assigner over queries."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import nugget_arena
import numpy as np
import pytest
from commands import CliRunner
from conftest import PATIENCE, ROOT
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner, Result
from votes_cases import postgres, url  # noqa: F401  # fixtures
from votes_nuggets_cases import cast_like

from mirage import cli, schema, store
from mirage.errors import NotEnoughData
from mirage.explorer.kit import votes as people
from mirage.explorer.spot_check import data as views
from mirage.people import votes
from mirage.people.votes import NuggetVote, Vote, Votes
from mirage.people.votes.assignments import weighted_kappa
from mirage.people.votes.stage import nugget_agreement
from mirage.stages.nuggets import TERMS
from pages import html, page_text, text

NAMES = ("support", "partial_support", "not_support")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arenas")
    nugget_arena.write(folder / "whole")
    return folder


def mirage(*args: object, code: int = 0) -> Result:
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args], prog_name="mirage")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


# --- the figures ------------------------------------------------------------------------------------------------------

counts = st.lists(st.integers(0, 9), min_size=9, max_size=9).map(lambda cells: np.array(cells, float).reshape(3, 3))


@given(counts)
def test_weighted_kappa_is_that_of_its_definition(table: np.ndarray) -> None:
    n = table.sum()
    weights = [[abs(i - j) / 2 for j in range(3)] for i in range(3)]
    chance = sum(weights[i][j] * table[i].sum() * table[:, j].sum() / n for i in range(3) for j in range(3) if n)
    value = float(weighted_kappa(table[None])[0])
    if chance <= 1e-9:
        assert np.isnan(value)
    else:
        apart = sum(weights[i][j] * table[i, j] for i in range(3) for j in range(3))
        assert value == pytest.approx(1 - apart / chance)
        assert float(weighted_kappa(table.T[None])[0]) == pytest.approx(value), "neither side is the first"


def rows_of(words: list[tuple[str, str, str | None]]) -> tuple[list[NuggetVote], list[schema.NuggetAssignment]]:
    """Votes and assignments, a query each: who, what the person says, what the assigner says."""
    about = [("en", f"q{k}", "s", "n") for k in range(len(words))]
    ballots = [
        NuggetVote(f"v{k}", votes.now(), "a", *key, voter, vote, None, None, None, None, None)  # type: ignore[arg-type]
        for k, (key, (voter, vote, _)) in enumerate(zip(about, words, strict=True))
    ]
    assigned = [
        schema.NuggetAssignment(*key, "m", given_now, None, None if given_now else "no reply", None)  # type: ignore[arg-type]
        for key, (_, _, given_now) in zip(about, words, strict=True)
    ]
    return ballots, assigned


def test_a_part_is_half_way_and_what_nobody_decided_is_counted_apart() -> None:
    words = [("a", "support", "support")] * 6 + [("b", "not_support", "partial_support")] * 6
    words += [("a", "skip", "support"), ("a", "support", None)]
    ballots, assigned = rows_of(words)
    (row,) = votes.assigner_agreement(ballots, schema.from_rows("nugget_assignments", assigned))
    assert (row.n, row.queries, row.voters, row.skipped, row.undecided) == (12, 12, 2, 1, 1)
    assert row.raw == 0.5
    # 12 votes; half a step apart in six of them. By chance: 6 x 6 pairs at 0.5, 6 x 6 at 1 and 6 x 6 at 0.5, over 12.
    assert row.kappa == pytest.approx(1 - 3 / ((6 * 6 * 0.5 + 6 * 6 * 1 + 6 * 6 * 0.5) / 12))
    assert row.raw_low is not None
    assert row.raw_high is not None
    assert row.raw_low < 0.5 < row.raw_high
    assert not row.enough
    again = votes.assigner_agreement(ballots, schema.from_rows("nugget_assignments", assigned))
    assert again == [row], "same seed, same numbers"


def test_few_queries_have_no_interval_and_say_so() -> None:
    ballots, assigned = rows_of([("a", "support", "support"), ("a", "not_support", "not_support")])
    (row,) = votes.assigner_agreement(ballots, schema.from_rows("nugget_assignments", assigned))
    assert (row.raw, row.raw_low, row.kappa) == (1.0, None, 1.0)
    assert row.reason
    ballots, assigned = rows_of([("a", "support", "support")] * 12)
    (row,) = votes.assigner_agreement(ballots, schema.from_rows("nugget_assignments", assigned))
    assert (row.raw, row.kappa) == (1.0, None)
    assert row.raw_low is not None
    assert row.reason


def test_all_is_the_mean_over_languages(arenas: Path) -> None:
    arena = store.open_arena(arenas / "whole")
    cast_like(arena, TERMS, 12)
    cast_like(arena, TERMS, 12, language="sw")
    with Votes() as database:
        rows = nugget_agreement(arena, database.rows(NuggetVote))
    by_key = {(row.assigner, row.language): row for row in rows}
    assert {language for assigner, language in by_key if assigner == TERMS} == {"en", "sw", "all"}
    assert by_key[TERMS, "all"].raw == 1
    model = by_key[nugget_arena.MODEL, "all"]
    assert model.raw == by_key[nugget_arena.MODEL, "en"].raw, "the model decided nothing in the other language"
    assert model.undecided == by_key[nugget_arena.MODEL, "sw"].undecided > 0


# --- votes that count -------------------------------------------------------------------------------------------------


def test_a_vote_counts_for_the_words_it_was_given_on(arenas: Path) -> None:
    arena = store.open_arena(arenas / "whole")
    (query, system), *_ = views.stating(arena, "en")
    item, *_ = views.nugget_items(arena, "en", query, system)
    options = {"vote": "support", "arena": "whole", "voter": "amina", "note": None, "seconds": None}
    good = views.nugget_vote(item, vote_id="1", **options)  # type: ignore[arg-type]
    log = [
        good,
        replace(good, vote_id="2", voter="b", shown="0" * 16),
        replace(good, vote_id="3", voter="c", shown=None),
    ]
    log += [
        replace(good, vote_id="4", voter="d", nugget_id="gone"),
        replace(good, vote_id="5", voter="e", arena="other"),
    ]
    assert {row.voters for row in nugget_agreement(arena, log)} == {3}, "the same words under another name count"
    with pytest.raises(NotEnoughData):
        nugget_agreement(arena, log, languages=["sw"])


# --- the database and files -------------------------------------------------------------------------------------------


def test_a_database_of_before_gets_the_table(url: str) -> None:  # the fixture
    from sqlalchemy import inspect, text

    with Votes(url) as before:
        before.version()
        with before._engine.begin() as connection:
            connection.execute(text("DROP TABLE mirage_nuggetvote"))
    row = NuggetVote("1", votes.now(), "a", "en", "q", "s", "n", "amina", "support", None, None, None, None, None)
    with Votes(url) as again:
        assert again.rows(NuggetVote) == []
        assert again.submit(row) == row
        assert again.version() == (0, 0, 1, 0, 0)
        assert not [name for name in inspect(again._engine).get_table_names() if "_before_" in name]
    with Votes(url) as third:
        assert third.undo(NuggetVote, "1", voter="amina").undoes == "1"
        assert third.forget("amina") == 2


@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet"])
def test_votes_on_nuggets_go_out_and_in(
    arenas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    cast_like(store.open_arena(arenas / "whole"), TERMS, 1)
    with Votes() as database:
        rows = database.rows(NuggetVote)
    assert rows
    mirage("votes", "export", tmp_path / name, "--nuggets")
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "elsewhere"))
    mirage("votes", "import", tmp_path / name, "--nuggets")
    with Votes() as database:
        assert database.rows(NuggetVote) == rows
        assert database.rows(Vote) == []
    mirage("votes", "export", tmp_path / name, "--nuggets", "--evidence", code=2)


def test_the_command_prints_agreement_with_every_assigner(arenas: Path) -> None:
    path = arenas / "whole"
    mirage("nuggets", "show", path, "--agreement", code=2)
    cast_like(store.open_arena(path), TERMS, 12)
    result = mirage("nuggets", "show", path, "--agreement", "--format", "json")
    rows = {row["assigner"]: row for row in json.loads(result.stdout)}
    assert rows[TERMS]["raw"] == rows[TERMS]["kappa"] == 1
    assert rows[nugget_arena.MODEL]["kappa"] == pytest.approx(0)
    assert rows[TERMS]["queries"] == 12


# --- the page ---------------------------------------------------------------------------------------------------------


def open_page(language: str = "en") -> AppTest:
    app = AppTest.from_file(ROOT / "pages" / "spot_check.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": "whole", "ballot": "nuggets", "language": language})
    app.run()
    return app.text_input(key="spot_voter").set_value("amina").run()


def test_a_person_decides_blind_and_is_then_told_who_said_what(arenas: Path) -> None:
    app = open_page()
    assert not app.exception
    shown = html(app) + page_text(app)
    assert not [name for name in ("strong+", "weak+", TERMS) if name in shown]
    buttons = {button.proto.shortcut: button for button in app.button if button.proto.shortcut}
    assert set(buttons) == {"1", "2", "3", "s"}
    buttons["2"].click().run()
    assert not app.exception
    (row,) = people.database().rows(NuggetVote)
    assert (row.vote, row.voter, row.arena, row.language) == ("partial_support", "amina", "whole", "en")
    assert row.shown
    flat = " ".join(text(app).split())
    assert f"The answer was by {row.system} ." in flat
    (said,) = (
        entry["assignment"]
        for entry in store.open_arena(arenas / "whole").read("nugget_assignments").to_pylist()
        if entry["assigner"] == nugget_arena.MODEL
        and all(entry[name] == getattr(row, name) for name in ("language", "query_id", "system", "nugget_id"))
    )
    told = "agrees with you" if said == row.vote else "disagrees"
    assert re.search(rf"{nugget_arena.MODEL} : [^.(]*\({told}\)", flat)
    assert TERMS in flat
    (undo,) = (button for button in app.button if button.proto.shortcut == "u")
    undo.click().run()
    assert votes.standing(people.database().rows(NuggetVote)) == []


def test_the_queue_goes_through_an_answer_and_ends(arenas: Path) -> None:
    arena = store.open_arena(arenas / "whole")
    seen: list[NuggetVote] = []
    while (item := views.next_nugget(arena, "en", seen)) is not None:
        seen.append(
            views.nugget_vote(
                item, vote="skip", vote_id=str(len(seen)), arena="whole", voter="a", note=None, seconds=None
            )
        )
    places = [(row.query_id, row.system) for row in seen]
    assert len(seen) == 3 * len(set(places)) == 3 * len(views.stating(arena, "en"))
    assert [places[k] for k in range(0, len(places), 3)] == list(dict.fromkeys(places)), "one answer after the other"
