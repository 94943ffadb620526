"""The exam of judges by every door: page, command and API show the numbers, the order and the sentence of the view."""

import json
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import mirage as command_line
from conftest import ROOT

import mirage
from benchmarks.simulated import simulate_arena
from mirage import schema
from mirage.battles.decision import decisions
from mirage.errors import NotEnoughData
from mirage.people.exam import ExamMeasure
from mirage.people.votes.belonging import log_votes
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
from mirage.people.votes.queue import RANDOM, VoteItem
from mirage.people.votes.rows import cast, token
from mirage.schema import PEOPLE
from mirage.stages.judge.stats import JudgeStats
from mirage.store.arena import Arena, open_arena
from mirage.views.exam import ExamChoice, ExamView, exam_view, pairs_view, statistics
from mirage.views.votes import agreement_view, conclude_agreement, corrected_view
from pages import conclusion, open_page, page_text

OWN = "own"


@pytest.fixture
def arena(request: pytest.FixtureRequest, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    """A bundled arena, or one of a user with votes."""
    if request.param != OWN:
        monkeypatch.setenv("MIRAGE_ARENAS", str(ROOT / "data"))
        return open_arena(ROOT / "data" / request.param)
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    simulation = simulate_arena(systems=3, queries=66, languages=["en", "fi", "sw"], seed=1, judges=("gpt-4o", "zeta"))
    arena = write_arena(tmp_path / OWN, simulation.tables, label="simulated")
    log = []
    for k, (language, query, first, second) in enumerate(list(decisions(arena.read("judgments"))["zeta"])[::2]):
        item = VoteItem(language, query, first, second, control=True, why=RANDOM)
        log.append(cast(item, vote="AB"[k % 5 == 0], vote_id=token(), arena=OWN, voter="amina"))
    with Votes() as database:
        database.append(log)
    return arena


def rows_of(table: Any) -> list[dict[str, Any]]:
    return json.loads(json.dumps(table.to_pylist()))


def printed(*words: object) -> tuple[list[dict[str, Any]], str]:
    result = command_line(*words, "--format", "json")
    return json.loads(result.stdout), result.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("arena", "languages"),
    [("people", ()), ("sample", ()), ("sample", ("te",)), (OWN, ()), (OWN, ("en", "sw")), (OWN, ("fi",))],
    indirect=["arena"],
)
def test_every_door_shows_the_exam(arena: Arena, languages: tuple[str, ...]) -> None:
    with Votes() as database:
        log = database.rows(Vote)
    view = exam_view(arena, ExamChoice(languages), log_votes(log))
    options = ("--languages", ",".join(languages)) if languages else ()
    exams, told = printed("report", "judges", arena.path, "--against-people", *options)
    assert exams == rows_of(view.exam_table())
    assert view.conclusion
    assert view.conclusion in told
    assert any("26,910" in remark for remark in view.remarks) == (arena.name == "people")
    plain = command_line("report", "judges", arena.path, "--against-people", *options)
    first = [line.split()[0] for line in plain.stdout.splitlines() if line.strip()]
    assert [word for word in first if word in {*view.judges, PEOPLE}] == [row.judge for row in view.exams]
    of_api = mirage.judge_exam(arena, schema.from_rows(Vote, log) if log else None, languages=languages or None)
    assert [dict(row) for row in of_api] == view.exam_table().to_pylist()
    assert of_api.remarks == (view.conclusion,)
    stats, _ = printed("report", "judges", arena.path, *options)
    assert stats == rows_of(schema.from_rows(JudgeStats, statistics(arena, languages)))

    page = open_page("judges", arena=arena.name, languages=list(languages))
    assert conclusion(page) == view.conclusion
    shown = [row for row in view.rows if row.language == view.scope]
    led = [row.measures[view.lead].value for row in shown if row.judge in view.judges]
    assert led == sorted(led, reverse=view.lead != "flip"), "the best first"
    table = next(frame.value for frame in page.dataframe if "judge" in frame.value.columns)
    assert table["judge"].tolist() == [row.judge for row in shown]
    assert table["n"].fillna(0).tolist() == [row.n or 0 for row in shown]
    assert all(remark in page_text(page) for remark in view.remarks)


@pytest.mark.parametrize("arena", ["sample"], indirect=True)
def test_few_votes_by_hand_leave_the_known_pairs_in_the_lead_pitfall_210(arena: Arena) -> None:
    battles = [battle for battle in decisions(arena.read("judgments"))["heuristic"] if battle.language == "en"]
    first = {battle.query_id: battle for battle in battles}
    items = [VoteItem(*battle, control=True, why=RANDOM) for battle in list(first.values())[:8]]
    log = [cast(item, vote="A", vote_id=token(), arena="sample", voter="amina") for item in items]
    view = exam_view(arena, votes=log_votes(log))
    assert (view.measures[0].name, view.lead) == ("agree", "known"), "only the known pairs have an interval"
    assert view.conclusion == exam_view(arena).conclusion
    assert "under 10 queries" in {row.measures["agree"].reason for row in view.rows}


@pytest.mark.parametrize("arena", [OWN], indirect=True)
def test_the_exam_and_the_agreement_are_the_same_number(arena: Arena) -> None:
    """The badge of the Leaderboard, `votes agreement`, the pairs of the figure, and the exam."""
    with Votes() as database:
        votes = log_votes(database.rows(Vote))
    view, agreement = exam_view(arena, votes=votes), agreement_view(arena, votes)
    pairs = {pair.other: pair for pair in pairs_view(arena, votes=votes) if pair.one == PEOPLE}
    command, _ = printed("votes", "agreement", arena.path)
    assert command == rows_of(schema.from_rows(type(agreement.rows[0]), agreement.rows))
    for judge in view.judges:
        joint = agreement.joint_row(judge)
        mark = next(row for row in view.rows if (row.judge, row.language) == (judge, view.scope)).measures["agree"]
        assert (joint.raw, joint.raw_low, joint.raw_high, joint.n) == (mark.value, mark.low, mark.high, mark.n)
        assert (pairs[judge].agree, pairs[judge].low, pairs[judge].n) == (mark.value, mark.low, mark.n)
    assert conclude_agreement(joint) in page_text(open_page("leaderboard", arena=arena.name, judge=judge))


@pytest.mark.parametrize("arena", [OWN], indirect=True)
def test_a_corrected_ranking_is_the_same_by_command_and_page(arena: Arena) -> None:
    with Votes() as database:
        votes = log_votes(database.rows(Vote))
    judge = exam_view(arena, votes=votes).judges[0]
    view = corrected_view(arena, judge, votes)
    rows, told = printed("votes", "correct", arena.path, "--judge", judge)
    assert rows == [{name: row[name] for name in rows[0]} for row in rows_of(view.table)]
    page = open_page("leaderboard", arena=arena.name, judge=judge)
    assert all(method in told for method in view.methods.values())
    assert view.methods[view.scope] in page_text(page)


@pytest.mark.parametrize("arena", [OWN], indirect=True)
def test_a_vote_is_a_new_exam_and_an_arena_without_people_has_none(arena: Arena) -> None:
    assert ExamView is type(exam_view(arena))
    assert not exam_view(arena).exams
    with pytest.raises(NotEnoughData):
        mirage.judge_exam(arena)
    with Votes() as database:
        log = database.rows(Vote)
    before, after = (exam_view(arena, votes=log_votes(part)) for part in (log[:-1], log))
    counts = [sum(row.battles for row in view.rows if row.language != "all") for view in (before, after)]
    assert counts[1] > counts[0]
    assert exam_view(arena, votes=log_votes(list(log))) is after, "equal votes, an equal key"
    assert {row["measure"] for row in after.exam_table().to_pylist()} <= {measure.name for measure in after.measures}
    assert after.exam_table().schema.names == [column.name for column in schema.columns(ExamMeasure)]
