"""The features table: every answer measured, family by family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.features.assessed import ASSESSED, Assessments
from mirage.features.families import FAMILIES, FEATURES
from mirage.features.reader import COLUMNS, AnswerReader
from mirage.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, Tools

if TYPE_CHECKING:
    import pyarrow as pa

NO_TOOLS = Tools()
NOTHING: Mapping[str, pa.Table] = MappingProxyType({})

_BLOCK, _MODEL_BLOCK = 1_000, 200
"""Answers that are measured at once, without and with a local model."""
_DO = {
    "reference": "name the system whose answers are the reference",
    "support": "give a model of natural-language inference",
    "reranker": "give a reranker",
    "grade": "give a chat model that grades",
}
"""What to do about a tool that is not there."""
_READ_TEXTS = {"support", "reranker", "grade"}
"""Tools that read the texts of passages."""


def measurable(tools: Tools = NO_TOOLS) -> list[str]:
    """Names of the features that can be measured with these tools, sorted."""
    return sorted(name for name, spec in FEATURES.items() if not _lacking(spec, tools))


def tables(names: Iterable[str]) -> tuple[str, ...]:
    """The tables that features need, in the order of the contract.

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
    """Measure every answer: one row of `schema.Feature` for each answer and feature, sorted by key.

    A feature that cannot be measured is null with a reason. An answer that is missing or empty has no value of any. The
    error text of an API is measured as the text it is: its outcome says what it is.

    Args:
        queries: `schema.Query` rows; every answer's query must be among them.
        passages: `schema.Passage` rows, of as many queries as are known.
        answers: `schema.Answer` rows.
        only: names of the features wanted; by default all that are `measurable` of these tables.
        tools: what some features need besides the tables.
        assessed: tables of what others decided of the answers, by name (`assessed.ASSESSED`); none where absent.
        progress: called with how many answers are done, and of how many. Grades come after all others and do not count.
        retrieved: `schema.Retrieved` rows, of which systems were shown some; None for none.

    Raises:
        UnknownName: if a wanted feature is not one of `FEATURES`, or the reference not one of the systems.
        BadInput: if an answer belongs to a query that is not there, or a wanted feature needs a tool that is not.
    """
    names = sorted(set(_measurable_of(assessed, tools) if only is None else only))
    for name in names:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
        if missing_tools := _lacking(FEATURES[name], tools):
            raise BadInput(f"{name} cannot be measured so", do="; ".join(_DO[tool] for tool in missing_tools))
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
    measurements = _Found(names, len(answers))
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
    """The features that can be measured with these tools and tables."""
    absent = set(ASSESSED) - set(assessed)
    return [name for name in measurable(tools) if not absent & set(FEATURES[name].needs)]


def _measure(
    families: Iterable[FeatureFamily],
    block: Sequence[MeasuredAnswer | str],
    tools: Tools,
    measurements: _Found,
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


class _Found:
    """Values and reasons, a row an answer, a column a wanted feature; codes instead of reasons, for they repeat."""

    def __init__(self, names: Sequence[str], rows: int) -> None:
        import numpy as np

        self.columns = {name: column for column, name in enumerate(names)}
        self._values = np.full((rows, len(names)), np.nan)
        self._reasons = np.full((rows, len(names)), -1, dtype=np.int32)
        self._codes: dict[str, int] = {}

    def keep(self, row: int, names: Sequence[str], measured: Sequence[Measured]) -> None:
        """Keep what was measured of one answer, as far as it is wanted."""
        for name, value in zip(names, measured, strict=True):
            column = self.columns.get(name)
            if column is None:
                continue
            if isinstance(value, str):
                self._reasons[row, column] = self._codes.setdefault(value, len(self._codes))
            else:
                self._values[row, column] = value

    def table(self, answers: pa.Table) -> pa.Table:
        """All of it as `schema.Feature` rows; the answers are in the order of the rows."""
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
    """The tools that a feature needs and that are not there."""
    return [tool for tool in spec.needs if tool in _DO and getattr(tools, tool) is None]
