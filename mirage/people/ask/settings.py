"""The file that enables the Ask page: `ask.yaml` in the arena's folder. Keys stay in the environment.

consent: Your question, the answers and your vote are kept and may be published.
systems:
- name: small
base_url: http://127.0.0.1:8001/v1
model: small-instruct
- name: large
provider: openai
model: gpt-4o-mini
price_in: 0.15
price_out: 0.6
limits:
per_reader: 10
budget: 20
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from mirage.errors import BadInput, MirageError, UnknownName
from mirage.llm.calls import Limits, Settings
from mirage.llm.presets import Endpoint, resolve
from mirage.llm.prompts import Template, load_template
from mirage.store.admissions import Quota
from mirage.store.files import Line
from mirage.store.yaml_files import yaml_tree
from mirage.text.names import normalise_name

_TOP = ("consent", "retention", "open", "prompt", "passages", "systems", "limits")
_SYSTEM = ("name", "provider", "base_url", "key_env", "model", "temperature", "max_tokens", "price_in", "price_out")
_RATES = ("per_reader", "per_address", "at_once")
_LIMITS = (
    *_RATES,
    "budget",
    "question_characters",
    "answer_characters",
    "first_seconds",
    "gap_seconds",
    "seconds",
)
_OPEN = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True, slots=True)
class AskSystem:
    """A system that answers readers."""

    name: str
    """System name in the tables."""
    endpoint: Endpoint
    """Address and key."""
    settings: Settings
    """Model and parameters."""
    prices: Limits
    """Prices, if given."""


@dataclass(frozen=True, slots=True)
class AskSettings:
    """Options of a live arena."""

    consent: str
    """Consent text that a reader accepts before the first question."""
    systems: tuple[AskSystem, ...]
    """The systems, at least two."""
    template: Template
    """The prompt template."""
    retention: str | None = None
    """Retention period of rows, in words."""
    open: bool = True
    """Whether questions are open."""
    passages: int = 5
    """Number of passages per question."""
    quota: Quota = field(default_factory=Quota)
    """Limits on questions."""
    question_characters: int = 500
    """Maximum length of a question."""
    answer_characters: int = 8_000
    """Maximum length of an answer; a longer answer is cut off."""
    first_seconds: float = 30.0
    """Timeout for an answer's first text, in seconds."""
    gap_seconds: float = 20.0
    """Timeout between two texts, in seconds."""
    seconds: float = 120.0
    """Total timeout of an answer, in seconds."""

    def system(self, name: str) -> AskSystem:
        """Return a system by name."""
        return next(system for system in self.systems if system.name == name)


def read_settings(path: Path) -> AskSettings:
    """Read the file, cached until it changes.

    Raises:
        BadInput: with file, line and field, if a value is invalid or a key's environment variable is not set.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise BadInput(f"the file cannot be read: {error.strerror}", where=str(path), do="check permissions") from None
    return _read(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=8)
def _read(path: Path, _stamp: tuple[int, int, int]) -> AskSettings:
    top = _Fields(yaml_tree(path), _TOP, str(path))
    consent = top.text("consent")
    if not consent:
        raise BadInput("consent is missing", where=str(path), do="write the line that readers agree to: consent: ...")
    limits = _Fields(top.mapping("limits"), _LIMITS, str(path))
    budget = limits.number("budget", float, None, low=0)
    opened = top.text("open") or "yes"
    if opened.lower() not in _OPEN:
        raise BadInput(f"open is {opened!r}", where=top.where("open"), do="write yes or no")
    rates = {name: limits.number(name, int, getattr(Quota(), name), low=1) for name in _RATES}
    quota = Quota(**rates, budget=budget)
    given: dict[str, Any] = {}
    for name, kind in (("question_characters", int), ("answer_characters", int)):
        given[name] = limits.number(name, kind, AskSettings.__dataclass_fields__[name].default, low=1)
    for name in ("first_seconds", "gap_seconds", "seconds"):
        given[name] = limits.number(name, float, AskSettings.__dataclass_fields__[name].default, low=0.1)
    systems = tuple(_system(item, budget is not None) for item in top.items("systems"))
    names = [system.name for system in systems]
    if len(systems) < 2 or len(set(names)) < len(names):
        raise BadInput(
            f"systems are {', '.join(names) or 'missing'}", where=str(path), do="list two or more systems, each once"
        )
    return AskSettings(
        consent,
        systems,
        _template(top, path),
        top.text("retention"),
        _OPEN[opened.lower()],
        top.number("passages", int, 5, low=1),
        quota,
        **given,
    )


def _template(top: _Fields, path: Path) -> Template:
    name = top.text("prompt") or "rag"
    beside = path.parent / name
    try:
        return load_template(beside if beside.is_file() else name)
    except MirageError as error:
        raise BadInput(error.what, where=top.where("prompt"), do=error.do) from None


def _system(item: Line, priced: bool) -> AskSystem:
    if not isinstance(item.value, dict):
        raise BadInput("a system is not a mapping of fields", where=item.where, do="write name, model and base_url")
    fields = _Fields(item.value, _SYSTEM, item.where)
    written, model = fields.text("name") or "", fields.text("model")
    name = normalise_name(written)
    if not name or not model:
        raise BadInput("a system has no name or no model", where=item.where, do="write name and model")
    try:
        endpoint = resolve(fields.text("provider"), base_url=fields.text("base_url"), key_env=fields.text("key_env"))
    except MirageError as error:
        do = error.do.replace("--key-env NAME", "key_env: NAME")
        raise BadInput(f"system {name}: {error.what}", where=item.where, do=do) from None
    prices = [fields.number(part, float, None, low=0) for part in ("price_in", "price_out")]
    if priced and None in prices:
        raise BadInput(
            f"system {name} has no prices, which a budget needs",
            where=item.where,
            do="write price_in and price_out, per million tokens",
        )
    settings = Settings(
        model,
        temperature=fields.number("temperature", float, None, low=0),
        max_tokens=fields.number("max_tokens", int, 1024, low=1),
        service=endpoint.service,
    )
    return AskSystem(name, endpoint, settings, Limits(price_in=prices[0], price_out=prices[1]))


class _Fields:
    """Reader of a mapping's fields, with their line numbers."""

    def __init__(self, lines: Mapping[str, Line], names: tuple[str, ...], where: str) -> None:
        self._lines, self._where = lines, where
        for name, line in lines.items():
            if name not in names:
                raise UnknownName("field", name, names, where=line.where)

    def where(self, name: str) -> str:
        """Return the file and line of a field."""
        return self._lines[name].where if name in self._lines else self._where

    def text(self, name: str) -> str | None:
        """Return a text; None if it is absent.

        Raises:
            BadInput: if it is a list or a mapping.
        """
        value = self._lines[name].value if name in self._lines else None
        if isinstance(value, dict | list):
            raise BadInput(f"{name} is a list or a mapping", where=self.where(name), do="write one text or number")
        return None if value is None else str(value).strip()

    def number(self, name: str, kind: Callable[[str], Any], default: Any, *, low: float) -> Any:
        """Return a number; the default if it is absent.

        Raises:
            BadInput: if it is not a finite number of at least `low`.
        """
        written = self.text(name)
        if not written:
            return default
        try:
            value = kind(written)
        except ValueError:
            value = None
        if value is None or not math.isfinite(value) or value < low or value > 1e9:
            what = "a whole number" if kind is int else "a number"
            raise BadInput(f"{name} is {written!r}", where=self.where(name), do=f"write {what}, {low:g} or more")
        return value

    def mapping(self, name: str) -> Mapping[str, Line]:
        """Return a mapping; empty if it is absent.

        Raises:
            BadInput: if it is something else.
        """
        value = self._lines[name].value if name in self._lines else {}
        if not isinstance(value, dict):
            raise BadInput(f"{name} is not a mapping", where=self.where(name), do="write FIELD: VALUE lines below it")
        return value

    def items(self, name: str) -> list[Line]:
        """Return the items of a list; empty if it is absent.

        Raises:
            BadInput: if it is something else.
        """
        value = self._lines[name].value if name in self._lines else []
        if not isinstance(value, list):
            raise BadInput(f"{name} is not a list", where=self.where(name), do="begin each item with a dash")
        return value
