"""Command that makes a test set from a corpus: `mirage testset`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from mirage.cli.common import Seed, app, codes, local_path
from mirage.cli.connection import Connection, tell
from mirage.cli.output import note, progress, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput
from mirage.store import folders
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    from mirage.io.documents import OmittedPart
    from mirage.stages.testset.stage import TestsetResult

COLUMNS = ("language", "queries", "answerable", "unanswerable", "dropped")
"""Columns of `testset`."""
_LISTED = 20
"""Maximum number of omitted files and passages to list; the others are counted by reason."""


@app.command("testset")
@expand_settings
def make_testset_from_files(
    dir_: Annotated[Path, Argument(metavar="DIR", parser=folders.locate, help="The new arena's folder.")],
    connection: Connection,
    corpus: Annotated[
        list[Path],
        Option(
            "--corpus",
            metavar="FILE",
            parser=local_path,
            help="Document, file of passages, or folder of both: Markdown, text, PDF, HTML, JSON Lines, CSV or Parquet."
            " Repeatable.",
        ),
    ],
    languages: Annotated[
        Sequence[str] | None,
        Option(metavar="SW,DE,..", parser=codes, help="Languages of the questions; default those of the passages."),
    ] = None,
    n: Annotated[int, Option("--n", min=1, help="Questions per language.")] = 200,
    unanswerable: Annotated[float, Option(min=0, max=1, help="Share of the questions to make unanswerable.")] = 0.5,
    depth: Annotated[int, Option(min=2, help="Passages given with each query.")] = 10,
    seed: Seed = 0,
) -> None:
    """Make a test set from your own documents: questions by a model, half of them without an answer.

    Cuts documents into passages, and has the model write a question from each of some, drawn at random, with facts,
    quotes and a reference answer. For half of the questions every passage that answers is removed: the source, its
    near-duplicates, and what the model finds to answer among the passages most similar to the question. Writes the
    arena DIR, with the tables queries (subset non_relevant for the unanswerable), passages, references, nuggets, tags,
    drafts and passage_checks, and DIR/source/corpus.jsonl, the remaining corpus. Replies are cached in DIR: rerun the
    command to resume; no call is paid for twice. Prints the queries by language, and what was left out.
    """
    from mirage.io.documents import read_documents
    from mirage.stages.testset.settings import TestsetSettings
    from mirage.stages.testset.stage import make_testset, plan_testset

    with progress("Reading"):
        documents = read_documents(corpus)
    _tell_left_out(documents.left_out)
    asked = languages or documents.languages
    if not asked:
        raise BadInput("the language of the passages is unknown", do="add --languages")
    settings = TestsetSettings(asked, n, unanswerable, depth, seed)
    model = connection.chat_model()
    if connection.dry_run:
        tell(plan_testset(dir_, documents.passages, settings, model), planned=True)
        return
    with connection.calls(model, "Asking", "mirage testset") as calls:
        result = make_testset(dir_, documents.passages, settings, calls=calls, sources=documents.files, say=note)
    _tell_result(result)
    counts = result.counts.items()
    rows = [
        (code, n["relevant"] + n["non_relevant"], n["relevant"], n["non_relevant"], n["dropped"]) for code, n in counts
    ]
    show([dict(zip(COLUMNS, row, strict=True)) for row in rows], COLUMNS)


def _tell_left_out(left_out: Sequence[OmittedPart]) -> None:
    """List the first files and passages left out of the corpus, and count the others by reason."""
    for one in left_out[:_LISTED]:
        note(f"Left out: {one.where}: {one.reason}")
    for reason, n in Counter(one.reason.partition(" as ")[0] for one in left_out[_LISTED:]).most_common():
        note(f"Left out: {count_text(n, 'more part')}: {reason}")


def _tell_result(result: TestsetResult) -> None:
    """Report cost, dropped questions and checks."""
    tell(result.cost)
    for reason, n in result.reasons.most_common(_LISTED):
        note(f"{count_text(n, 'question')} dropped: {reason}")
    note(f"{count_text(result.removed, 'passage')} removed from the corpus.")
    if result.undecided:
        note(f"{count_text(result.undecided, 'passage')} that the model did not classify; none is shown.")
    note("Labels not audited.")
    note(f"Next: mirage generate {result.arena.argument} --model MODEL --system NAME")
