"""Records of results as files: tables as Arrow, facts as JSON, so that reading one runs no code of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache, lru_cache, wraps
from hashlib import sha256
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from mirage.errors import MirageError
from mirage.store.arena import Arena
from mirage.store.export import write_whole
from mirage.store.home import home_folder

R = TypeVar("R")


def write_record(record: Any, path: Path) -> None:
    """Write a record: the digest of the rest, a line of JSON with its facts, then one Arrow stream for each table."""
    import pyarrow as pa

    values = {field.name: getattr(record, field.name) for field in fields(record)}
    tables = {name: value for name, value in values.items() if isinstance(value, pa.Table)}
    facts = {name: value for name, value in values.items() if name not in tables}
    sink = pa.BufferOutputStream()
    sink.write(json.dumps({"tables": list(tables), "facts": facts}, ensure_ascii=False).encode() + b"\n")
    for table in tables.values():
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    content = sink.getvalue().to_pybytes()
    write_whole(path, sha256(content).digest() + content)


def read_record(cls: type[R], path: Path) -> R:
    """Read a record of a class.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is damaged.
    """
    import pyarrow as pa

    whole = path.read_bytes()
    digest, content = whole[:32], whole[32:]
    if sha256(content).digest() != digest:
        raise ValueError(f"{path} is damaged")
    end = content.index(b"\n") + 1
    head = json.loads(content[:end])
    source = pa.BufferReader(memoryview(content)[end:])
    tables = {name: pa.ipc.open_stream(source).read_all() for name in head["tables"]}
    hints = get_type_hints(cls, localns={"pa": pa})
    facts = {name: _typed(hints[name], value) for name, value in head["facts"].items()}
    return cls(**tables, **facts)


def _typed(hint: Any, value: Any) -> Any:
    """Return a value of JSON as its type says: tuples and mappings of them."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return None if value is None else _typed(inner[0], value)
    if kind is tuple:
        of = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_typed(each, item) for each, item in zip(of, value, strict=True))
    if kind is Mapping:
        return {key: _typed(inner[1], item) for key, item in value.items()}
    return value


@cache
def _of_program() -> str:
    """Return a digest of the program's files: another version of it keeps its own results."""
    root = Path(__file__).parents[1]
    seen = sorted((str(path.relative_to(root)), path.stat().st_mtime_ns) for path in root.rglob("*.py"))
    return sha256(repr(seen).encode()).hexdigest()[:16]


def kept(cls: type[R], *, maxsize: int = 64) -> Callable[[Callable[..., R]], Any]:
    """Cache a function of arenas and choices in memory, and as files by the arena's content.

    Args:
        cls: the record that the function returns.
        maxsize: results in memory.
    """

    def wrap(function: Callable[..., R]) -> Any:
        @lru_cache(maxsize=maxsize)
        @wraps(function)
        def call(*args: Any, **options: Any) -> R:
            parts = [(of.version, of.tags) if isinstance(of, Arena) else of for of in (*args, *options.values())]
            key = sha256(repr((function.__qualname__, parts, list(options))).encode()).hexdigest()
            path = home_folder() / "computed" / _of_program() / key
            with suppress(OSError, ValueError, KeyError, TypeError):
                return read_record(cls, path)
            result = function(*args, **options)
            with suppress(MirageError, OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_record(result, path)
            return result

        return call

    return wrap
