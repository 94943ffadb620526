"""An audit of labels: drawn from both, filled in, imported whole or not at all, and what it finds."""

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows, write_arena
from commands import mirage, write_jsonl

import mirage as mirage_api
from mirage import open_arena, schema
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people.votes.ballots import ballot, import_ballot
from mirage.people.votes.belonging import shown_now, votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import LabelVote
from mirage.people.votes.labels import draw_audit, label_audit, labels_of
from mirage.people.votes.rows import cast
from mirage.stats.label_errors import QueryLabels
from mirage.store.arena import Arena
from mirage.store.labels import has_automatic_labels
from mirage.views.labels import LabelsView
from pages import conclusion, open_page, page_text

pytestmark = pytest.mark.usefixtures("home")

MAKER = "zq-maker"


def tables_of(counts: dict[str, tuple[int, int]], *, passage: str = "passage") -> dict[str, Any]:
    """Return an arena's tables: unanswerable and answerable queries by language, and a system's answers to them."""
    queries, passages, answers = [], [], []
    for language, (unanswerable, answerable) in counts.items():
        for k in range(unanswerable + answerable):
            subset = "non_relevant" if k < unanswerable else "relevant"
            query = f"q{k:03d}"
            queries.append(schema.Query(language, query, subset, f"question {k} <b>?", None, MAKER))
            passages += [
                schema.Passage(language, query, f"{k}#{p}", p, None, f"{passage} {k} {p} </script>", None)
                for p in (1, 2)
            ]
            said = "I don't know." if k % 3 else "Yes, answer is present."
            answers.append(schema.Answer(language, query, "zq-system", said, "ok", None, None, "vanilla"))
    return {"queries": queries, "passages": passages, "answers": answers}


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    path = module_path / "made"
    write_arena(path, tables_of({"en": (60, 90), "te": (20, 30)}))
    mirage("measure", "outcomes", path)
    return open_arena(path)


def log_of(arena: Arena, items: Any, opinion: Any, *, voter: str = "amina") -> list[LabelVote]:
    """Return the votes of somebody on the items: `opinion` gives the answer to a query."""
    labelled = {(row["language"], row["query_id"]): row["subset"] for row in read_rows(arena, "queries")}
    rows = [
        cast(
            item,
            vote=opinion(k, labelled[item.language, item.query_id]),
            vote_id=f"{voter}-{k}",
            arena=arena.name,
            voter=voter,
        )
        for k, item in enumerate(sorted(items, key=lambda item: (item.language, item.query_id)))
    ]
    return [replace(row, shown=shown) for row, shown in zip(rows, shown_now(arena, rows), strict=True)]


def truth(_: int, subset: str) -> str:
    return "yes" if subset == "relevant" else "no"


# --- drawing ----------------------------------------------------------------------------------------------------------


def test_half_of_each_label_in_proportion_to_the_languages(arena: Arena) -> None:
    items = draw_audit(arena, n=40, seed=2)
    assert items == draw_audit(arena, n=40, seed=2) != draw_audit(arena, n=40, seed=3)
    labels = {(row["language"], row["query_id"]): row["subset"] for row in read_rows(arena, "queries")}
    counts = Counter((item.language, labels[item.language, item.query_id]) for item in items)
    assert counts == {
        ("en", "non_relevant"): 15,
        ("te", "non_relevant"): 5,
        ("en", "relevant"): 15,
        ("te", "relevant"): 5,
    }
    assert len(draw_audit(arena, n=10_000)) == 200


def test_a_rare_label_leaves_its_place_to_the_other(tmp_path: Path) -> None:
    arena = write_arena(tmp_path / "rare", tables_of({"en": (3, 80)}))
    assert len(draw_audit(arena, n=40)) == 40
    only = write_arena(tmp_path / "only", tables_of({"en": (0, 80)}))
    with pytest.raises(NotEnoughData, match="non_relevant"):
        draw_audit(only, n=40)
    with pytest.raises(UnknownName):
        draw_audit(arena, n=40, languages=["te"])
    with pytest.raises(BadInput, match="both labels"):
        draw_audit(arena, n=1)


# --- import -----------------------------------------------------------------------------------------------------------


def filled(path: Path, arena: Arena, n: int = 24, **changed: str) -> Path:
    """Write a ballot of Telugu queries, filled in by amina."""
    rows = ballot(Votes(), arena, draw_audit(arena, n=n, languages=["te"], seed=1), "amina").to_pylist()
    write_jsonl(path, *(row | {"vote": "yes"} | changed for row in rows))
    return path


def test_a_ballot_holds_texts_and_no_label_and_importing_it_twice_is_once(arena: Arena, tmp_path: Path) -> None:
    path = filled(tmp_path / "back.jsonl", arena)
    for hidden in ("relevant", MAKER, "zq-system"):
        assert hidden not in path.read_text("utf-8")
    with Votes() as database:
        assert import_ballot(database, path, arena)[:2] == (24, 24)
        assert import_ballot(database, path, arena)[:2] == (24, 0)
        assert import_ballot(database, filled(path, arena, vote="unclear"), arena)[:2] == (24, 24)
        found = votes_on(arena, database.rows(LabelVote))
    assert {(row.vote, row.voter) for row in found.counting} == {("unclear", "amina")}
    assert not found.changed


@pytest.mark.parametrize("wrong", [{"vote": "maybe"}, {"vote": "undo"}, {"voter": ""}, {"item": "0"}])
def test_a_row_that_is_invalid_rejects_the_ballot(arena: Arena, wrong: dict[str, str], tmp_path: Path) -> None:
    path = filled(tmp_path / "back.jsonl", arena, **wrong)
    with Votes() as database, pytest.raises(BadInput) as refusal:
        import_ballot(database, path, arena)
    assert f"{path}:1" in str(refusal.value)


def test_votes_on_queries_that_are_gone_or_changed_do_not_count(arena: Arena, tmp_path: Path) -> None:
    path = filled(tmp_path / "back.jsonl", arena)
    changed = write_arena(tmp_path / "changed", tables_of({"en": (60, 90), "te": (20, 30)}, passage="other"))
    gone = write_arena(tmp_path / "gone", tables_of({"en": (60, 90)}))
    with Votes() as database:
        for other in (changed, gone):
            with pytest.raises(BadInput, match="is not an item"):
                import_ballot(database, path, other)
        assert database.rows(LabelVote) == []
        import_ballot(database, path, arena)
        log = database.rows(LabelVote)
    assert (label_audit(changed, log), label_audit(gone, log)) == (None, None)


# --- what it finds ----------------------------------------------------------------------------------------------------


def test_a_careful_audit_finds_no_error_and_a_lying_one_only_errors(arena: Arena) -> None:
    items = draw_audit(arena, n=24, languages=["te"])
    log = log_of(arena, items, truth)
    right = label_audit(arena, log)
    assert right is not None
    assert any("draw not proved" in line for line in LabelsView(QueryLabels(audit=right)).remarks)
    assert label_audit(arena, [replace(row, proof="none") for row in log]) is None
    assert [error.value for error in right.errors("te")] == [0, 0]
    wrong = label_audit(arena, log_of(arena, items, lambda _, subset: "no" if subset == "relevant" else "yes"))
    assert wrong is not None
    assert [error.value for error in wrong.errors("te")] == [1, 1]
    assert labels_of(arena, []).unaudited


def test_a_majority_decides_and_disagreement_is_excluded(arena: Arena) -> None:
    items = draw_audit(arena, n=24, languages=["te"])
    one = log_of(arena, items, truth)
    two = log_of(arena, items, lambda k, subset: "unclear" if k == 0 else truth(k, subset), voter="ravi")
    audit = label_audit(arena, [*one, *two])
    assert (len(audit.queries), audit.unclear) == (23, 1)
    three = [replace(vote, vote_id=f"x{vote.vote_id}", voter="lakshmi") for vote in one]
    audit = label_audit(arena, [*one, *two, *three])
    assert (len(audit.queries), audit.unclear) == (24, 0)


def test_skips_and_unlabelled_queries_are_no_audit(arena: Arena) -> None:
    items = draw_audit(arena, n=24, languages=["te"])
    assert label_audit(arena, log_of(arena, items, lambda *_: "skip")) is None


def test_the_commands_draw_import_and_print(arena: Arena, tmp_path: Path) -> None:
    file = tmp_path / "audit.csv"
    mirage("votes", "audit", arena.path, "--n", 24, "--languages", "te", "--voter", "amina", "--out", file)
    mirage("votes", "import", file, "--arena", arena.path, code=2)
    subset = {row["query_id"]: row["subset"] for row in arena.read("queries", languages=["te"]).to_pylist()}
    with file.open(encoding="utf-8-sig", newline="") as opened:
        filled_in = [row | {"vote": truth(0, subset[row["item"].rpartition(":")[0]])} for row in csv.DictReader(opened)]
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, filled_in[0])
        writer.writeheader()
        writer.writerows(filled_in)
    mirage("votes", "import", file, code=2)
    mirage("votes", "import", file, "--arena", arena.path)
    assert "24 audited queries (0 more unclear)" in mirage("report", "rates", arena.path).stderr
    out = tmp_path / "again.jsonl"
    mirage("votes", "export", out, "--kind", "labels")
    assert "24 rows read, 0 of them new" in mirage("votes", "import", out, "--kind", "labels").stderr


# --- rates ------------------------------------------------------------------------------------------------------------


def test_rates_say_what_is_known_of_the_labels(arena: Arena, tmp_path: Path) -> None:
    rows = json.loads(mirage("report", "rates", arena.path, "--format", "json").stdout)
    assert {row["labels"] for row in rows} == {"not audited"}
    assert "Labels not audited" in mirage("report", "rates", arena.path).stderr
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


def test_the_page_says_not_audited_and_with_an_audit_corrects(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path.parent))
    app = open_page("hallucination", arena=arena.name)
    assert "not audited" in conclusion(app)
    log = log_of(arena, draw_audit(arena, n=40, languages=["te"]), lambda k, s: "yes" if k == 1 else truth(k, s))
    with Votes() as database:
        database.append(log)
    app = open_page("hallucination", arena=arena.name, view="label errors")
    assert "not audited" not in conclusion(app)
    assert "40 audited queries" in page_text(app)
    assert any("corrected" in frame.value for frame in app.dataframe)


def test_a_difference_of_two_systems_says_that_it_is_not_corrected(tmp_path: Path) -> None:
    tables = tables_of({"en": (40, 40)})
    tables["answers"] += [replace(row, system="zq-other", text="I don't know.") for row in tables["answers"]]
    write_arena(tmp_path / "two", tables)
    mirage("measure", "outcomes", tmp_path / "two")
    arena = open_arena(tmp_path / "two")
    plain = mirage_api.compare(arena, "zq-system", "zq-other", measure="rate")
    assert "labels not audited" in plain.title
    log = log_of(arena, draw_audit(arena, n=40), lambda k, s: "yes" if k < 4 else truth(k, s))
    with Votes() as database:
        database.append(log)
    assert label_audit(arena, log) is not None
    both = mirage_api.compare(arena, "zq-system", "zq-other", measure="rate")
    assert both.overall == plain.overall
    assert "not corrected for label errors" in both.title


def test_labels_of_people_are_not_marked_and_those_of_a_test_set_are(tmp_path: Path) -> None:
    tables = tables_of({"en": (3, 3)})
    by_people = {**tables, "queries": [replace(row, labelled_by=None) for row in tables["queries"]]}
    assert has_automatic_labels(write_arena(tmp_path / "named", tables))
    assert not has_automatic_labels(write_arena(tmp_path / "people", by_people))
    draft = schema.Draft("en", "d", "fact", "0#1", "q000", "question?", None, None, None, None)
    made = {**by_people, "drafts": [draft]}
    assert has_automatic_labels(write_arena(tmp_path / "made", made))
    sample = open_arena("sample")
    assert not has_automatic_labels(sample)
    assert not labels_of(sample, []).unaudited
