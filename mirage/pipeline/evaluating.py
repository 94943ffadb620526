"""Evaluation of a file or an arena in one go: import, measurements without a model, a judge, a ranking.

    source, into = locate("answers.jsonl")
    report = evaluate(source, into, EvaluateSettings(), made_by="mirage evaluate")

It composes `mirage.io.imports` and `steps.py`; `mirage.views.overview` states the findings.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from mirage.battles.judge import ALONE, HEURISTIC, SIMULATED, preferred_judge, ranks_by_labels, verdict_judges
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.io.formats.run import Summary
from mirage.io.imports.formats import import_file, import_table, read_file
from mirage.io.options import Options
from mirage.llm.calls import Cost
from mirage.people.votes import raters
from mirage.pipeline.steps import RunModel, StepReport, Steps
from mirage.ranking.judges import Judge
from mirage.ranking.settings import DRAWS, SEED
from mirage.ranking.stage import RATING_STAGES
from mirage.schema import Failures
from mirage.stages.judge.stage import BattleSample
from mirage.store import arena as arenas
from mirage.store import copies, folders
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.runs import record_judge
from mirage.store.writing import claim_arena

Watch = Callable[[str], Callable[[int, int | None], None]]
"""Maps a step's name to its progress callback: amount done, and total, None if unknown."""
SAMPLE = "sample"
"""Bundled arena that is evaluated if nothing is given."""


@dataclass(frozen=True, slots=True)
class EvaluateSettings:
    """Settings of an evaluation. Without a model it costs nothing."""

    judge: str | None = None
    """Judge that ranks: one of the data, or the name of `model` as a judge; None for the best there is
    (`preferred_judge`).
    """
    kind: str | None = None
    """Format of the file; None to detect it from the content."""
    options: Options = field(default_factory=Options)
    """Names and default values of its fields."""
    sample: BattleSample = field(default_factory=BattleSample)
    """The battles to judge."""
    draws: int = DRAWS
    """Bootstrap draws of the ratings."""
    seed: int = SEED
    """Seed of the draws."""
    failures: Failures = "count"
    """Whether failed answers count in the ranking."""
    model: RunModel | None = None
    """Model that judges; None for no calls."""
    baselines: bool = False
    """Whether to add answers of the baselines, which need no model."""


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationReport:
    """Result of an evaluation."""

    arena: Arena
    """The arena with everything imported and computed."""
    steps: tuple[StepReport, ...] = ()
    """Steps that ran or were skipped, with the reasons."""
    imported: Summary | None = None
    """Summary of the import; None for an arena."""
    judge: str | None = None
    """Judge of the ranking, now the arena's default: `relevance`, `nuggets` or a name; None without decisions."""
    draws: int = DRAWS
    """Bootstrap draws of the ranking."""
    seed: int = SEED
    """Its seed."""
    failures: Failures = "count"
    """Whether failed answers count in it."""
    planned: Cost | None = None
    """Maximum cost of the judge's calls, if they were not agreed to."""


def locate(given: str | Path | None = None, into: Path | None = None) -> tuple[Path, Path]:
    """Return the path of the data, and the folder of its arena.

    Args:
        given: a file, a folder of files, an arena, or the name of a bundled arena; None for the bundled sample.
        into: the folder; None for the arena itself, or a folder next to the file, named after it. Bundled arenas are
            copied into the current folder, and never changed in place.

    Raises:
        BadInput: if there is nothing at the path.
    """
    text = SAMPLE if given is None else str(given)
    path = folders.locate(text) if isinstance(given, str) else Path(text)
    if not path.exists():
        if text not in arenas.bundled_arenas():
            if path.suffix:
                raise BadInput(f"there is no file {text}", do="check the path")
            raise UnknownName("file or bundled arena", text, arenas.bundled_arenas())
        path = arenas.bundled_arenas()[text]
    if not is_arena(path):
        return path, into or path.parent / f"{path.name.partition('.')[0]}-arena"
    bundled = path.absolute() in {folder.absolute() for folder in arenas.bundled_arenas().values()}
    return path, into or (Path(f"{path.name}-arena") if bundled else path)


def evaluate(
    data: Path | pa.Table,
    into: Path,
    settings: EvaluateSettings = EvaluateSettings(),
    *,
    made_by: str,
    agree: Callable[[Cost], bool] | None = None,
    progress: Watch | None = None,
) -> EvaluationReport:
    """Evaluate a file, rows or an arena: import, measure what needs no model, judge if a model is named, and rank.

    Repeating it resumes: up-to-date steps are skipped, and no call is paid for twice.

    Args:
        data: a file or folder in any known format, an arena, or rows.
        into: the arena's folder, new or existing.
        settings: the settings.
        made_by: the command, for the manifest.
        agree: called with the maximum cost of the judge's calls; False skips them. None: they are made.
        progress: maps a step's name to its progress callback (amount done, total).

    Raises:
        BadInput: listing every invalid record; nothing is then written.
        UnknownName: if there is no such judge and no model; nothing is then written.
        ArenaError: if the arena cannot be written.
        Unreachable: if the service rejects every call.
    """
    if settings.judge is not None and settings.model is None:
        known = {*ALONE, HEURISTIC, *judges_of_data(data, into, settings)}
        if settings.judge not in known:
            raise UnknownName("judge", settings.judge, known)
    claim_arena(into)
    watch = progress or (lambda _: lambda _done, _of: None)
    steps = Steps(into, made_by, watch)
    imported = _fill(data, into, settings, watch)
    results = list(steps.measure(baselines=settings.baselines))
    planned = None
    if settings.model is not None:
        asked = settings.judge or "", settings.sample, settings.model
        cost = None if agree is None else steps.judging_cost(*asked)
        if agree is None or cost is None or not cost.calls or agree(cost):
            results.append(steps.judge(*asked))
        else:
            planned = cost
    if settings.judge is None:
        _judge_by_scores(into, made_by)
    if settings.judge == HEURISTIC:
        results.append(steps.judge(HEURISTIC, settings.sample))
    judge = preferred_judge(open_arena(into), settings.judge)
    if judge is not None:
        record_judge(into, judge)
    if judge is not None and Judge.from_name(judge).table in RATING_STAGES:
        results += steps.rate(judge, draws=settings.draws, seed=settings.seed)
    ranked_by = settings.draws, settings.seed, settings.failures
    return EvaluationReport(open_arena(into), tuple(results), imported, judge, *ranked_by, planned)


def judges_of_data(data: Path | pa.Table, into: Path, settings: EvaluateSettings) -> set[str]:
    """Return the judges of the data and of the arena that it goes into, without writing.

    Raises:
        BadInput: listing every invalid record.
    """
    known = set(verdict_judges(open_arena(into))) if is_arena(into) else set()
    if isinstance(data, Path) and is_arena(data):
        return known | set(verdict_judges(open_arena(data)))
    if isinstance(data, Path):
        tables, _ = read_file(data, into, name=settings.kind, options=settings.options)
        return known | set(tables["judgments"]["judge"].to_pylist() if "judgments" in tables else ())
    return known | set(data["judge"].to_pylist() if "judge" in data.column_names else ())


def _fill(data: Path | pa.Table, into: Path, settings: EvaluateSettings, watch: Watch) -> Summary | None:
    """Import the data into the arena, in one step; None for an arena."""
    if not isinstance(data, Path):
        done = import_table(data, into, name=settings.kind, options=settings.options)
    elif is_arena(data):
        arena = open_arena(data)
        if arena.path != into.absolute():
            copies.copy(arena, into)
        return None
    else:
        done = import_file(data, into, name=settings.kind, options=settings.options, progress=watch("import"))
    return done.summary


def _judge_by_scores(into: Path, made_by: str) -> None:
    """Let scores of the answers decide battles where otherwise no judge or a simulated one would."""
    arena = open_arena(into)
    judge = preferred_judge(arena)
    scores = arena.read_optional("scores")
    weak = (
        judge is None
        or judge.startswith(SIMULATED)
        or (Judge.from_name(judge).rests_on_labels and not ranks_by_labels(arena))
    )
    if scores is None or not weak:
        return
    if (measure := raters.main_measure(scores)) is not None:
        with suppress(NotEnoughData):
            raters.judge_by_scores(into, measure, made_by=made_by)
