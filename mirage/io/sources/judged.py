"""Battles of Chatbot Arena with the verdict of a person and of three models on each, without texts.

    num,question_id,model_a,model_b,human,gpt-4-0125-preview,claude-3-opus-20240229,gpt-3.5-turbo
    0,58210e39b3fd4441a2bd4a518bb44c2d,chatglm-6b,koala-13b,model_b,model_b,model_b,model_a

The columns of winners stand side by side as Networks-Learning/prediction-powered-ranking keeps them in `data/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema, store
from mirage.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "chatbot_arena_verdicts.csv.gz"
"""Name of the file."""
NAME = "Chatbot Arena battles with verdicts of people and three models (Networks-Learning/prediction-powered-ranking)"
URL = "https://github.com/Networks-Learning/prediction-powered-ranking"
LICENCE = "MIT"
HUMAN = "human"
"""Column of people's verdicts."""
_OF_ROW = ("num", "question_id", "model_a", "model_b")
_VERDICTS: dict[str, schema.Verdict] = {"model_a": "A", "model_b": "B", "tie": "tie", "tie (bothbad)": "both_bad"}


def read_judged(path: Path) -> tuple[pa.Table, int]:
    """Read the verdicts on every battle.

    People's verdicts are those of the judge `people`, marked as a person's, as in an import of LMArena's votes. Queries
    are numbered from 00001, in the order of the first system, the second system and the file: the file's own ids are 32
    random digits each, three times the size of everything else. A row that repeats a battle is left out: it may be a
    second vote of the same person, and would count as another's.

    Args:
        path: the file, whose name may end in `.gz`.

    Returns:
        Table `judgments`, in one order each, and the number of rows left out.

    Raises:
        BadInput: naming the line, if a column is missing or a verdict is unknown.
    """
    lines = list(store.csv_rows(path))
    for line in lines:
        if missing := [name for name in (*_OF_ROW, HUMAN) if name not in line.value]:
            raise BadInput(f"there is no column {missing[0]}", where=line.where, do=f"it has {', '.join(line.value)}")
    lines.sort(key=lambda line: (line.value["model_a"], line.value["model_b"]))
    battles = {
        (line.value["question_id"], line.value["model_a"], line.value["model_b"]): line for line in reversed(lines)
    }
    first = [*reversed(battles.values())]
    table = schema.from_rows("judgments", _judgments(first))
    return schema.sort("judgments", table), len(lines) - len(first)


def _judgments(lines: list[store.Line]) -> Iterator[schema.Judgment]:
    numbers: dict[str, str] = {}
    for line in lines:
        row = line.value
        query_id = numbers.setdefault(row["question_id"], f"{len(numbers) + 1:05}")
        for judge, word in row.items():
            if judge in _OF_ROW:
                continue
            if word not in _VERDICTS:
                raise BadInput(
                    f"{judge} is {word!r}, which is no verdict", where=line.where, do=f"use {', '.join(_VERDICTS)}"
                )
            person = judge == HUMAN
            yield schema.Judgment(
                language="en",
                query_id=query_id,
                judge=schema.PEOPLE if person else judge,
                system_a=row["model_a"],
                system_b=row["model_b"],
                verdict=_VERDICTS[word],
                rationale=None,
                reason=None,
                call=None,
                person=True if person else None,
            )
