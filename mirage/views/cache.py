"""Cache of views, in memory and in files under the user's folder.

    @cached_view
    def rates_view(arena: Arena, choice: RateChoice = ALL) -> RatesView: ...

The key is the name of the view, its arguments with their defaults, and the version of the program; an arena counts by
its version and the files beside its tables. A view may therefore depend on its arguments only, and its record must have
types that `store.record_files` stores. Errors are not stored.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache, wraps
from hashlib import sha256
from typing import Any, ParamSpec, TypeVar, cast

from mirage.errors import MirageError
from mirage.store.arena import Arena
from mirage.store.cache_files import is_cached, one_at_a_time, program_version, read_cached, write_cached
from mirage.store.ledger import NAME as LEDGER
from mirage.store.record_files import from_bytes, result_type, to_bytes
from mirage.store.user_files import MAKERS

P = ParamSpec("P")
R = TypeVar("R")
PROGRESS = "progress"
"""Name of the argument with the progress callback of a view."""
memoize = lru_cache(maxsize=64)
"""Cache the results of a function in memory, by its arguments; for results not worth a file."""


@memoize
def result_or_error(view: Callable[..., R], *arguments: Any) -> R | MirageError:
    """Return the record of a view, or its error, which takes as long to find."""
    try:
        return view(*arguments)
    except MirageError as error:
        return error


_waits_for_nobody: ContextVar[bool] = ContextVar("waits_for_nobody", default=False)


@dataclass(frozen=True)
class _Progress:
    """An argument that equals every other."""

    callback: Any = field(compare=False)


def cached_view(view: Callable[P, R]) -> Callable[P, R]:
    """Cache a view in memory and in files.

    One process or thread computes a record while the others wait for it. An argument `progress` is not
    part of the key.
    """
    signature = inspect.signature(view)
    compute: Callable[..., R] = view

    @lru_cache(maxsize=64)
    def load(_files: tuple[Any, ...], *values: Any) -> Any:
        named = dict(zip(signature.parameters, values, strict=True))
        kind, key = result_type(view), cache_key(view, named)
        arguments = {name: value.callback if isinstance(value, _Progress) else value for name, value in named.items()}
        stored = _read(kind, key)
        if stored is None:
            with nullcontext() if _waits_for_nobody.get() else one_at_a_time(key):
                stored = _read(kind, key) or _compute(kind, key, lambda: compute(**arguments))
        return stored[0]

    @wraps(view)
    def call(*args: P.args, **options: P.kwargs) -> R:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        values = tuple(_Progress(value) if name == PROGRESS else value for name, value in bound.arguments.items())
        return cast("R", load(tuple(map(_files_beside, values)), *values))

    return call


def stored_view(view: Callable[P, R], *args: P.args, **options: P.kwargs) -> R | None:
    """Return the record of a cached view from its file; None if it would have to be computed."""
    compute = inspect.unwrap(view)
    bound = inspect.signature(compute).bind(*args, **options)
    bound.apply_defaults()
    return view(*args, **options) if is_cached(cache_key(compute, bound.arguments)) else None


@contextmanager
def without_waiting() -> Iterator[None]:
    """Compute views without a lock: neither wait for a reader's computation nor make a reader wait."""
    token = _waits_for_nobody.set(True)
    try:
        yield
    finally:
        _waits_for_nobody.reset(token)


def cache_key(view: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Return the key of a view's record, given all of its arguments.

    Raises:
        TypeError: if an argument is not an arena, plain value, dataclass, tuple, set or mapping.
    """
    named = {name: _content(value) for name, value in arguments.items()}
    parts = [program_version(), view.__module__, view.__qualname__, named]
    return sha256(json.dumps(parts).encode("ascii")).hexdigest()


def _files_beside(value: Any) -> tuple[tuple[int, int], ...]:
    """Return sizes and times of the files beside an arena's tables, if the argument is an arena."""
    stamps = []
    if isinstance(value, Arena):
        for name in (MAKERS, LEDGER):
            with suppress(OSError):
                status = (value.path / name).stat()
                stamps.append((status.st_size, status.st_mtime_ns))
    return tuple(stamps)


def _content(value: Any) -> Any:
    """Return the content of an argument as JSON."""
    if isinstance(value, Arena):
        return ["Arena", str(value.path), value.version, value.tags, *_files_beside(value)]
    if is_dataclass(value):
        named = (getattr(value, of.name) for of in fields(value) if of.compare)
        return [type(value).__qualname__, *map(_content, named)]
    if isinstance(value, tuple):
        return ["tuple", *map(_content, value)]
    if isinstance(value, frozenset):
        return ["set", *sorted(map(_content, value))]
    if isinstance(value, Mapping):
        return ["mapping", *([_content(key), _content(item)] for key, item in value.items())]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a {type(value).__qualname__} is no argument of a cached view")


def _read(kind: Any, key: str) -> tuple[Any] | None:
    """Return the stored record of a key; None if there is no readable one."""
    content = read_cached(key)
    try:
        return None if content is None else (from_bytes(kind, content),)
    except Exception:  # whatever is wrong with a file, the view is computed
        return None


def _compute(kind: Any, key: str, view: Callable[[], Any]) -> tuple[Any]:
    """Compute a record and store it; return it as later readers read it."""
    content = to_bytes(kind, view())
    write_cached(key, content)
    return (from_bytes(kind, memoryview(content)),)
