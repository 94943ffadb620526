"""Commands killed before steps on the disk and at random moments: nothing is lost or paid twice, and a rerun completes
and cleans up.

Each kind of command is killed once, before one of its steps; `KILLS=100 pytest tests/library/test_killed.py` kills
every command a hundred times: before every step it has, and at random moments.
"""

import itertools
import json
import os
import random
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import generating_cases
import miracl_cases
import nomiracl_cases
import pytest
from arena_writer import add_rows, make_answer, make_judgment, read_rows
from commands import write_jsonl
from forks import Forks
from golden.cases import read_pairs
from mirage_bench_cases import add_cards, published
from misbehaving import Act, Call, Service, reply
from store_cases import snapshot
from testset_cases import ScriptedModel, write_corpus

from mirage import schema
from mirage.llm import presets
from mirage.llm.calls import Settings
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import now
from mirage.store import arena as arenas
from mirage.store.arena import is_arena, open_arena
from mirage.store.ledger import NAME, Ledger, ledger_path

KILLS = int(os.environ.get("KILLS", "1"))
QUERIES = 8
"""Of each language of the arena."""
AT_ONCE = 4
SYSTEMS = ("one", "two", "three", "four", "five")
WORK = """
import json, os
from pathlib import Path
import bm25s, datasets, duckdb, filelock, huggingface_hub, openai, pandas, py3langid, scipy.stats, sentencex
import sklearn.linear_model, sqlalchemy, sqlalchemy.dialects.sqlite, yaml
from mirage import cli
from mirage.io.imports import formats
from mirage.llm import client
from mirage.people.votes import database, rows
from mirage.pipeline import evaluating, parts, steps
from mirage.publish import html_report, hub, trec
from mirage.ranking import stage
from mirage.ranking.surrogate import stage
from mirage.stages import sft
from mirage.stages.generate import stage
from mirage.stages.judge import passport, stage
from mirage.stages.retrieve import stage
from mirage.io.formats import registry
from mirage.views import overview, surrogate
from mirage.stages.outcomes.tables import parse_outcome
from mirage.text.detection import detect
registry.formats()
detect("What is loaded late is loaded once, before the runs.")
for code in ("de", "en", "fi", "sw"):
    parse_outcome("It was built in 1902.", language=code, template="rag")
def work():
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    file, step = Path(sys.argv[1]), 0
    args, last = json.loads(file.read_text())
    def count(event, about):
        nonlocal step
        if event in ("os.rename", "os.remove", "os.mkdir", "sqlite3.connect") or (
            event == "open" and (about[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        ):
            step += 1
            if step == last:
                os.kill(os.getpid(), 9)
    sys.addaudithook(count)
    try:
        cli.app(args, prog_name="mirage")
    except SystemExit as end:
        steps, last = step, 0
        file.with_name("steps").write_text(str(steps))
        os._exit(end.code or 0)  # threads of libraries are not there after a fork, and would be waited for
"""


class Runner:
    """Runs commands in processes forked from one that has imported everything."""

    def __init__(self, folder: Path, forks: Forks) -> None:
        self.home = folder / "home"
        self._file, self.forks = folder / "args.json", forks

    def start(self, args: list[str], last: int = 0) -> Forks:
        """Start a command, which is killed before this step on the disk; 0 for none."""
        self._file.write_text(json.dumps([args, last]), "utf-8")
        self.forks.start()
        return self.forks

    def run(self, args: list[str]) -> tuple[float, int]:
        """Run a command to its end; return its seconds, and its steps on the disk."""
        begun = time.monotonic()
        assert self.start(args).wait() == 0, args
        return time.monotonic() - begun, int(self._file.with_name("steps").read_text("utf-8"))


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    folder = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIRAGE_HOME", str(folder / "home"))
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setenv("HF_HOME", str(folder / "hub"))
        patch.setenv("HF_HUB_OFFLINE", "1")
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
    path = generating_cases.write(tmp_path_factory.mktemp("answered") / "arena", n=QUERIES)
    kinds = ("relevant", "non_relevant")
    rows = read_rows(path, "queries")
    queries = [schema.Query(**row | {"subset": kinds[k % 2]}) for k, row in enumerate(rows)]
    answers, draw = [], random.Random(0)
    for query, (j, system) in itertools.product(queries, enumerate(SYSTEMS, 1)):
        said = f"##Reason: It says so [{query.query_id}#0]. ##Answer: Yes, answer is present, says {system}."
        text = said if draw.random() < j / 6 else f"I don't know, says {system}."
        template = "rag" if system == "five" else "vanilla"
        answers.append(make_answer(query.language, query.query_id, system, text, template=template))
    return add_rows(path, queries=queries, answers=answers).path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "answers.jsonl"
    fields = {"language": "en", "system": "new", "contexts": ["A text."]}
    rows = [fields | {"id": f"n{k}", "question": f"What of {k}?", "answer": f"{k}. " * 20} for k in range(100)]
    write_jsonl(path, *rows)
    path.with_name("cards.csv").write_text("system,licence\none,MIT\ntwo,MIT\n", "utf-8")
    labels = [f"en,q{k:03},one,eva,{k % 2}\n" for k in range(QUERIES)]
    path.with_name("labels.csv").write_text("language,query_id,system,rater,value\n" + "".join(labels), "utf-8")
    return path


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory, runner: Runner) -> Iterator[dict[str, object]]:
    """Public data sets in a folder and on a server, a corpus, and a model."""
    import datasets

    folder = tmp_path_factory.mktemp("public")
    name = "relevant/sw.test.vanilla_prompt.jsonl"
    raw = nomiracl_cases.save(folder / "nomiracl" / name, [nomiracl_cases.row()]).read_bytes()
    add_cards(published(folder / "bench"))
    rows = [{"id": str(k), "question": f"Of {k}?", "answer": "Yes.", "language": "en"} for k in range(9)]
    datasets.Dataset.from_list(rows).save_to_disk(str(folder / "dataset"))
    with miracl_cases.served(miracl_cases.hub() | {name: raw}) as mirror, Service(ScriptedModel()) as service:
        own = {"docs": write_corpus(folder / "docs", 4), "mirror": mirror, "service": service.url}
        named = {each: folder / each for each in ("nomiracl", "miracl", "bench", "dataset")}
        runner.run(COMMANDS["pull miracl"].format(out=named["miracl"], mirror=mirror).split())
        yield own | named


COMMANDS = read_pairs("killed_commands")
ALIKE = {
    *("pull", "known", "evaluate an arena", "import miracl", "import mirage-bench", "import hf"),
    *("records", "preferences", "trec", "sft", "ballot", "audit"),
}
"""Commands that write as another one does: killed where there are many kills."""
ONCE = ("testset", "remove", "keep-run", "votes")
"""Commands that refuse what they have done already."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, runner: Runner, answered: Path) -> Path:
    """A folder with an arena that has been measured and judged, and a part of it with further rows."""
    path = tmp_path_factory.mktemp("measured") / "arena"
    shutil.copytree(answered, path)
    for command in (f"measure outcomes {path} --shard 1/2", f"generate retrieve {path}.part-1-of-2", f"measure {path}"):
        runner.run(command.split())
    queries = read_rows(path, "queries")
    verdicts = [
        make_judgment(row["language"], row["query_id"], "gpt", *pair, "AB"[k % 3 == 0])
        for k, row in enumerate(queries)
        for pair in itertools.combinations(SYSTEMS, 2)
    ]
    return add_rows(path, judgments=verdicts).path.parent


@pytest.mark.parametrize("command", [name for name in COMMANDS if KILLS > 1 or name not in ALIKE])
def test_pitfall_189_a_rerun_after_a_kill_completes_and_cleans(
    command: str,
    runner: Runner,
    answered: Path,
    measured: Path,
    public: dict[str, object],
    file: Path,
    tmp_path: Path,
) -> None:
    def words(folder: Path) -> list[str]:
        given = public | {"arena": folder / "arena", "out": folder / "out", "file": file}
        given |= {name: file.with_name(f"{name}.csv") for name in ("cards", "labels")}
        return [word.format(**given) for word in COMMANDS[command].split()]

    whole, prepared = tmp_path / "whole", measured
    if command in ("measure", "evaluate an arena"):
        shutil.copytree(answered, (prepared := tmp_path / "prepared") / "arena")
    shutil.copytree(prepared, whole)
    (seconds, steps), draw = runner.run(words(whole)), random.Random(f"{command} killed")
    arenas_made = [path.parent.relative_to(whole) for path in whole.rglob("manifest.json")]
    drawn = draw.sample(range(1, steps + 1), min(max(KILLS - 1, 1), steps))
    for k, last in enumerate([*drawn, *[0] * (KILLS - len(drawn))]):
        folder = tmp_path / str(k)
        shutil.copytree(prepared, folder)
        before = snapshot(folder)
        runner.start(words(folder), last)
        if not last:  # by the clock
            time.sleep(draw.uniform(0.2, 1.05) * seconds)
            runner.forks.kill()
        else:
            runner.forks.wait()
        for place in arenas_made:
            sound(folder / place, whole=False)
        for path in folder.glob("out.*"):
            assert path.stat().st_size == (whole / path.name).stat().st_size, "half a file"
        done = snapshot(folder) != before
        ended = runner.start(words(folder)).wait()
        assert ended == 0 or (command in ONCE and done), "it was done before the kill"
        sound(folder / "arena", whole=command != "passport")
        assert all(tables(folder / place) == tables(whole / place) for place in arenas_made)
        assert snapshot(folder).keys() == snapshot(whole).keys()
        assert not [*runner.home.rglob("*.tmp")]
        shutil.rmtree(folder)


def says(call: Call) -> Act:
    query = re.search(r"Query (q\d+) in (\w+)", call.content)
    assert query
    return reply(f"{query[2]} {query[1]} [[{'5' if '[[5]]' in call.content else 'A'}]]")


@pytest.mark.parametrize("verb", ["generate", "judge", "points"])
def test_pitfall_9_killed_while_it_asks_nothing_is_lost_or_asked_twice(
    verb: str, runner: Runner, answered: Path, tmp_path: Path
) -> None:
    path, draw, stored = tmp_path / "arena", random.Random(f"{verb} killed"), Counter[str]()
    shutil.copytree(answered, path)
    with Service(says, latency=0.01) as service:
        named = ["--system", "new"] if verb == "generate" else ["--judge", "new", "--queries", "10"]
        if verb == "points":
            (rubric := tmp_path / "tone.yaml").write_text("question: Is it kind?\nscale: points\n", "utf-8")
            named += ["--criterion", str(rubric)]
        model = ["--model", "m", "--base-url", service.url, "--retries", "0", "--concurrency", str(AT_ONCE)]
        args = ["generate" if verb == "generate" else "judge", str(path), *named, *model]
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
    table, owner = {"generate": ("answers", "system"), "judge": ("judgments", "judge"), "points": ("scores", "rater")}[
        verb
    ]
    rows = read_rows(path, table)
    assert sum(row[owner].partition(":")[0] == "new" for row in rows) == asked
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
    write_jsonl(file, *(vars_of(row) for row in rows))
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
