"""Formats of flat records as data: `flat.toml` says which field is what, and the reader of each reads them.

To add a format, add a table to `flat.toml`: what recognises it, and what its reader cannot know by the names.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mirage.io import values
from mirage.io.formats import own, pairs, rag, shapes
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import FIELDS, SYSTEM, number, system_of, wrong
from mirage.io.formats.spec import Item, Record, Sample
from mirage.io.options import Options
from mirage.text.data import load_words

_READERS = {entry.name: entry for entry in (rag.FORMAT, pairs.FORMAT, own.QUERIES, own.JUDGMENTS)}


class _Shape:
    """Fields of one kind of record; the attributes are those of `flat.toml`."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        has, some = about["has"], about.get("any", "")
        self.reader = _READERS[about["reads"]]
        self.has = tuple(has.split() if isinstance(has, str) else has)
        self.measures = frozenset(about.get("measures", "").split())
        self.any = tuple(self.measures - {"score"} if some == "measures" else some.split())
        self.without = frozenset(about.get("without", "").split())
        self.options = Options(about.get("map", {}), about.get("set", {}), about.get("value", {}))
        self.join: tuple[str, ...] = tuple(about.get("join", ()))
        self.parse = {name: re.compile(form) for name, form in about.get("parse", {}).items()}
        self.scale: Mapping[str, tuple[float, float]] = about.get("scale", {})
        self.note: Mapping[str, str] = about.get("note", {})
        self.rater, self.system = about.get("rater", ""), about.get("system", "")

    def fits(self, value: Mapping[str, Any]) -> bool:
        """Return whether a record has the fields, with a value where one is within another, and lacks the others."""
        there = (name in value or ("." in name and Options.find(value, name) is not None) for name in self.has)
        some = not self.any or any(name.partition("(")[0] in self.any for name in value)
        return some and self.without.isdisjoint(value) and all(there)

    def apply(self, record: Record) -> Record:
        """Return a record under the names that its reader knows; what the user mapped stays."""
        given = record.value
        value = self.options.apply(given) | {name: given[name] for name in record.mapped if name in given}
        if texts := [text for name in self.join if (text := shapes.text(given.get(name), name, record.where))]:
            value = {name: content for name, content in value.items() if name not in self.join}
            value["question"] = "\n\n".join(texts)
        for name, form in self.parse.items():
            if match := form.fullmatch(str(value.get(name))):
                value = {**match.groupdict(), **{other: value[other] for other in value if other != name}}
        for name, (most, least) in self.scale.items():
            if name in value and (content := value[name]) not in self.options.meanings.get(name, {}).values():
                score = None if isinstance(content, bool) else number(content)
                if score is not None and min(most, least) <= score <= max(most, least):
                    value["points"] = (score - least) / (most - least)
                    del value[name]
                elif str(content).strip().lower() not in ("", "nan", "none", "null"):
                    raise wrong(record, name, f"a number from {most:g} to {least:g}", content)
        for name in [name for name in value if "." in name and name in self.options.names.values()]:
            outer, _, inner = name.partition(".")
            if (content := value.pop(name)) is not None:
                value[outer] = {**(value.get(outer) or {}), inner: content}
        if measured := [name for name in value if name != "score" and name.partition("(")[0] in self.measures]:
            scores = {name: values.number(value[name], name, record.where) for name in measured}
            rest = {name: content for name, content in value.items() if name not in measured}
            value = {**rest, "scores": scores}
        if self.rater:
            value = {"rater": self.rater, **value}
        return Record(value, record.where, record.mapped | {"question"})


def _format(name: str, about: Mapping[str, Any]) -> Format:
    """Return a format by its table."""
    parts = [_Shape({**about, **shape}) for shape in about.get("shapes", [about])]
    readers = {shape.reader.name: shape.reader for shape in parts}

    def recognise(sample: Sample) -> str | None:
        for shape in parts:
            if any(map(shape.fits, sample.records)):
                some = [name for name in sorted(sample.fields) if name.partition("(")[0] in shape.any]
                return f"has {', '.join((*shape.has, *some[:1]))}"
        return None

    def items(record: Record, builder: Builder) -> Iterator[Item]:
        shape = next((shape for shape in parts if shape.fits(record.value)), parts[0])
        for what, why in shape.note.items():
            builder.note_guess(what, why)
        record = shape.apply(record)
        if shape.system and not record.value.keys().isdisjoint((*SYSTEM, "scores", *FIELDS["answer"])):
            told: dict[str, Any] = {"system": system_of(record, builder)}
            if record.value.keys().isdisjoint(FIELDS["answer"]):
                told["answer"] = None
            record = Record({**record.value, **told}, record.where, record.mapped)
        read: Callable[[Record, Builder], Iterable[Item]] | None = shape.reader.items
        yield from read(record, builder) if read is not None else ()

    return Format(
        name=name,
        title=about["title"],
        source=about["source"],
        gives=tuple(dict.fromkeys(table for reader in readers.values() for table in reader.gives)),
        recognise=recognise,
        items=items,
    )


FORMATS = tuple(_format(name, about) for name, about in load_words("flat", "mirage.io.formats").items())
"""The formats of `flat.toml`, in its order."""
