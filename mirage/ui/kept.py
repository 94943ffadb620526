"""What was made of the same objects before: a click draws again what is on the page, and makes nothing twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import ref

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

MOST: Final = 256
"""How many results are kept, those used last."""
_Key = tuple[Callable[..., Any], tuple[int, ...], tuple[tuple[str, Hashable], ...]]
_results: OrderedDict[_Key, tuple[tuple[object, ...], Any]] = OrderedDict()
_lock = Lock()


def kept(make: Callable[..., T], *objects: object, **options: Any) -> T:
    """What a function makes of these objects, made once.

    Args:
        make: a function of a module: a page's own are others at every run. It must give the same for the same, and
            nobody may change what it gives.
        objects: tables and rows, which are known by identity: the views keep them, and to compare them would take
            longer than to draw them. The result goes with them; what knows no weak references is held with it.
        options: names, modes and numbers, which are known by value; a list counts as a tuple.
    """
    values = tuple((name, _value(value)) for name, value in options.items())
    key = (make, tuple(map(id, objects)), values)
    with _lock:
        if key in _results:
            _results.move_to_end(key)
            result: T = _results[key][1]
            return result
    result = make(*objects, **options)
    with _lock:
        _results[key] = (tuple(_hold(thing, key) for thing in objects), result)
        while len(_results) > MOST:
            _results.popitem(last=False)
    return result


def _hold(thing: object, key: _Key) -> object:
    """What keeps the identity of an object from being another's while there is a result of it."""
    pop = _results.pop  # names of modules are gone when the interpreter ends
    try:
        return ref(thing, lambda _: pop(key, None))
    except TypeError:
        return thing


def rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table as dicts, made once; they are read, never changed."""
    return kept(_rows, table)


def where(table: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    """The rows of a table that have one of some values in a column, made once."""
    return kept(_where, table, column=column, values=tuple(values))


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = table.to_pylist()
    return out


def _where(table: pa.Table, *, column: str, values: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table[column], value_set=pa.array(values, pa.string())))


def _value(value: Any) -> Hashable:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, Mapping):
        return tuple(value.items())
    hashable: Hashable = value
    return hashable
