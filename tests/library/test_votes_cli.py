"""Votes beside an arena: the commands, the files, answers that were replaced, and the page that explains it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import mirage, write_jsonl
from votes_cases import evidence, vote

from benchmarks.simulated import simulate_arena
from mirage import schema
from mirage.battles.decision import decisions
from mirage.errors import NotEnoughData, TableMissing, UnknownName
from mirage.people.votes import rows as voted
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.database import URL, Votes
from mirage.people.votes.kinds import Evidence, Note, Vote
from mirage.people.votes.queue import next_items
from mirage.people.votes.rows import now, shown_digest, token
from mirage.people.votes.stage import people_verdicts, vote_agreement, vote_pool
from mirage.store.arena import Arena

SYSTEMS = 4


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """A judged arena with texts, in two languages."""
    simulation = simulate_arena(
        systems=SYSTEMS, queries=60, languages=["sw", "te"], seed=2, judges=("heuristic", "other"), orders=2
    )
    keys = simulation.tables["features"].group_by(["language", "query_id", "system"]).aggregate([])
    answers = [
        schema.Answer(
            row["language"], row["query_id"], row["system"], f"{row['query_id']} {row['system']}", "ok", *[None] * 3
        )
        for row in keys.to_pylist()
    ]
    tables = {
        "judgments": simulation.tables["judgments"],
        "answers": answers,
    }
    return write_arena(tmp_path / "my-arena", tables, title="Mine")


def cast(arena: Arena, *, language: str = "sw", voter: str = "amina", n: int = 200) -> list[Vote]:
    """Votes of the queue, as a person casts them who follows the judge three times in four."""
    pool = vote_pool(arena, language)
    verdicts = decisions(arena.read("judgments"))["heuristic"]
    ballots = []
    for k, item in enumerate(next_items(pool, voter=voter, n=n)):
        label = verdicts[item.language, item.query_id, *sorted((item.system_a, item.system_b))].label
        word = "tie" if label == 2 else "A" if (label == 0) == (item.system_a < item.system_b) else "B"
        shown = shown_digest([""], [f"{item.query_id} {s}" for s in (item.system_a, item.system_b)])
        about = {
            "vote_id": token(),
            "arena": arena.name,
            "voter": voter,
            "shown": shown,
        }
        ballots.append(voted.cast(item, vote=word if k % 4 else "A", **about))
    with Votes() as database:
        database.append(ballots)
    return ballots


def cast_by_ten(arena: Arena) -> None:
    """Votes of as many people as an interval takes."""
    for k in range(10):
        cast(arena, voter=f"voter {k}", n=20)


def table(result: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


# --- commands ---------------------------------------------------------------------------------------------------------


def test_correct_prints_the_corrected_ranking_beside_that_of_rank(arena: Arena) -> None:
    cast_by_ten(arena)
    cast(arena, language="te", n=30)
    result = mirage("votes", "correct", arena.path, "--judge", "heuristic", "--format", "json")
    ranking = json.loads(result.stdout)
    assert [row["rank"] for row in ranking] == sorted(row["rank"] for row in ranking)
    assert {row["language"] for row in ranking} == {"sw"}
    ranked = mirage("rank", arena.path, "--judge", "heuristic", "--languages", "sw", "--format", "json")
    alone = {row["system"]: row for row in json.loads(ranked.stdout)}
    for row in ranking:
        assert (row["uncorrected"], row["uncorrected_rank"]) == (
            alone[row["system"]]["rating"],
            alone[row["system"]]["rank"],
        )
        assert row["high"] - row["low"] > row["uncorrected_high"] - row["uncorrected_low"]
    assert "sw: Bradley-Terry by prediction-powered inference" in result.stderr
    assert "te: not corrected: votes on" in result.stderr


def test_without_votes_it_is_said_what_to_do(arena: Arena) -> None:
    for command in (["agreement"], ["correct", "--judge", "heuristic"]):
        result = mirage("votes", command[0], arena.path, *command[1:], code=2)
        assert "Spot check" in result.stderr
    cast(arena, n=20)
    assert (
        "no ranking by heuristic can be corrected"
        in mirage("votes", "correct", arena.path, "--judge", "heuristic", code=2).stderr
    )
    assert "there is no judge 'nobody'" in mirage("votes", "correct", arena.path, "--judge", "nobody", code=2).stderr
    with pytest.raises(NotEnoughData, match="no votes on my-arena in te"):
        vote_agreement(arena, Votes().rows(Vote), languages=["te"])


@pytest.mark.parametrize("name", ["v.csv", "v.jsonl", "v.parquet"])
def test_what_is_exported_and_imported_elsewhere_is_the_same_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rows = [vote(note='a "quoted", line\nbreak', seconds=None), vote(arena="other", vote="both_bad", shown="x")]
    checks = [evidence(), evidence(sentence=2, vote="no", voter="007")]
    about = {"arena": "mine", "language": "sw", "query_id": "7", "system": "x", "voter": "amina", "vote": "note"}
    about |= {"categories": "padded,wrong fact", "shown": "x"}
    texts = ("=1+1\nSecond line", "مرحبا")
    notes = [Note(vote_id=token(), time=now(), note=text, **about) for text in texts]  # type: ignore[arg-type]
    with Votes() as database:
        for entry in (*rows, *checks, *notes):
            database.submit(entry)
        rows.append(database.undo(Vote, rows[0].vote_id, voter="amina"))
        notes.append(database.undo(Note, notes[0].vote_id, voter="amina"))
    assert "3 rows" in mirage("votes", "export", name, "--key", "key").stderr
    assert Path("key").stat().st_mode & 0o777 == 0o600
    assert Path("key").read_text("ascii").strip().encode() not in Path(name).read_bytes()
    assert "name a new file" in mirage("votes", "export", name, "--key", "key", code=2).stderr
    Path("link").symlink_to("nowhere")
    assert "name a new file" in mirage("votes", "export", name, "--key", "link", code=2).stderr
    for kind in ("citations", "notes"):
        mirage("votes", "export", f"{kind}-{name}", "--kind", kind)
    assert "opinion" not in mirage("votes", "import", name).stderr, "their own votes know them"
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "elsewhere"))
    assert "no key of votes" in mirage("votes", "import", name, "--key", name, code=2).stderr
    result = mirage("votes", "import", name, "--key", "key").stderr
    assert "3 rows read, 3 of them new" in result
    assert "opinion" not in result
    assert "3 rows read, 0 of them new" in mirage("votes", "import", name).stderr
    for kind in ("citations", "notes"):
        mirage("votes", "import", f"{kind}-{name}", "--kind", kind)
    with Votes() as database:
        assert [database.rows(kind) for kind in (Vote, Evidence, Note)] == [rows, checks, notes]
    assert mirage("votes", "export", "x.txt", code=2).stderr


def test_one_wrong_line_refuses_the_file_and_is_named(tmp_path: Path) -> None:
    with Votes() as database:
        database.submit(vote(seconds=2.5))
        database.submit(vote(query_id="8", seconds=2.5))
    mirage("votes", "export", "v.csv")
    file = tmp_path / "v.csv"
    lines = file.read_text("utf-8").splitlines()
    for wrong in (lines[2].replace(",A,", ",C,"), lines[2].replace(",2.5,", ",soon,"), lines[1].replace(",7,", ",9,")):
        assert wrong not in lines
        file.write_text("\n".join([lines[0], lines[1], wrong]) + "\n", "utf-8")
        result = mirage("votes", "import", "v.csv", code=2)
        assert "v.csv:3" in result.stderr
        assert (
            "nothing was imported" in result.stderr or "did you mean" in result.stderr or "use one of" in result.stderr
        )
    assert "--arena" in mirage("votes", "import", "v.csv", "--arena", tmp_path, code=2).stderr
    assert "has no votes" in mirage("votes", "import", _empty(tmp_path), code=2).stderr
    assert "omit --key" in mirage("votes", "import", "v.csv", "--kind", "answers", "--key", "k", code=2).stderr
    with Votes() as database:
        assert len(database.rows(Vote)) == 2


@pytest.mark.parametrize(
    "change",
    [{}, {"inclusion": 1e-6}, {"control": True, "why": "random"}, {"voter": "ravi"}, {"signature": None}],
    ids=str,
)
def test_pitfall_235_a_log_that_these_votes_did_not_sign_is_of_opinions(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    """Without a change it is the log of another machine, whose key was not brought."""
    own = cast(arena, n=40)
    mirage("votes", "export", "v.jsonl")
    if not change:
        monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "elsewhere"))
    rows = [json.loads(line) for line in Path("v.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        row |= change | ({"vote_id": token()} if change else {})
        row["vote"] = "B"
    undo = rows[0] | {"vote_id": "back", "vote": "undo", "undoes": rows[0]["vote_id"] if not change else own[0].vote_id}
    if "voter" not in change:
        rows.append(undo | {"signature": "é"})
    write_jsonl(Path("v.jsonl"), *rows)
    assert f"{len(rows)} rows taken as opinions" in mirage("votes", "import", "v.jsonl").stderr
    with Votes() as database:
        counted = votes_on(arena, database.rows(Vote))
        forged = [row for row in database.rows(Vote) if row.proof == "none"]
    assert len(forged) == len(rows)
    assert {(row.control, row.why, row.inclusion) for row in forged} == {(False, "opinion", None)}
    assert {row.vote_id for row in counted.counting} == (set() if not change else {row.vote_id for row in own})
    assert any("opinions" in line for line in counted.notes())


def _empty(folder: Path) -> Path:
    (folder / "empty.jsonl").touch()
    return folder / "empty.jsonl"


def test_a_database_that_does_not_answer_is_a_message_and_exit_code_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(URL, "postgresql://me:secret@127.0.0.1:9/votes")
    result = mirage("votes", "export", "v.csv", code=2)
    assert "cannot be reached" in result.stderr
    assert "secret" not in result.stderr


# --- votes and an arena that changes ----------------------------------------------------------------------------------


def test_a_pool_needs_answers_of_the_language(arena: Arena, tmp_path: Path) -> None:
    assert len(vote_pool(arena, "te").battles) == 60 * 6
    with pytest.raises(UnknownName, match="yo"):
        vote_pool(arena, "yo")
    bare = write_arena(tmp_path / "bare", {"judgments": arena.read("judgments")})
    with pytest.raises(TableMissing):
        vote_pool(bare, "sw")


def test_peoples_verdicts_are_a_row_a_vote_in_the_words_of_judgments(arena: Arena) -> None:
    query = arena.read("answers", languages=["sw"])["query_id"][0].as_py()
    pair = {"arena": arena.name, "query_id": query, "system_a": "sim-02", "system_b": "sim-01"}
    log = [vote(**pair, vote=word, voter=voter) for voter, word in (("p", "B"), ("q", "both_bad"), ("r", "skip"))]
    verdicts = people_verdicts(arena, log)
    assert verdicts.column_names == ["language", "query_id", "system_a", "system_b", "verdict"]
    assert [row["verdict"] for row in verdicts.to_pylist()] == ["B", "tie"]
    assert verdicts["system_a"].to_pylist() == ["sim-02", "sim-02"]
