"""Names on the command line: sections of the help, former names, arenas by name, files given to `mirage app`."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import CliRunner
from typer.main import get_command
from typer.testing import CliRunner, Result

from mirage import store
from mirage.cli import app
from mirage.cli.common import FORMER, SECTIONS


def run(*words: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


def test_every_command_stands_in_one_section_of_the_help() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]
    text = run("-h").output
    assert [title for title in SECTIONS if f"{title}:" in text] == list(SECTIONS)
    assert text == run("--help").output


def test_options_of_a_service_have_a_section_of_their_own() -> None:
    own, service = run("judge", "-h").output.split("Model service:")
    assert "--base-url" in service
    assert "--base-url" not in own
    assert "--queries" in own
    assert "Model service" not in run("decide", "-h").output


@pytest.mark.parametrize(
    ("former", "now"),
    [
        (("retrieval", "sample"), ("retrievers", "sample")),
        (("attribution", "sample"), ("failures", "sample")),
        (("exam", "sample", "--judge", "heuristic"), ("judges", "sample", "--judge", "heuristic", "--against-people")),
        (("published", "--source", "NoMIRACL"), ("paper", "figures", "--source", "NoMIRACL")),
        (
            ("rank", "sample", "--referee", "heuristic", "--draws", "20", "--languages", "sw"),
            ("rank", "sample", "--judge=heuristic", "--draws", "20", "--languages", "sw"),
        ),
        (
            ("compare", "sample", "--a", "fluent", "--b", "baseline/bm25-3", "--measure", "rate"),
            ("compare", "sample", "fluent", "baseline/bm25-3", "--measure", "rate"),
        ),
    ],
    ids=lambda words: words[0],
)
def test_a_former_name_does_the_same_with_a_warning(former: tuple[str, ...], now: tuple[str, ...]) -> None:
    old, new = (CliRunner().invoke(app, [*words, "--format", "csv"]) for words in (former, now))
    assert old.exit_code == new.exit_code != 2
    assert old.stdout == new.stdout
    assert "next version" in old.stderr
    assert "next version" not in new.stderr


@pytest.mark.parametrize("former", FORMER)
def test_every_former_command_leads_to_one_that_there_is(former: str) -> None:
    result = run(former, "--help")
    path = " ".join(word for word in FORMER[former] if not word.startswith("-"))
    assert f" {path} [OPTIONS]" in result.stdout.splitlines()[0]
    assert former not in get_command(app).commands  # type: ignore[attr-defined]


def test_a_bundled_arena_has_a_name_where_a_folder_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "gpt-4-azure" in run("rates", "nomiracl", "--languages", "sw", "--format", "csv").stdout
    assert "there is no arena" in run("rates", "nomiracle", code=2).stderr
    # A folder of that name comes first.
    (tmp_path / "nomiracl").mkdir()
    run("rates", "nomiracl", code=2)


def test_a_new_arena_may_have_the_name_of_a_bundled_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bundled = store.open_arena(store.bundled_arenas()["sample"]).version
    (tmp_path / "verdicts.csv").write_text(
        "query_id,system_a,system_b,judge,verdict,language\nq,x,y,j,A,en\n", encoding="utf-8"
    )
    run("import", "verdicts.csv", "--into", "sample")
    assert store.open_arena(tmp_path / "sample").rows("judgments") == 1
    run("arena", "copy", "sample", "nomiracl")
    assert store.is_arena(tmp_path / "nomiracl")
    assert store.open_arena(store.bundled_arenas()["sample"]).version == bundled


def test_the_explorer_offers_to_import_a_file(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.csv"
    file.write_text("system_a,system_b,verdict\nx,y,A\n", encoding="utf-8")
    assert f"mirage import {file}" in run("app", file, code=2).stderr


def test_two_systems_must_be_named() -> None:
    assert "mirage compare DIR A B" in run("compare", "sample", code=2).stderr


def test_scores_of_people_need_the_comparison_with_people() -> None:
    assert "--against-people" in run("judges", "sample", "--ratings", "quality", code=2).stderr
