"""Records as bytes: facts as JSON, tables as Arrow, arrays as they are in memory; reading runs no code from the bytes.

A record is a frozen dataclass, or a tuple, mapping or optional of records. Its type says how it is read, so a field
needs one of these types: str, int, float, bool, None, a `Literal` or union of these, `tuple`, `Mapping` or `dict`,
`pa.Table`, `np.ndarray`, a dataclass, or one of the last five or None.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_NUMBERS = "biufcSU"
"""NumPy's kinds of numbers and of texts of a fixed size."""
_ALIGNED = 64
"""Bytes to which a table is aligned, so that Arrow reads it without a copy."""


def result_type(function: Callable[..., Any]) -> Any:
    """Return the type of a function's result, from its annotation."""
    annotations = {"return": function.__annotations__["return"]}
    return _resolve(SimpleNamespace(__annotations__=annotations, __globals__=function.__globals__))["return"]


def to_bytes(kind: Any, record: Any) -> bytes:
    """Return a record as bytes.

    Args:
        kind: its type.
        record: the record.

    Raises:
        TypeError: if a value has a type that cannot be stored.
    """
    parts: list[bytes] = []
    value = _write(kind, record, parts)
    head = json.dumps({"value": value, "sizes": list(map(len, parts))}, default=_plain_number).encode("ascii")
    return b"".join(part + bytes(-len(part) % _ALIGNED) for part in (len(head).to_bytes(_ALIGNED), head, *parts))


def from_bytes(kind: Any, data: memoryview) -> Any:
    """Return the record of a type from its bytes; its tables and arrays refer to them.

    Raises:
        Exception: if the bytes are not those of such a record.
    """
    end = _ALIGNED + int.from_bytes(data[:_ALIGNED])
    head = json.loads(bytes(data[_ALIGNED:end]))
    parts = []
    for size in head["sizes"]:
        end += -end % _ALIGNED
        parts.append(data[end : end + size])
        end += size
    return _read(kind, head["value"], parts)


def _plain_number(value: Any) -> Any:
    """Return the Python number of a NumPy scalar."""
    import numpy as np

    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a value of {type(value).__qualname__} cannot be stored")


def _write(kind: Any, value: Any, parts: list[bytes]) -> Any:
    """Return a value as JSON; tables and arrays are appended to `parts` and replaced by their index."""
    shape, inner = _shape(kind)
    if shape is None or value is None:
        return value
    if not isinstance(value, shape) or (_is_record(shape) and type(value) is not shape):
        raise TypeError(f"a value of {type(value).__qualname__} is not stored as {kind}")
    if shape is tuple:
        return _write_each(_repeat(inner, len(value)), value, parts)
    if shape is Mapping:
        return [_write_each(inner, pair, parts) for pair in value.items()]
    if _is_record(shape):
        return _write_each(inner, [getattr(value, name) for name in _names(shape)], parts)
    if hasattr(value, "dtype"):
        if value.dtype.kind not in _NUMBERS:
            raise TypeError(f"an array of {value.dtype} cannot be stored")
        parts.append(value.tobytes())
        return [len(parts) - 1, value.dtype.str, value.shape]
    parts.append(_table_bytes(value))
    return len(parts) - 1


def _write_each(kinds: Iterable[Any], values: Iterable[Any], parts: list[bytes]) -> list[Any]:
    return [value if kind is None else _write(kind, value, parts) for kind, value in zip(kinds, values, strict=True)]


def _read(kind: Any, value: Any, parts: list[memoryview]) -> Any:
    """Return a value of a type from JSON."""
    shape, inner = _shape(kind)
    if shape is None or value is None:
        return value
    if shape is tuple:
        return tuple(_read_each(_repeat(inner, len(value)), value, parts))
    if shape is Mapping:
        return dict(_read_each(inner, pair, parts) for pair in value)
    if _is_record(shape):
        return shape(**dict(zip(_names(shape), _read_each(inner, value, parts), strict=True)))
    return _read_array(parts[value[0]], *value[1:]) if hasattr(shape, "dtype") else _read_table(parts[value])


def _read_each(kinds: Iterable[Any], values: Iterable[Any], parts: list[memoryview]) -> list[Any]:
    return [value if kind is None else _read(kind, value, parts) for kind, value in zip(kinds, values, strict=True)]


def _table_bytes(table: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _read_table(data: memoryview) -> pa.Table:
    import pyarrow as pa

    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def _read_array(data: memoryview, kind: str, shape: Iterable[int]) -> NDArray[Any]:
    import numpy as np

    return np.ndarray(tuple(shape), np.dtype(kind), data).copy()


def _repeat(kinds: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """Return the types of a tuple's items."""
    return kinds[:1] * n if kinds[-1:] == (Ellipsis,) else kinds


def _resolve(annotated: Any) -> dict[str, Any]:
    """Return the types that annotations name; Arrow and NumPy may be imported for annotations only."""
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    return get_type_hints(annotated, localns={"np": np, "pa": pa, "NDArray": NDArray})


def _is_record(shape: Any) -> bool:
    return is_dataclass(shape)


@lru_cache(maxsize=4096)
def _names(record: type[Any]) -> tuple[str, ...]:
    """Return the fields that are stored: those that are compared; the others have a default."""
    return tuple(field.name for field in fields(record) if field.init and field.compare)


@lru_cache(maxsize=4096)
def _shape(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the class whose values a type has, and the types in it.

    Returns:
        The class `tuple`, `Mapping`, `pa.Table`, `np.ndarray`, a dataclass, or None for what is JSON already; and the
        types of its items or fields, each None for what is JSON already.

    Raises:
        TypeError: if values of the type cannot be stored.
    """
    import numpy as np
    import pyarrow as pa

    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (str, int, float, bool, NoneType, Literal):
        return None, ()
    if origin in (Union, UnionType):
        kinds = [each for each in inner if each is not NoneType]
        shapes = {_shape(each) for each in kinds}
        if len(shapes) == 1:
            return shapes.pop()
    elif origin in (pa.Table, np.ndarray):
        return origin, ()
    elif _is_record(origin):
        hints = _resolve(origin)
        return origin, tuple(_or_none(hints[name]) for name in _names(origin))
    elif origin in (tuple, Mapping):
        return origin, tuple(each if each is Ellipsis else _or_none(each) for each in inner)
    raise TypeError(f"values of {kind} cannot be stored")


def _or_none(kind: Any) -> Any:
    return None if _shape(kind)[0] is None else kind
