"""Records of a YAML file, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput
from mirage.store.files import Line, need_file

if TYPE_CHECKING:
    from yaml.nodes import Node  # type: ignore[import-untyped]  # it has no types

ENDINGS = (".yaml", ".yml")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_MOST = 16_000_000
"""Maximum bytes of a file, which is read whole."""


def yaml_records(path: Path, *, named: str) -> Iterator[Line]:
    """Yield the records of a YAML file: a list of mappings, or a mapping of them by name.

    Values are returned as written, so that `2024-05` and `1.10` stay as they are; an empty value, `~` or `null` is
    null.

    Args:
        path: the file.
        named: field for a record's name if the file is a mapping by name.

    Raises:
        BadInput: if the file is missing, too large, not YAML, or has another structure.
    """
    import yaml  # type: ignore[import-untyped]  # it has no types

    tree = _compose(path)
    if isinstance(tree, yaml.SequenceNode):
        for item in tree.value:
            yield Line(_place(path, item), _record(path, item))
    elif isinstance(tree, yaml.MappingNode):
        for name, item in _pairs(path, tree):
            yield Line(_place(path, item), {named: name} | _record(path, item))
    else:
        raise BadInput("this file is neither a list nor a mapping", where=str(path), do="write a list of mappings")


def yaml_fields(path: Path) -> dict[str, Line]:
    """Read a YAML file that is one mapping of fields.

    Returns:
        Each field with its line; a value is a text, null, or a mapping of texts by name. Values are as written.

    Raises:
        BadInput: as `yaml_records`.
    """
    import yaml

    tree = _compose(path)
    if not isinstance(tree, yaml.MappingNode):
        raise BadInput("this file is not a mapping of fields to values", where=str(path), do="write FIELD: VALUE")
    return {
        name: Line(
            _place(path, item), _record(path, item) if isinstance(item, yaml.MappingNode) else _value(path, item)
        )
        for name, item in _pairs(path, tree)
    }


def _compose(path: Path) -> Node:
    """Parse a YAML file without interpreting its values."""
    import yaml

    need_file(path)
    if path.stat().st_size > _MOST:
        raise BadInput(f"this file has more than {_MOST:,} bytes", where=str(path), do="import it as JSON Lines or CSV")
    try:
        return yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = str(path) if mark is None else f"{path}:{mark.line + 1}"
        problem = getattr(error, "problem", None) or error
        raise BadInput(f"this is not YAML: {problem}", where=where, do="correct the line") from None


def _record(path: Path, node: Node) -> dict[str, Any]:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise BadInput("this is not a mapping of fields to values", where=_place(path, node), do="write FIELD: VALUE")
    return {field: _value(path, item) for field, item in _pairs(path, node)}


def _pairs(path: Path, node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the pairs of a mapping, rejecting duplicate names."""
    seen: set[str] = set()
    for key, item in node.value:
        name = str(key.value)
        if name in seen:
            raise BadInput(f"duplicate key {name}", where=_place(path, key), do="remove one")
        seen.add(name)
        yield name, item


def _value(path: Path, node: Node) -> str | None:
    import yaml

    if not isinstance(node, yaml.ScalarNode):
        raise BadInput("a value is a list or a mapping", where=_place(path, node), do="write one text or number")
    return None if node.style is None and node.value in _NULLS else str(node.value)


def _place(path: Path, node: Node) -> str:
    return f"{path}:{node.start_mark.line + 1}"
