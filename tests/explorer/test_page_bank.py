"""The page Nuggets: a bank is read and changed, what a change would do is shown first, and nothing is lost."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import browser
import nugget_arena
import pytest
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage import schema, store
from mirage.explorer.nuggets import data as views
from mirage.explorer.serve import identity
from mirage.people import votes
from mirage.stages import nuggets
from mirage.stages.features.measuring import measure
from mirage.stages.features.nugget_edits import NAMES, effect_of, save_edit
from mirage.stages.features.settings import MeasureSettings
from mirage.stages.features.stage import nugget_means
from mirage.stages.nuggets import TERMS
from mirage.stages.nuggets.stage import BankChanged
from pages import html, page_text, text

KEY = ("en", "q001")
WHO = {"author": "amina", "time": "2026-11-22T10:00:00.000000Z"}
TEXTS = tuple(nugget_arena.TEXTS)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arenas") / "whole"
    nugget_arena.write(path)
    measure(path, MeasureSettings(NAMES), made_by="a test")
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An arena of the test's own, and no other to see."""
    path = tmp_path / "arenas" / "whole"
    shutil.copytree(original, path)
    monkeypatch.setenv("MIRAGE_ARENAS", str(path))
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MIRAGE_VOTES_URL", raising=False)
    monkeypatch.setattr(store, "bundled_arenas", dict)
    return path


def open_page(*, name: str = "amina", language: str = "en", arena: str = "whole") -> AppTest:
    app = AppTest.from_file(ROOT / "pages" / "nuggets.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": arena, "language": language, "bank": KEY[1]})
    app.run()
    if name:
        app.text_input(key="spot_voter").set_value(name).run()
    return app


def press(app: AppTest, label: str) -> AppTest:
    (button,) = (button for button in app.button if button.label == label)
    return button.click().run()


def texts_of(path: Path, key: tuple[str, str] = KEY) -> dict[str, str]:
    return {row.text: row.importance for row in views.bank(store.open_arena(path), key)}


def key_of(text: str) -> nuggets.NuggetKey:
    return *KEY, nuggets.nugget_id(text)


# --- what a change would do -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        partial(nuggets.reword, key=key_of(TEXTS[2]), text="It is so."),
        partial(nuggets.set_importance, key=key_of(TEXTS[0]), importance="okay"),
        partial(nuggets.split, key=key_of(TEXTS[0]), parts=[nuggets.NuggetText(t, "vital") for t in ("Yes.", "No.")]),
        partial(nuggets.merge, keys=[key_of(TEXTS[0]), key_of(TEXTS[1])], text="It is present and so."),
        partial(nuggets.drop, key=key_of(TEXTS[2])),
        partial(nuggets.add, query=KEY, nugget=nuggets.NuggetText("It is said.", "vital")),
    ],
    ids=["reword", "importance", "split", "merge", "drop", "add"],
)
def test_what_is_foreseen_is_what_comes(path: Path, change: partial[nuggets.BankChange]) -> None:
    """By the matcher of shared words alone, a change that is saved gives the scores that were foreseen."""
    rows = store.open_arena(path).read("nugget_assignments").to_pylist()
    terms = schema.from_rows(
        "nugget_assignments", [schema.NuggetAssignment(**row) for row in rows if row["assigner"] == TERMS]
    )
    arena = store.upsert(path, {"nugget_assignments": store.NewRows(terms)}, made_by="a test").arena
    arena = measure(path, MeasureSettings(NAMES), made_by="a test")
    now = {(row.system, row.feature): row for row in nugget_means(arena, languages=["en"])[1]}
    foreseen = effect_of(arena, change(views.whole_bank(arena), **WHO))
    assert foreseen.assigner == TERMS
    after = save_edit(path, partial(change, **WHO), made_by="a test")
    then = {(row.system, row.feature): row for row in nugget_means(after, languages=["en"])[1]}
    assert len(foreseen.rows) == len(now) == len(then)
    for row in foreseen.rows:
        before, saved = now[row.system, row.feature], then[row.system, row.feature]
        assert (row.mean, row.low, row.high) == (before.mean, before.low, before.high)
        assert (row.mean_after, row.low_after, row.high_after, row.n) == (saved.mean, saved.low, saved.high, saved.n)
        if before.n == saved.n and row.mean is not None and row.difference is not None:
            assert row.difference == pytest.approx(row.mean_after - row.mean)
            assert row.difference_low is not None
            assert row.difference_low <= row.difference <= row.difference_high
    # The scores that were measured follow in the same transaction, and are those that would be measured anew.
    measured = after.read("features").to_pylist()
    anew = measure(path, MeasureSettings(NAMES), made_by="a test").read("features").to_pylist()
    assert measured == anew
    store.check(after)


def test_a_model_has_yet_to_assign_what_is_new_and_scores_are_null_until_then(path: Path) -> None:
    arena = store.open_arena(path)
    for_all = arena.read("nugget_assignments").to_pylist()
    by_model = [schema.NuggetAssignment(**{**row, "assigner": "best"}) for row in for_all if row["assigner"] == TERMS]
    rows = store.by_key("nugget_assignments", schema.from_rows("nugget_assignments", by_model))
    store.upsert(path, {"nugget_assignments": rows}, made_by="a test")
    arena = measure(path, MeasureSettings(NAMES), made_by="a test")
    change = partial(nuggets.reword, key=key_of(TEXTS[1]), text="It is so.", **WHO)
    foreseen = effect_of(arena, change(views.whole_bank(arena)))
    assert (foreseen.assigner, foreseen.matched) == ("best", 1)
    assert all(row.query_after is not None for row in foreseen.rows if row.feature == "nugget_all")
    after = save_edit(path, change, made_by="a test")
    new = nuggets.nugget_id("It is so.")
    assert {row["assigner"] for row in after.read("nugget_assignments").to_pylist() if row["nugget_id"] == new} == {
        TERMS
    }
    values = {
        (row["query_id"], row["value"] is None, bool(row["reason"]))
        for row in after.read("features", languages=["en"]).to_pylist()
        if row["feature"] == "nugget_all"
    }
    assert (KEY[1], True, True) in values
    assert not any(missing for query, missing, _ in values if query != KEY[1])


def test_a_change_to_other_nuggets_than_those_seen_is_refused(path: Path) -> None:
    seen = views.bank(store.open_arena(path), KEY)
    save_edit(path, partial(nuggets.drop, key=key_of(TEXTS[2]), **WHO), made_by="a test", expected=seen)
    late = partial(nuggets.drop, key=key_of(TEXTS[1]), **WHO)
    with pytest.raises(BankChanged):
        save_edit(path, late, made_by="a test", expected=seen)
    assert set(texts_of(path)) == set(TEXTS[:2])
    other = partial(nuggets.drop, key=("sw", KEY[1], nuggets.nugget_id(TEXTS[1])), **WHO)
    in_swahili = views.bank(store.open_arena(path), ("sw", KEY[1]))
    save_edit(path, other, made_by="a test", expected=in_swahili)  # what is done to other queries does not matter


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_bank_with_its_passages_and_authors(path: Path) -> None:
    app = open_page(name="")
    assert not app.exception
    flat = " ".join(text(app).split())
    assert "What is 1?" in flat
    assert all(words in flat for words in TEXTS)
    assert "It says fact 0." in flat
    assert "by m , from d1#0" in flat
    assert "3 nuggets, 1 vital" in [header.value for header in app.header]
    assert not [button for button in app.button if button.label == "Preview"], "a name first"


def test_a_change_is_looked_at_then_saved_and_kept_with_who_and_when(path: Path) -> None:
    app = open_page()
    app.selectbox(key="nuggets_change").set_value("add").run()
    (area,) = app.text_area
    area.set_value("It is said by many.")
    press(app, "Preview")
    assert not app.exception
    assert "It is said by many." not in texts_of(path), "nothing is written before"
    assert "1 new nugget" not in page_text(app) or TERMS in page_text(app)
    assert len(app.dataframe) or app.get("arrow_data_frame")
    press(app, "Save")
    assert not app.exception
    assert texts_of(path)["It is said by many."] == "vital"
    (entry,) = views.edits(store.open_arena(path), KEY)
    assert (entry.edit.author, entry.edit.change) == ("amina", "add")
    assert votes.now()[:10] == entry.edit.time[:10]
    assert "Saved." in " ".join(message.value for message in app.success)
    assert "amina" in " ".join(text(app).split())
    assert not [button for button in app.button if button.label == "Save"]


def test_a_change_that_is_thrown_away_writes_nothing(path: Path) -> None:
    before = store.open_arena(path).version
    app = open_page()
    app.selectbox(key="nuggets_change").set_value("drop").run()
    press(app, "Preview")
    press(app, "Cancel")
    assert not app.exception
    assert store.open_arena(path).version == before
    assert not [button for button in app.button if button.label == "Save"]


def test_a_change_that_cannot_be_is_refused_in_words(path: Path) -> None:
    app = open_page()
    app.selectbox(key="nuggets_change").set_value("split").run()
    (area,) = app.text_area
    area.set_value("One part alone.")
    press(app, "Preview")
    assert not app.exception
    assert app.error
    assert not [button for button in app.button if button.label == "Save"]


def test_who_comes_second_is_told_and_shown_the_new_bank(path: Path) -> None:
    first, second = open_page(name="amina"), open_page(name="bob")
    for app, kind in ((first, "drop"), (second, "importance")):
        app.selectbox(key="nuggets_change").set_value(kind).run()
        press(app, "Preview")
    press(first, "Save")
    assert len(texts_of(path)) == 2
    press(second, "Save")
    assert not second.exception
    assert second.error
    assert "2 nuggets" in " ".join(header.value for header in second.header)
    assert [entry.edit.author for entry in views.edits(store.open_arena(path), KEY)] == ["amina"]
    press(second, "Preview")
    press(second, "Save")
    assert {entry.edit.author for entry in views.edits(store.open_arena(path), KEY)} == {"amina", "bob"}


def test_a_bundled_arena_is_changed_in_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "bundled_arenas", lambda: {"whole": path})
    before = store.open_arena(path).version
    app = open_page(name="")
    assert not [area for area in app.selectbox if area.key == "nuggets_change"]
    press(app, "Create a copy to edit")
    assert not app.exception
    assert app.session_state["arena"] == "whole-own"
    app.text_input(key="spot_voter").set_value("amina").run()
    app.selectbox(key="nuggets_change").set_value("drop").run()
    press(app, "Preview")
    press(app, "Save")
    assert not app.exception
    assert app.success
    assert store.open_arena(path).version == before


def test_who_is_no_curator_reads_and_changes_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "roles.toml").write_text('default = "voter"\n', "utf-8")
    monkeypatch.setenv("MIRAGE_ROLES", str(tmp_path / "roles.toml"))
    assert not identity.roles().permit("", "curator")
    app = open_page(name="")
    assert not app.exception
    assert not [box for box in app.selectbox if box.key == "nuggets_change"]
    assert "curator" in " ".join(info.value for info in app.info)


def test_an_arena_without_nuggets_is_told_what_brings_them(path: Path, tmp_path: Path) -> None:
    arena = store.open_arena(path)
    tables = {name: arena.read(name) for name in ("queries", "passages", "answers")}
    store.write(tmp_path / "bare" / "bare", tables, made_by="a test")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIRAGE_ARENAS", str(tmp_path / "bare" / "bare"))
        app = open_page(name="", arena="bare")
    assert not app.exception
    assert any("mirage nuggets create" in code.value for code in app.code)


def test_agreement_of_people_is_on_the_page(path: Path) -> None:
    from votes_nuggets_cases import cast_like

    cast_like(store.open_arena(path), TERMS, 12)
    app = open_page(name="")
    assert not app.exception
    assert "Agreement with people" in [header.value for header in app.header]
    assert "No votes" not in page_text(app)
    assert "100" in html(app) or app.dataframe or app.get("arrow_data_frame")


@pytest.mark.browser
def test_a_nugget_is_reworded_from_end_to_end(path: Path) -> None:
    with browser.server(path.parent) as url, browser.chromium() as start:
        opened = start(width=390, height=900)
        page = opened.page
        page.goto(f"{url}/nuggets?arena=whole&language=en&bank={KEY[1]}")
        opened.settle()
        page.get_by_role("textbox", name="Your name").fill("amina")
        page.get_by_role("textbox", name="Your name").press("Enter")
        opened.settle()
        words = page.get_by_role("textbox", name="Text")
        old = words.input_value()
        words.fill("It is so, and <b>everybody</b> says it.")
        page.get_by_role("button", name="Preview").click()
        opened.settle()
        assert texts_of(path).keys() == set(TEXTS)
        page.get_by_role("button", name="Save", exact=True).click()
        opened.settle()
        assert "It is so, and <b>everybody</b> says it." in page.locator(".mg-bank").first.inner_text()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
        assert opened.errors == []
        assert opened.outside == []
    assert old not in texts_of(path)
    assert "It is so, and <b>everybody</b> says it." in texts_of(path)
