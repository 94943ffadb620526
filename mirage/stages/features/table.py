"""The features table: features to measure, from answers as read to the values measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.stages.features.assessed import ASSESSED, Assessments
from mirage.stages.features.families import FAMILIES, FEATURES
from mirage.stages.features.reader import AnswerReader
from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools

if TYPE_CHECKING:
    import pyarrow as pa

NO_TOOLS = Tools()
NOTHING: Mapping[str, pa.Table] = MappingProxyType({})

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


def measurable(tools: Tools = NO_TOOLS) -> list[str]:
    """Return the names of the features measurable with these tools, sorted."""
    return sorted(name for name, spec in FEATURES.items() if not _lacking(spec, tools))


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
    others: Mapping[str, pa.Table] = NOTHING,
    progress: Callable[[int, int], None] | None = None,
) -> pa.Table:
    """Measure every answer: one row of `schema.Feature` per answer and feature, sorted by key.

    A feature that cannot be measured is null with a reason. Missing or empty answers have no values. Error texts of an
    API are measured as text; their outcome identifies them.

    Args:
        queries: `schema.Query` rows, including every answer's query; None if nothing is known of them.
        passages: `schema.Passage` rows, of as many queries as known; None for none.
        answers: `schema.Answer` rows.
        only: names of features; by default all that are `measurable` from these tables.
        tools: tools of some features.
        others: further tables by name, as far as present: `retrieved` (passages shown to systems), `references` (used
            unless the tools name a reference system), and decisions on the answers (`assessed.ASSESSED`).
        progress: called with the number of answers done and the total. Grades come last and do not count.

    Raises:
        UnknownName: if a feature is not one of `FEATURES`, or the reference not one of the systems.
        BadInput: if an answer's query is missing, or a feature needs a missing tool.
    """
    tools = replace(tools, written="references" in others)
    names = sorted(set(_measurable_of(others, tools) if only is None else only))
    for name in names:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
        if missing_tools := _lacking(FEATURES[name], tools):
            raise BadInput(
                f"{name} cannot be measured without further tools", do="; ".join(_DO[tool] for tool in missing_tools)
            )
    needs = {need for name in names for need in FEATURES[name].needs}
    reads_texts = bool(needs & _READ_TEXTS)
    assessments = None
    if needs & set(ASSESSED):
        assessments = Assessments(others, assigner=tools.assigner, grader=tools.grader, part=tools.part)
    reader = AnswerReader(
        queries,
        passages,
        answers,
        reference=(tools.reference or others.get("references")) if "reference" in needs else None,
        texts=reads_texts,
        part=tools.part,
        retrieved=others.get("retrieved"),
        assessments=assessments,
    )
    blocks = reader.blocks(_MODEL_BLOCK if reads_texts else _BLOCK)
    measurements = measure_blocks(blocks, names, tools, total=len(reader.answers), progress=progress)
    return measurements.table(reader.answers)


def _measurable_of(others: Mapping[str, pa.Table], tools: Tools) -> list[str]:
    """Return the features measurable with these tools and tables."""
    absent = set(ASSESSED) - set(others)
    return [name for name in measurable(tools) if not absent & set(FEATURES[name].needs)]


def _lacking(spec: FeatureSpec, tools: Tools) -> list[str]:
    """Return the missing tools of a feature."""
    lacking = [tool for tool in spec.needs if tool in _DO and getattr(tools, tool) is None]
    return [tool for tool in lacking if not (tool == "reference" and tools.written)]


def measure_blocks(
    blocks: Iterable[Block],
    names: Sequence[str],
    tools: Tools,
    *,
    total: int,
    progress: Callable[[int, int], None] | None = None,
) -> Measurements:
    """Measure features of answers.

    Args:
        blocks: the answers, read lazily. Families that need all answers at once come after the last block.
        names: names of the features, sorted.
        tools: tools of some features.
        total: number of answers.
        progress: called with the number of answers done and the total.
    """
    families = [family for family in FAMILIES if any(spec.name in names for spec in family.specs)]
    by_block, by_whole = ([family for family in families if family.whole is whole] for whole in (False, True))
    measurements = Measurements(names, total)
    every: list[MeasuredAnswer | str] = []
    done = 0
    for block in blocks:
        measurements.add(by_block, block, tools, done)
        done += len(block)
        if by_whole:
            every.extend(block)
        if progress is not None:
            progress(done, total)
    measurements.add(by_whole, every, tools, 0)
    return measurements


class Measurements:
    """Values and reasons, one row per answer and one column per feature; reasons are dictionary-encoded."""

    def __init__(self, names: Sequence[str], rows: int) -> None:
        import numpy as np

        self._columns = {name: column for column, name in enumerate(names)}
        self._values = np.full((rows, len(names)), np.nan)
        self._reasons = np.full((rows, len(names)), -1, dtype=np.int32)
        self._codes: dict[str, int] = {}

    def add(self, families: Iterable[FeatureFamily], block: Block, tools: Tools, start: int) -> None:
        """Measure a block of answers by some families, and store the values in the rows from `start` on."""
        rows = [row for row, answer in enumerate(block, start) if isinstance(answer, MeasuredAnswer)]
        sound = [answer for answer in block if isinstance(answer, MeasuredAnswer)]
        for family in families:
            names = [spec.name for spec in family.specs]
            for row, answer in enumerate(block, start):
                if isinstance(answer, str):
                    self._store(row, names, [answer] * len(names))
            for row, measured in zip(rows, family.measure(sound, tools, self._columns), strict=True):
                self._store(row, names, measured)

    def _store(self, row: int, names: Sequence[str], measured: Sequence[Measured]) -> None:
        """Store the wanted measurements of one answer."""
        for name, value in zip(names, measured, strict=True):
            column = self._columns.get(name)
            if column is None:
                continue
            if isinstance(value, str):
                self._reasons[row, column] = self._codes.setdefault(value, len(self._codes))
            else:
                self._values[row, column] = value

    def table(self, answers: pa.Table) -> pa.Table:
        """Return everything as `schema.Feature` rows; the answers are in row order."""
        import numpy as np
        import pyarrow as pa

        rows = np.repeat(np.arange(len(answers)), len(self._columns))
        names = np.tile(np.arange(len(self._columns)), len(answers))
        values, reasons = self._values.ravel(), self._reasons.ravel()
        return schema.from_columns(
            "features",
            {
                **{key: answers[key].take(pa.array(rows)) for key in ("language", "query_id", "system")},
                "feature": pa.array(list(self._columns), pa.string()).take(pa.array(names)),
                "value": pa.array(values, mask=np.isnan(values)),
                "reason": pa.array(list(self._codes), pa.string()).take(pa.array(reasons, mask=reasons < 0)),
            },
        )
