"""The explorer's memory: full collections walk what is new, and once in a while everything."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from mirage.ui import memory


class Node:
    """Something that can be part of a cycle."""

    other: Node


@pytest.fixture(autouse=True)
def thaw() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def full() -> int:
    return int(gc.get_stats()[-1]["collections"])


def test_what_outlives_a_full_collection_is_set_aside_once() -> None:
    lists = [[k] for k in range(10_000)]
    gc.collect()
    while not full() % memory.EVERY:
        gc.collect()
    memory.keep()
    assert gc.get_freeze_count() >= len(lists)
    assert not any(tracked is lists for tracked in gc.get_objects())
    gc.unfreeze()
    memory.keep()
    assert not gc.get_freeze_count(), "nothing was collected since"


def test_garbage_that_was_set_aside_goes_in_the_end() -> None:
    node = Node()
    node.other = Node()
    node.other.other = node
    seen = weakref.ref(node)
    gc.collect()
    memory.keep()
    del node
    for _ in range(memory.EVERY + 1):
        gc.collect()
        memory.keep()
    assert seen() is None
