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


@pytest.fixture
def collector() -> Iterator[None]:
    before = list(gc.callbacks)
    memory.keep()
    memory.keep()
    yield
    gc.callbacks[:] = before
    gc.unfreeze()


@pytest.mark.usefixtures("collector")
def test_what_outlives_a_full_collection_is_set_aside() -> None:
    assert gc.callbacks.count(memory._collected) == 1
    kept = [[k] for k in range(10_000)]
    gc.collect()
    assert gc.get_freeze_count() >= len(kept)
    assert not any(one is kept for one in gc.get_objects())


@pytest.mark.usefixtures("collector")
def test_garbage_that_was_set_aside_goes_in_the_end() -> None:
    node = Node()
    node.other = Node()
    node.other.other = node
    seen = weakref.ref(node)
    gc.collect()
    del node
    for _ in range(memory.EVERY):
        gc.collect()
    assert seen() is None
