"""Names on the command line: sections of the help, arenas by name, files given to `mirage app`."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner
from commands import mirage as run
from conftest import ROOT
from golden.cases import read_table
from typer.main import get_command

from mirage import open_arena, schema
from mirage.cli import app
from mirage.cli.common import DEFAULT, SECTIONS, is_service_option
from mirage.cli.connection import ABOUT_SERVICE
from mirage.store.arena import TEXTS, is_arena
from mirage.text.data import load_words

FORMER: dict[str, str] = load_words("former_commands", "mirage.cli")["commands"]


def test_every_command_stands_in_one_section_of_the_help() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]
    text = run("-h").output
    assert [title for title in SECTIONS if f"{title}:" in text] == list(SECTIONS)
    assert text == run("--help").output


def test_options_of_a_service_are_listed_on_request() -> None:
    own, service = run("judge", "-h").output, run("judge", "--help-service").output
    assert "--base-url" in service
    assert "--base-url" not in own
    assert "--queries" in own
    assert "--help-service" not in run("compare", "-h").output


def told_commands() -> Iterator[tuple[str, str]]:
    """Commands in the texts of the program, docstrings included; `X` is what a text is filled with."""
    commands = [command.split(maxsplit=1) for command in schema.COMMANDS.values()]
    yield from (("tables.toml", told) for program, told in commands if program == "mirage")
    yield from (("former_commands.toml", told.removeprefix("mirage ")) for told in FORMER.values())
    for path in [*(ROOT / "mirage").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        source = path.read_text("utf-8")
        if "mirage " not in source:
            continue
        tree = ast.parse(source)
        filled = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        parts = {id(part) for node in filled for part in ast.walk(node)}
        texts = ["".join(str(v.value) if isinstance(v, ast.Constant) else "X" for v in node.values) for node in filled]
        constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in parts]
        texts += [node.value for node in constants if isinstance(node.value, str)]
        for told in re.findall(r"(?:^|[`:\n(&] ?|run |then )(?=mirage ([a-z][^`\n;()#&]*))", "\n".join(texts)):
            yield path.name, re.split(r"\.(?: |$)|, |: | (?:and|or|then|to|if|again|for|[a-z]+s) ", told)[0]


@pytest.mark.parametrize("former", FORMER)
def test_a_former_command_is_refused_with_the_one_of_today(former: str) -> None:
    refused = run(*former.split(), "sample", code=2).stderr
    assert FORMER[former] in refused


@pytest.mark.parametrize(*read_table("completions"))
def test_names_of_arenas_systems_and_judges_complete_on_tab(typed: str, offered: tuple[str, ...]) -> None:
    place = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_MIRAGE_COMPLETE": "complete_bash"}
    done = CliRunner().invoke(app, env=place, prog_name="mirage")
    assert set(offered) <= set(done.stdout.split())
    assert offered or not done.stdout.strip()


def test_every_command_that_the_program_tells_can_be_run() -> None:
    """It is there with its options; one with arguments has all that are needed."""
    wrong, top = [], get_command(app)
    for file, told in told_commands():
        command = top
        words = [word for word in told.split() if word != "--help"]
        while inner := getattr(command, "commands", None):
            known = words and words[0] in inner
            if not known and DEFAULT not in inner:
                break
            command = inner[words.pop(0) if known else DEFAULT]
        if inner:
            wrong += [(file, told, "unknown")] if words and words[0].isalpha() and words[0].islower() else []
            continue
        options = {name: each for each in command.params for name in (*each.opts, *each.secondary_opts)}
        given, arguments = set(), 0
        while words:
            word = words.pop(0)
            if not word.startswith("-"):
                arguments += 1
            elif word not in options:
                wrong.append((file, told, word))
            else:
                given.add(options[word].name)
                words = words if options[word].is_flag else words[1:]
        taken = [each for each in command.params if each.param_type_name == "argument"]
        if arguments > len(taken) and all(each.nargs == 1 for each in taken):
            wrong.append((file, told, "too many arguments"))
        lacking = [each.opts[0] for each in command.params if each.required and each not in taken]
        if arguments and arguments >= sum(each.required for each in taken):
            wrong += [(file, told, name) for name in lacking if options[name].name not in given]
    assert wrong == []


def test_there_are_sixteen_commands_with_at_most_250_options_and_short_help() -> None:
    commands = list(walk(get_command(app), ()))
    assert len(get_command(app).commands) == 16  # type: ignore[attr-defined]
    assert sum(len(own_options(command)) for _, command in commands) <= 250
    for path, _ in commands:
        text = run(*path, "--help").stdout
        first = text.split("\n\n")[1]
        assert len(text.splitlines()) <= 60, path
        assert len(first.splitlines()) <= 3, path


def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that run it."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, each in command.commands.items():
        yield from walk(each, path if name == DEFAULT else (*path, name))


def own_options(command: Any) -> list[str]:
    """Names of a command's options, but those of the model service and of every command."""
    return [
        each.name
        for each in command.params
        if each.param_type_name == "option"
        and each.name not in ("help", *ABOUT_SERVICE)
        and not is_service_option(command, each)
    ]


def test_options_of_a_service_come_from_a_file_and_what_is_typed_precedes(tmp_path: Path) -> None:
    settings = tmp_path / "service.toml"
    settings.write_text('model = "m"\nbase-url = "http://127.0.0.1:1/v1"\nprice_in = 2\n', "utf-8")
    judge = ("judge", "sample", "--judge", "m", "--pairs", 1, "--languages", "sw", "--dry-run")
    run("arena", "copy", "sample", tmp_path / "copy")
    judge = (judge[0], tmp_path / "copy", *judge[2:])
    with_file = run(*judge, "--settings", settings, "--price-out", 3).stderr
    typed = run(*judge, "--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--price-in", 2, "--price-out", 3)
    assert with_file == typed.stderr
    settings.write_text("modle = 1\n", "utf-8")
    assert "modle" in run(*judge, "--settings", settings, code=2).stderr


def test_a_bundled_arena_has_a_name_where_a_folder_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "gpt-4-azure" in run("report", "rates", "nomiracl", "--languages", "sw", "--format", "csv").stdout
    assert "there is no arena" in run("report", "rates", "nomiracle", code=2).stderr
    # A folder of that name comes first.
    (tmp_path / "nomiracl").mkdir()
    run("report", "rates", "nomiracl", code=2)


@pytest.mark.parametrize("name", ["nomiracl", "people", "published"])
def test_what_a_bundled_arena_lacks_is_brought_to_another(name: str) -> None:
    for kind in ("retrieval", "languages", "levels", *(["judges"] if name != "people" else [])):
        told = run("report", kind, name, code=2).stderr
        advice = told.partition("to do: ")[2]
        assert f"data/{name}" not in advice
        assert advice.startswith(f"run: {TEXTS}" if name == "nomiracl" else "use another arena")


def test_advice_on_a_bundled_arena_runs_and_leaves_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (["measure"], ["judge", "--judge", "heuristic"], ["generate", "retrieve"], ["measure", "outcomes"]):
        assert "run: mirage arena copy sample my-arena" in run(*command, "sample", code=2).stderr
    arena = open_arena("sample-across")
    for words in arena.command("outcomes").split(" && "):
        run(*shlex.split(words)[1:])
    assert "outcomes" in open_arena(tmp_path / "my-arena").tables
    assert open_arena(arena.path).version == arena.version


def test_one_row_is_told_in_the_singular_and_shares_in_percent(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text("question,answer,system,language\nWho?,Ada,a,en\n")
    told = run("import", file, "--into", tmp_path / "one").stderr
    assert "1 query" in told
    assert not re.search(r"\b1 (queries|answers|records)\b", told)
    assert "100.0%" in run("report", "languages", "sample-across").stdout
    assert "omit --languages" in run("report", "languages", "sample", "--languages", "all", code=2).stderr


def test_options_that_an_import_advises_are_those_of_evaluate(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("question,anwser,sytem\nWho?,Ada,a\nWho?,Bo,b\n")
    run("evaluate", file, "--map", "anwser=answer,sytem=system", "--set", "language=en")
    arena = open_arena(tmp_path / "mine-arena")
    assert set(arena.read("answers")["system"].to_pylist()) == {"a", "b"}
    assert "--map" in run("evaluate", arena.path, "--map", "anwser=answer", code=2).stderr


def test_a_new_arena_may_have_the_name_of_a_bundled_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bundled = open_arena("sample").version
    (tmp_path / "verdicts.csv").write_text("query_id,system_a,system_b,judge,verdict,language\nq,x,y,j,A,en\n", "utf-8")
    run("import", "verdicts.csv", "--into", "sample")
    assert open_arena(tmp_path / "sample").rows("judgments") == 1
    run("arena", "copy", "sample", "nomiracl")
    assert is_arena(tmp_path / "nomiracl")
    assert open_arena(ROOT / "data" / "sample").version == bundled


def test_the_explorer_refuses_a_file_and_says_how_to_evaluate_it(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.csv"
    file.write_text("system_a,system_b,verdict\nx,y,A\n", "utf-8")
    assert f"mirage evaluate {file} --open" in run("app", file, code=2).stderr


def test_two_systems_must_be_named() -> None:
    assert "compared with itself" in run("compare", "sample", "fluent", code=2).stderr


def test_scores_of_people_need_the_comparison_with_people() -> None:
    assert "--against-people" in run("report", "judges", "sample", "--ratings", "quality", code=2).stderr
