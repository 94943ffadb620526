"""Arenas with few tables: every page and command works with what is there, and tells what brings the rest."""

from pathlib import Path

import few_tables
import pytest
from commands import CliRunner
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage import cli, schema
from mirage.errors import TableMissing
from mirage.store.arena import Arena
from mirage.store.lineage import LINEAGE
from pages import page_text

PAGES = (
    *("leaderboard", "hallucination", "compare", "battle", "features", "answers"),
    *("judges", "spot_check", "surrogate", "your_model", "methods"),
)
_COMMANDS = """
check DIR
report rates DIR
rank DIR --judge relevance --draws 20
rank DIR --judge heuristic --draws 20
rank DIR --judge relevance --tag domain=law --draws 20
report judges DIR
export table DIR answers --out OUT/a.csv
export preferences DIR --judge heuristic --out OUT/a.jsonl
votes agreement DIR
"""
COMMANDS = tuple(tuple(line.split()) for line in _COMMANDS.strip().splitlines())


@pytest.fixture(scope="module")
def arenas(module_path: Path) -> dict[str, Arena]:
    return few_tables.write(module_path)


@pytest.mark.parametrize("kind", few_tables.KINDS)
def test_every_page_opens_and_a_missing_table_comes_with_its_command(
    arenas: dict[str, Arena], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    arena = arenas[kind]
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path.parent))
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path))
    for name in PAGES:
        page = AppTest.from_file(ROOT / "pages" / f"{name}.py", default_timeout=PATIENCE)
        page.query_params["arena"] = kind
        page.run()
        assert not page.exception, (name, page.exception)
        assert not page.error, (name, [error.value for error in page.error])
        words = page_text(page)
        if "This arena has no" in words and "texts" not in words.split("This arena has no", 1)[1][:8]:
            assert any(str(arena.path) in code.value for code in page.code), (name, words)


@pytest.mark.parametrize("kind", few_tables.KINDS)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:4]))
def test_every_command_works_or_says_what_to_do(
    arenas: dict[str, Arena],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    kind: str,
    command: tuple[str, ...],
) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    places = {"DIR": str(arenas[kind].path)}
    arguments = [places.get(part, part.replace("OUT", str(tmp_path))) for part in command]
    done = CliRunner().invoke(cli.app, arguments, prog_name="mirage")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (0, 2)
    if done.exit_code:
        assert "to do:" in done.stderr


def test_a_missing_table_is_told_with_the_table_it_starts_from(arenas: dict[str, Arena]) -> None:
    cases = [
        ("verdicts", "outcomes", "answers"),
        ("answers", "outcomes", "outcomes"),
        ("numbers", "predictions", "answers"),
    ]
    for kind, table, missing in cases:
        with pytest.raises(TableMissing) as refused:
            arenas[kind].need(table)
        assert refused.value.table == missing
        assert refused.value.command == arenas[kind].command(missing)
        assert refused.value.adds == schema.ADDS[table]


def test_every_table_says_what_it_brings() -> None:
    assert set(schema.ADDS) == set(schema.TABLES)
    assert set(LINEAGE) | {name for lineage in LINEAGE.values() for name in lineage.sources} <= set(schema.TABLES)
