"""Drift of a judge on the anchor set: a drifting judge is found, a steady one passes, and rankings count neither."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import mirage as run
from commands import rows
from judge_cases import answers, judgments, says, texts
from judge_cases import run as judge
from misbehaving import Act, Call, Service

import mirage
from mirage import schema, store
from mirage.battles.anchors import anchor_judge, split_anchor
from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED
from mirage.battles.referee import Referee, referees
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.stages.judge.drift import AnchorVerdict, Battle, JudgeDrift, drift_rows, judge_drift
from mirage.text import dates

POINTS = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
LENGTHS = {("en", f"q{k}", system): 100 + 50 * (system == "long") for k in range(60) for system in ("long", "short")}
SIMULATED = 200
LIMIT = 0.1


def verdict(label: int) -> AnchorVerdict:
    """A verdict with the points that go with its label."""
    return AnchorVerdict(label, POINTS.get(label))


def of_day(labels: list[list[int]]) -> dict[Battle, AnchorVerdict]:
    """Verdicts on both orders of a long and a short answer, by query."""
    return {
        ("en", f"q{k}", *pair): verdict(label)
        for k, both in enumerate(labels)
        for pair, label in zip((("long", "short"), ("short", "long")), both, strict=True)
    }


def drift(first: list[list[int]], later: list[list[int]]) -> JudgeDrift:
    """The drift between two days of one language."""
    (row,) = drift_rows("j", ("2026-10-01", of_day(first)), ("2026-11-01", of_day(later)), LENGTHS)
    return row


def changed(rng: np.random.Generator, labels: np.ndarray, share: float) -> list[list[int]]:
    """Verdicts of which a share becomes another, whole queries more often than single battles."""
    by_query = rng.beta(4 * share, 4 * (1 - share), size=(len(labels), 1)) if share else np.zeros((len(labels), 1))
    moved = rng.random(labels.shape) < by_query
    return [[int(label) for label in row] for row in np.where(moved, SECOND + FIRST - labels, labels)]


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0.0, 0.0), (LIMIT, 0.0, 0.05), (0.4, 0.9, 1.0)])
def test_a_drifting_judge_is_found_and_a_steady_one_rarely(share: float, low: float, high: float) -> None:
    rng = np.random.default_rng(7)
    stopped = 0
    for _ in range(SIMULATED):
        labels = rng.choice([FIRST, SECOND], size=(60, 2))
        row = drift([[int(label) for label in both] for both in labels], changed(rng, labels, share))
        stopped += row.exit_code(LIMIT) == 1
    assert low <= stopped / SIMULATED <= high


def test_shifts_have_the_sign_of_what_the_judge_has_come_to_favour() -> None:
    fair = [[FIRST, SECOND]] * 20 + [[SECOND, FIRST]] * 20
    to_first = drift(fair, [[FIRST, FIRST]] * 40)
    assert to_first.first == pytest.approx(0.5)
    assert (to_first.first_low or 0) > 0
    assert to_first.longer == pytest.approx(0.0)
    assert to_first.equal == pytest.approx(0.5)
    to_longer = drift(fair, [[FIRST, SECOND]] * 40)
    assert to_longer.longer == pytest.approx(0.5)
    assert to_longer.first == pytest.approx(0.0)
    back = drift([[FIRST, SECOND]] * 40, fair)
    assert back.longer == pytest.approx(-0.5)
    assert (to_first.n, to_first.queries) == (80, 40)


def test_unread_verdicts_are_a_change_without_points() -> None:
    row = drift([[FIRST, UNPARSED]] * 10, [[UNPARSED, UNPARSED]] * 10)
    assert row.equal == pytest.approx(0.5)
    assert (row.first, row.longer) == (None, None)
    assert row.reason


def test_one_query_has_no_interval_and_is_inconclusive() -> None:
    row = drift([[FIRST, FIRST]], [[SECOND, SECOND]])
    assert (row.equal, row.equal_low, row.equal_high) == (0.0, None, None)
    assert (row.exit_code(0.1), row.exit_code(0.1, require=True)) == (0, 3)


def test_an_undecided_gate_asks_for_more_only_if_a_decision_is_required() -> None:
    row = drift([[FIRST, SECOND]] * 20, [[FIRST, SECOND]] * 18 + [[SECOND, FIRST]] * 2)
    assert row.equal_low is not None
    assert row.equal_high is not None
    assert 1 - row.equal_high < 0.1 < 1 - row.equal_low
    assert (row.exit_code(0.1), row.exit_code(0.1, require=True)) == (0, 3)
    assert row.exit_code(0.9, require=True) == 0


def test_ids_that_languages_share_are_one_query() -> None:
    first = {(code, f"q{k}", "a", "b"): verdict(FIRST) for code in ("en", "fi") for k in range(5)}
    en, fi, everywhere = drift_rows("j", ("2026-10-01", first), ("2026-11-01", first), {})
    assert [row.language for row in (en, fi, everywhere)] == ["en", "fi", "all"]
    assert (everywhere.n, everywhere.queries) == (10, 5)
    assert en.queries == 5


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """An arena with answers of three systems to eight queries in one language."""
    path = tmp_path / "arena"
    tables = {**texts(8, ("en",)), "answers": answers(n=8, languages=("en",))}
    store.write(path, tables, made_by="a test")
    return path


def always(mark: str) -> Any:
    """A judge that gives one verdict."""

    def act(_: Call) -> Act:
        return says(mark)

    return act


def on(monkeypatch: pytest.MonkeyPatch, day: str) -> None:
    """Set today's date."""
    monkeypatch.setattr(dates, "today", lambda: day)


def test_the_set_is_judged_again_on_another_day_and_once_a_day(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "2026-10-01")
    with Service(always("A")) as service:
        judge(arena, service)
        calls = sum(service.requests.values())
        judge(arena, service, "--anchors", 6)
        assert sum(service.requests.values()) == calls + 12
        assert "today" in judge(arena, service, "--anchors", 6).output
        assert sum(service.requests.values()) == calls + 12
    first = judgments(arena, anchor_judge("j", "2026-10-01"))
    assert len(first) == 12
    on(monkeypatch, "2026-11-01")
    with Service(always("B")) as service:
        judge(arena, service, "--anchors", 2)
        assert sum(service.requests.values()) == 12
    second = judgments(arena, anchor_judge("j", "2026-11-01"))
    battle = ("language", "query_id", "system_a", "system_b")
    assert [[row[name] for name in battle] for row in first] == [[row[name] for name in battle] for row in second]
    done = run("judges", arena, "--drift", "--judge", "j", "--max-drift", "0.5", "--format", "csv", code=1)
    (row,) = rows(done)
    assert (float(row["equal"]), float(row["first"]), row["n"]) == (0.0, -1.0, "12")
    assert (row["date"], row["since"]) == ("2026-11-01", "2026-10-01")
    assert run("judges", arena, "--drift", "--judge", "j").output
    table = mirage.judge_drift(store.open_arena(arena), "j").to_pandas()
    assert table["equal"].tolist() == [0.0]


def test_rankings_do_not_count_the_set(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "2026-10-01")
    with Service(always("A")) as service:
        judge(arena, service)
        opened = store.open_arena(arena)
        alone = mirage.rank(opened, judge="j").to_pandas()
        judge(arena, service, "--anchors", 6)
    opened = store.open_arena(arena)
    assert referees(opened) == ("j",)
    assert mirage.rank(opened).to_pandas().equals(alone)
    name = anchor_judge("j", "2026-10-01")
    assert split_anchor(name) == ("j", "2026-10-01")
    assert split_anchor("j") is None
    with pytest.raises(BadInput, match="drift of j"):
        Referee.from_name(name)


def test_battles_of_a_changed_answer_leave_the_set(
    arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "2026-10-01")
    with Service(always("A")) as service:
        judge(arena, service, "--anchors", 24)
        before = len(judgments(arena))
        changed_answer = {"language": "en", "query_id": "q0", "system": "one", "text": "Another answer."}
        (tmp_path / "new.jsonl").write_text(json.dumps(changed_answer) + "\n", encoding="utf-8")
        run("import", "answers", tmp_path / "new.jsonl", "--into", arena)
        assert len(judgments(arena)) == before - 4
        on(monkeypatch, "2026-10-02")
        judge(arena, service, "--anchors", 24)
    assert len(judgments(arena, anchor_judge("j", "2026-10-02"))) == before - 4
    (row,) = judge_drift(store.open_arena(arena), "j")
    assert (row.equal, row.n) == (1.0, before - 4)


def test_a_judge_without_a_model_and_the_api_use_the_same_set(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("features", arena)
    for day in ("2026-10-01", "2026-10-02"):
        on(monkeypatch, day)
        opened = mirage.judge(store.open_arena(arena), anchors=4)
        assert mirage.judge(opened, anchors=4).version == opened.version
    (row,) = judge_drift(opened, "heuristic")
    assert (row.equal, row.n) == (1.0, 8)
    assert row.exit_code(0.0) == 0


def test_without_verdicts_of_two_days_the_command_says_what_to_do(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "2026-10-01")
    with Service(always("A")) as service:
        judge(arena, service)
        with pytest.raises(NotEnoughData, match="no verdicts on an anchor set") as none:
            judge_drift(store.open_arena(arena), "j")
        assert "--anchors" in str(none.value)
        judge(arena, service, "--anchors", 4)
    with pytest.raises(NotEnoughData, match="2026-10-01"):
        judge_drift(store.open_arena(arena), "j")
    on(monkeypatch, "2026-10-02")
    with Service(always("A")) as service:
        judge(arena, service, "--anchors", 4)
    with pytest.raises(UnknownName):
        judge_drift(store.open_arena(arena), "j", languages=["sw"])


@pytest.mark.parametrize(
    "options",
    [
        ("--drift",),
        ("--drift", "--judge", "a", "--judge", "b"),
        ("--drift", "--judge", "j", "--against-people"),
        ("--max-drift", "0.1"),
        ("--require",),
        ("--drift", "--judge", "nobody"),
        ("--drift", "--judge", "j", "--max-drift", "2"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: tuple[str, ...], arena: Path) -> None:
    with Service(always("A")) as service:
        judge(arena, service, "--pairs", 2)
    assert run("judges", arena, *options, code=2).output


@pytest.mark.parametrize(
    "option", [("--pairs", 2), ("--queries", 2), ("--known",), ("--replace",), ("--until", "separated")]
)
def test_anchors_choose_their_battles_alone(option: tuple[object, ...], arena: Path) -> None:
    with Service(always("A")) as service:
        assert "--anchors" in judge(arena, service, "--anchors", 4, *option, code=2).output
        assert not service.requests
    with pytest.raises(BadInput, match="anchors"):
        mirage.judge(store.open_arena(arena), anchors=4, pairs=2)


def test_the_columns_of_the_result_follow_the_contract() -> None:
    row = drift([[FIRST, SECOND]] * 20, [[FIRST, FIRST]] * 20)
    assert schema.from_rows(JudgeDrift, [row]).num_rows == 1
