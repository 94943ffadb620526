"""Judging an arena: the battles are drawn, a model or the features decide, the verdicts join those of other judges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import judge, llm, schema, store
from mirage.battles.verdict_rows import OF_KNOWN
from mirage.engines.shards import Shard
from mirage.errors import BadInput, Unreachable
from mirage.sources import files
from mirage.stage import Progress, Stage, Tables
from mirage.store import ledger_path

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class BattleSample:
    """Which battles of an arena are judged (`mirage.judge.choose_pairs`); by default all."""

    queries: int | None = None
    """Queries a language."""
    pairs: int | None = None
    """Pairs of answers a language, each judged in both orders."""
    seed: int = 0
    """Seed of the draw."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    battles: Sequence[judge.OrderedPair] | None = None
    """These battles, in both orders, and no others; the above then counts for nothing."""
    known: bool = False
    """Only pairs whose right answer the relevance labels tell (`mirage.judge.choose_known`); the verdicts then examine
    the judge and rank nobody."""

    def owner(self, judge_name: str) -> str:
        """The name under which a judge's verdicts on these battles stand."""
        return f"{OF_KNOWN}{judge_name}" if self.known else judge_name


def plan_judging(
    path: Path, *, name: str, settings: llm.Settings, limits: llm.Limits, sample: BattleSample, replace: bool = False
) -> llm.Cost:
    """What judging would cost at most; nothing is sent or written. Arguments and errors are those of `judge_by_model`.

    Raises:
        BadInput: if the name is the heuristic judge's, or has verdicts by another model or other parameters.
        ArenaError: if the arena lacks queries, passages or answers.
        NotEnoughData: if there is nothing to judge.
    """
    _refuse_heuristic(name)
    name = sample.owner(name)
    seen = store.consistently(path, lambda arena: _seen(arena, sample))
    battles, prompts = _battles(seen.tables, sample)
    with store.kept_ledger(path) as ledger:
        if ledger is None:
            return llm.plan(prompts, settings=settings, limits=limits, ledger=None)
        _refuse_another(store.open_arena(path), name, settings, ledger, again=battles if replace else ())
        number = ledger.latest_replacement(_owner(name))
        if replace:
            under_way = ledger.open_replacement(_owner(name), _scope(settings, battles))
            number = number + 1 if under_way is None else under_way
        repetition = _repetition(name, number, replace=replace)
        return llm.plan(prompts, settings=settings, limits=limits, ledger=ledger, **repetition)


def of_shard(whole: Path, sample: BattleSample, shard: Shard, *, by_features: bool) -> BattleSample:
    """The battles of a shard's queries, so that all shards together judge what the sample is of the whole arena.

    Args:
        whole: the folder of the arena that is cut.
        sample: which battles are judged there.
        shard: which queries.
        by_features: whether the heuristic judge does it, which needs no texts.

    Raises:
        ArenaError: if the arena lacks queries, passages or answers.
        NotEnoughData: if there is nothing to judge.
    """

    def read(arena: store.Arena) -> list[judge.OrderedPair]:
        if by_features:
            answers = {"answers": arena.read("answers", languages=sample.languages)}
            return _chosen(_with_outcomes(arena, answers) if sample.known else answers, sample)
        return _battles(_seen(arena, sample).tables, sample)[0]

    battles = store.consistently(whole, read)
    own = [battle for battle in battles if shard.has(battle.language, battle.query_id)]
    return BattleSample(battles=own, known=sample.known)


def read_battles(file: Path) -> list[judge.OrderedPair]:
    """Read a list of battles, as `mirage place --next FILE` writes it: language, query_id, system_a, system_b.

    Raises:
        BadInput: if the file cannot be read, or a record lacks one of them.
    """
    return [judge.OrderedPair(*keys) for keys in files.read_battle_list(file)]


def judge_by_model(
    path: Path,
    *,
    name: str,
    engine: judge.Engine,
    settings: llm.Settings,
    limits: llm.Limits,
    sample: BattleSample,
    made_by: str,
    progress: Progress | None = None,
    step: str | None = None,
    replace: bool = False,
) -> tuple[store.Arena, judge.JudgeResult]:
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
        step: the step of a run that this is (`store.upsert`).
        replace: whether the battles are asked again, whatever the judge has said of them and the ledger holds. A run
            that was stopped goes on: what it has got is not asked for again.

    Returns:
        The arena, and what came of asking.

    Raises:
        BadInput: if the name is the heuristic judge's, or has verdicts by another model or other parameters.
        ArenaError: if the arena lacks queries, passages or answers, or cannot be written.
        NotEnoughData: if there is nothing to judge.
        Unreachable: if the service turns down what every call needs, or no call at all got a reply.
    """
    _refuse_heuristic(name)
    name = sample.owner(name)
    store.open_arena(path)  # a ledger would make the folder
    with store.Ledger(ledger_path(path)) as ledger:
        seen = store.consistently(path, lambda arena: _seen(arena, sample))
        battles, prompts = _battles(seen.tables, sample)

        def refuse_another(arena: store.Arena) -> None:
            _refuse_another(arena, name, settings, ledger, again=battles if replace else ())

        store.consistently(path, refuse_another)
        number = (
            ledger.begin_replacement(_owner(name), _scope(settings, battles))
            if replace
            else ledger.latest_replacement(_owner(name))
        )
        repetition = _repetition(name, number, replace=replace)
        judged = judge.ask(
            battles, prompts, judge=name, engine=engine, ledger=ledger, limits=limits, progress=progress, **repetition
        )
        battle_keys = schema.from_columns(
            "judgments",
            {key: [name if key == "judge" else getattr(b, key) for b in battles] for key in schema.BATTLE},
        )
        rows = store.NewRows(judged.judgments, battle_keys.select(list(schema.BATTLE)))
        arena = _write(
            path,
            rows,
            name=name,
            note=llm.described(settings),
            made_by=made_by,
            seen=seen,
            check=refuse_another,
            step=step,
        )
        if replace and judged.complete:
            ledger.end_replacement(_owner(name), number)
    if judged.stopped:
        raise judged.stopped
    if judged.failed and not len(judged.judgments):
        raise Unreachable(
            f"no call got a reply: {max(judged.failed, key=lambda reason: judged.failed[reason])}",
            do="see that the service answers, then run the same command again",
        )
    return arena, judged


def judge_arena_by_features(path: Path, *, sample: BattleSample, made_by: str, step: str | None = None) -> store.Arena:
    """Let the heuristic judge weigh the features of an arena's answers. Its verdicts replace all it gave before; with a
    list of battles, those it gave on these.

    Raises:
        ArenaError: if the arena lacks answers or features, or cannot be written.
        NotEnoughData: if there is nothing to judge.
    """
    name = sample.owner(judge.HEURISTIC)
    note = f"weights {', '.join(f'{w.feature} {w.weight:g}' for w in judge.WEIGHTS)}; margin {judge.MARGIN:g}"

    def read(arena: store.Arena) -> store.Snapshot:
        columns = ["language", "query_id", "system", "status"]
        answers = arena.read("answers", columns=columns, languages=sample.languages)
        tables = {"features": arena.read("features"), "answers": answers}
        return store.Snapshot(arena, _with_outcomes(arena, tables) if sample.known else tables)

    def make() -> store.Arena:
        seen = store.consistently(path, read)
        judgments = judge.judge_by_features(_chosen(seen.tables, sample), seen.tables["features"], name=name)
        replaced = judgments.select(list(schema.BATTLE)) if sample.battles is not None else _of(name)
        rows = store.NewRows(judgments, replaced)
        return _write(path, rows, name=name, note=note, made_by=made_by, seen=seen, step=step)

    return store.retry_outdated(make)


def judge_statistics(
    path: Path, *, limits: llm.Limits | None = None, tags: Iterable[tuple[str, str]] = ()
) -> list[judge.JudgeStats]:
    """How every judge of an arena has judged, and what its calls have cost.

    Args:
        path: the arena's folder.
        limits: holds the prices; without them there is no money.
        tags: as for `store.tagged`: only verdicts on queries that have them.

    Raises:
        ArenaError: if the arena lacks judgments.
    """
    arena = store.tagged(store.open_arena(path), tags)
    names = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "call")
    judgments = arena.read("judgments", columns=names, encoded=names[:-1])
    with store.kept_ledger(path) as ledger:
        return judge.judge_stats(judgments, ledger, limits)


def _seen(arena: store.Arena, sample: BattleSample) -> store.Snapshot:
    """What a model that judges reads."""
    languages = sample.languages if sample.battles is None else {battle.language for battle in sample.battles}
    tables = ("queries", "answers") if "retrieved" in arena.tables else ("queries", "passages", "answers")
    seen = {name: arena.read(name, languages=languages) for name in tables}
    for name in ("turns", "passages", "retrieved"):
        if name not in seen and (table := arena.read_optional(name, languages=languages)) is not None:
            seen[name] = table
    return store.Snapshot(arena, _with_outcomes(arena, seen) if sample.known else seen)


def _with_outcomes(arena: store.Arena, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """With what the relevance labels make of the answers, by the strict parser; no rows where the arena has none."""
    import pyarrow.compute as pc

    outcomes = arena.read_optional("outcomes")
    rows = schema.arrow_schema("outcomes").empty_table() if outcomes is None else outcomes
    return {**tables, "outcomes": rows.filter(pc.equal(rows["parser"], "strict"))}


def _battles(tables: Mapping[str, pa.Table], sample: BattleSample) -> tuple[list[judge.OrderedPair], judge.Prompts]:
    """The battles drawn, and their prompts."""
    tables = {"passages": schema.arrow_schema("passages").empty_table(), **tables}
    among = judge.judgeable(tables["queries"], tables["passages"], tables.get("retrieved"))
    battles = _chosen(tables, sample, among)
    shown = {name: table for name, table in tables.items() if name != "outcomes"}
    return battles, judge.Prompts(battles, **shown)


def _chosen(
    tables: Mapping[str, pa.Table], sample: BattleSample, among: Collection[tuple[str, str]] | None = None
) -> list[judge.OrderedPair]:
    """The battles of the list, or those drawn."""
    if sample.battles is not None:
        return judge.listed(tables["answers"], sample.battles, among=among)
    if sample.known:
        return judge.choose_known(
            tables["answers"],
            tables["outcomes"],
            queries=sample.queries,
            pairs=sample.pairs,
            seed=sample.seed,
            among=among,
        )
    return judge.choose_pairs(
        tables["answers"], queries=sample.queries, pairs=sample.pairs, seed=sample.seed, among=among
    )


def _refuse_heuristic(name: str) -> None:
    """Refuse a model the name of the judge that is none."""
    if name == judge.HEURISTIC:
        raise BadInput(
            f"{name} is the judge that asks no model", do="give the judge another name, or leave --model out"
        )


def _owner(name: str) -> str:
    """The name under which the ledger counts a judge's replacements: a system may have the judge's."""
    return f"judge {name}"


def _scope(settings: llm.Settings, battles: Sequence[judge.OrderedPair]) -> str:
    """Which battles are judged again and how: the same command after a stop has the same scope."""
    return f"{llm.described(settings)}; {store.ledger_key({'battles': sorted(map(astuple, battles))})}"


def _repetition(name: str, number: int, *, replace: bool) -> dict[str, Any]:
    """What calls are named after so many replacements of a judge's verdicts, and the names whose replies count too: a
    replacement may have been of a few battles only.
    """
    names = [f"{_owner(name)} {n}" if n else None for n in range(number, -1, -1)]
    if names == [None]:
        return {}
    return {"again": names[0], "earlier": () if replace else names[1:]}


def _refuse_another(
    arena: store.Arena,
    name: str,
    settings: llm.Settings,
    ledger: store.Ledger,
    *,
    again: Sequence[judge.OrderedPair] = (),
) -> None:
    """Refuse to put verdicts of two models or services, or of one with other parameters, under one judge's name.

    One verdict tells, as none of another kind gets in.

    Args:
        arena: the arena.
        name: the judge.
        settings: model and parameters.
        ledger: holds the requests of the verdicts.
        again: battles whose verdicts are made again: only those that stay count.
    """
    if "judgments" not in arena.tables:
        return
    names = ("language", "query_id", "system_a", "system_b")
    table = arena.read("judgments", columns=[*names, "judge", "call"])
    replaced = {tuple(getattr(battle, column) for column in names) for battle in again}
    of_name = (
        call
        for *battle, judge_name, call in zip(*(table[c].to_pylist() for c in (*names, "judge", "call")), strict=True)
        if judge_name == name and tuple(battle) not in replaced
    )
    for call in of_name:
        before = ledger.request(call) if call is not None else None
        now = llm.request(settings, [])
        ignored = {"messages", "again"}
        if "service" not in (before or {}) or "service" not in now:
            # An earlier version did not note it (`llm.keys`).
            ignored.add("service")
        changed = [key for key in sorted({*(before or {}), *now} - ignored) if (before or {}).get(key) != now.get(key)]
        if call is None:
            description = "that were imported"
        elif before is not None and changed:
            description = "with " + ", ".join(f"{key} {before.get(key)}" for key in changed)
        else:
            return
        raise BadInput(
            f"{name} has verdicts {description}",
            where=arena.address,
            do="give this judge another name with --judge, or make all its verdicts again with --replace",
        )


def _of(name: str) -> pa.Table:
    """What names all verdicts of a judge."""
    import pyarrow as pa

    return pa.table({"judge": [name]})


def _write(
    path: Path,
    rows: store.NewRows,
    *,
    name: str,
    note: str,
    made_by: str,
    seen: store.Snapshot,
    check: Callable[[store.Arena], object] | None = None,
    step: str | None = None,
) -> store.Arena:
    """Put a judge's verdicts in place of those it gave before, beside the other judges'.

    What it said on the battles asked goes even where no new verdict came: it was of other texts, or the ledger would
    have had the reply.
    """
    if not len(rows.new) and "judgments" not in store.open_arena(path).tables:
        return store.open_arena(path)
    notes, subjects = ([f"{name}: {note}"], [name]) if len(rows.new) else ([], [])
    result = store.upsert(
        path, {"judgments": rows}, made_by=made_by, seen=seen, check=check, step=step, notes=notes, subjects=subjects
    )
    return result.arena


def _heuristic(tables: Tables) -> dict[str, pa.Table]:
    return {"judgments": judge.judge_by_features(judge.choose_pairs(tables["answers"]), tables["features"])}


HEURISTIC_JUDGMENTS = Stage("judgments by the heuristic judge", ("answers", "features"), ("judgments",), _heuristic)
"""Every pair of answers, judged by their features."""
