"""The layers, the lateness of heavy imports, and who may touch the disk: a contract, not a habit."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import slow
from conftest import PATIENCE, ROOT

import mirage

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


DISK = {
    *("open", "read_text", "write_text", "read_bytes", "write_bytes", "mkdir", "unlink", "iterdir", "glob", "rglob"),
    *("touch", "rmdir", "rmtree", "copytree", "copyfile", "TemporaryDirectory", "NamedTemporaryFile", "mkdtemp"),
}
"""Calls that read, write or list files; asking whether a path is there is none of them."""


def test_only_the_store_touches_the_disk() -> None:
    # Prompt texts, vocabularies and words are resources of the package, read through importlib.
    resources = ("prompts/__init__.py", "outcomes/vocabulary.py", "text/data.py")
    others = [
        p for p in MODULES if not p.is_relative_to(ROOT / "mirage" / "store") and not p.as_posix().endswith(resources)
    ]
    calls = []
    for path in others:
        tree = ast.parse(path.read_text("utf-8"))
        of_store = {name.rpartition(".")[2] for name in imported_names(tree) if name.startswith("mirage.store.")}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in of_store:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                owner = getattr(getattr(node.func, "value", None), "id", "")
                if name in DISK and owner not in ("store", "files", "webbrowser"):
                    calls.append(f"{path}:{node.lineno}: {name}")
    assert not calls, f"{calls} belong into mirage/store"


NUMBERS = ("numpy", "scipy", "pandas", "mirage.stats")
"""Libraries that compute."""
OF_PAGES = sorted((*(ROOT / "pages").glob("*.py"), *(ROOT / "mirage" / "explorer").rglob("*.py")))


def foreign_work(path: Path) -> set[str]:
    """Return what a file of a page does that belongs elsewhere: import another page, compute, or query."""
    own = path.stem if path.parent.name == "pages" else path.parent.name
    tree, found = ast.parse(path.read_text("utf-8")), set[str]()
    for name in imported_names(tree):
        if re.match(rf"mirage\.explorer\.(?!(kit|{own})\b)", name):
            found.add("another page")
        if name.startswith(NUMBERS):
            found.add("numbers")
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return found | {"SQL" for call in calls if getattr(call, "attr", "") == "sql"}


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Yield what a file imports, with the module that it comes from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_a_page_reads_views_and_the_kit_alone() -> None:
    found = {str(path.relative_to(ROOT)): foreign_work(path) for path in OF_PAGES}
    assert {path: work for path, work in found.items() if work} == {}


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda p: p.name)
def test_a_page_defines_no_class(path: Path) -> None:
    """A page runs from its first line at every click, and a dataclass takes two milliseconds to make."""
    body = ast.parse(path.read_text("utf-8")).body
    assert not [node.name for node in body if isinstance(node, ast.ClassDef)], "put it into mirage/explorer"


def test_no_global_random_state() -> None:
    for path in MODULES:
        text = path.read_text("utf-8")
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
    # The last two by Streamlit, and as a process of its own.
    open_ = {
        "mirage.__main__",
        "mirage.api",
        *(getattr(mirage, name).__module__ for name in mirage.__all__),
        "mirage.explorer.server",
        "mirage.views.warm",
    }
    for file in (
        ROOT / "app.py",
        *(ROOT / "pages").glob("*.py"),
        *(ROOT / "benchmarks").glob("*.py"),
    ):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
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


TESTS = sorted((ROOT / "tests").rglob("*.py"))
TOO_LONG = 80


def test_a_tests_name_is_short() -> None:
    names = {
        node.name
        for path in TESTS
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert not {name for name in names if len(name) >= TOO_LONG}


def private_uses(tree: ast.AST) -> Iterator[str]:
    """Yield the private names of the package that a test imports, reads or replaces."""
    ours: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [name for name in node.names if name.name.partition(".")[0] == "mirage"]
            ours |= {name.asname or "mirage" for name in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mirage":
            names = node.names
            ours |= {name.asname or name.name for name in names}
        else:
            continue
        yield from (part for name in names for part in name.name.split(".") if is_private(part))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and root_name(node.value) in ours:
            yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
            texts = [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant)]
            last = (str(text).rpartition(".")[2] for text in texts)
            yield from filter(is_private, last)


def is_private(name: str) -> bool:
    """Return whether a name is private; names of Python's and Jupyter's protocols end with an underscore too."""
    return name.startswith("_") and not name.endswith("_")


def root_name(node: ast.AST) -> str:
    """Return `a` of the expression `a.b.c(d)`."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


LIMIT = "a limit that a test lowers, so that a small input meets it"
PRIVATE = {
    "test_doors.py": ({"_offered", "_refusal"}, "no request of a browser lacks a length"),
    "test_engines.py": ({"_BYTES"}, LIMIT),
    "test_headings.py": ({"_HEADING"}, "the expression that headings were read with, beside the faster reading"),
    "test_owned.py": ({"_OWNERS"}, LIMIT),
    "test_page_nuggets.py": ({"_row"}, "a row of an HTML table"),
    "test_rank_control.py": ({"_FEW"}, LIMIT),
    "test_search.py": (
        {"_FEW", "_KEPT", "_MANY", "_UNSURE", "_by_index", "_lock", "_place", "_stem"},
        "limits that a test lowers; the index on disk, which has no public name, beside reading every text",
    ),
    "test_vllm.py": ({"_refuses"}, "the errors of a real engine"),
}
"""Private names that tests still use, by file, with the reason. Take lines away; add none."""


def test_no_test_reaches_into_private_names() -> None:
    new = {}
    for path in TESTS:
        known, _ = PRIVATE.get(path.name, (set(), ""))
        new[path.name] = set(private_uses(ast.parse(path.read_text("utf-8")))) - known
    assert {name: uses for name, uses in new.items() if uses} == {}


def test_private_names_in_a_test_are_found() -> None:
    code = "import mirage\nfrom mirage import store\nfrom mirage.io import _a\nstore.open('x')._b\nmirage._c\nself._d"
    code += "\npatch.setattr(store, '_e', 1)\npatch.setattr('mirage.store._f', 1)"
    assert sorted(private_uses(ast.parse(code))) == ["_a", "_b", "_c", "_e", "_f"]


def test_a_name_of_a_class_means_one_thing() -> None:
    classes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    shared = {name: paths for name, paths in classes.items() if len(paths) > 1}
    assert not shared, shared


MOST = 8


def test_functions_take_at_most_eight_parameters() -> None:
    """Behind the commands and the functions of the API, whose parameters are the list of options."""
    many = {}
    for path in (*MODULES, *(ROOT / "pages").glob("*.py")):
        api_file, command_file = (path.parent == ROOT / "mirage" / room for room in ("api", "cli"))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if (api_file and not is_private(node.name)) or (command_file and node.decorator_list):
                continue
            names = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            if len(names - {"self", "cls"}) > MOST:
                many[f"{path.relative_to(ROOT)}: {node.name}"] = len(names)
    assert not many, f"{many}: pass a record of settings"


def test_no_room_is_more_than_an_eighth_of_the_code() -> None:
    """A room is a package of `mirage`, or one of those in a package that holds several."""
    lines: dict[str, int] = {}
    for path in MODULES:
        inner = path.relative_to(ROOT / "mirage").parts[:-1]
        name = "/".join(inner[: 2 if inner[:1] in {("explorer",), ("stages",), ("io",), ("ranking",)} else 1])
        lines[name] = lines.get(name, 0) + len(path.read_text("utf-8").splitlines())
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
        for node in ast.walk(ast.parse(_test_file(file).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert listed <= there | {f"{file}::*" for file in files} | files
