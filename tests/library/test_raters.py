"""Scores that came with a file: means of systems, and verdicts from scores."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from arena_writer import make_answer, make_query, write_arena
from commands import mirage
from commands import rows as printed
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage import schema
from mirage.battles.decision import decisions
from mirage.errors import NotEnoughData, UnknownName
from mirage.people.exam import exam
from mirage.people.votes import raters
from mirage.ranking.judges import Judge
from mirage.schema import PEOPLE
from mirage.store import arena as arenas
from mirage.store.arena import open_arena


def score(
    query: int,
    system: str,
    rater: str,
    value: float | None,
    *,
    measure: str = "clear",
    person: bool = True,
    language: str = "en",
    ends: tuple[float | None, float | None] = (1.0, 4.0),
) -> schema.Score:
    reason = None if value is not None else "not given"
    return schema.Score(language, f"q{query}", system, measure, rater, person, value, *ends, reason)


def table(rows: Iterable[schema.Score]):  # type: ignore[no-untyped-def]
    return schema.sort("scores", schema.from_rows("scores", rows))


def test_means_are_over_queries_of_the_means_over_raters() -> None:
    rows = [score(0, "a", "x", 1.0), score(0, "a", "y", 3.0), score(1, "a", "x", 4.0)]
    rows += [score(q, "a", "program", 0.5, person=False, measure="overlap") for q in range(3)]
    people, program = raters.score_means(table(rows))
    assert (people.measure, people.mean, people.queries, people.raters, people.person) == ("clear", 3.0, 2, 2, True)
    assert (program.measure, program.mean) == ("overlap", 0.5)
    # Three equal values leave room for others within the scale of 1 to 4, which 0.5 is below.
    assert program.low == 0.5
    assert 1 < program.high < 4


def test_a_verdict_is_the_mean_of_what_each_person_prefers() -> None:
    rows = [score(0, "a", "x", 4.0), score(0, "b", "x", 1.0), score(0, "a", "y", 2.0), score(0, "b", "y", 2.0)]
    rows += [score(1, "a", "x", 1.0), score(1, "b", "y", 4.0)]  # nobody scored both
    rows += [score(0, s, "program", v, person=False) for s, v in (("a", 0.0), ("b", 9.0))]
    judgments = raters.rater_verdicts(table(rows), "clear")
    (battle,) = decisions(judgments)["people: clear"].items()
    assert battle[0] == ("en", "q0", "a", "b")
    assert battle[1].points == 0.75


def test_where_less_is_better_the_lower_score_wins() -> None:
    rows = [score(q, s, "x", v, ends=(10.0, 0.0)) for q in range(3) for s, v in (("a", 1.0), ("b", 5.0))]
    decided = decisions(raters.rater_verdicts(table(rows), "clear"))["people: clear"]
    assert {decision.points for decision in decided.values()} == {1.0}


def test_which_answer_stands_first_says_nothing_of_its_name() -> None:
    rows = [score(q, s, "x", float(s == "a")) for q in range(200) for s in ("a", "b")]
    first = Counter(row["system_a"] for row in raters.rater_verdicts(table(rows), "clear").to_pylist())
    assert 70 < first["a"] < 130


def test_scores_by_programs_and_by_other_people_decide_where_there_are_no_others() -> None:
    """Pitfall 178: 7,200 scores decided nothing."""
    rows = [score(q, s, f"{s}{q}", v) for q in range(3) for s, v in (("a", 4.0), ("b", 1.0))]
    rows += [score(0, s, "program", v, person=False, measure="overlap") for s, v in (("a", 0.0), ("b", 9.0))]
    rows += [score(q, "a", "program", 1.0, person=False, measure="length") for q in range(9)]
    everything = table(rows)
    assert raters.main_measure(everything) == "clear"
    (people,) = decisions(raters.rater_verdicts(everything, "clear")).values()
    assert {decision.points for decision in people.values()} == {1.0}
    (program,) = decisions(raters.rater_verdicts(everything, "overlap"))["scores: overlap"].values()
    assert program.points == 0.0
    with pytest.raises(NotEnoughData):
        raters.rater_verdicts(everything, "length")
    with pytest.raises(UnknownName):
        raters.rater_verdicts(everything, "nothing")


def test_measures_that_do_not_decide_are_named_with_the_rule(tmp_path: Path) -> None:
    rows = [score(q, s, "x", float(s == "a"), measure=m) for q in range(3) for s in "ab" for m in ("brief", "clear")]
    write_arena(tmp_path / "a", {"scores": table(rows)})
    assert raters.main_measure(table(rows)) == "brief"
    raters.judge_by_scores(tmp_path / "a", "brief", made_by="a test")
    basis = Judge.from_name("people: brief").basis(open_arena(tmp_path / "a"))
    assert "Not used: clear" in basis
    assert "the first by name" in basis


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Two systems, twelve queries, two people and a program."""
    keys = [(q, s) for q in range(12) for s in ("a", "b")]
    tables = {
        "queries": [make_query("en", f"q{q}", None, f"Why {q}?") for q in range(12)],
        "answers": [make_answer("en", f"q{q}", s, f"{s}{q}") for q, s in keys],
        "scores": [
            score(q, s, r, float(1 + (q + (s == "a") + (r == "x" and q % 3 == 0)) % 4)) for q, s in keys for r in "xy"
        ]
        + [score(q, s, "program", q / 12, measure="overlap", person=False) for q, s in keys],
    }
    write_arena(tmp_path / "arena", tables, title="Scored", label="simulated")
    return tmp_path / "arena"


def test_the_command_prints_means(arena: Path) -> None:
    rows = printed(mirage("votes", "scores", arena, "--format", "csv"))
    assert {(row["measure"], row["system"]) for row in rows} == {(m, s) for m in ("clear", "overlap") for s in "ab"}


def test_the_command_makes_verdicts_only_when_told_to(arena: Path) -> None:
    mirage("votes", "scores", arena)
    assert "judgments" not in open_arena(arena).tables
    mirage("votes", "scores", arena, "--verdicts-from", "clear")
    written = open_arena(arena)
    judges = defaultdict(int)
    for row in written.read("judgments").to_pylist():
        judges[row["judge"]] += 1
    assert judges == {"people: clear": 12}
    mirage("votes", "scores", arena, "--verdicts-from", "clear")
    assert open_arena(arena).version == written.version
    assert "clear" in mirage("votes", "scores", arena, "--verdicts-from", "clarity", code=2).output
    assert mirage("rank", arena, "--judge", "people: clear").exit_code == 0


def test_scores_see_no_order_of_two_answers(arena: Path) -> None:
    raters.judge_by_scores(arena, "overlap", made_by="a test")
    (row,) = printed(mirage("report", "judges", arena, "--format", "csv"))
    assert (row["flip_rate"], row["first_rate"], row["tie_rate"]) == ("", "", "1.0")
    beside = [row for row in exam(open_arena(arena)).exams if row.judge != PEOPLE]
    assert {row.judge for row in beside} == {"scores: overlap"}
    assert all(row.measures["first"].value is None and row.measures["first"].n for row in beside)


def test_the_page_of_judges_shows_scores_without_any_judge(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.parent))
    monkeypatch.setattr(arenas, "bundled_arenas", dict)
    app = AppTest.from_file(ROOT / "pages" / "judges.py", default_timeout=PATIENCE).run()
    assert not app.exception
    assert "Ratings of single answers" in [header.value for header in app.header]
    (means,) = (frame.value for frame in app.dataframe)
    assert list(means["system"]) == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    "name",
    [
        *("Hallucination", "latency_s", "wer", "toxicity (0-1)", "n_tokens", "error", "context_entropy"),
        *("is_incorrect", "n_sources", "iter_count", "difference"),
    ],
)
def test_a_measure_not_named_after_what_is_good_decides_only_with_a_scale(name: str) -> None:
    rows = [score(1, "a", "r", 1.0, measure=name, person=False, ends=(None, None))]
    assert raters.main_measure(table(rows)) is None
    assert raters.main_measure(table([*rows, score(1, "b", "r", 1.0, measure=name, ends=(1.0, 0.0))])) == name


@pytest.mark.parametrize(
    "name", ["BERTScore", "RougeL", "groundedness", "f1", "answer_correct", "hit_at_k", "win_rate"]
)
def test_a_measure_named_after_what_is_good_decides_without_a_scale(name: str) -> None:
    rows = [score(1, "a", "r", 1.0, measure=measure, person=False, ends=(None, None)) for measure in (name, "a_number")]
    assert raters.main_measure(table(rows)) == name
