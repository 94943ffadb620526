"""The layers, the lateness of heavy imports, and who may touch the disk: a contract, not a habit."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import slow
from conftest import PATIENCE, ROOT

from mirage import api
from mirage.ranking import bootstrap

LATE = ("torch", "transformers", "vllm", "ray", "datasets", "sklearn", "openai", "choix")
HEAVY = (*LATE, "pandas", "pyarrow", "duckdb")
MODULES = sorted(p for p in (ROOT / "mirage").rglob("*.py"))


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(args, cwd=ROOT, capture_output=True, text=True, check=False)


def test_imports_point_down() -> None:
    done = run(sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()")
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import mirage, mirage.schema, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run(sys.executable, "-c", code).stdout.strip() == "[]"


def test_no_module_imports_a_machine_learning_library_when_it_is_imported() -> None:
    names = [".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for p in MODULES]
    wanted = [n for n in names if not n.endswith("__main__") and not n.startswith("mirage.explorer.kit")]
    code = f"import importlib, sys\nfor n in {wanted!r}: importlib.import_module(n)\n"
    code += f"print([m for m in {LATE!r} if m in sys.modules])"
    done = run(sys.executable, "-c", code)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_the_first_page_imports_what_it_shows_alone() -> None:
    """Of a server that has just started: what votes, features and retrieval need would be half as much again."""
    code = "from streamlit.testing.v1 import AppTest\nimport sys\n"
    code += f"page = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout={PATIENCE})\n"
    code += "page.query_params['arena'] = 'nomiracl'\nassert not page.run().exception\n"
    late = ("mirage.ranking", "mirage.people.votes", "mirage.stages.features", "sqlalchemy")
    code += f"print([m for m in {late!r} if m in sys.modules])"
    assert run(sys.executable, "-c", code).stdout.strip() == "['mirage.ranking']"


def test_pages_to_read_import_neither_the_pipeline_nor_a_client(tmp_path: Path) -> None:
    """Either takes longer than a page, and is for those who add something."""
    heavy = ("mirage.pipeline", "mirage.io.imports", "mirage.stages.generate", "openai", "sqlalchemy")
    code = "from streamlit.testing.v1 import AppTest\nimport os, sys\n"
    code += f"os.environ['MIRAGE_HOME'] = {str(tmp_path)!r}\n"
    code += f"page = AppTest.from_file({str(ROOT / 'app.py')!r}, default_timeout={PATIENCE})\n"
    code += "page.query_params['arena'] = 'sample'\npage.run()\n"
    code += "for name in ('hallucination', 'compare', 'features', 'answers', 'battle', 'judges', 'surrogate'):\n"
    code += "    assert not page.switch_page(f'pages/{name}.py').run().exception\n"
    code += f"print([m for m in {heavy!r} if m in sys.modules])"
    done = run(sys.executable, "-c", code)
    assert done.stdout.strip().endswith("[]"), done.stdout + done.stderr


DISK = {"open", "read_text", "write_text", "read_bytes", "write_bytes", "mkdir", "unlink", "iterdir", "glob", "rglob"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_store_touches_the_disk(path: Path) -> None:
    if path.is_relative_to(ROOT / "mirage" / "store"):
        return
    calls = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if name in DISK and owner not in ("store", "files", "webbrowser"):
                calls.append(f"{node.lineno}: {name}")
    # Prompt texts are resources of the package, read through importlib.
    allowed = path.parent.name == "prompts"
    assert not calls or allowed, f"{path}: {calls} belong into mirage/store"


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda p: p.name)
def test_a_page_defines_no_class(path: Path) -> None:
    """A page runs from its first line at every click, and a dataclass takes two milliseconds to make."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    assert not [node.name for node in body if isinstance(node, ast.ClassDef)], "put it into mirage/explorer"


def test_no_global_random_state() -> None:
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        for bad in ("np.random.seed", "random.seed(", "np.random.rand", "import random\n"):
            assert bad not in text, f"{path} uses {bad}: take a seed or a generator as an argument"


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """By module: what it imports, also late, but not for types alone."""
    import grimp

    graph = grimp.build_graph("mirage", exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_files_import_each_other_in_a_circle() -> None:
    """Neither at their top, nor inside functions, nor for types alone."""
    from graphlib import TopologicalSorter

    import grimp

    graph = grimp.build_graph("mirage", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError with the cycle


def test_every_module_is_used_by_a_command_a_page_a_benchmark_or_the_api(
    imports: dict[str, set[str]],
) -> None:
    # The last two by `make sample` and by Streamlit.
    open_ = {
        "mirage.__main__",
        "mirage.api",
        "mirage.pipeline.sample",
        "mirage.explorer.serve.serve",
        "mirage.explorer.serve.process",
    }
    for file in (
        ROOT / "app.py",
        *(ROOT / "pages").glob("*.py"),
        *(ROOT / "benchmarks").glob("*.py"),
    ):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mirage"):
                names = {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
            elif isinstance(node, ast.Import):
                names = {name.name for name in node.names}
            else:
                continue
            open_ |= names & imports.keys()
    reached: set[str] = set()
    while open_:
        module = open_.pop()
        if module not in reached:
            reached.add(module)
            # Importing a module imports the packages around it.
            open_ |= imports.get(module, set()) | {module.rpartition(".")[0]} - {""}
    assert set(imports) - reached == set()


VAGUE = {"one", "found", "said", "asked", "made", "mine", "at"}
"""Words that say nothing of what a name stands for."""
OF_MODELS = (
    *(
        "mirage/llm/",
        "mirage/text/marks.py",
        "mirage/llm/engines/calls.py",
        "mirage/llm/engines/desk.py",
        "mirage/store/ledger.py",
        "mirage/store/worker_ledgers.py",
        "mirage/stages/judge/",
        "mirage/stages/generate/",
        "benchmarks/cluster.py",
        "benchmarks/llm.py",
    ),
    *(
        "mirage/stages/features/grades.py",
        "mirage/stages/features/grading.py",
        "mirage/stages/features/support_grading.py",
        "mirage/stages/nuggets/",
        "mirage/cli/generating.py",
        "mirage/pipeline/parts.py",
        "mirage/pipeline/steps.py",
    ),
    *(
        "tests/fixtures/misbehaving.py",
        "tests/fixtures/engine_vllm_cases.py",
        "tests/fixtures/judge_cases.py",
        "tests/fixtures/parts_cases.py",
        "tests/library/test_cluster.py",
        "tests/library/test_engines.py",
        "tests/library/test_parts.py",
        "tests/library/test_llm",
        "tests/library/test_ledger.py",
        "tests/engines/",
        "tests/library/test_engine_vllm.py",
        "tests/library/test_marks.py",
        "tests/library/test_thoughts.py",
    ),
    *(
        "tests/library/test_generat",
        "tests/library/test_judge.py",
        "tests/library/test_measuring.py",
        "tests/library/test_numbered.py",
        "tests/library/test_run.py",
        "tests/library/test_run_whole.py",
    ),
    *("tests/library/test_nuggets", "tests/library/test_support.py"),
    *("tests/library/test_sft.py", "tests/library/test_upsert.py", "tests/library/test_docs_evaluate.py"),
)
"""Where a chat model sends a reply. What a system gives to a query is an answer."""
OF_FORMATS = (
    "mirage/io/sources/mirage_bench/",
    "mirage/io/sources/nomiracl/prompt.py",
    "mirage/stages/outcomes/",
    "mirage/explorer/kit/entries.py",
)
"""Where a question is a part of a format or of a text, or what a page is about. What a system answers is a query."""
NOUNS = {"answer": ({"reply", "replies"}, OF_MODELS), "query": ({"question", "questions"}, OF_FORMATS)}
PYTHON = [*MODULES, *(path for d in ("pages", "tests", "benchmarks") for path in sorted((ROOT / d).rglob("*.py")))]


def names(tree: ast.AST) -> list[tuple[int, str]]:
    """Every name that a program gives, with its line; not those of other libraries (`np.add.at`)."""
    given: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.arg):
            given.append((node.lineno, node.id if isinstance(node, ast.Name) else node.arg))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            given.append((node.lineno, node.name))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            given.append((node.lineno, node.attr))
    return given


def words_of(name: str) -> set[str]:
    """The words of a name, in lower case: of `by_query` and of `QueryView`."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_name_says_what_it_stands_for(path: Path) -> None:
    vague = [f"{line}: {name}" for line, name in names(ast.parse(path.read_text(encoding="utf-8"))) if name in VAGUE]
    assert not vague, f"{path}: {vague}: give them the noun of what they hold"


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_an_answer_and_a_query_have_one_noun_each(path: Path) -> None:
    given = names(ast.parse(path.read_text(encoding="utf-8")))
    for noun, (others, places) in NOUNS.items():
        if not str(path.relative_to(ROOT)).startswith(places):
            other_nouns = [f"{line}: {name}" for line, name in given if others & words_of(name)]
            assert not other_nouns, f"{path}: {other_nouns}: the noun is {noun}"


def test_a_name_of_a_class_means_one_thing() -> None:
    """No two public classes share a name; the public `Ranking` is the package's own, with notes for the reader."""
    classes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    shared = {name: paths for name, paths in classes.items() if len(paths) > 1}
    assert set(shared) == {"Ranking"}, shared
    assert issubclass(api.Ranking, bootstrap.Ranking)


def test_no_room_is_more_than_an_eighth_of_the_code() -> None:
    """A room is a package of `mirage`, or one of those in a package that holds several."""
    lines: dict[str, int] = {}
    for path in MODULES:
        inner = path.relative_to(ROOT / "mirage").parts[:-1]
        name = "/".join(inner[: 2 if inner[:1] in {("explorer",), ("stages",), ("io",), ("ranking",)} else 1])
        lines[name] = lines.get(name, 0) + len(path.read_text(encoding="utf-8").splitlines())
    whole = sum(lines.values())
    assert {name: n for name, n in lines.items() if n > whole / 8} == {}


def _test_file(name: str) -> Path:
    (path,) = (ROOT / "tests").rglob(name)
    return path


def test_the_slow_tests_are_tests() -> None:
    """`make test-fast` leaves them out by name (tests/slow.py): a name that is gone would leave nothing out."""
    listed = set(slow.listed())
    files = {name.partition("::")[0] for name in listed}
    there = {
        f"{file}::{node.name}"
        for file in files
        for node in ast.walk(ast.parse(_test_file(file).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert listed <= there | {f"{file}::*" for file in files}
