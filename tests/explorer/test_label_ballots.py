"""An audit of labels: drawn from both, voted on without a network, imported whole or not at all, and what it finds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import browser
import pytest
from ballots_cases import event, given_back
from commands import mirage
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

import mirage as mirage_api
from mirage import schema, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people import votes
from mirage.people.votes import LabelVote, Votes
from mirage.people.votes.ballot_page import ballot_html
from mirage.people.votes.ballots import Ballot, audit_ballots, import_ballot, keep, read_ballot
from mirage.people.votes.labels import check_labels, draw_audit, label_audit, labels_of
from mirage.store.labels import has_automatic_labels
from pages import conclusion, page_text

MAKER = "zq-maker"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(votes.URL, raising=False)
    return tmp_path / "home"


def tables_of(counts: dict[str, tuple[int, int]], *, passage: str = "passage") -> dict[str, Any]:
    """Return an arena's tables: unanswerable and answerable queries by language, and a system's answers to them."""
    queries, passages, answers = [], [], []
    for language, (unanswerable, answerable) in counts.items():
        for k in range(unanswerable + answerable):
            subset: schema.Subset = "non_relevant" if k < unanswerable else "relevant"
            query = f"q{k:03d}"
            queries.append(schema.Query(language, query, subset, f"question {k} <b>?", None, MAKER))
            passages += [
                schema.Passage(language, query, f"{k}#{p}", p, None, f"{passage} {k} {p} </script>", None)
                for p in (1, 2)
            ]
            said = "I don't know." if k % 3 else "Yes, answer is present."
            answers.append(schema.Answer(language, query, "zq-system", said, "ok", None, None, "vanilla"))
    rows = {"queries": queries, "passages": passages, "answers": answers}
    return {name: schema.sort(name, schema.from_rows(name, values)) for name, values in rows.items()}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    tables = tables_of({"en": (60, 90), "te": (20, 30)})
    path = tmp_path_factory.mktemp("arenas") / "made"
    store.write(path, tables, made_by="a test")
    mirage("measure", "outcomes", path)
    return store.open_arena(path)


@pytest.fixture
def ballot(arena: store.Arena) -> Ballot:
    items = draw_audit(arena, n=24, languages=["te"], seed=1)
    (drawn,) = audit_ballots(arena, items)
    keep([drawn])
    return drawn


def log_of(arena: store.Arena, items: Any, opinion: Any, *, voter: str = "amina") -> list[LabelVote]:
    """Return the votes of somebody on the items: `opinion` gives the answer to a query."""
    labelled = {(row["language"], row["query_id"]): row["subset"] for row in arena.read("queries").to_pylist()}
    (drawn,) = audit_ballots(arena, items)
    return [
        votes.cast(
            entry.subject,
            vote=opinion(k, labelled[entry.subject.language, entry.subject.query_id]),
            asked="yes",
            right_language="yes" if k else "no",
            vote_id=f"{voter}-{k}",
            arena=arena.name,
            voter=voter,
            shown=entry.shown,
        )
        for k, entry in enumerate(drawn.items)
    ]


def truth(_: int, subset: str) -> str:
    return "yes" if subset == "relevant" else "no"


# --- drawing ----------------------------------------------------------------------------------------------------------


def test_half_of_each_label_in_proportion_to_the_languages_with_their_chances(arena: store.Arena) -> None:
    items = draw_audit(arena, n=40, seed=2)
    assert items == draw_audit(arena, n=40, seed=2) != draw_audit(arena, n=40, seed=3)
    labels = {(row["language"], row["query_id"]): row["subset"] for row in arena.read("queries").to_pylist()}
    counts = Counter((item.language, labels[item.language, item.query_id]) for item in items)
    assert counts == {
        ("en", "non_relevant"): 15,
        ("te", "non_relevant"): 5,
        ("en", "relevant"): 15,
        ("te", "relevant"): 5,
    }
    chances = {(item.language, labels[item.language, item.query_id]): item.inclusion for item in items}
    assert chances["en", "non_relevant"] == 15 / 60
    assert chances["te", "relevant"] == 5 / 30
    everything = draw_audit(arena, n=10_000)
    assert len(everything) == 200
    assert {item.inclusion for item in everything} == {1.0}


def test_a_rare_label_leaves_its_place_to_the_other(tmp_path: Path) -> None:
    arena = store.write(tmp_path / "rare", tables_of({"en": (3, 80)}), made_by="a test")
    assert len(draw_audit(arena, n=40)) == 40
    only = store.write(tmp_path / "only", tables_of({"en": (0, 80)}), made_by="a test")
    with pytest.raises(NotEnoughData, match="non_relevant"):
        draw_audit(only, n=40)
    with pytest.raises(UnknownName):
        draw_audit(arena, n=40, languages=["te"])
    with pytest.raises(BadInput, match="both labels"):
        draw_audit(arena, n=1)


def test_the_ballot_holds_texts_and_no_label(arena: store.Arena, ballot: Ballot) -> None:
    page = ballot_html(arena, ballot)
    assert page == ballot_html(arena, ballot)
    for hidden in ("non_relevant", MAKER, "zq-system", "inclusion"):
        assert hidden not in page
    assert page.count("</script>") == 2, "texts cannot end the element they stand in"


# --- import -----------------------------------------------------------------------------------------------------------


def test_votes_come_back_with_chance_and_texts_and_twice_is_once(
    arena: store.Arena, ballot: Ballot, tmp_path: Path
) -> None:
    path = tmp_path / "back.jsonl"
    undo = {"vote": "undo", "undoes": 1, "time": "2026-11-23T10:01:00.000000Z"}
    path.write_text(
        given_back(ballot, [event(ballot, 0, "yes"), event(ballot, 1, "no"), undo, event(ballot, 1, "unclear")])
    )
    with Votes() as database:
        assert import_ballot(database, path, arena=arena) == (4, 4)
        assert import_ballot(database, path) == (4, 0)
        found = votes.votes_on(arena, database.rows(LabelVote))
    assert [row.vote for row in found.counting] == ["yes", "unclear"]
    assert {row.inclusion for row in found.counting} == {12 / 20, 12 / 30} & {r.inclusion for r in found.counting}
    assert not found.changed


@pytest.mark.parametrize("wrong", [{"vote": "maybe"}, {"asked": "perhaps"}])
def test_an_answer_that_is_none_is_refused(ballot: Ballot, wrong: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "back.jsonl"
    path.write_text(given_back(ballot, [event(ballot, 0, **{"vote": "yes"} | wrong)]))
    with pytest.raises(BadInput):
        read_ballot(path)


def test_votes_on_queries_that_are_gone_or_changed_are_refused(
    arena: store.Arena, ballot: Ballot, tmp_path: Path
) -> None:
    path = tmp_path / "back.jsonl"
    path.write_text(given_back(ballot, [event(ballot, k, "yes") for k in range(24)]))
    changed = store.write(
        tmp_path / "changed", tables_of({"en": (60, 90), "te": (20, 30)}, passage="other"), made_by="a test"
    )
    gone = store.write(tmp_path / "gone", tables_of({"en": (60, 90)}), made_by="a test")
    with Votes() as database:
        for other, why in ((changed, "changed passages"), (gone, "gone")):
            with pytest.raises(BadInput, match=why) as refusal:
                import_ballot(database, path, arena=other)
            assert "mirage votes audit" in (refusal.value.do or "")
        assert database.rows(LabelVote) == []
        import_ballot(database, path)
        log = database.rows(LabelVote)
        with pytest.raises(NotEnoughData, match="changed since 24 votes"):
            check_labels(changed, log)
        assert label_audit(changed, log) is None
        with pytest.raises(NotEnoughData, match="no label of gone"):
            check_labels(gone, log)


# --- what it finds ----------------------------------------------------------------------------------------------------


def test_a_careful_audit_finds_no_error_and_a_lying_one_only_errors(arena: store.Arena) -> None:
    items = draw_audit(arena, n=24, languages=["te"])
    right = label_audit(arena, log_of(arena, items, truth))
    assert right is not None
    assert [error.wrong for error in right.errors("te")] == [0, 0]
    wrong = label_audit(arena, log_of(arena, items, lambda _, subset: "no" if subset == "relevant" else "yes"))
    assert wrong is not None
    assert [error.share for error in wrong.errors("te")] == [1, 1]
    assert labels_of(arena, []).unaudited


def test_a_majority_decides_and_disagreement_is_excluded(arena: store.Arena) -> None:
    items = draw_audit(arena, n=24, languages=["te"])
    one = log_of(arena, items, truth)
    two = log_of(arena, items, lambda k, subset: "unclear" if k == 0 else truth(k, subset), voter="ravi")
    audit = label_audit(arena, [*one, *two])
    assert audit is not None
    assert (len(audit.queries), audit.unclear) == (23, 1)
    three = [replace(vote, vote_id=f"x{vote.vote_id}", voter="lakshmi") for vote in one]
    audit = label_audit(arena, [*one, *two, *three])
    assert audit is not None
    assert (len(audit.queries), audit.unclear) == (24, 0)
    rows = check_labels(arena, [*one, *two])
    assert {(row.language, row.label) for row in rows} == {("te", "unanswerable"), ("te", "answerable")}
    assert sum(row.wrong_language for row in rows) == 1
    assert sum(row.unclear for row in rows) == 1
    assert all(row.voters == 2 and row.agree is not None and row.agree < 1.01 for row in rows)


def test_skips_and_unlabelled_queries_are_no_audit(arena: store.Arena) -> None:
    items = draw_audit(arena, n=24, languages=["te"])
    assert label_audit(arena, log_of(arena, items, lambda *_: "skip")) is None


def test_the_commands_draw_import_and_print(arena: store.Arena, tmp_path: Path) -> None:
    mirage("votes", "audit", arena.path, "--n", 40, "--out", tmp_path / "a.html", "--voters", "amina,ravi")
    assert sorted(path.name for path in tmp_path.glob("*.html")) == [
        "a-en-1.html",
        "a-en-2.html",
        "a-te-1.html",
        "a-te-2.html",
    ]
    mirage("votes", "labels", arena.path, code=2)
    mirage("votes", "audit", arena.path, "--out", tmp_path / "a.txt", code=2)
    rows = log_of(arena, draw_audit(arena, n=24, languages=["te"]), truth)
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    mirage("votes", "import", file, "--kind", "labels", "--arena", arena.path)
    printed = json.loads(mirage("votes", "labels", arena.path, "--format", "json").stdout)
    assert [(row["label"], row["audited"], row["wrong"]) for row in printed] == [
        ("unanswerable", 12, 0),
        ("answerable", 12, 0),
    ]
    out = tmp_path / "again.jsonl"
    mirage("votes", "export", out, "--kind", "labels")
    mirage("votes", "import", out, "--kind", "labels")
    mirage("votes", "export", out, "--kind", "labels", "--nuggets", code=2)


@pytest.mark.browser
def test_an_audit_is_voted_on_by_keys_without_a_network(arena: store.Arena, tmp_path: Path) -> None:
    out = tmp_path / "audit.html"
    mirage("votes", "audit", arena.path, "--languages", "te", "--n", 4, "--out", out)
    with browser.chromium() as start:
        opened = start(width=390, height=844, scheme="dark")
        page = opened.page
        page.context.set_offline(True)
        page.goto(out.as_uri())
        page.keyboard.press("1")
        assert page.evaluate("state.events.length") == 0, "no vote without a name"
        page.fill("#voter", "amina")
        page.keyboard.press("Enter")
        assert page.locator("#sides").is_hidden()
        assert page.locator("#item :is(img, iframe, svg, script, style)").count() == 0
        for key in ("1", "5", "7", "s", "u", "3", "6"):
            page.keyboard.press(key)
        page.locator(".question").nth(2).locator("[data-vote=no]").click()
        with page.expect_download() as saved:
            page.click("#save")
        path = tmp_path / "back.jsonl"
        saved.value.save_as(path)
    with Votes() as database:
        assert import_ballot(database, path, arena=arena) == (4, 4)
        given = votes.standing(database.rows(LabelVote))
    assert [(row.asked, row.vote, row.right_language) for row in given] == [
        ("yes", "no", "yes"),
        ("unclear", "unclear", "no"),
    ]


# --- rates ------------------------------------------------------------------------------------------------------------


def test_rates_say_what_is_known_of_the_labels(arena: store.Arena, tmp_path: Path) -> None:
    rows = json.loads(mirage("report", "rates", arena.path, "--format", "json").stdout)
    assert {row["labels"] for row in rows} == {"not audited"}
    assert "labels not audited" in mirage("report", "rates", arena.path).stderr
    api = mirage_api.rates(arena)
    assert "labels not audited" in api.title
    log = log_of(arena, draw_audit(arena, n=40, languages=["te"]), lambda k, s: "yes" if k == 1 else truth(k, s))
    with Votes() as database:
        database.append(log)
    rows = json.loads(mirage("report", "rates", arena.path, "--format", "json").stdout)
    for row in rows:
        if row["language"] == "en":  # nobody checked its labels
            assert (row["labels"], row["corrected"]) == ("not audited", None)
            continue
        assert row["labels"] == "audited"
        assert row["audited"] == 20
        assert row["corrected_high"] - row["corrected_low"] > row["rate_high"] - row["rate_low"]
    result = mirage("report", "rates", arena.path)
    assert "40 audited queries" in result.stderr
    assert [row["corrected"] for row in mirage_api.rates(arena)] == [row["corrected"] for row in rows]
    missing = mirage_api.rates(arena, url=f"sqlite:///{tmp_path}/none.sqlite")
    assert {row["labels"] for row in missing} == {"not audited"}


def open_hallucination(arena: store.Arena, monkeypatch: pytest.MonkeyPatch, **params: str) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path.parent))
    app = AppTest.from_file(ROOT / "pages" / "hallucination.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": arena.name, **params})
    app.run()
    assert not app.exception
    return app


def test_the_page_says_not_audited_and_with_an_audit_corrects(
    arena: store.Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_hallucination(arena, monkeypatch)
    assert "not audited" in conclusion(app)
    log = log_of(arena, draw_audit(arena, n=40, languages=["te"]), lambda k, s: "yes" if k == 1 else truth(k, s))
    with Votes() as database:
        database.append(log)
    app = open_hallucination(arena, monkeypatch, view="label errors")
    assert "not audited" not in conclusion(app)
    assert "40 queries" in page_text(app)
    assert any("corrected" in frame.value for frame in app.dataframe)


def test_a_difference_of_two_systems_is_corrected_jointly(tmp_path: Path) -> None:
    tables = tables_of({"en": (40, 40)})
    answers = tables["answers"].to_pylist()
    other = [{**row, "system": "zq-other", "text": "I don't know."} for row in answers]
    tables["answers"] = schema.sort(
        "answers", schema.from_rows("answers", [schema.Answer(**r) for r in answers + other])
    )
    store.write(tmp_path / "two", tables, made_by="a test")
    mirage("measure", "outcomes", tmp_path / "two")
    arena = store.open_arena(tmp_path / "two")
    plain = mirage_api.compare(arena, "zq-system", "zq-other", measure="rate")
    assert "labels not audited" in plain.title
    log = log_of(arena, draw_audit(arena, n=40), lambda k, s: "yes" if k < 4 else truth(k, s))
    with Votes() as database:
        database.append(log)
    audit = label_audit(arena, log)
    assert audit is not None
    kept = 1 - sum(error.share for error in audit.errors("en"))
    both = mirage_api.compare(arena, "zq-system", "zq-other", measure="rate")
    assert both.overall.difference == pytest.approx(plain.overall.difference / kept)
    assert both.overall.p == plain.overall.p
    assert both.overall.high - both.overall.low > plain.overall.high - plain.overall.low
    assert (
        "corrected for label errors"
        in mirage("compare", arena.path, "zq-system", "zq-other", "--measure", "rate").stderr
    )


def test_labels_of_people_are_not_marked_and_those_of_a_test_set_are(tmp_path: Path) -> None:
    tables = tables_of({"en": (3, 3)})
    rows = [schema.Query(**{**row, "labelled_by": None}) for row in tables["queries"].to_pylist()]
    by_people = {**tables, "queries": schema.sort("queries", schema.from_rows("queries", rows))}
    assert has_automatic_labels(store.write(tmp_path / "named", tables, made_by="a test"))
    assert not has_automatic_labels(store.write(tmp_path / "people", by_people, made_by="a test"))
    draft = schema.Draft("en", "d", "fact", "0#1", "q000", "question?", None, None, None, None)
    made = {**by_people, "drafts": schema.from_rows("drafts", [draft])}
    assert has_automatic_labels(store.write(tmp_path / "made", made, made_by="a test"))
    sample = store.open_arena(store.bundled_arenas()["sample"])
    assert not has_automatic_labels(sample)
    assert not labels_of(sample, []).unaudited
