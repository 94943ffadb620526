"""A run of `mirage measure nuggets` killed at any point loses no reply and pays for none twice."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from forks import Forks
from misbehaving import Act, Call, Service, reply

from mirage import schema, store

QUERIES, SYSTEMS, AT_ONCE = 30, ("a", "b"), 4
WORK = """
from functools import partial
from pathlib import Path
import numpy, openai
from mirage import llm
from mirage.stages.nuggets import stage
verb, path, url = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
model = llm.ChatModel(llm.Settings("m"), llm.Limits(concurrency=4), llm.resolve(base_url=url))
engine = partial(llm.complete, model=model, rng=numpy.random.default_rng(0))
calls = llm.ArenaCalls(engine, model, "a test")
def work():
    if verb == "create":
        stage.create_banks(path, calls=calls)
    else:
        stage.assign_by_model(path, assigner="m", calls=calls)
"""
"""What the two commands do."""


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    keys = [("en", f"q{k:02}") for k in range(QUERIES)]
    tables = {
        "queries": [schema.Query(*key, None, f"What of {key[1]}?", None) for key in keys],
        "passages": [schema.Passage(*key, "d1", 1, None, f"Text of {key[1]}.", True) for key in keys],
        "answers": [
            schema.Answer(*key, system, f"The words of {system} on {key[1]}.", "ok", "rag", None, None)
            for key in keys
            for system in SYSTEMS
        ],
    }
    rows = {name: schema.from_rows(name, entries) for name, entries in tables.items()}
    return store.write(tmp_path / "arena", rows, made_by="a test").path


def writes(call: Call) -> Act:
    query = re.search(r"What of (q\d+)\?", call.content)
    assert query is not None
    return reply(json.dumps([{"nugget": f"A fact of {query[1]}.", "importance": "vital", "passage": 1}]))


def assigns(call: Call) -> Act:
    return reply(json.dumps([{"nugget": 1, "assignment": "support", "quote": None}]))


@pytest.mark.parametrize(("verb", "calls"), [("create", QUERIES), ("assign", QUERIES * len(SYSTEMS))])
def test_killed_at_random_moments_nothing_is_lost_or_asked_for_without_need(arena: Path, verb: str, calls: int) -> None:
    if verb == "assign":
        with Service(writes) as service, Forks(WORK, "create", arena, service.url) as forks:
            forks.start()
            assert forks.wait() == 0
    draw, stored = random.Random(f"nuggets {verb} killed"), Counter[str]()  # the seed of the moments
    behave, killed = writes if verb == "create" else assigns, 0
    with Service(behave, latency=0.03) as service, Forks(WORK, verb, arena, service.url) as forks:
        while len(service.requests) < calls - 10:
            forks.start()
            enough = service.answered.total() + draw.randrange(4, 10)
            while service.answered.total() < enough and forks.alive():
                time.sleep(0.001)
            killed += forks.kill() == -signal.SIGKILL
            store.check(store.open_arena(arena))
            stored |= kept(arena, service)
        forks.start()
        assert forks.wait() == 0
        assert killed >= 2
        assert len(service.requests) == calls
        # What the ledger held at a kill was not asked for again, and at most the calls under way are lost to one.
        assert {content: service.requests[content] for content in stored} == stored
        assert service.requests.total() <= calls + AT_ONCE * killed
    table = store.open_arena(arena).read("nuggets" if verb == "create" else "nugget_assignments")
    assert len(table) == calls
    assert store.check(store.open_arena(arena))


def kept(path: Path, service: Service) -> Counter[str]:
    """How often each request was asked whose reply is in the ledger."""
    if not (path / store.LEDGER).exists():
        return Counter()
    from mirage import llm

    keys = {llm.call_key(llm.Settings("m"), call.body["messages"]): call.content for call in service.calls}
    with store.Ledger(path / store.LEDGER) as ledger:
        return Counter({keys[key]: service.requests[keys[key]] for key in ledger.have(keys)})
