"""What judging that chooses its own battles refuses: the same in the command and in the function."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from mirage.errors import BadInput
from mirage.stages.judge.choice import BattleChoice

GIVEN: dict[str, Any] = {
    "queries": 3,
    "pairs": 2,
    "known": True,
    "planted": True,
    "repeats": 2,
    "replace": True,
    "shard": "1/2",
    "until": "separated",
}


def test_every_option_that_chooses_battles_is_refused_by_name() -> None:
    assert set(GIVEN) == {field.name for field in fields(BattleChoice)}
    alone = {"until": GIVEN["until"]}
    BattleChoice(**alone).refuse("until")  # type: ignore[arg-type]
    for name in GIVEN.keys() - {"until"}:
        choice = BattleChoice(**alone | {name: GIVEN[name]})  # type: ignore[arg-type]
        with pytest.raises(BadInput, match=r"^--until chooses") as refused:
            choice.refuse("until", spell=lambda option: f"--{option}")
        assert refused.value.do == f"omit --{name}"
