"""What judging that chooses its own battles refuses: the same in the command and in the function."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mirage.errors import BadInput
from mirage.stages.judge.choice import BattleChoice

GIVEN: dict[str, Any] = {
    "queries": 3,
    "pairs": 2,
    "battles": Path("battles.jsonl"),
    "known": True,
    "planted": True,
    "repeats": 2,
    "replace": True,
    "shard": "1/2",
    "anchors": 5,
    "until": "separated",
}


def test_every_option_that_chooses_battles_is_refused_by_name() -> None:
    assert set(GIVEN) == {field.name for field in fields(BattleChoice)}
    for chooser in ("anchors", "until"):
        alone = {chooser: GIVEN[chooser]}
        BattleChoice(**alone).refuse(chooser, criterion="overall")  # type: ignore[arg-type]
        for name in GIVEN.keys() - {chooser}:
            choice = BattleChoice(**alone | {name: GIVEN[name]})
            with pytest.raises(BadInput, match=f"^--{chooser} chooses") as refused:
                choice.refuse(chooser, criterion="overall", spell=lambda option: f"--{option}")  # type: ignore[arg-type]
            assert refused.value.do == f"omit --{name}"


def test_the_anchor_set_has_one_criterion_and_adaptive_judging_any() -> None:
    BattleChoice(until="separated").refuse("until", criterion="tone")
    with pytest.raises(BadInput, match="overall"):
        BattleChoice(anchors=5).refuse("anchors", criterion="tone")
