"""Answers for Vectara's open-rag-eval: a CSV with one row per passage."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import system_of, text
from mirage.io.formats.spec import GivenAnswer, Item, Record, Sample, ShownPassage
from mirage.text.content import renumber

_NUMBER = re.compile(r"\[(\d+)\]")


def recognise(sample: Sample) -> str | None:
    """Detect rows with the columns of its CSV connector."""
    wanted = {"query", "passage_id", "passage", "generated_answer"}
    return "has query, passage_id, passage and generated_answer, one row a passage" if wanted <= sample.fields else None


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Read consecutive rows of one query and run as one answer."""
    for _, rows in itertools.groupby(records, key=_group):
        yield _item(list(rows), builder)


def _group(record: Record) -> tuple[object, ...]:
    names = ("query_id", "query", "query_run", "system", "model", "model_name", "language")
    return tuple(record.value.get(name) for name in names)


def _item(rows: Sequence[Record], builder: Builder) -> Item:
    head = rows[0]
    given = [(row, text(row, "passage_id"), text(row, "passage")) for row in rows]
    given = [(row, name, passage) for row, name, passage in given if passage is not None]
    numbers = [_NUMBER.fullmatch(name.strip()) if name else None for _, name, _ in given]
    numbered = bool(given) and all(numbers)
    # `[1]` is the position of a passage, not its id: it differs between queries and between runs.
    passages = [ShownPassage(passage, None if numbered else name) for _, name, passage in given]
    answers = [answer for row in rows if (answer := text(row, "generated_answer")) is not None]
    system = system_of(head, builder)
    run = text(head, "query_run")
    if run is not None and run.strip() not in ("", "1") and text(head, "system", "model", "model_name") is None:
        system = f"{system} run {run.strip()}"
        builder.note_guess("query_run", "a second run of a query is a separate system: `NAME run 2`")
    answer = next(iter(answers), None)
    if answer is not None and numbered:
        answer = _renumber(answer, [int(match[1]) for match in numbers if match], builder)
    return Item(
        text(head, "query"),
        query_id=text(head, "query_id"),
        language=text(head, "language"),
        passages=passages,
        answers=[GivenAnswer(system, answer, numbered=numbered or None)],
        where=head.where,
    )


def _renumber(answer: str, numbers: Sequence[int], builder: Builder) -> str:
    """Renumber an answer's citations to count its passages from 1, also if the file skips numbers."""
    if list(numbers) == list(range(1, len(numbers) + 1)):
        return answer
    builder.note_guess("passage_id", "citations are renumbered from 1 if the file skips numbers")
    shown = [str(number) for number in range(1, max(numbers) + 1)]
    return renumber(answer, shown, list(dict.fromkeys((*map(str, numbers), *shown))))


FORMAT = Format(*describe("open-rag-eval"), recognise=recognise, read=read)
