"""Commands killed at random moments: nothing is lost or paid twice, and a rerun completes and cleans up.

`KILLS=17 pytest tests/library/test_killed.py` kills more often than CI does.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import generating_cases
import pytest
from forks import Forks
from misbehaving import Act, Call, Service, reply
from store_cases import snapshot

from mirage import schema
from mirage.llm import presets
from mirage.llm.calls import Settings
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import now
from mirage.store import arena as arenas
from mirage.store.arena import is_arena, open_arena
from mirage.store.ledger import NAME, Ledger, ledger_path
from mirage.store.upsert import NewRows, upsert

KILLS = int(os.environ.get("KILLS", "2"))
AT_ONCE = 4
WORK = """
import json, os
from pathlib import Path
import openai, sqlalchemy, sqlalchemy.dialects.sqlite, filelock
from mirage import cli
from mirage.io.imports import formats
from mirage.llm import client
from mirage.people.votes import database, rows
from mirage.pipeline import steps
from mirage.stages.generate import stage
from mirage.stages.judge import stage
def work():
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    cli.app(json.loads(Path(sys.argv[1]).read_text()), prog_name="mirage")
"""


class Runner:
    """Runs commands in processes forked from one that has imported everything."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.home = folder / "home"
        self._file, self._forks = folder / "args.json", forks

    def start(self, args: list[str]) -> Forks:
        self._file.write_text(json.dumps(args), encoding="utf-8")
        self._forks.start()
        return self._forks

    def seconds(self, args: list[str]) -> float:
        """Run a command to its end."""
        begun = time.monotonic()
        assert self.start(args).wait() == 0, args
        return time.monotonic() - begun


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    folder = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIRAGE_HOME", str(folder / "home"))
        patch.setenv("OPENAI_API_KEY", "none")
        with Forks(WORK, folder / "args.json") as forks:
            yield Runner(folder, forks)


def sound(arena: Path, *, whole: bool = True) -> None:
    """An arena that opens, and if it is whole holds no file that its manifest does not name."""
    if not is_arena(arena):
        assert not whole
        return
    opened = open_arena(arena)
    arenas.check(opened)
    if whole:
        named = {file["path"] for files in opened.manifest["tables"].values() for file in files}
        own = {"manifest.json", ".lock", f"{NAME}.lock", *(NAME + end for end in ("", "-wal", "-shm"))}
        there = {path.relative_to(arena).as_posix() for path in arena.rglob("*") if path.is_file()}
        assert there - own == named


def tables(arena: Path) -> dict[str, object]:
    return dict(open_arena(arena).manifest["tables"])


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = generating_cases.write(tmp_path_factory.mktemp("answered") / "arena", n=20)
    queries = open_arena(path).read("queries").to_pylist()
    answers = [
        schema.Answer(row["language"], row["query_id"], system, f"{system}: it is so [1].", "ok", "rag", None, None)
        for row in queries
        for system in ("one", "two", "three")
    ]
    upsert(path, {"answers": NewRows(schema.from_rows("answers", answers))}, made_by="a test")
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "answers.jsonl"
    fields = {"language": "en", "system": "new", "contexts": ["A text."]}
    rows = [fields | {"id": f"n{k}", "question": f"What of {k}?", "answer": f"{k}. " * 20} for k in range(400)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "import": lambda arena, file: ["import", str(file), "--into", str(arena)],
    "measure": lambda arena, _: ["measure", str(arena)],
    "judge": lambda arena, _: ["judge", str(arena), "--judge", "heuristic", "--queries", "20"],
    "remove": lambda arena, _: ["arena", "remove", str(arena), "two"],
    "keep-run": lambda arena, _: ["arena", "keep-run", str(arena), "two", "--date", "2026-10-01"],
    "copy": lambda arena, _: ["arena", "copy", str(arena), f"{arena} copy"],
    "export": lambda arena, _: ["export", "table", str(arena), "answers", "--out", str(arena.parent / "out.csv")],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_pitfall_189_a_rerun_after_a_kill_completes_and_cleans(
    command: str, runner: Runner, answered: Path, file: Path, tmp_path: Path
) -> None:
    args = COMMANDS[command](tmp_path / "whole" / "arena", file)
    shutil.copytree(answered, tmp_path / "whole" / "arena")
    if command == "judge":
        runner.seconds(["measure", "features", str(tmp_path / "whole" / "arena")])
    prepared = tmp_path / "prepared"
    shutil.copytree(tmp_path / "whole" / "arena", prepared)
    seconds = runner.seconds(args)
    draw = random.Random(f"{command} killed")
    for k in range(KILLS):
        arena = tmp_path / str(k) / "arena"
        shutil.copytree(prepared, arena)
        before = tables(arena)
        args = COMMANDS[command](arena, file)
        forks = runner.start(args)
        time.sleep(draw.uniform(0.2, 1.05) * seconds)
        forks.kill()
        sound(arena, whole=False)
        done = tables(arena) != before
        ended = runner.start(args).wait()
        assert ended == 0 or (command in ("remove", "keep-run") and done), "what was removed is not there again"
        sound(arena)
        assert tables(arena) == tables(tmp_path / "whole" / "arena")
        assert snapshot(arena.parent).keys() == snapshot(tmp_path / "whole").keys()
        if command == "copy":
            sound(Path(f"{arena} copy"))


def says(call: Call) -> Act:
    query = re.search(r"Query (q\d+) in (\w+)", call.content)
    assert query
    return reply(f"{query[2]} {query[1]} [[A]]")


@pytest.mark.parametrize("verb", ["generate", "judge"])
def test_pitfall_9_killed_while_it_asks_nothing_is_lost_or_asked_twice(
    verb: str, runner: Runner, answered: Path, tmp_path: Path
) -> None:
    path, draw, stored = tmp_path / "arena", random.Random(f"{verb} killed"), Counter[str]()
    shutil.copytree(answered, path)
    with Service(says, latency=0.01) as service:
        named = ["--system", "new"] if verb == "generate" else ["--judge", "new", "--queries", "10"]
        model = ["--model", "m", "--base-url", service.url, "--retries", "0", "--concurrency", str(AT_ONCE)]
        args = [verb, str(path), *named, *model]
        for k in range(KILLS):
            forks = runner.start(args)
            # One in three dies by the clock, possibly while the table is written.
            enough = service.answered.total() + draw.randrange(1, 30) if k % 3 != 2 else 10**9
            until = time.monotonic() + (30 if k % 3 != 2 else draw.uniform(0, 2))
            while service.answered.total() < enough and time.monotonic() < until and forks.alive():
                time.sleep(0.001)
            forks.kill()
            sound(path, whole=False)
            stored |= kept(path, service)
        assert runner.start(args).wait() == 0
        assert stored or KILLS < 5
        asked = len(service.requests)
        # What the ledger held at a kill was not asked for again, and at most the calls under way are lost to one.
        assert {content: service.requests[content] for content in stored} == stored
        assert service.requests.total() <= asked + AT_ONCE * KILLS
        assert runner.start(args).wait() == 0
        assert len(service.requests) == asked
    table = open_arena(path).read("answers" if verb == "generate" else "judgments").to_pylist()
    assert sum(row["system" if verb == "generate" else "judge"] == "new" for row in table) == asked
    sound(path)


def kept(path: Path, service: Service) -> Counter[str]:
    """How often each request was asked whose reply is in the ledger."""
    if not ledger_path(path).exists():
        return Counter()
    settings = Settings("m", service=presets.resolve(base_url=service.url).service)
    keys = {settings.keys(call.body["messages"])[0]: call.content for call in service.calls}
    with Ledger(ledger_path(path)) as ledger:
        have = ledger.have(keys)
    return Counter({keys[key]: service.requests[keys[key]] for key in have})


def test_an_import_of_votes_that_is_killed_is_whole_or_not_there(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(runner.home))
    file, draw = tmp_path / "votes.jsonl", random.Random("votes killed")
    about = {"arena": "a", "language": "en", "system_a": "a", "system_b": "b", "voter": "eva", "why": "random"}
    rows = [
        Vote(vote_id=f"v{k}", time=now(), query_id=f"q{k}", vote="A", control=True, **about)  # type: ignore[arg-type]
        for k in range(3_000)
    ]
    file.write_text("".join(json.dumps(vars_of(row)) + "\n" for row in rows), encoding="utf-8")
    args = ["votes", "import", str(file)]
    for _ in range(KILLS):
        shutil.rmtree(runner.home, ignore_errors=True)
        forks = runner.start(args)
        time.sleep(draw.uniform(0, 1.5))
        ended = forks.kill()
        with Votes() as log:
            assert len(log.rows(Vote)) in ((0, 3_000) if ended == -signal.SIGKILL else (3_000,))
        assert runner.start(args).wait() == 0
        with Votes() as log:
            assert len(log.rows(Vote)) == 3_000


def vars_of(row: Vote) -> dict[str, object]:
    return {column.name: getattr(row, column.name) for column in schema.columns(Vote)}
