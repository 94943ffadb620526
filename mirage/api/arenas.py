"""Arenas: open, import, evaluate, and make a test set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.api.ranking import make_ranking
from mirage.api.results import Evaluation, as_tuple
from mirage.errors import BadInput, UnknownName
from mirage.io.rows import read_frame
from mirage.ranking.settings import DRAWS, SEED
from mirage.store import arena as arenas
from mirage.store import folders as store_folders
from mirage.store.arena import Arena, is_arena
from mirage.store.writing import claim_arena

if TYPE_CHECKING:
    from mirage.llm.calls import ChatModel


def open_arena(arena: str | Path) -> Arena:
    """Open an arena: a bundled one by its name, or a folder.

    Args:
        arena: `nomiracl`, the name of another bundled arena, or the path of a folder.

    Raises:
        UnknownName: if it is neither the name of a bundled arena nor a folder.
        BadInput: if it is an address on object storage.
        ArenaError: if the folder is not an arena, or is damaged.
    """
    folders = arenas.bundled_arenas()
    if str(arena) in folders and not is_arena(Path(arena)):
        return arenas.open_arena(folders[str(arena)])
    folder = store_folders.locate(arena) if isinstance(arena, str) else arena
    if not folder.is_dir():
        raise UnknownName("arena", str(arena), folders, where="the bundled arenas, nor a folder")
    return arenas.open_arena(folder)


def import_file(
    path: Any,
    into: str | Path,
    *,
    kind: str | None = None,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> Arena:
    """Import a file of a known format, or rows, into a new or existing arena; all or nothing.

    Args:
        path: JSON, JSON Lines, CSV or Parquet, compressed or not, or a folder of such files; or rows: a data frame
            (pandas, polars), an Arrow table, or a list of mappings.
        into: the arena's folder.
        kind: the format: `rag`, `ragas`, `lmarena` ...; None to detect it from the content.
        names: mirage's field by the file's: `{"q": "question"}`.
        values: default of a field for records without it: `{"system": "my-model"}`.

    Raises:
        BadInput: listing every invalid record; nothing is then imported.
        ArenaError: if a query or passage that existing answers refer to would change, or the arena cannot be written.
    """
    from mirage.io.imports import formats
    from mirage.io.options import Options

    options = Options(names or {}, values or {})
    if isinstance(path, str | Path):
        return formats.import_file(Path(path), Path(into), name=kind, options=options).arena
    return formats.import_table(read_frame(path), Path(into), name=kind, options=options).arena


def evaluate(
    data: Any = None,
    into: str | Path | None = None,
    *,
    judge: str | None = None,
    model: ChatModel | None = None,
    kind: str | None = None,
    names: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
    queries: int | None = None,
    pairs: int | None = None,
    languages: Iterable[str] | None = None,
    baselines: bool = False,
    draws: int = DRAWS,
    seed: int = SEED,
    failures: schema.Failures = "count",
) -> Evaluation:
    """Evaluate a file or rows: import, measure what needs no model, judge if a model is given, and rank.

    Running it again resumes: only outdated steps run, and no call is paid for twice.

    Args:
        data: a file or folder in any known format, an arena or its folder, or the name of a bundled arena; rows, as
            for `import_file`; None for the bundled sample.
        into: the arena's folder, required for rows. None for an arena in place, for a folder beside a file and named
            after it, or for a copy of a bundled arena in the current folder.
        judge: judge to rank by: one in the data, or the name for `model` as a judge, by default the model's. Without
            both: the judge in the data, else labels, nugget scores or scores of the answers.
        model: model that judges (`chat_model`), within its budget; None for no calls.
        kind: the format, as for `import_file`.
        names: fields, as for `import_file`.
        values: default values, as for `import_file`.
        queries: queries to judge per language; None for all.
        pairs: pairs of answers to judge per language; None for all.
        languages: codes to judge; None for all.
        baselines: also add the answers of the baselines, which need no model.
        draws: bootstrap draws for the intervals.
        seed: random seed of the battles to judge and of the draws.
        failures: failed answers count as wrong (`count`) in the ranking, or are left out (`drop`).

    Raises:
        BadInput: listing every invalid record, or if rows have no folder; nothing is then written.
        UnknownName: if there is no such judge, and no model.
        ArenaError: if the arena cannot be written.
        Unreachable: if the service rejects every call.
    """
    from mirage.io.options import Options
    from mirage.pipeline import evaluating
    from mirage.pipeline.evaluating import EvaluateSettings
    from mirage.pipeline.steps import RunModel
    from mirage.stages.judge.stage import BattleSample
    from mirage.views.board import ranking_of
    from mirage.views.overview import OverviewChoice, overview_view

    settings = EvaluateSettings(
        judge=model.settings.model if judge is None and model is not None else judge,
        kind=kind,
        options=Options(names or {}, values or {}),
        sample=BattleSample(queries, pairs, seed, as_tuple(languages)),
        draws=draws,
        seed=seed,
        failures=failures,
        model=None if model is None else RunModel(model),
        baselines=baselines,
    )
    folder = None if into is None else store_folders.locate(str(into))
    given = data.path if isinstance(data, Arena) else data
    if given is None or isinstance(given, str | Path):
        source, folder = evaluating.locate(given, folder)
    elif folder is None:
        raise BadInput("rows need a folder for their arena", do='give one: mirage.evaluate(rows, "my-arena")')
    else:
        source = read_frame(given)
    report = evaluating.evaluate(source, folder, settings, made_by="mirage.evaluate")
    view = overview_view(report.arena, OverviewChoice(report.draws, report.seed, report.failures))
    ranking = None if view.board is None else make_ranking(ranking_of(report.arena, view.choice), view.board.remarks)
    return Evaluation(report.arena, ranking, report, view)


def testset(
    corpus: str | Path | Sequence[str | Path],
    into: str | Path,
    model: ChatModel,
    *,
    languages: Iterable[str] | None = None,
    n: int = 200,
    unanswerable: float = 0.5,
    depth: int = 10,
    seed: int = 0,
) -> Arena:
    """Make a test set from documents: questions by a model, a share of them without an answer in the corpus.

    Repeating an interrupted call resumes it, and no call is paid for twice.

    Args:
        corpus: documents, files of passages, or folders of both.
        into: the new arena's folder; its `source/corpus.jsonl` holds the remaining corpus.
        model: the model that writes questions and checks passages (`chat_model`).
        languages: codes of the languages to ask in; None for those of the passages.
        n: questions per language.
        unanswerable: share of the questions to make unanswerable.
        depth: passages given with each query.
        seed: random seed.

    Returns:
        The arena, with queries of both subsets, passages, reference answers, nuggets, and the tables `drafts` and
        `passage_checks`.

    Raises:
        BadInput: if a file cannot be read, or needs an extra that is not installed, or an argument is out of range.
        ArenaError: if the folder has an arena already.
        NotEnoughData: if the corpus has no passage, no question is accepted, or the budget is reached.
        Unreachable: if the service rejects every call.
    """
    from mirage.io.documents import read_documents
    from mirage.llm.asking import ArenaCalls
    from mirage.stages.testset.settings import TestsetSettings
    from mirage.stages.testset.stage import make_testset

    paths = [corpus] if isinstance(corpus, str | Path) else list(corpus)
    documents = read_documents([Path(path) for path in paths])
    settings = TestsetSettings(as_tuple(languages) or documents.languages, n, unanswerable, depth, seed)
    calls = ArenaCalls(model, "mirage.testset")
    result = make_testset(
        store_folders.locate(str(into)),
        documents.passages,
        settings,
        calls=calls,
        sources=documents.files,
    )
    return result.arena


def need_writable(arena: Arena) -> Path:
    """Return the folder of an arena that may be changed.

    Raises:
        BadInput: if it is bundled, or only some of its queries are selected.
    """
    if arena.tags:
        raise BadInput("only some queries of this arena are selected", do="use the whole arena: arena.whole")
    return claim_arena(arena.path)
