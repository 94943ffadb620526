"""`mirage generate` from end to end against a service that misbehaves: nothing is lost, nothing is paid for twice."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_writer import read_rows, write_arena
from commands import mirage
from conftest import PATIENCE
from generating_cases import command, generate, shown, write
from misbehaving import FAILURES, Act, Call, Service, dropped, error, filtered, reply, silent
from waiting import until

from mirage.errors import TableMissing, UnknownName
from mirage.llm import presets, tokens
from mirage.llm.asking import ArenaCalls
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.llm.tokens import TokenEstimate
from mirage.stages.generate import stage as generating
from mirage.stages.generate.settings import GenerateSettings
from mirage.store import arena
from mirage.store.arena import open_arena
from mirage.store.ledger import NAME as LEDGER
from mirage.store.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-planted-91b7e44f0a2c"


def request_of(system: str = "mine", model: str = "tiny", **options: Any) -> GenerateSettings:
    from mirage.llm import prompts

    return GenerateSettings(system, prompts.load_template("rag"), Settings(model), **options)


def run(
    path: Path, service: Service, *, what: GenerateSettings | None = None, **limits: Any
) -> generating.GenerateResult:
    """Generate in this process."""
    what = what or request_of()
    call_limits = Limits(**{"backoff": 0.001, "retries": 0, **limits})
    model = ChatModel(what.model, call_limits, presets.resolve(base_url=service.url))
    return generating.generate_answers(path, what, ArenaCalls(model, "a test"))[1]


def query(call: Call) -> str:
    """`en q003`: the query a prompt is about."""
    match = re.search(r"Query (q\d+) in (\w+)\?", call.content)
    return f"{match[2]} {match[1]}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An arena of queries, with their passages."""
    return write(tmp_path / "a")


# The command


def test_generate_answers_every_query_and_show_takes_the_answers_apart(path: Path) -> None:
    replies = {
        "en q000": reply("##Reason: see [q000#1] and [q000#0, q999#9].\n\n##Answer: Yes, \u201cthat\u201d."),
        "en q001": reply(" "),
        "en q002": reply("##Reason: it is", finish="length"),
        "en q003": filtered(),
        "en q004": error(500, "out of order"),
    }
    with Service(lambda call: replies.get(query(call), reply("Just an answer."))) as service:
        result = generate(path, service, "--format", "csv")
    assert result.stdout.splitlines() == [
        "language,queries,ok,empty,truncated,refused,api_error,missing,not_asked",
        "de,5,5,0,0,0,0,0,0",
        "en,5,1,1,1,1,1,0,0",
    ]
    assert "9 calls made" in result.stderr
    assert "1 calls failed; rerun the same command to retry: HTTP 500: out of order" in result.stderr
    rows = {f"{row['language']} {row['query_id']}": row for row in shown(path)}
    assert list(rows["en q000"]) == [
        *("language", "query_id", "system", "outcome", "key", "reason", "answer", "citations", "why")
    ]
    assert [rows[f"en q00{i}"]["outcome"] for i in range(5)] == ["ok", "empty", "truncated", "refused", "api_error"]
    first = rows["en q000"]
    assert first["reason"] == "see [q000#1] and [q000#0, q999#9]."
    assert first["answer"] == "Yes, \u201cthat\u201d."
    assert first["citations"] == "q000#1,q000#0,q999#9"
    assert (rows["en q002"]["reason"], rows["en q002"]["answer"]) == ("it is", "")
    assert rows["en q004"]["why"] == "HTTP 500: out of order"
    assert rows["de q000"]["answer"] == "Just an answer."
    with Ledger(path / LEDGER, read_only=True) as ledger:
        entry = ledger.get(first["key"])
        assert entry["text"].endswith("\u201cthat\u201d.")
        assert ledger.get(rows["en q004"]["key"]) is None
    assert arena.check(open_arena(path))


def test_thoughts_of_a_model_are_kept_beside_its_answers(tmp_path: Path) -> None:
    thoughts = "Passage [2] is about something else. I don't know."
    path = write(tmp_path / "arena", n=1)
    with Service(lambda _: reply(f"<think>\n{thoughts}\n</think>\n\nIt is blue [1].")) as service:
        generate(path, service)
    rows = read_rows(path, "answers")
    assert {(row["text"], row["status"], row["thoughts"]) for row in rows} == {("It is blue [1].", "ok", thoughts)}


def test_the_next_run_asks_again_only_what_failed(path: Path) -> None:
    with Service(lambda call: error(503) if query(call) in ("en q001", "de q004") else reply()) as service:
        run(path, service)
        first = Counter(service.requests)
        service.behave = lambda call: reply()
        again = run(path, service)
        assert sum((service.requests - first).values()) == 2
        assert set(service.answered.values()) == {1}
        assert (again.kept, again.cost.calls) == (8, 2)
        before = open_arena(path).version
        whole = run(path, service)
        assert (whole.kept, whole.cost.calls) == (10, 0)
        assert open_arena(path).version == before
    assert {row["outcome"] for row in shown(path)} == {"ok"}


def test_a_dry_run_says_what_it_would_cost_and_sends_and_writes_nothing(path: Path) -> None:
    files = sorted(path.rglob("*"))
    with Service() as service:
        result = generate(path, service, "--dry-run", "--price-in", "1000", "--price-out", "1000")
        assert service.calls == []
    match = re.search(
        r"10 calls would be made.* ([\d,]+) prompt tokens and 20,480 reply tokens, ([\d.]+) in", result.stderr
    )
    assert match is not None, result.stderr
    n_tokens = int(match[1].replace(",", ""))
    assert 1_500 < n_tokens < 6_000
    assert float(match[2]) == pytest.approx((n_tokens + 20_480) / 1_000, abs=0.01)
    assert sorted(path.rglob("*")) == files


def test_a_budget_stops_cleanly_and_the_next_run_goes_on(path: Path) -> None:
    # A call costs 0.1 + 0.02 by the service's count, and about 0.3 + 0.064 at most.
    options = ["--price-in", "1000", "--price-out", "1000", "--max-tokens", "64", "--budget", "0.8"]
    with Service() as service:
        counts = []
        while len(counts) < 10:
            result = generate(path, service, *options)
            counts.append(len(shown(path)))
            if "budget was reached" not in result.stderr:
                break
        assert counts == sorted(set(counts))
        assert len(counts) > 1
        assert counts[-1] == 10
        assert set(service.requests.values()) == {1}


def test_a_system_may_not_be_continued_with_another_model(path: Path) -> None:
    with Service() as service:
        generate(path, service, "--languages", "en")
        result = generate(path, service, "--languages", "de", model="other", code=2)
        assert "the answers of mine: template rag" in result.stderr
        assert "now it is template rag, order seed 0, tokens by estimate, model other" in result.stderr
        assert "--replace" in result.stderr
        assert len(service.calls) == 5
        result = generate(path, service, "--languages", "en", "--replace", model="other")
        assert len(service.calls) == 10


def test_a_tokenizer_that_comes_to_the_machine_does_not_change_a_run_that_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    with Service() as service:
        run(path, service, what=request_of(languages=["en"]))
        monkeypatch.setattr(tokens, "tokens_of", lambda _: TokenEstimate("the model's own"))
        run(path, service)
        assert len(service.calls) == 10
        run(path, service, what=request_of("new", "other"))
        made = open_arena(path).manifest["made"]["answers"]["settings"]
        assert sorted(settings["tokens by"] for settings in made.values()) == ["estimate", "the model's own"]


def test_answers_of_several_systems_stand_side_by_side(path: Path) -> None:
    with Service(lambda call: reply(f"by {call.body['model']}")) as service:
        first = run(path, service, what=request_of("one", "m1"))
        second = run(path, service, what=request_of("two", "m2"))
        same = run(path, service, what=request_of("three", "m2"))
    assert {row["answer"] for row in shown(path, "one")} == {"by m1"}
    assert {row["answer"] for row in shown(path, "two")} == {"by m2"}
    assert len(open_arena(path).read("answers")) == 30
    assert (first.shared, second.shared) == ({}, {})
    # The same model under two names is asked once, and the user is told.
    assert (same.shared, same.cost.calls, same.cost.kept) == ({"two": 10}, 0, 10)
    made = open_arena(path).manifest["made"]["answers"]["settings"]
    assert {system: settings["model"] for system, settings in made.items()} == {"one": "m1", "two": "m2", "three": "m2"}


def test_templates_of_nomiracl_and_of_the_users_are_asked_with_their_own_settings(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=1, languages=("en",))
    own = tmp_path / "own.txt"
    own.write_text("{question}\n{contexts}\nIn {language}.", "utf-8")
    with Service() as service:
        for system, template, more in (
            ("v", "vanilla", []),
            ("e", "explanation", []),
            ("o", str(own), ["--max-tokens", "7", "--temperature", "0", "--model-seed", "5"]),
            ("p", "rag", ["--plain"]),
        ):
            generate(path, service, "--template", template, *more, system=system)
        bodies = [{k: v for k, v in call.body.items() if k not in ("messages", "model")} for call in service.calls]
        own_prompt = service.calls[2].content
    assert bodies == [
        {"temperature": 0.1, "top_p": 0.95, "max_tokens": 50},
        {"temperature": 0.1, "top_p": 0.95, "max_tokens": 400},
        {"temperature": 0.0, "top_p": 0.95, "max_tokens": 7, "seed": 5},
        {"max_tokens": 2048},
    ]
    assert own_prompt.startswith("Query q000 in en?\n[1] Title 0: A text about q000.\n\n[2] ")
    assert own_prompt.endswith("\nIn English.")
    assert [row["template"] for row in read_rows(path, "answers")] == [*("explanation", "own", "rag", "vanilla")]


def test_a_wrong_key_stops_at_once_with_what_to_do_and_leaves_the_arena_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "wrong-key-1234")
    before = open_arena(path).version
    with Service(lambda call: error(401, "no such key")) as service:
        result = generate(path, service, "--key-env", "MY_KEY", code=2)
    assert "HTTP 401: no such key" in result.stderr
    assert "to do: the key is not accepted" in result.stderr
    assert "Traceback" not in result.stderr
    assert open_arena(path).version == before


def test_what_came_before_the_service_ended_the_run_is_in_the_table(path: Path) -> None:
    with Service(lambda call: error(401) if len(service.calls) > 4 else reply()) as service:
        result = generate(path, service, "--concurrency", "1", code=2)
    assert "HTTP 401" in result.stderr
    assert len(shown(path)) == 4


def test_a_service_that_answers_nothing_is_an_error_and_every_query_has_its_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=20)
    with Service(lambda call: dropped()) as service:
        result = generate(path, service, code=2)
    assert re.search("every call failed: .*the connection failed", result.stderr)
    rows = shown(path)
    assert len(rows) == 40
    assert {row["outcome"] for row in rows} == {"api_error"}
    assert all("connection failed" in row["why"] for row in rows)


def test_bad_options_are_refused_before_anything_is_sent(path: Path, tmp_path: Path) -> None:
    with Service() as service:
        for options, message in (
            (["--template", "ragg"], "there is no prompt template 'ragg'"),
            (["--languages", "xx"], "there is no language 'xx'"),
            (["--languages", "ja"], "there is no language 'ja'"),
            (["--budget", "1"], "a budget needs prices"),
            (["--engine-args", "[1]"], "--engine-args is not a JSON object"),
            (["--key-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE is not set"),
        ):
            result = generate(path, service, *options, code=2)
            assert message in result.stderr
            assert "to do:" in result.stderr
        assert service.calls == []
        run(path, service)
    with pytest.raises(UnknownName, match="there is no system 'mime'"):
        generating.answers_of(path, "mime")
    write_arena(tmp_path / "b", {"queries": open_arena(path).read("queries")})
    with pytest.raises(TableMissing, match="no passages"):
        generating.plan_generating(tmp_path / "b", request_of(), ChatModel(Settings("tiny")))


def test_with_one_call_in_five_failing_all_answers_arrive_and_none_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=100)
    rng = np.random.default_rng(11)
    draws, kinds = iter(rng.random(20_000)), iter(rng.integers(len(FAILURES), size=20_000))

    def act(call: Call) -> Act:
        # Threads take the draws in any order: once in 200 runs, some query would fail eight times in a row.
        return FAILURES[next(kinds)]() if next(draws) < 0.2 and call.number < 8 else reply(query(call))

    with Service(act) as service:
        result = run(path, service, concurrency=32, retries=7)
        assert sum(service.answered.values()) == 200
        assert set(service.answered.values()) == {1}
    assert result.reasons == {}
    table = open_arena(path).read("answers")
    assert [row["text"] for row in table.to_pylist()] == [
        f"{row['language']} {row['query_id']}" for row in table.to_pylist()
    ]
    assert len(table) == 200


# Stopped at any moment


def start(args: list[str]) -> subprocess.Popen[bytes]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "mirage", *args]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kept(path: Path) -> int:
    """How many replies an arena's ledger holds."""
    if not (path / LEDGER).exists():
        return 0
    with closing(sqlite3.connect(path / LEDGER)) as db:
        return int(db.execute("SELECT count(*) FROM calls").fetchone()[0])


def wait_for(process: subprocess.Popen[bytes], service: Service, calls: int) -> None:
    """Wait until so many calls have come, or the command has ended."""
    while len(service.calls) < calls and process.poll() is None:
        time.sleep(0.002)


def key_of(call: Call, again: str | None = None) -> str:
    settings = Settings("tiny", service=presets.resolve(base_url=f"http://{call.headers['host']}/v1").service)
    return settings.keys(call.body["messages"], again)[0]


def test_ctrl_c_ends_the_calls_under_way_and_says_how_to_go_on(path: Path) -> None:
    with Service(lambda call: reply() if len(service.calls) <= 3 else silent(60)) as service:
        process = start(command(path, service, "--concurrency", "4", "--grace", "0.1"))
        # A worker begins its next call when the reply to the last is kept.
        wait_for(process, service, 7)
        until(lambda: kept(path) == 3, "three replies are kept", process=process)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, stderr
        text = stderr.decode()
        assert "Stopped. 3 replies are cached in the arena's ledger. Rerun the command to resume" in text
        assert "Traceback" not in text
        service.behave = lambda call: reply()
        result = generate(path, service)
        assert "7 calls made, 3 cached replies" in result.stderr
    assert len(shown(path)) == 10


def wait_for_words(process: subprocess.Popen[bytes], words: str) -> str:
    """Read what the command says until it has said these words."""
    output = ""
    assert process.stderr is not None
    for line in process.stderr:
        output += line.decode()
        if words in output:
            return output
    raise AssertionError(output)


def test_ctrl_c_waits_for_replies_under_way_and_keeps_them(tmp_path: Path) -> None:
    path = write(tmp_path / "a", n=10)
    stopped = threading.Event()

    def behave(call: Call) -> Act:
        stopped.wait(120)
        return reply(query(call))

    with Service(behave) as service:
        process = start(command(path, service, "--concurrency", "15", "--grace", "120"))
        wait_for(process, service, 15)
        process.send_signal(signal.SIGINT)
        wait_for_words(process, "Ctrl-C again")
        stopped.set()
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 130, stderr
        assert "15 replies are cached" in stderr.decode()
        assert len(service.calls) == 15
        result = generate(path, service)
        assert "5 calls made, 15 cached replies" in result.stderr
        assert set(service.requests.values()) == {1}


def test_a_second_ctrl_c_stops_at_once_and_what_had_come_is_kept(path: Path) -> None:
    with Service(lambda call: reply() if len(service.calls) <= 3 else silent(600)) as service:
        process = start(command(path, service, "--concurrency", "4", "--grace", "600", "--timeout", "900"))
        wait_for(process, service, 7)
        process.send_signal(signal.SIGINT)
        wait_for_words(process, "Ctrl-C again")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 130, stderr
        assert "Traceback" not in stderr.decode()
        service.behave = lambda call: reply()
        assert "7 calls made, 3 cached replies" in generate(path, service).stderr


# What is never shown


RUN_ALL = """
import json, sys
from mirage.cli import app
for words in json.loads(sys.argv[1]):
    try:
        app(words)
    except SystemExit:
        pass
"""


def test_a_planted_key_is_in_no_byte_that_is_written_or_said(path: Path) -> None:

    def behave(call: Call) -> Act:
        key = call.headers["authorization"].removeprefix("Bearer ")
        assert key == KEY
        acts = {
            "de q000": reply(f"Your key is {key}"),
            "de q001": error(500, f"lost {key}"),
            "de q002": reply(None, refusal=f"no, {key}"),
            "de q003": reply(model=key),
            "en q004": error(401, f"Incorrect API key provided: {key}"),
        }
        return acts.get(query(call), reply())

    with Service(behave) as service:
        common = command(path, service, "--key-env", "MY_KEY", "--concurrency", "1")
        runs = [[*common, *more] for more in (["--dry-run"], ["--languages", "de"], ["--format", "json"])]
        program = [sys.executable, "-c", RUN_ALL, json.dumps(runs)]
        environment = os.environ | {"MY_KEY": KEY, "OPENAI_LOG": "debug", "PYTHONASYNCIODEBUG": "1"}
        done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        outputs = [done.stdout, done.stderr]
        result = mirage("show", "answers", path, "--system", "mine")
        outputs.append(result.stdout + result.stderr)
        assert len(service.calls) > 8
    assert "[key]" in outputs[-1]
    assert any("HTTP 401: Incorrect API key provided: [key]" in text for text in outputs)
    assert KEY not in "".join(outputs)
    files = [file for file in path.rglob("*") if file.is_file()]
    assert path / LEDGER in files
    assert any("answers" in str(file) for file in files)
    for file in files:
        raw = file.read_bytes()
        assert KEY.encode() not in raw, file
    # Parquet is compressed: the same search in what it holds.
    for table in open_arena(path).tables:
        assert KEY not in json.dumps(read_rows(path, table))


# Answers made again


def texts(path: Path) -> dict[str, str]:
    return {f"{row['language']} {row['query_id']}": row["text"] for row in read_rows(path, "answers")}


def test_replace_asks_again_for_what_the_ledger_holds_and_replaces_it(path: Path) -> None:
    with Service(lambda call: reply(f"time {call.number}")) as service:
        generate(path, service)
        for time_ in (2, 3):
            planned = generate(path, service, "--replace", "--dry-run")
            assert "10 calls would be made" in planned.stderr
            result = generate(path, service, "--replace")
            assert "10 calls made" in result.stderr
            assert set(service.requests.values()) == {time_}
            assert set(texts(path).values()) == {f"time {time_}"}
        # Nothing of the repetition is sent: the service is asked the very same.
        assert len({json.dumps(call.body, sort_keys=True) for call in service.calls}) == 10
        # What is there now is what the next run goes on from.
        result = generate(path, service)
        assert "10 answers already exist" in result.stderr
        assert set(service.requests.values()) == {3}
    rows = read_rows(path, "answers")
    with Ledger(path / LEDGER, read_only=True) as ledger:
        assert {(ledger.get(row["call"]) or {})["text"] for row in rows} == {"time 3"}
    assert arena.check(open_arena(path))


def test_a_repetition_of_one_system_is_not_taken_for_that_of_another(path: Path) -> None:
    with Service(lambda call: reply(f"time {call.number}")) as service:
        for system in ("one", "two"):
            run(path, service, what=request_of(system))
        assert set(service.requests.values()) == {1}
        for system in ("one", "two"):
            run(path, service, what=request_of(system, replace=True))
        assert set(service.requests.values()) == {3}
    rows = read_rows(path, "answers")
    assert {(row["system"], row["text"]) for row in rows} == {("one", "time 2"), ("two", "time 3")}


def test_a_replacement_that_is_killed_goes_on_and_pays_nothing_twice(path: Path) -> None:
    with Service(lambda call: reply(f"time {call.number}")) as service:
        generate(path, service)
        before = texts(path)
        service.behave = lambda call: silent(60) if len(service.calls) > 16 else reply(f"time {call.number}")
        process = start(command(path, service, "--replace", "--concurrency", "2"))
        wait_for(process, service, 17)
        with Ledger(path / LEDGER) as ledger:
            while len(kept_again(ledger, service)) < 5:
                time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert texts(path) == before
        with Ledger(path / LEDGER) as ledger:
            got = {content: service.requests[content] for content in kept_again(ledger, service)}
        assert 5 <= len(got) < 10
        service.behave = lambda call: reply(f"time {call.number}")
        result = generate(path, service, "--replace")
        assert f"{10 - len(got)} calls made, {len(got)} cached replies" in result.stderr
        assert {content: service.requests[content] for content in got} == got
        assert "time 1" not in texts(path).values()
        # The next one begins anew.
        result = generate(path, service, "--replace")
        assert "10 calls made, 0 cached replies" in result.stderr


def kept_again(ledger: Ledger, service: Service) -> set[str]:
    """Prompts whose second asking the ledger has a reply to."""
    keys = {key_of(call, "mine 1"): call.content for call in service.calls}
    return {keys[key] for key in ledger.have(keys)}


def test_a_replacement_of_other_answers_does_not_end_one_that_was_stopped(path: Path) -> None:
    with Service() as service:
        run(path, service)
        first = request_of(replace=True, languages=["en"])
        price = {"price_in": 1000.0, "price_out": 1000.0}
        result = run(path, service, what=first, **price, budget=2.5, concurrency=1)
        assert 0 < result.cost.calls < 5
        assert run(path, service, what=request_of(replace=True, languages=["de"])).cost.calls == 5
        rest = run(path, service, what=first)
        assert (rest.cost.calls, rest.cost.kept) == (5 - result.cost.calls, result.cost.calls)
        assert run(path, service, what=first).cost.calls == 5


def test_what_fails_while_answers_are_made_again_is_asked_for_by_the_next_run_alone(path: Path) -> None:
    with Service() as service:
        run(path, service)
        service.behave = lambda call: error(500) if query(call) == "en q001" else reply("again")
        result = generate(path, service, "--replace")
        assert "1 calls failed" in result.stderr
        service.behave = lambda call: reply("again")
        result = generate(path, service)
        assert "1 calls made" in result.stderr
        assert set(texts(path).values()) == {"again"}
        assert "0 calls made" in generate(path, service).stderr
        assert "10 calls made" in generate(path, service, "--replace").stderr


def test_a_ledger_that_never_saw_a_replacement_is_planned_and_replaced(path: Path) -> None:
    import sqlite3

    with Service() as service:
        run(path, service)
        with sqlite3.connect(path / LEDGER) as db:
            assert [row[0] for row in db.execute("SELECT name FROM sqlite_master")] == ["calls"]
        db.close()
        plan = generating.plan_generating(path, request_of(replace=True), ChatModel(Settings("tiny")))
        assert (plan.calls, plan.kept) == (10, 0)
        assert run(path, service, what=request_of(replace=True)).cost.calls == 10
