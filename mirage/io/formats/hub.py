"""Records of a dataset on the Hugging Face Hub, streamed, or saved by `save_to_disk` in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput, Unreachable
from mirage.store.extras import extra


def dataset_lines(name: str, *, split: str | None = None, config: str | None = None) -> Iterator[store.Line]:
    """Yield the rows of a dataset, each at `NAME:ROW`, counted from 1.

    Args:
        name: a folder made with `save_to_disk`, or the name of a dataset on the Hub: `owner/name`. Rows from the Hub
            are streamed, and not stored.
        split: the split; required if there are several.
        config: the configuration; required if the Hub has several.

    Raises:
        BadInput: if `datasets` is not installed, the folder has no dataset, or there is no such split or config.
        Unreachable: if the Hub does not answer, or has no such dataset.
    """
    with extra("hub", "reading datasets of the hub"):
        import datasets

    folder = Path(name)
    try:
        if folder.is_dir():
            data: Any = datasets.load_from_disk(name)
        else:
            data = datasets.load_dataset(name, config, split=split, streaming=True)
        rows: Iterable[Mapping[str, Any]] = _part(data, name, split) if isinstance(data, Mapping) else data
        for number, row in enumerate(rows, start=1):
            yield store.Line(f"{name}:{number}", dict(row))
    except FileNotFoundError as error:
        if folder.is_dir():
            raise BadInput(
                f"{name} was not saved by save_to_disk: {error}", do="import its files: mirage import FILE"
            ) from None
        raise _unreachable(name, error) from None
    except (ConnectionError, OSError) as error:
        raise _unreachable(name, error) from None
    except ValueError as error:
        # datasets has no error of its own for a configuration or a split that is not there; its text names those.
        raise BadInput(f"{name} cannot be read: {error}", do="choose with --config NAME or --split NAME") from None


def _part(data: Mapping[str, Any], name: str, split: str | None) -> Any:
    """Return the requested split, or the only one."""
    if split is None and len(data) == 1:
        return next(iter(data.values()))
    if split is None or split not in data:
        what = "has several splits" if split is None else f"has no split {split!r}"
        raise BadInput(f"{name} {what}", do=f"choose one: --split {' or '.join(sorted(data))}")
    return data[split]


def _unreachable(name: str, error: Exception) -> Unreachable:
    return Unreachable(
        f"the dataset {name} could not be loaded: {error}",
        do="check name and connection; or save it on a connected machine (save_to_disk) and import the folder",
    )
