"""What to vote on next: the informative first, a random share always, nothing twice, the same for the same voter."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT
from test_votes_agreement import judgments

from mirage import schema, votes
from mirage.errors import BadInput
from mirage.votes import Item, Pool, Vote

SYSTEMS = ("a", "b", "c", "d")
QUERIES = 60


def answers(**texts: str) -> pa.Table:
    """A text of its own for every answer, but those given as query_system."""
    rows = [
        schema.Answer("sw", f"q{q:03}", s, texts.get(f"q{q:03}_{s}", f"{q} {s}"), "ok", None, None, None)
        for q in range(QUERIES)
        for s in SYSTEMS
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
    return votes.gather(**{"language": "sw", "answers": answers(), "judgments": verdicts()} | options)


def cast(item: Item, said: str = "A", voter: str = "amina") -> Vote:
    return votes.cast(item, vote=said, vote_id=votes.token(), arena="x", voter=voter)


def key(item: Item) -> tuple[str, ...]:
    return (item.query_id, *sorted((item.system_a, item.system_b)))


def run(here: Pool, voter: str, n: int) -> list[Item]:
    """What a voter sees who votes one by one."""
    seen: list[Vote] = []
    items = []
    for _ in range(n):
        found = votes.next_items(here, voter=voter, seen=seen, n=1)
        if not found:
            break
        items += found
        seen.append(cast(found[0], voter=voter))
    return items


def test_one_by_one_or_many_at_once_is_the_same_and_nothing_comes_twice() -> None:
    here = pool()
    items = run(here, "amina", 1_000)
    assert items == votes.next_items(here, voter="amina", n=1_000)
    assert len({key(item) for item in items}) == len(items) == len(here.battles) == QUERIES * 6
    assert items != votes.next_items(here, voter="juma", n=1_000)
    assert votes.next_items(here, voter="amina", seen=[cast(item) for item in items]) == []


def test_a_vote_taken_back_brings_its_battle_again_and_a_skip_does_not() -> None:
    here = pool()
    first, second, third = votes.next_items(here, voter="amina", n=3)
    skipped = cast(first, "skip")
    assert votes.next_items(here, voter="amina", seen=[skipped], n=2) == [second, third]
    assert votes.next_items(here, voter="amina", seen=votes.standing([skipped]), n=1) == [second]
    assert votes.next_items(here, voter="amina", seen=[], n=1) == [first]


IN_ANOTHER_PROCESS = """
import itertools
import pyarrow as pa
from mirage import votes
rows = [{"language": "sw", "query_id": f"q{q:03}", "system": s, "status": "ok", "text": f"{q} {s}"}
        for q in range(60) for s in "abcd"]
print(votes.next_items(votes.gather(language="sw", answers=pa.Table.from_pylist(rows)), voter="amina", n=50))
"""


def test_the_queue_is_the_same_in_another_process_and_in_any_order_of_rows() -> None:
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": "7"}
    )
    assert done.stdout == f"{votes.next_items(pool(judgments=None), voter='amina', n=50)}\n"
    here = votes.next_items(pool(), voter="amina", n=50)
    table = verdicts()
    turned = table.take(np.random.default_rng(0).permutation(len(table)))
    assert votes.next_items(pool(judgments=turned), voter="amina", n=50) == here


def test_flips_and_judges_that_disagree_come_first_and_say_so() -> None:
    table = pa.concat_tables(
        [verdicts(flipped=frozenset(range(10))), verdicts("k", flipped=frozenset(range(5)), other=frozenset({50, 51}))]
    )
    items = votes.next_items(pool(judgments=table), voter="amina", n=60)
    preferred = [item for item in items if not item.control]
    expected = {f"q{q:03}": "flipped" for q in range(10)} | {"q050": "judges disagree", "q051": "judges disagree"}
    assert {item.why for item in items if item.control} == {"random"}
    assert [expected[item.query_id] for item in preferred] == [item.why for item in preferred]
    assert len({item.query_id for item in preferred}) > 8


def test_neighbours_in_the_ranking_whose_intervals_overlap_come_first() -> None:
    ends = {"a": (1.0, 0.9, 1.1), "b": (0.2, 0.0, 0.4), "c": (0.1, -0.1, 0.3), "d": (-1.0, -1.1, -0.9)}
    ratings = pa.Table.from_pylist(
        [
            {"language": "sw", "referee": referee, "system": s, "rating": x, "low": low, "high": high}
            for referee, names in (("j", "abcd"), ("relevance", "bacd"))
            for s, (x, low, high) in zip(names, ends.values(), strict=True)
        ]
    )
    preferred = [i for i in votes.next_items(pool(ratings=ratings), voter="amina", n=40) if not i.control]
    assert {key(item)[1:] for item in preferred} == {("b", "c")}
    assert {item.why for item in preferred} == {"close ranks"}


def test_the_random_share_is_a_quarter_and_does_not_depend_on_what_is_preferred() -> None:
    plain, flips = pool(), pool(judgments=verdicts(flipped=frozenset(range(30))))
    assert (plain.control == flips.control).all()
    assert plain.control.mean() == pytest.approx(0.25, abs=0.06)
    for here in (plain, flips):
        shares = [np.mean([i.control for i in votes.next_items(here, voter=f"v{k}", n=100)]) for k in range(20)]
        assert np.mean(shares) == pytest.approx(0.25, abs=0.03)
    random = [[key(i) for i in votes.next_items(p, voter="amina", n=100) if i.control] for p in (plain, flips)]
    assert random[0] == random[1]


def test_every_battle_is_as_likely_to_be_drawn_at_random_whatever_speaks_for_it() -> None:
    flipped = frozenset(range(20))
    drawn = Counter(
        item.query_id in {f"q{q:03}" for q in flipped}
        for seed in range(40)
        for item in votes.next_items(pool(judgments=verdicts(flipped=flipped), seed=seed), voter="amina", n=80)
        if item.control
    )
    assert drawn[True] / drawn.total() == pytest.approx(1 / 3, abs=0.06)


def test_two_people_meet_on_some_battles_and_not_on_most() -> None:
    here = pool()
    both = [{key(i) for i in votes.next_items(here, voter=v, n=100)} for v in ("amina", "juma")]
    control = [{key(i) for i in votes.next_items(here, voter=v, n=100) if i.control} for v in ("amina", "juma")]
    assert 6 <= len(control[0] & control[1]) <= 25
    assert len(both[0] & both[1]) < 60


def test_the_order_shown_is_even_and_each_voters_own() -> None:
    here = pool()
    items = {voter: votes.next_items(here, voter=voter, n=360) for voter in ("amina", "juma")}
    turned = {v: {key(i): i.system_a > i.system_b for i in all_} for v, all_ in items.items()}
    assert np.mean(list(turned["amina"].values())) == pytest.approx(0.5, abs=0.1)
    same = np.mean([turned["amina"][k] == turned["juma"][k] for k in turned["amina"]])
    assert same == pytest.approx(0.5, abs=0.1)


def test_the_same_text_twice_failed_replies_and_unjudged_questions_are_left_out() -> None:
    texts = {"q000_a": " same\n", "q000_b": "same"}
    here = pool(answers=answers(**texts))
    assert here.same_text == 1
    assert ("sw", "q000", "a", "b") not in here.battles
    assert len(here.battles) == QUERIES * 6 - 1
    rows = answers().to_pylist()
    rows[0] |= {"status": "api_error", "text": None}
    failed = pool(answers=pa.Table.from_pylist(rows, schema=schema.arrow_schema("answers")))
    assert len(failed.battles) == QUERIES * 6 - 3
    only = judgments([("sw", "q001", "j", "a", "b", "A"), ("te", "q002", "j", "a", "b", "A")])
    assert pool(judgments=only).battles == (("sw", "q001", "a", "b"),)


def test_without_a_judge_every_pair_can_be_voted_on() -> None:
    here = pool(judgments=None)
    assert len(here.battles) == QUERIES * 6
    assert {i.why for i in votes.next_items(here, voter="amina", n=50)} == {"random", "not judged"}


@pytest.mark.parametrize(("share", "control"), [(0.0, {False}), (1.0, {True})])
def test_a_share_of_none_or_all(share: float, control: set[bool]) -> None:
    items = votes.next_items(pool(share=share), voter="amina", n=30)
    assert {item.control for item in items} == control
    with pytest.raises(BadInput):
        pool(share=1.1)


def test_progress_counts_what_counts() -> None:
    here = pool()
    items = votes.next_items(here, voter="amina", n=40)
    mine = [cast(item, "skip" if k % 4 == 0 else "A") for k, item in enumerate(items)]
    theirs = [cast(item, voter="juma") for item in votes.next_items(here, voter="juma", n=20)]
    found = votes.progress(here, [*mine, *theirs], voter="amina")
    drawn = [vote for vote in [*mine, *theirs] if vote.control and vote.vote != "skip"]
    assert (found.mine, found.left, found.random) == (40, QUERIES * 6 - 40, len(drawn))
    assert found.mine_random == sum(item.control for item in items)
    assert found.questions == len({vote.query_id for vote in drawn})
    assert found.enough == votes.ENOUGH


def test_a_vote_carries_what_the_item_said_and_what_was_shown() -> None:
    (item,) = votes.next_items(pool(), voter="amina", n=1)
    made = votes.cast(
        item, vote="both_bad", vote_id="t", arena="x", voter="amina", note="", seconds=3, shown=votes.digest("p", "q")
    )
    assert (made.control, made.why, made.note, made.seconds) == (item.control, item.why, None, 3.0)
    assert made.shown == votes.digest("q", "p") != votes.digest("p", "p")
    with pytest.raises(BadInput):
        votes.cast(item, vote="best", vote_id="t", arena="x", voter="amina")
