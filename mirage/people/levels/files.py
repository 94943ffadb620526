"""Files of people's labels on answers, imported into the table `scores`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirage import schema, store
from mirage.errors import BadInput, NotEnoughData
from mirage.people.levels.labels import ANSWERED, Key
from mirage.text.names import normalise_name

_NEEDED = ("query_id", "system", "value", "rater")
_WORDS = {"answered": 1.0, "abstained": 0.0}
"""Words for a value of the scale `answered`."""


@dataclass(frozen=True, slots=True)
class LabelImport:
    """Result of importing a file of labels."""

    arena: store.Arena
    """The arena with the labels."""
    labels: int
    """Labels written."""
    changed: int
    """Labels left out because the arena's answer has changed since."""


def import_labels(path: Path, file: Path, *, made_by: str) -> LabelImport:
    """Import labels on answers; one invalid record rejects the file.

    A record has query_id, system, value and rater; language if the arena has several; measure (`answered` by default),
    and low and high of its scale unless it is `answered` or a feature with a range. A record with `answer`, the text
    that the rater read, is left out if the arena's answer differs.

    Args:
        path: the arena's folder.
        file: CSV, JSON Lines or Parquet.
        made_by: the command, for the manifest.

    Raises:
        BadInput: with file and line.
        NotEnoughData: if every label is on an answer that has changed.
    """
    arena = store.open_arena(path)
    texts = _texts(arena)
    codes = sorted({language for language, _, _ in texts})
    rows: list[schema.Score] = []
    seen: dict[tuple[Any, ...], str] = {}
    changed = 0
    for line in store.records(file):
        try:
            row, answer = _read(line.value, codes)
            key = (row.language, row.query_id, row.system)
            if key not in texts:
                raise BadInput(
                    f"the arena has no answer of {row.system} to {row.query_id} in {row.language}",
                    do="label answers of this arena",
                )
        except BadInput as error:
            raise BadInput(error.what, where=line.where, do=error.do or "nothing was imported") from None
        about = (*key, row.measure, row.rater)
        if about in seen:
            raise BadInput(
                f"{row.rater} labelled this answer before, in {seen[about]}",
                where=line.where,
                do="keep one label per person and answer; nothing was imported",
            )
        seen[about] = line.where
        if answer and texts[key] is not None and texts[key] != answer:
            changed += 1
            continue
        rows.append(row)
    if not seen:
        raise BadInput("this file has no labels", where=str(file), do="write one label per line")
    if not rows:
        raise NotEnoughData(
            f"all {changed:,} labels are on answers that have changed since", do="label the current answers"
        )
    table = store.by_key("scores", schema.sort("scores", schema.from_rows("scores", rows)))
    return LabelImport(store.upsert(path, {"scores": table}, made_by=made_by).arena, len(rows), changed)


def _texts(arena: store.Arena) -> dict[Key, str | None]:
    """Return the texts of the answers; None for answers known only by outcomes."""
    texts: dict[Key, str | None] = {}
    for table in ("outcomes", "answers"):
        if table in arena.tables:
            rows = arena.read(table)
            keys = zip(*(rows[name].to_pylist() for name in ("language", "query_id", "system")), strict=True)
            known = rows["text"].to_pylist() if table == "answers" else [None] * len(rows)
            texts |= dict(zip(keys, known, strict=True))
    if not texts:
        arena.need("answers")
    return texts


def _read(record: Mapping[str, Any], codes: list[str]) -> tuple[schema.Score, str | None]:
    """Return the score of a record, and the answer text that was labelled.

    Raises:
        BadInput: if a field is missing or invalid.
    """
    given = {name: value for name, value in record.items() if value not in (None, "")}
    for name in _NEEDED:
        if name not in given:
            raise BadInput(f"{name} is missing", do=f"each record has {', '.join(_NEEDED)}")
    language = given.get("language", codes[0] if len(codes) == 1 else None)
    if language is None:
        raise BadInput("language is missing, and the arena has several", do=f"give one of {', '.join(codes)}")
    measure = str(given.get("measure", ANSWERED))
    low, high = _range(given, measure)
    value = _WORDS.get(str(given["value"])) if measure == ANSWERED else None
    value = _number("value", given["value"]) if value is None else value
    if not min(low, high) <= value <= max(low, high):
        raise BadInput(f"value is {value:g}, outside {low:g} to {high:g}", do="give a value on the scale")
    names = (str(language), str(given["query_id"]), normalise_name(str(given["system"])), measure, str(given["rater"]))
    return schema.Score(*names, True, value, low, high, None), given.get("answer")


def _range(given: Mapping[str, Any], measure: str) -> tuple[float, float]:
    """Return the ends of a measure's scale.

    Raises:
        BadInput: if they are not known.
    """
    from mirage.stages.features import FEATURES

    if "low" in given and "high" in given:
        low, high = _number("low", given["low"]), _number("high", given["high"])
        if low == high:
            raise BadInput("low and high are equal", do="give the lowest and the highest value of the scale")
        return low, high
    spec = FEATURES.get(measure)
    if spec is not None and spec.low is not None and spec.high is not None:
        return float(spec.low), float(spec.high)
    if measure == ANSWERED:
        return 0.0, 1.0
    raise BadInput(f"the ends of the scale {measure} are missing", do="give low and high in each record")


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise BadInput(f"{name} is {value!r}, not a number", do="give a finite number")
    return number
