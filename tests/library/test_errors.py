"""Errors say what is wrong, where, and what to do; a wrong name is answered with the nearest right ones."""

import pytest

from mirage import errors
from mirage.errors import MirageError, TableMissing, UnknownName


def test_the_text_has_a_line_for_each_part_that_is_there() -> None:
    whole = MirageError("this is wrong", where="file.csv:3", do="mend it")
    assert str(whole) == "this is wrong\n  where: file.csv:3\n  to do: mend it"
    assert str(MirageError("this is wrong")) == "this is wrong"


@pytest.mark.parametrize(
    ("name", "valid", "nearest"),
    [
        ("gpt4-azure", ["gpt-4-azure", "aya-101", "flan-t5-xxl"], ["gpt-4-azure"]),
        ("MISTRAL-7B", ["Mistral-7B-Instruct", "aya-101"], ["Mistral-7B-Instruct"]),
        ("texts", ["text", "reason"], ["text"]),
    ],
)
def test_pitfall_44_a_misspelt_name_is_answered_with_the_nearest(
    name: str, valid: list[str], nearest: list[str]
) -> None:
    error = UnknownName("system", name, valid)
    assert error.nearest == nearest
    assert f"did you mean: {nearest[0]}?" in str(error)


def test_pitfall_44_a_name_near_to_none_is_answered_with_what_there_is() -> None:
    assert "use one of: ar, bn" in str(UnknownName("language", "qqqq", ["bn", "ar", "ar"]))
    assert "use one of: none" in str(UnknownName("system", "x", []))


def test_a_missing_table_names_the_command_that_brings_it() -> None:
    error = TableMissing("features", where="my/arena", command="mirage measure features my/arena")
    assert "this arena has no features" in str(error)
    assert "run: mirage measure features my/arena" in str(error)


def test_every_error_of_the_package_descends_from_one_root() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and k.__module__ == errors.__name__]
    assert len(kinds) == 8
    assert all(issubclass(kind, MirageError) for kind in kinds)
