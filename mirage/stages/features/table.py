"""The features table: features to measure, from answers as read to the values measured."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.schema import Tables
from mirage.stages.features.assessed import ASSESSED, Assessments
from mirage.stages.features.families import FAMILIES, FEATURES
from mirage.stages.features.reader import AnswerReader
from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools

NO_TOOLS = Tools()
NOTHING: Tables = MappingProxyType({})

Block = Sequence[MeasuredAnswer | str]
"""Consecutive answers; for each that cannot be measured, the reason."""

_BLOCK, _MODEL_BLOCK = 1_000, 200
"""Answers per block, without and with a local model."""
_DO = {
    "reference": "choose the reference system, or import reference answers",
    "support": "add an NLI model",
    "reranker": "add a reranker",
    "grade": "add a chat model for grading",
}
"""Advice for a missing tool."""
_READ_TEXTS = {"support", "reranker", "grade"}
"""Tools that read the texts of passages."""


def measurable_features(tools: Tools = NO_TOOLS, present: Collection[str] = ()) -> list[str]:
    """Return the names of the features measurable with these tools and tables, sorted; with tables that all need."""
    return sorted(name for name, spec in FEATURES.items() if not _missing_tools(spec, tools, present))


def tables(names: Iterable[str]) -> tuple[str, ...]:
    """Return the tables that features need, in schema order.

    Raises:
        UnknownName: if there is no such feature.
    """
    needs: set[str] = set()
    for name in names:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
        needs.update(FEATURES[name].needs)
    return tuple(table for table in schema.TABLES if table in needs)


def compute(
    queries: pa.Table | None,
    passages: pa.Table | None,
    answers: pa.Table,
    *,
    only: Iterable[str] | None = None,
    tools: Tools = NO_TOOLS,
    others: Tables = NOTHING,
    progress: Callable[[int, int], None] | None = None,
) -> pa.Table:
    """Measure every answer: one row of `schema.Feature` per answer and feature, sorted by key.

    A feature that cannot be measured is null with a reason. Missing or empty answers have no values. Error texts of an
    API are measured as text; their outcome identifies them.

    Args:
        queries: `schema.Query` rows, including every answer's query; None if nothing is known of them.
        passages: `schema.Passage` rows, of as many queries as known; None for none.
        answers: `schema.Answer` rows.
        only: names of features; by default all that are `measurable_features` from these tables.
        tools: tools of some features.
        others: further tables by name, as far as present: `retrieved` (passages shown to systems), `references` (used
            unless the tools name a reference system), and decisions on the answers (`assessed.ASSESSED`).
        progress: called with the number of answers done and the total. Grades come last and do not count.

    Raises:
        UnknownName: if a feature is not one of `FEATURES`.
        BadInput: if an answer's query is missing, or a feature needs a missing tool.
    """
    absent = set(ASSESSED) - set(others)
    every = (name for name in measurable_features(tools, others) if not absent & set(FEATURES[name].needs))
    names = sorted(set(every if only is None else only))
    for name in names:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
        if missing_tools := _missing_tools(FEATURES[name], tools, others):
            raise BadInput(
                f"{name} cannot be measured without further tools", do="; ".join(_DO[tool] for tool in missing_tools)
            )
    needs = {need for name in names for need in FEATURES[name].needs}
    reads_texts = bool(needs & _READ_TEXTS)
    assessed = {name: others[name] for name in needs & set(ASSESSED) if name in others}
    reader = AnswerReader(
        queries,
        passages,
        answers,
        reference=(tools.reference or others.get("references")) if "reference" in needs else None,
        texts=reads_texts,
        retrieved=others.get("retrieved"),
        assessments=Assessments(assessed, tools.assigner, tools.grader),
    )
    families = [family for family in FAMILIES if any(spec.name in names for spec in family.specs)]
    measured: dict[str, list[Measured]] = {name: [] for name in names}
    every_answer: list[MeasuredAnswer | str] = []
    for block in reader.blocks(_MODEL_BLOCK if reads_texts else _BLOCK):
        for family in families:
            if not family.whole:
                _measure_block(measured, family, block, tools)
        every_answer += block
        if progress is not None:
            progress(len(every_answer), len(reader.answers))
    for family in families:
        if family.whole:
            _measure_block(measured, family, every_answer, tools)
    return _table(reader.answers, measured)


def _missing_tools(spec: FeatureSpec, tools: Tools, present: Collection[str]) -> list[str]:
    """Return the missing tools of a feature; written references take the place of a reference system."""
    lacking = [tool for tool in spec.needs if tool in _DO and getattr(tools, tool) is None]
    return [tool for tool in lacking if not (tool == "reference" and "references" in present)]


def _measure_block(measured: Mapping[str, list[Measured]], family: FeatureFamily, block: Block, tools: Tools) -> None:
    """Measure a block of answers, and append the wanted values or reasons by feature."""
    sound = [answer for answer in block if isinstance(answer, MeasuredAnswer)]
    results = iter(family.measure(sound, tools, measured.keys()))
    for answer in block:
        row = [answer] * len(family.specs) if isinstance(answer, str) else next(results)
        for spec, value in zip(family.specs, row, strict=True):
            if spec.name in measured:
                measured[spec.name].append(value)


def _table(answers: pa.Table, measured: Mapping[str, Sequence[Measured]]) -> pa.Table:
    """Return the values and reasons of answers, by feature, as `schema.Feature` rows."""
    rows = pa.array(np.repeat(np.arange(len(answers)), len(measured)))
    cells = [value for row in zip(*measured.values(), strict=True) for value in row]
    return schema.from_columns(
        "features",
        {
            **{key: answers[key].take(rows) for key in ("language", "query_id", "system")},
            "feature": [*measured] * len(answers),
            "value": [None if isinstance(value, str) else value for value in cells],
            "reason": [value if isinstance(value, str) else None for value in cells],
        },
    )
