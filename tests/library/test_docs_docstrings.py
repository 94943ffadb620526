"""Examples in docstrings: what they call exists, and takes the keywords that they give."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

NO_CODE = {"mirage/people/votes/powered.py", "mirage/ranking/surrogate/pooled.py"}
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


def examples() -> list[tuple[str, str]]:
    """Module and code of every example that is Python and calls something."""
    found = []
    for path in sorted((ROOT / "mirage").rglob("*.py")):
        file = path.relative_to(ROOT)
        if file.as_posix() in NO_CODE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


EXAMPLES = examples()


@pytest.mark.parametrize(("module", "code"), EXAMPLES, ids=[f"{module}-{n}" for n, (module, _) in enumerate(EXAMPLES)])
def test_an_example_calls_what_exists_with_keywords_that_it_takes(module: str, code: str) -> None:
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
