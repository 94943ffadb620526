"""Judging an arena: the battles are drawn, a model or the features decide, the verdicts join those of other judges."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import judge, llm, schema, store
from mirage.errors import BadInput, Unreachable
from mirage.pipeline.stages import Progress, derived
from mirage.sources import files

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Sample:
    """Which battles of an arena are judged (`mirage.judge.choose`); by default all."""

    queries: int | None = None
    """Questions a language."""
    pairs: int | None = None
    """Pairs of answers a language, each judged in both orders."""
    seed: int = 0
    """Seed of the draw."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    battles: Sequence[judge.Battle] | None = None
    """These battles, in both orders, and no others; the above then counts for nothing."""


def plan_judging(path: Path, *, settings: llm.Settings, limits: llm.Limits, sample: Sample) -> llm.Cost:
    """What judging would cost at most; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks questions, passages or answers.
        NotEnoughData: if there is nothing to judge.
    """
    arena = store.open_arena(path)
    _, prompts = _battles(arena, sample)
    file = ledger_path(path)
    if not file.exists():
        return llm.plan(prompts, settings=settings, limits=limits, ledger=None)
    with store.Ledger(file, read_only=True) as ledger:
        return llm.plan(prompts, settings=settings, limits=limits, ledger=ledger)


def read_battles(file: Path) -> list[judge.Battle]:
    """Read a list of battles, as `mirage place --next FILE` writes it: language, query_id, system_a, system_b.

    Raises:
        BadInput: if the file cannot be read, or a record lacks one of them.
    """
    return [judge.Battle(*keys) for keys in files.battles(file)]


def judge_by_model(
    path: Path,
    *,
    name: str,
    engine: judge.Engine,
    settings: llm.Settings,
    limits: llm.Limits,
    sample: Sample,
    made_by: str,
    progress: Progress | None = None,
) -> tuple[store.Arena, judge.Judged]:
    """Let a model judge the answers of an arena.

    Its verdicts replace those it gave on the same battles; those on others stay, and so do other judges'. Replies are
    in the arena's ledger the moment they come, and the table is written at the end, also when the service ends the run:
    whoever is stopped goes on with the same command and pays nothing twice.

    Args:
        path: the arena's folder.
        name: the judge's name.
        engine: makes the calls, with these settings.
        settings: model and parameters.
        limits: holds the prices.
        sample: which battles.
        made_by: the command, for the manifest.
        progress: called with how many battles are done, and of how many.

    Returns:
        The arena, and what came of asking.

    Raises:
        BadInput: if the name is the heuristic judge's, or has verdicts by another model or other parameters.
        ArenaError: if the arena lacks questions, passages or answers, or cannot be written.
        NotEnoughData: if there is nothing to judge.
        Unreachable: if the service turns down what every call needs, or no call at all got a reply.
    """
    if name == judge.HEURISTIC:
        raise BadInput(
            f"{name} is the judge that asks no model", do="give the judge another name, or leave --model out"
        )
    arena = store.open_arena(path)
    with store.Ledger(ledger_path(path)) as ledger:
        _refuse_another(arena, name, settings, ledger)
        battles, prompts = _battles(arena, sample)
        judged = judge.ask(battles, prompts, judge=name, engine=engine, ledger=ledger, limits=limits, progress=progress)
    used = ", ".join(f"{key} {value}" for key, value in llm.request(settings, []).items() if key != "messages")
    asked = schema.from_columns(
        "judgments",
        {key: [name if key == "judge" else getattr(b, key) for b in battles] for key in schema.key("judgments")},
    )
    arena = _write(path, judged.judgments, asked, name=name, note=used, made_by=made_by)
    if judged.stopped:
        raise judged.stopped
    if judged.failed and not len(judged.judgments):
        raise Unreachable(
            f"no call got a reply: {max(judged.failed, key=lambda reason: judged.failed[reason])}",
            do="see that the service answers, then run the same command again",
        )
    return arena, judged


def judge_by_features(path: Path, *, sample: Sample, made_by: str) -> store.Arena:
    """Let the heuristic judge weigh the features of an arena's answers. Its verdicts replace all it gave before; with a
    list of battles, those it gave on these.

    Raises:
        ArenaError: if the arena lacks answers or features, or cannot be written.
        NotEnoughData: if there is nothing to judge.
    """
    arena = store.open_arena(path)
    features = arena.read("features")
    answers = arena.read("answers", columns=["language", "query_id", "system", "status"], languages=sample.languages)
    battles = _chosen(answers, sample)
    made = judge.judge_by_features(battles, features)
    note = f"weights {', '.join(f'{w.feature} {w.weight:g}' for w in judge.WEIGHTS)}; margin {judge.MARGIN:g}"
    asked = None if sample.battles is None else made
    return _write(path, made, asked, name=judge.HEURISTIC, note=note, made_by=made_by)


def judges(path: Path, *, limits: llm.Limits | None = None) -> list[judge.JudgeStats]:
    """How every judge of an arena has judged, and what its calls have cost.

    Args:
        path: the arena's folder.
        limits: holds the prices; without them there is no money.

    Raises:
        ArenaError: if the arena lacks judgments.
    """
    arena = store.open_arena(path)
    names = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "call")
    judgments = arena.read("judgments", columns=names)
    if not ledger_path(path).exists():
        return judge.judge_stats(judgments)
    with store.Ledger(ledger_path(path), read_only=True) as ledger:
        return judge.judge_stats(judgments, ledger, limits)


def ledger_path(path: Path) -> Path:
    """Where the replies of an arena are kept."""
    return path / store.LEDGER


def _battles(arena: store.Arena, sample: Sample) -> tuple[list[judge.Battle], judge.Prompts]:
    """The battles drawn, and their prompts."""
    languages = sample.languages if sample.battles is None else {battle.language for battle in sample.battles}
    tables = {name: arena.read(name, languages=languages) for name in ("queries", "passages", "answers")}
    among = judge.judgeable(tables["queries"], tables["passages"])
    battles = _chosen(tables["answers"], sample, among)
    return battles, judge.Prompts(battles, **tables)


def _chosen(answers: pa.Table, sample: Sample, among: Collection[tuple[str, str]] | None = None) -> list[judge.Battle]:
    """The battles of the list, or those drawn."""
    if sample.battles is not None:
        return judge.listed(answers, sample.battles, among=among)
    return judge.choose(answers, queries=sample.queries, pairs=sample.pairs, seed=sample.seed, among=among)


def _refuse_another(arena: store.Arena, name: str, settings: llm.Settings, ledger: store.Ledger) -> None:
    """Refuse to put verdicts of two models, or of one with other parameters, under one judge's name.

    One verdict tells, as none of another kind gets in.
    """
    if "judgments" not in arena.tables:
        return
    table = arena.read("judgments", columns=["judge", "call"])
    of_name = (
        call for who, call in zip(*(table[c].to_pylist() for c in ("judge", "call")), strict=True) if who == name
    )
    for call in of_name:
        before = ledger.request(call) if call is not None else None
        now = llm.request(settings, [])
        changed = [
            key for key in sorted({*(before or {}), *now} - {"messages"}) if (before or {}).get(key) != now.get(key)
        ]
        if call is None:
            said = "that were imported"
        elif before is not None and changed:
            said = "with " + ", ".join(f"{key} {before.get(key)}" for key in changed)
        else:
            return
        raise BadInput(
            f"{name} has verdicts {said}", where=str(arena.path), do="give this judge another name with --judge"
        )


def _write(path: Path, made: pa.Table, asked: pa.Table | None, *, name: str, note: str, made_by: str) -> store.Arena:
    """Put a judge's verdicts in place of those it gave before, beside the other judges'.

    What it said on the battles asked goes even where no new verdict came: it was of other texts, or the ledger would
    have had the reply. With None all it said goes.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    arena = store.open_arena(path)
    before: dict[str, Any] = {"from": [], "notes": []}
    old = schema.arrow_schema("judgments").empty_table()
    if "judgments" in arena.tables:
        before = arena.manifest["made"]["judgments"]
        old = arena.read("judgments")
    keys = list(schema.key("judgments"))
    if asked is None:
        kept = old.filter(pc.not_equal(old["judge"], name))
    else:
        kept = old.join(asked.select(keys), keys, join_type="left anti").select(old.column_names).cast(old.schema)
    if not len(made) and len(kept) == len(old):
        return arena
    return store.write(
        path,
        {"judgments": pa.concat_tables([kept, made])},
        made_by=made_by,
        made_from=before["from"],
        notes=[*(one for one in before["notes"] if not one.startswith(f"{name}: ")), f"{name}: {note}"],
        stale=derived(["judgments"]),
    )
