"""The features table: every answer measured, family by family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.stages.features.assessed import ASSESSED, Assessments
from mirage.stages.features.families import FAMILIES, FEATURES
from mirage.stages.features.reader import COLUMNS, AnswerReader
from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools

if TYPE_CHECKING:
    import pyarrow as pa

NO_TOOLS = Tools()
NOTHING: Mapping[str, pa.Table] = MappingProxyType({})

_BLOCK, _MODEL_BLOCK = 1_000, 200
"""Answers per block, without and with a local model."""
_DO = {
    "reference": "choose the reference system",
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
    queries: pa.Table,
    passages: pa.Table,
    answers: pa.Table,
    *,
    only: Iterable[str] | None = None,
    tools: Tools = NO_TOOLS,
    assessed: Mapping[str, pa.Table] = NOTHING,
    progress: Callable[[int, int], None] | None = None,
    retrieved: pa.Table | None = None,
) -> pa.Table:
    """Measure every answer: one row of `schema.Feature` per answer and feature, sorted by key.

    A feature that cannot be measured is null with a reason. Missing or empty answers have no values. Error texts of an
    API are measured as text; their outcome identifies them.

    Args:
        queries: `schema.Query` rows, including every answer's query.
        passages: `schema.Passage` rows, of as many queries as known.
        answers: `schema.Answer` rows.
        only: names of features; by default all that are `measurable` from these tables.
        tools: tools of some features.
        assessed: tables of decisions on the answers, by name (`assessed.ASSESSED`), as far as present.
        progress: called with the number of answers done and the total. Grades come last and do not count.
        retrieved: `schema.Retrieved` rows of passages shown to systems; None for none.

    Raises:
        UnknownName: if a feature is not one of `FEATURES`, or the reference not one of the systems.
        BadInput: if an answer's query is missing, or a feature needs a missing tool.
    """
    names = sorted(set(_measurable_of(assessed, tools) if only is None else only))
    for name in names:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
        if missing_tools := _lacking(FEATURES[name], tools):
            raise BadInput(
                f"{name} cannot be measured without further tools", do="; ".join(_DO[tool] for tool in missing_tools)
            )
    needs = {need for name in names for need in FEATURES[name].needs}
    families = [family for family in FAMILIES if any(spec.name in names for spec in family.specs)]

    answers = schema.sort("answers", answers.select(COLUMNS))
    reference = tools.reference if "reference" in needs else None
    texts = bool(needs & _READ_TEXTS)
    assessments = None
    if needs & set(ASSESSED):
        assessments = Assessments(assessed, assigner=tools.assigner, grader=tools.grader, part=tools.part)
    reader = AnswerReader(
        queries,
        passages,
        answers,
        reference=reference,
        texts=texts,
        part=tools.part,
        retrieved=retrieved,
        assessments=assessments,
    )
    measurements = _Measurements(names, len(answers))
    size = _MODEL_BLOCK if needs & _READ_TEXTS else _BLOCK
    for start in range(0, len(answers), size):
        block = [reader.measured(answer) for answer in answers.slice(start, size).to_pylist()]
        _measure([family for family in families if not family.whole], block, tools, measurements, start)
        if progress is not None:
            progress(min(start + size, len(answers)), len(answers))
    if late := [family for family in families if family.whole]:
        _measure(late, [reader.measured(answer) for answer in answers.to_pylist()], tools, measurements, 0)
    return measurements.table(answers)


def _measurable_of(assessed: Mapping[str, pa.Table], tools: Tools) -> list[str]:
    """Return the features measurable with these tools and tables."""
    absent = set(ASSESSED) - set(assessed)
    return [name for name in measurable(tools) if not absent & set(FEATURES[name].needs)]


def _measure(
    families: Iterable[FeatureFamily],
    block: Sequence[MeasuredAnswer | str],
    tools: Tools,
    measurements: _Measurements,
    start: int,
) -> None:
    """Measure some answers, of rows from `start` on."""
    rows = [row for row, answer in enumerate(block, start) if isinstance(answer, MeasuredAnswer)]
    sound = [answer for answer in block if isinstance(answer, MeasuredAnswer)]
    for family in families:
        names = [spec.name for spec in family.specs]
        for row, answer in enumerate(block, start):
            if isinstance(answer, str):
                measurements.keep(row, names, [answer] * len(names))
        for row, measured in zip(rows, family.measure(sound, tools, measurements.columns), strict=True):
            measurements.keep(row, names, measured)


class _Measurements:
    """Values and reasons, one row per answer and one column per feature; reasons are dictionary-encoded."""

    def __init__(self, names: Sequence[str], rows: int) -> None:
        import numpy as np

        self.columns = {name: column for column, name in enumerate(names)}
        self._values = np.full((rows, len(names)), np.nan)
        self._reasons = np.full((rows, len(names)), -1, dtype=np.int32)
        self._codes: dict[str, int] = {}

    def keep(self, row: int, names: Sequence[str], measured: Sequence[Measured]) -> None:
        """Store the wanted measurements of one answer."""
        for name, value in zip(names, measured, strict=True):
            column = self.columns.get(name)
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

        rows = np.repeat(np.arange(len(answers)), len(self.columns))
        names = np.tile(np.arange(len(self.columns)), len(answers))
        values, reasons = self._values.ravel(), self._reasons.ravel()
        return schema.from_columns(
            "features",
            {
                **{key: answers[key].take(pa.array(rows)) for key in ("language", "query_id", "system")},
                "feature": pa.array(list(self.columns), pa.string()).take(pa.array(names)),
                "value": pa.array(values, mask=np.isnan(values)),
                "reason": pa.array(list(self._codes), pa.string()).take(pa.array(reasons, mask=reasons < 0)),
            },
        )


def _lacking(spec: FeatureSpec, tools: Tools) -> list[str]:
    """Return the missing tools of a feature."""
    return [tool for tool in spec.needs if tool in _DO and getattr(tools, tool) is None]
