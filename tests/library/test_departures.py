"""Departures from the published programs and prompts: measured on real outcomes, and in the guide as measured."""

import importlib.util
from types import ModuleType

import pytest
from conftest import ROOT

FOLDER = ROOT / "docs" / "site"
PAGE = (ROOT / "docs" / "methods.md").read_text("utf-8")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script, which imports its neighbour."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        spec = importlib.util.spec_from_file_location("departures", FOLDER / "departures.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def test_every_prompt_has_a_source_and_each_departure_a_reason(script: ModuleType) -> None:
    folder = ROOT / "mirage" / "llm" / "prompts"
    names = [origin.name for origin in script.ORIGINS]
    assert sorted(names) == sorted(path.stem for path in folder.glob("*.txt"))
    for origin in script.ORIGINS:
        assert origin.source.startswith(("[NM]", "[MB]", "[NG]", "[TR]"))
        assert all(departure.what and departure.why for departure in origin.departures)


@pytest.mark.skipif("| Difference | Published programs |" not in PAGE, reason="the guide does not hold the tables")
def test_the_tables_of_the_guide_are_those_of_the_script(script: ModuleType) -> None:
    for table in script.tables().split("\n\n"):
        assert table in PAGE, "run: python docs/site/departures.py"
