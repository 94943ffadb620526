"""What to vote on next: the informative first, a random share always, nothing twice, the same for the same voter."""

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arena_writer import make_answer
from votes_agreement_cases import judgments

from mirage import schema
from mirage.errors import BadInput
from mirage.people.votes import queue
from mirage.people.votes import rows as voted
from mirage.people.votes.kinds import Vote
from mirage.people.votes.queue import Pool, VoteItem, gather_pool, next_items
from mirage.people.votes.rows import digest, token, valid_votes

SYSTEMS = ("a", "b", "c", "d")
QUERIES = 60


def answers(**texts: str) -> pa.Table:
    """A text of its own for every answer, but those given as query_system."""
    rows = [
        make_answer("sw", f"q{q:03}", s, texts.get(f"q{q:03}_{s}", f"{q} {s}")) for q in range(QUERIES) for s in SYSTEMS
    ]
    return schema.from_rows("answers", rows)


def verdicts(judge: str = "j", *, flipped: frozenset[int] = frozenset(), other: frozenset[int] = frozenset()) -> Any:
    rows = []
    for q in range(QUERIES):
        for a, b in itertools.combinations(SYSTEMS, 2):
            rows.append(("sw", f"q{q:03}", judge, a, b, "B" if q in other else "A"))
            rows.append(("sw", f"q{q:03}", judge, b, a, "A" if (q in flipped) != (q in other) else "B"))
    return judgments(rows)


def pool(**options: Any) -> Pool:
    return gather_pool(**{"language": "sw", "answers": answers(), "judgments": verdicts()} | options)


def cast(item: VoteItem, word: str = "A", voter: str = "amina") -> Vote:
    return voted.cast(item, vote=word, vote_id=token(), arena="x", voter=voter)


def key(item: VoteItem) -> tuple[str, ...]:
    return (item.query_id, *sorted((item.system_a, item.system_b)))


def run(candidates: Pool, voter: str, n: int) -> list[VoteItem]:
    """What a voter sees who votes one by one."""
    seen: list[Vote] = []
    items = []
    for _ in range(n):
        batch = next_items(candidates, voter=voter, seen=seen, n=1)
        if not batch:
            break
        items += batch
        seen.append(cast(batch[0], voter=voter))
    return items


def test_one_by_one_or_many_at_once_is_the_same_and_nothing_comes_twice() -> None:
    candidates = pool()
    items = run(candidates, "amina", 1_000)
    assert items == next_items(candidates, voter="amina", n=1_000)
    assert len({key(item) for item in items}) == len(items) == len(candidates.battles) == QUERIES * 6
    assert items != next_items(candidates, voter="juma", n=1_000)
    assert next_items(candidates, voter="amina", seen=[cast(item) for item in items]) == []


def test_a_vote_taken_back_brings_its_battle_again_and_a_skip_does_not() -> None:
    candidates = pool()
    first, second, third = next_items(candidates, voter="amina", n=3)
    skipped = cast(first, "skip")
    assert next_items(candidates, voter="amina", seen=[skipped], n=2) == [second, third]
    assert next_items(candidates, voter="amina", seen=valid_votes([skipped]), n=1) == [second]
    assert next_items(candidates, voter="amina", seen=[], n=1) == [first]


def test_the_queue_is_the_same_in_any_order_of_rows() -> None:
    expected = next_items(pool(), voter="amina", n=50)
    table = verdicts()
    turned = table.take(np.random.default_rng(0).permutation(len(table)))
    assert next_items(pool(judgments=turned), voter="amina", n=50) == expected


def test_flips_come_more_often_and_say_so_and_without_any_all_is_random() -> None:
    table = pa.concat_tables([verdicts(flipped=frozenset(range(10))), verdicts("k", other=frozenset({50, 51}))])
    candidates = pool(judgments=table)
    items = next_items(candidates, voter="amina", n=int(candidates.on_request.sum()))
    flipped = {f"q{q:03}" for q in range(10)}
    assert {(item.why, item.query_id in flipped) for item in items if not item.control} == {("flipped", True)}
    assert {item.why for item in items if item.control} == {"random"}
    assert {(item.inclusion, item.query_id in flipped) for item in items} == {(1.0, True), (0.5, False)}
    shares = [sum((item.query_id in flipped) == flip for item in items) / n for flip, n in ((True, 60), (False, 300))]
    assert shares == pytest.approx([1.0, 0.5], abs=0.08)
    assert candidates.control.mean() == pytest.approx(0.5, abs=0.06)
    assert pool().control.all()


@pytest.mark.parametrize("voters", [1, 3])
def test_the_recorded_chance_is_that_of_being_asked_wherever_people_stop(voters: int) -> None:
    """Battles that tell more have another share of first wins than others: over 60 seeds the votes weighed by their
    chances have that of all battles, after 20 votes and after 90; the votes as they are have not.
    """
    table = verdicts(flipped=frozenset(range(15)))
    weighed = {20: [], 90: []}
    plain = {20: [], 90: []}
    for seed in range(60):
        candidates = pool(judgments=table, seed=seed)
        for n in weighed:
            lists = [next_items(candidates, voter=f"v{k}", n=n // voters) for k in range(voters)]
            items = {key(item): item for items in lists for item in items}.values()
            chance = np.array([item.inclusion or np.nan for item in items])
            wins = np.array([item.query_id < "q015" for item in items], dtype=float)
            weighed[n].append(float((wins / chance).sum() / (1 / chance).sum()))
            plain[n].append(float(wins.mean()))
    for n in weighed:
        error = np.std(weighed[n]) / len(weighed[n]) ** 0.5
        assert abs(np.mean(weighed[n]) - 0.25) < 3.5 * error + 0.005, n
        assert np.mean(plain[n]) > 0.25 + 3 * error, n


def test_two_people_meet_on_some_battles_and_not_on_most() -> None:
    both = [{key(i) for i in next_items(pool(), voter=v, n=100)} for v in ("amina", "juma")]
    assert 15 <= len(both[0] & both[1]) <= 60


def test_the_order_shown_is_even_and_each_voters_own() -> None:
    candidates = pool()
    items = {voter: next_items(candidates, voter=voter, n=360) for voter in ("amina", "juma")}
    turned = {v: {key(i): i.system_a > i.system_b for i in all_} for v, all_ in items.items()}
    assert np.mean(list(turned["amina"].values())) == pytest.approx(0.5, abs=0.1)
    same = np.mean([turned["amina"][k] == turned["juma"][k] for k in turned["amina"]])
    assert same == pytest.approx(0.5, abs=0.1)


def test_the_same_text_twice_failed_answers_and_unjudged_queries_are_left_out() -> None:
    texts = {"q000_a": " same\n", "q000_b": "same"}
    candidates = pool(answers=answers(**texts))
    assert candidates.same_text == 1
    assert ("sw", "q000", "a", "b") not in candidates.battles
    assert len(candidates.battles) == QUERIES * 6 - 1
    rows = answers().to_pylist()
    rows[0] |= {"status": "api_error", "text": None}
    failed = pool(answers=pa.Table.from_pylist(rows, schema=schema.arrow_schema("answers")))
    assert len(failed.battles) == QUERIES * 6 - 3
    only = judgments([("sw", "q001", "j", "a", "b", "A")])
    assert pool(judgments=only).battles == (("sw", "q001", "a", "b"),)


def test_without_a_judge_every_pair_can_be_voted_on() -> None:
    candidates = pool(judgments=None)
    assert len(candidates.battles) == QUERIES * 6
    assert {(i.why, i.inclusion) for i in next_items(candidates, voter="amina", n=50)} == {("random", 1.0)}


def test_a_battle_that_is_not_asked_comes_last_and_has_no_chance() -> None:
    candidates = pool(judgments=verdicts(flipped=frozenset(range(20))))
    items = next_items(candidates, voter="amina", n=1_000)
    has_chance = [item.inclusion is not None for item in items]
    assert has_chance == sorted(has_chance, reverse=True)
    rest = [item for item in items if item.inclusion is None]
    assert len(rest) == len(candidates.battles) - candidates.on_request.sum() > 50
    assert {(item.control, item.why) for item in rest} == {(False, "filler")}


def test_progress_counts_what_counts() -> None:
    candidates = pool()
    items = next_items(candidates, voter="amina", n=40)
    own_votes = [cast(item, "skip" if k % 4 == 0 else "A") for k, item in enumerate(items)]
    other_votes = [cast(item, voter="juma") for item in next_items(candidates, voter="juma", n=20)]
    progress = queue.progress(candidates, [*own_votes, *other_votes], voter="amina")
    drawn = [vote for vote in [*own_votes, *other_votes] if vote.control and vote.vote != "skip"]
    assert (progress.own, progress.left) == (40, QUERIES * 6 - 40)
    assert progress.queries == len({vote.query_id for vote in drawn})


def test_a_vote_carries_what_the_item_said_and_what_was_shown() -> None:
    (item,) = next_items(pool(), voter="amina", n=1)
    vote = voted.cast(
        item,
        vote="both_bad",
        vote_id="t",
        arena="x",
        voter="amina",
        note="",
        seconds=3,
        shown=digest("p", "q"),
    )
    assert (vote.control, vote.why, vote.note, vote.seconds) == (item.control, item.why, None, 3.0)
    assert vote.inclusion == item.inclusion
    assert vote.shown == digest("q", "p") != digest("p", "p")
    with pytest.raises(BadInput):
        voted.cast(item, vote="best", vote_id="t", arena="x", voter="amina")
