"""The guide is true: its blocks run, its commands, links and names exist, and its generated parts are today's."""

import ast
import builtins
import importlib
import inspect
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import build_command, lines_within, mirage, print_on_a_terminal
from conftest import ROOT
from misbehaving import Act, Call, Service, embedded, reply

import mirage as package
from mirage import cli, open_arena
from mirage.battles.counts import from_outcomes
from mirage.battles.decision import decisions
from mirage.cli.common import DEFAULT
from mirage.explorer.kit.page_list import PAGES

GUIDE = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMED = [*GUIDE, ROOT / "CONTRIBUTING.md", ROOT / "data" / "README.md"]
"""Pages whose commands, files and functions must exist; decisions and the changelog also name what is gone."""
BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""Language, file name and content of a block."""
RECIPES = "extend.md"
"""Its blocks are applied to a copy of the program by test_extend.py."""
STUB = "http://127.0.0.1:8000/v1"
"""The service of the guide; a test puts its own in its place."""
PROGRAM = build_command(cli.app)
OTHER_PROGRAMS = {"--index-url"}
"""Options of pip."""


def text_of(path: Path) -> str:
    return path.read_text("utf-8")


# Blocks run

QUESTION = {"question": "When was the old bridge over the river built?", "contexts": ["It was built in 1902."]}
PAIRS = [("new", "old", "A"), ("old", "new", "B"), ("new", "old", "tie")]
JUDGED = {"language": "sw", "judge": "NAME"}
GIVEN = {
    "answers.jsonl": [QUESTION | {"system": name, "answer": f"{name}: in 1902 [1]."} for name in ("new", "old")],
    "judgments.jsonl": [
        JUDGED | {"query_id": f"q{n}", "system_a": a, "system_b": b, "verdict": verdict}
        for n, (a, b, verdict) in enumerate(PAIRS)
    ],
}
"""Records of the files of one's own that the README speaks of."""


def model(call: Call) -> Act:
    """What the model of the guide says: a verdict or points to whoever asks for them, else an answer."""
    if "input" in call.body:
        return embedded(call, lambda text: [1.0, float(len(text))])
    marks = (mark for mark in ("[[A]]", "[[5]]") if mark in call.content)
    return reply(next((f"For a reason. {mark}" for mark in marks), "It was built in 1902 [1]."))


SOME = ["en", "sw", "te"]
"""Languages of the sample that the pages name: a command takes all that there are."""
WITH_BLOCKS = [page for page in GUIDE if page.name != RECIPES]
LONG = [page for page in WITH_BLOCKS if page.name in ("api.md", "evaluate.md", "judges.md", "models.md")]
"""Pages that take seconds: left to CI (`tests/slow.txt`)."""


@pytest.fixture(scope="module")
def data(module_path: Path) -> Path:
    """The bundled data, of the sample some languages."""
    folder = module_path / "data"
    shutil.copytree(ROOT / "data", folder, ignore=shutil.ignore_patterns("sample"))
    sample = open_arena("sample")
    tables = {name: sample.read(name, languages=SOME if sample.languages(name) else None) for name in sample.tables}
    write_arena(folder / "sample", tables, title=sample.title, label=sample.label)
    return folder


@pytest.mark.parametrize("page", [page for page in WITH_BLOCKS if page not in LONG], ids=lambda page: page.name)
def test_the_blocks_of_a_page_run_in_their_order_and_fit_a_terminal(
    page: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_blocks(page, data, tmp_path, monkeypatch)


@pytest.mark.parametrize("page", LONG, ids=lambda page: page.name)
def test_the_blocks_of_a_long_page_run_too(
    page: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_blocks(page, data, tmp_path, monkeypatch)


def run_blocks(page: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a page's blocks on a terminal of 80 columns, in a folder with the bundled data and a service."""
    blocks = BLOCK.findall(text_of(page))
    shutil.copytree(data, tmp_path / "data")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    print_on_a_terminal(80, monkeypatch)
    for name, records in GIVEN.items() if page.name == "README.md" else ():
        Path(name).write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    names: dict[str, Any] = {}
    with Service(model) as service:
        for kind, file, content in blocks:
            here = content.replace(STUB, service.url)
            if file:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(content, "utf-8")
            elif kind == "python":
                exec(compile(here, page.name, "exec"), names)
            elif kind == "bash":
                for line in here.replace("\\\n", " ").splitlines():
                    run(line)


def run(line: str) -> None:
    """Run a line of a block. A command exits with 0, or as its comment `# ends with CODE` says; what it prints fits."""
    command, _, code = line.partition("# ends with ")
    match shlex.split(command, comments=True):
        case ["mirage", *words]:
            try:
                printed = mirage(*words, code=int(code or 0)).stdout
            except AssertionError as error:
                raise AssertionError(f"{line}\n{error}") from None
            if "--format" not in words:
                lines_within(printed, 80)
        case ["cp", "-r", source, target]:
            shutil.copytree(source, target)
        case []:
            pass
        case _:
            raise AssertionError(f"no test can run: {line}")


def test_the_ranking_in_the_readme_is_what_its_command_prints() -> None:
    command, shown = re.findall(
        r"```bash\n(mirage rank [^\n]+)\n```\n\n<!-- output -->\n```\n(.*?)```", text_of(ROOT / "README.md"), re.DOTALL
    )[0]
    printed = mirage(*shlex.split(command)[1:]).stdout
    assert [line.rstrip() for line in printed.splitlines() if line.strip()] == shown.splitlines()


# Commands exist


def commands_of_blocks(text: str) -> Iterator[str]:
    """Lines of blocks that begin with `mirage`, without comments and with continued lines joined."""
    for _, _, content in BLOCK.findall(text):
        for line in content.replace("\\\n", " ").splitlines():
            if found := re.match(r"(?:\$ |\s*- run: )?(mirage [^#\n]*)", line):
                yield found[1]


def commands_in_words(text: str) -> Iterator[str]:
    """Commands in the sentences of a page: those between backticks."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from (" ".join(found.split()) for found in re.findall(r"`(mirage [^`]+)`", text))


def fault(command: str) -> str:
    """Say which word of a command does not exist; nothing if all do. `a|b` and `a, b` stand for several commands."""
    words = command.replace("...", " ").split()[1:]
    node = PROGRAM
    while words and getattr(node, "commands", None):
        name = words[0].rstrip(".,:)")
        if name in node.commands:
            node, words = node.commands[name], words[1:]
        elif DEFAULT in node.commands:
            node = node.commands[DEFAULT]
        elif not re.fullmatch(r"[a-z][a-z-]*", name):
            break  # an option of the group, or a place for a word
        else:
            return f"no command {name}"
    known = {"--help", "--version", "--install-completion"}
    nodes = [node, getattr(node, "commands", {}).get(DEFAULT)] if words else [node]
    for each in filter(None, nodes):
        known |= {name for parameter in each.params for name in (*parameter.opts, *parameter.secondary_opts)}
    options = {found for word in words for found in re.findall(r"^(--[a-z][a-z-]*|-[a-z])\b", word.strip("[]()"))}
    return f"no option {sorted(options - known)}" if options - known else ""


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.name)
def test_a_command_named_in_the_guide_exists(page: Path) -> None:
    text = text_of(page)
    commands = [*commands_of_blocks(text), *commands_in_words(text)]
    assert {command: wrong for command in commands if (wrong := fault(command))} == {}


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.name)
def test_an_option_named_alone_belongs_to_a_command(page: Path) -> None:
    every = {"--help", "--version", "--install-completion"}
    stack = [PROGRAM]
    while stack:
        node = stack.pop()
        stack += getattr(node, "commands", {}).values()
        every |= {name for parameter in node.params for name in (*parameter.opts, *parameter.secondary_opts)}
    text = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    if page.name == "CONTRIBUTING.md":
        text = text.replace("ARGS=--all", "")
    assert set(re.findall(r"`(--[a-z][a-z-]+)(?![\w])", text)) - every - OTHER_PROGRAMS == set()


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.name)
def test_a_make_target_named_in_the_guide_exists(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), flags=re.MULTILINE)
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text_of(page), flags=re.MULTILINE)) <= set(targets)


# Names, files and links exist


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("page", [*NAMED, ROOT / "docs" / "decisions" / "README.md"], ids=lambda page: page.name)
def test_a_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\((?!https?://)([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        path = (page.parent / file) if file else page
        assert path.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", text_of(path), flags=re.MULTILINE)
            assert anchor in map(slug, headings), target


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.name)
def test_a_file_module_or_function_named_in_the_guide_exists(page: Path) -> None:
    text = text_of(page)
    words = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))
    written = {name for _, name, _ in BLOCK.findall(text)}
    for word in words:
        if re.fullmatch(r"(?:mirage|pages|tests|docs|benchmarks|data|\.ci)/[\w./-]+", word):
            assert "NAME" in word or word in written or (ROOT / word).exists(), word
        elif re.fullmatch(r"mirage(?:\.[A-Za-z_]\w*)+", word) and word != "mirage.py":
            resolve(word)


def resolve(dotted: str) -> Any:
    """The module, class, function or attribute of a dotted name."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            fields = getattr(value, "__dataclass_fields__", {})
            value = fields[part] if part in fields else getattr(value, part)
        return value
    raise ModuleNotFoundError(dotted)


def test_the_page_of_the_api_names_every_public_function_and_no_other() -> None:
    text = text_of(ROOT / "docs" / "api.md")
    assert set(re.findall(r"\bmirage\.(\w+)", text)) == set(package.__all__)


def test_every_page_of_the_explorer_is_listed_with_what_it_asks_and_on_the_tour() -> None:
    pages = [(entry.title, entry.question) for entry in PAGES if entry.file.is_file()]
    index = text_of(ROOT / "docs" / "index.md")
    assert re.findall(r"^\| ([A-Z][a-z ?]+) \| (.+\?) \|$", index, flags=re.MULTILINE) == pages
    tour = text_of(ROOT / "docs" / "tour.md")
    links = re.findall(r"\(http://localhost:8501/(\w*)", tour)
    assert {link or PAGES[0].name for link in links} == {entry.name for entry in PAGES if entry.file.is_file()}
    assert re.findall(r"^## (\d)\.", tour, flags=re.MULTILINE) == list("12345")
    assert tour.count("\n## 5. Now your file\n") == 1


def test_the_tree_of_the_readme_names_every_file_and_module() -> None:
    tree = next(block for _, _, block in BLOCK.findall(text_of(ROOT / "README.md")) if block.startswith("app.py"))
    named = {line.split()[0].rstrip("/"): line.startswith("  ") for line in tree.splitlines()}
    command = ["git", "ls-files"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [Path(name) for name in listed if not name.startswith(".") and (ROOT / name).exists()]
    assert {name for name, inside in named.items() if not inside} == {file.parts[0] for file in files} - {"README.md"}
    modules = {file.parts[1] for file in files if file.parts[0] == "mirage"}
    inner = {name for name in modules if not name.startswith("__") and name != "py.typed"}
    assert {name for name, inside in named.items() if inside} == inner


def test_nothing_speaks_of_a_machine() -> None:
    own = "|".join(("/wo" + "rk/", "/ro" + "ot/", "/tm" + "p/"))
    for path in [*NAMED, ROOT / "CHANGELOG.md"]:
        assert not re.search(own, text_of(path)), path


# What is made from the program


def test_the_parts_made_from_the_program_are_those_of_today() -> None:
    scripts = {name: runpy.run_path(str(ROOT / "docs" / "site" / f"{name}.py")) for name in MADE}
    assert scripts["architecture"]["page"]() == text_of(scripts["architecture"]["FILE"]), "run: make docs"
    assert scripts["glossary"]["glossary"]() == text_of(scripts["glossary"]["FILE"]), "run: make docs"
    pages = scripts["generated"]["pages_with_parts"]()
    assert {path.name for path in pages} == {
        "index.md",
        "commands.md",
        "data.md",
        "formats.md",
        "methods.md",
        "models.md",
    }
    for path in pages:
        assert scripts["generated"]["page"](text_of(path)) == text_of(path), f"{path.name}: run: make docs"


MADE = ("architecture", "glossary", "generated")
"""Scripts of docs/site that `make docs` runs."""


def test_the_guide_builds_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    config = ROOT / "docs" / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(config), "-d", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (result.returncode, result.stderr.strip()) == (0, "")
    for page in tmp_path.glob("*.html"):
        fetched = re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"']?(https?:[^\"' >]+)", text_of(page))
        assert [url for url in fetched if "canonical" not in url] == [], page.name


def test_every_page_is_in_the_navigation() -> None:
    config = text_of(ROOT / "docs" / "site" / "mkdocs.yml")
    pages = {path.name for path in GUIDE[1:]} | {"decisions/README.md"}
    assert pages == set(re.findall(r": (\S+\.md)$", config, flags=re.MULTILINE))


# Decisions

DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


def test_the_index_of_decisions_is_complete() -> None:
    index = text_of(ROOT / "docs" / "decisions" / "README.md")
    listed = re.findall(r"^- \[(\d{3} [^]]+)\]\(([^)]+)\)$", index, flags=re.MULTILINE)
    titles = [text_of(path).partition("\n")[0].removeprefix("# ") for path in DECISIONS]
    assert sorted(listed) == list(zip(titles, (path.name for path in DECISIONS), strict=True))


# Examples in docstrings

NO_CODE = {"mirage/people/votes/powered.py"}
"""Files whose indented blocks are formulas, which happen to parse as Python."""


def blocks(docstring: str) -> Iterator[str]:
    """The indented blocks of a docstring that follow an empty line."""
    lines = docstring.splitlines()
    start = 1
    while start < len(lines):
        if lines[start].startswith("    ") and not lines[start - 1].strip():
            end = start
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield inspect.cleandoc("\n" + "\n".join(lines[start:end]))
            start = end
        start += 1


@cache
def examples() -> list[tuple[str, str]]:
    """Module and code of every example that is Python and calls something."""
    found = []
    for path in sorted((ROOT / "mirage").rglob("*.py")):
        file = path.relative_to(ROOT)
        if file.as_posix() in NO_CODE:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                continue
            for block in blocks(ast.get_docstring(node) or ""):
                try:
                    tree = ast.parse(block)
                except SyntaxError:
                    continue
                if any(isinstance(inner, ast.Call) for inner in ast.walk(tree)):
                    module = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
                    found.append((module, block))
    return found


def check_calls(module: str, code: str) -> None:
    """Expect that an example calls what exists, with keywords that it takes."""
    tree = ast.parse(code)
    namespace = {**vars(builtins), "Path": Path, **vars(importlib.import_module(module))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            namespace |= {alias.asname or alias.name: importlib.import_module(alias.name) for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found = importlib.import_module(node.module)
            namespace |= {alias.asname or alias.name: getattr(found, alias.name) for alias in node.names}
    assigned = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        dotted = ast.unparse(node.func)
        first, *rest = dotted.split(".")
        if not dotted.replace(".", "").isidentifier() or first in assigned or (rest and first not in namespace):
            continue  # a method of something that the example has made or been given
        value = namespace[first]
        for name in rest:
            value = getattr(value, name)
        keywords = {keyword.arg for keyword in node.keywords if keyword.arg}
        parameters = inspect.signature(value).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            assert keywords <= set(parameters), f"{dotted} of {module}"


def test_examples_call_what_exists_with_keywords_that_they_take() -> None:
    for module, code in examples():
        check_calls(module, code)


RUN = (
    *("mirage.battles.decision", "mirage.battles.judge", "mirage.battles.verdict_rows"),
    *("mirage.people.votes.queue", "mirage.text.languages"),
)
"""Modules whose examples run on the sample; the others need a service, a file of the reader's, or minutes."""


@pytest.fixture(scope="module")
def sample_rows() -> dict[str, Any]:
    """What the examples call `arena`, `judgments` and so on, of one language."""
    arena = open_arena("sample")
    names = ("queries", "passages", "answers", "outcomes", "judgments", "ratings")
    tables = {name: arena.read(name, languages=["sw"]) for name in names}
    spoken = tables["judgments"]["judge"][0].as_py()
    decided = decisions(tables["judgments"])[spoken]
    given = {"arena": arena, "battle": next(iter(decided)), "k": 0, "log": [], "seen": [], "judges": [spoken]}
    return {**tables, **given, "battles": from_outcomes(tables["outcomes"])["sw"], "judge": spoken}


def test_pitfall_196_examples_run(sample_rows: dict[str, Any]) -> None:
    chosen = [example for example in examples() if example[0] in RUN]
    assert {module for module, _ in chosen} == set(RUN)
    for module, code in chosen:
        named = code.replace('"gpt-4o"', repr(sample_rows["judge"])).replace('["en"]', '["sw"]')
        exec(compile(named, module, "exec"), vars(importlib.import_module(module)) | sample_rows)  # our own docstrings
