"""Answering the questions of an arena: a model is asked, its answers join those of other systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import generate, llm, prompts, schema, store
from mirage.answers import citations, cited, is_numbered, parse_answer
from mirage.errors import BadInput, UnknownName, Unreachable
from mirage.pipeline.judging import ledger_path
from mirage.pipeline.stages import derived

if TYPE_CHECKING:
    import pyarrow as pa

Engine = Callable[..., Sequence[llm.Reply | None]]
"""Makes calls: `engine(conversations, ledger=..., on_reply=..., accepted=...)`, as `llm.complete` does when it has been
given the rest; with `again=...` too where answers are made again."""
_COUNTED = "tokens by"
OnReply = Callable[[llm.Cost, int], None]
"""Called with what has come so far, and of how many conversations."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked what."""

    system: str
    """Name of the system whose answers these are."""
    template: prompts.Template
    """The prompt."""
    settings: llm.Settings
    """Model and parameters."""
    tokens: llm.Tokens | None = None
    """Counts tokens where passages are cut. None for the estimate if the system's answers so far were made by it, else
    the model's tokenizer if it is at hand, else the estimate."""
    seed: int = 0
    """Seed of the passages' order."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    limit: int | None = None
    """Questions a language, the first ones by id; None for all."""
    relevant_only: bool = False
    """Whether the prompts show the relevant passages alone, as to the teacher of a training set; questions without any
    are not asked."""
    replace: bool = False
    """Whether the system's answers to these questions are made again, whatever they were made with and whatever the
    ledger holds. One that was stopped goes on: what it has got is not asked for again."""


@dataclass(frozen=True)
class Generated:
    """What came of asking."""

    arena: store.Arena
    """The arena afterwards."""
    counts: Mapping[str, Counter[str]]
    """Answers of the system by language and status; `not asked` where the budget was reached."""
    kept: int
    """Sound answers that were there already."""
    shared: Counter[str]
    """Replies that are another system's too, by that system: the same model was asked the same."""
    reasons: Counter[str]
    """Why calls failed, and how many."""
    cost: llm.Cost
    """What this run has cost."""


def plan_generating(path: Path, asked: Asked, *, limits: llm.Limits) -> llm.Cost:
    """What asking would cost at most; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks questions or passages.
        UnknownName: if a language has no questions.
        BadInput: if the system has answers that were made in another way.
    """
    arena = store.open_arena(path)
    asked = _settled(arena, asked)
    with ExitStack() as open_files:
        ledger = None
        if ledger_path(path).exists():
            ledger = open_files.enter_context(store.Ledger(ledger_path(path), read_only=True))
        conversations = generate.prepare(**_tables(arena, asked), **_options(asked, ledger)).conversations
        again = _repetition(asked, _number(asked, ledger)) if ledger else None
        return llm.plan(conversations, settings=asked.settings, limits=limits, ledger=ledger, again=again)


def generate_answers(
    path: Path, asked: Asked, *, engine: Engine, limits: llm.Limits, made_by: str, on_reply: OnReply | None = None
) -> Generated:
    """Let a system answer the questions of an arena.

    Replies are in the arena's ledger the moment they come, and the table is written at the end, also when the service
    ends the run: whoever is stopped goes on with the same command and pays nothing twice. Answers of other systems
    stay. What was measured, decided or judged on answers that are no longer there is removed.

    Args:
        path: the arena's folder.
        asked: who is asked what.
        engine: makes the calls, with `asked.settings`.
        limits: holds the prices.
        made_by: the command, for the manifest.
        on_reply: called as replies come.

    Raises:
        ArenaError: if the arena lacks questions or passages, or cannot be written.
        UnknownName: if a language has no questions.
        BadInput: if the system has answers that were made in another way.
        Unreachable: if the service turns down what every call needs, or no call at all got a reply.
    """
    arena = store.open_arena(path)
    asked = _settled(arena, asked)
    tables = _tables(arena, asked)
    kept, ended = 0, False
    tally = llm.Tally(limits)
    reasons: Counter[str] = Counter()
    stopped: list[Unreachable] = []

    def complete(conversations: Sequence[llm.Messages], *, accepted: bool) -> Sequence[llm.Reply | None]:
        nonlocal kept, ended
        kept = len(chosen) - len(conversations)
        replies: list[llm.Reply | None] = [None] * len(conversations)

        def take(number: int, reply: llm.Reply) -> None:
            replies[number] = reply
            tally.add(reply)
            if reply.status == "api_error":
                reasons[reply.reason or "no reason given"] += 1
            if on_reply is not None:
                on_reply(tally.cost, len(conversations))

        again = _repetition(asked, number)
        repeated = {} if again is None else {"again": again}
        try:
            engine(conversations, ledger=ledger, on_reply=take, accepted=accepted, **repeated)
        except Unreachable as error:
            stopped.append(error)
        # A call that failed by itself was made; one that was given up with all others was not.
        ended = not stopped and all(reply is not None and not _given_up(reply) for reply in replies)
        return replies

    chosen = generate.chosen(tables["queries"], asked.languages, asked.limit)
    with store.Ledger(ledger_path(path)) as ledger:
        options = _options(asked, ledger)
        number = ledger.begin_replacement(asked.system, _scope(asked)) if asked.replace else _number(asked, ledger)
        made = generate.generate(**tables, **options, complete=complete)
        arena = _write(path, made, asked, made_by=made_by)
        if asked.replace and ended:
            ledger.end_replacement(asked.system, number)
    if stopped:
        raise stopped[0]
    if tally.failed and not set(made["status"].to_pylist()) & set(generate.SOUND):
        raise Unreachable(
            f"no call got a reply: {reasons.most_common(1)[0][0]}",
            do="see that the service answers, then run the same command again; each question has a row that says why",
        )
    counts = _count(chosen, made)
    kept -= sum(count["missing"] for count in counts.values())
    return Generated(arena, counts, kept, _shared(arena, asked.system), reasons, tally.cost)


def answers_of(path: Path, system: str, *, languages: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The answers of a system, taken apart: what `mirage show answers` prints.

    Raises:
        ArenaError: if the arena lacks answers.
        UnknownName: if there is no such system or language among them.
    """
    arena = store.open_arena(path)
    table = arena.read("answers", languages=languages)
    systems = set(table["system"].to_pylist())
    if system not in systems:
        raise UnknownName("system", system, systems, where=str(path))
    passages = schema.arrow_schema("passages").empty_table()
    if "passages" in arena.tables:
        passages = arena.read("passages", columns=["language", "query_id", "position", "passage_id"])
    ids: dict[tuple[str, str], list[str]] = {}
    for language, query_id, _, passage_id in sorted(zip(*(c.to_pylist() for c in passages.columns), strict=True)):
        ids.setdefault((language, query_id), []).append(passage_id)
    rows = []
    for row in table.to_pylist():
        if row["system"] != system:
            continue
        text = row["text"] or ""
        parts = parse_answer(text) if text else None
        numbered = is_numbered(row["template"], row["numbered"])
        mentions = citations(text, ids.get((row["language"], row["query_id"]), []), numbered=numbered)
        rows.append(
            {
                **{name: row[name] for name in ("language", "query_id", "system")},
                "outcome": row["status"],
                "key": row["call"],
                "reason": parts and parts.reason,
                "answer": parts and parts.answer,
                "citations": ",".join(cited(mentions, unknown=True)),
                "why": row["reason"],
            }
        )
    return rows


def _tables(arena: store.Arena, asked: Asked) -> dict[str, Any]:
    """What the stage reads."""
    for name in ("queries", "passages"):
        arena.need(name)
    for code in asked.languages or ():
        if code not in arena.languages("queries"):
            raise UnknownName("language", code, arena.languages("queries"), where=str(arena.path))
    codes = asked.languages
    tables = {name: arena.read(name, languages=codes) for name in ("queries", "passages")}
    if asked.relevant_only:
        key = ["language", "query_id"]
        tables["passages"] = tables["passages"].filter(tables["passages"]["relevant"])
        kept = tables["queries"].join(tables["passages"].select(key), key, join_type="left semi")
        tables["queries"] = kept.select(tables["queries"].column_names)
    return {**tables, "answers": arena.read("answers") if "answers" in arena.tables else None}


def _options(asked: Asked, ledger: store.Ledger | None) -> dict[str, Any]:
    """The arguments of the stage that are no tables."""
    names = ("system", "template", "settings", "tokens", "seed", "languages", "limit", "replace")
    options = {name: getattr(asked, name) for name in names}
    return options if ledger is None else {**options, "first_key": partial(llm.first_key, ledger=ledger)}


def _scope(asked: Asked) -> str:
    """Which answers are made again and how: the same command after a stop has the same scope."""
    which = {"languages": asked.languages and sorted(asked.languages), "limit": asked.limit}
    return f"{_note(asked)}; {which}; {asked.template.text}"


def _number(asked: Asked, ledger: store.Ledger) -> int:
    """The replacement of the system's answers that calls belong to; 0 where they were never made again."""
    latest = ledger.latest_replacement(asked.system)
    if not asked.replace:
        return latest
    under_way = ledger.open_replacement(asked.system, _scope(asked))
    return latest + 1 if under_way is None else under_way


def _repetition(asked: Asked, number: int) -> str | None:
    """What calls of a replacement are named: of two systems that ask the same, each has its own."""
    return f"{asked.system} {number}" if number else None


def _given_up(reply: llm.Reply) -> bool:
    """Whether a call was not made, since too many before it failed."""
    return reply.status == "api_error" and not reply.attempts


def _note(asked: Asked) -> str:
    """How answers are made, for the manifest."""
    parameters = {name: value for name, value in llm.request(asked.settings, []).items() if name != "messages"}
    counted = (asked.tokens or llm.Estimate()).name
    made = {"template": asked.template.name, "order seed": asked.seed, _COUNTED: counted, **parameters}
    if asked.relevant_only:
        made["passages"] = "relevant"
    return f"{asked.system}: " + ", ".join(f"{name} {value}" for name, value in made.items())


def _settled(arena: store.Arena, asked: Asked) -> Asked:
    """Say what counts tokens; refuse answers of two models, or of one with other parameters, under one name.

    Raises:
        BadInput: if the system has answers that were made in another way.
    """
    notes = arena.manifest["made"]["answers"]["notes"] if "answers" in arena.tables else []
    before = next((one for one in notes if one.startswith(f"{asked.system}: ")), None)
    if asked.tokens is None:
        # A tokenizer that has come to this machine since must not change the prompts of a run that goes on.
        by_estimate = before is not None and f", {_COUNTED} {llm.Estimate().name}," in before
        asked = replace(asked, tokens=llm.tokens_of(asked.settings.model, "estimate" if by_estimate else None))
    if before not in (None, _note(asked)) and not asked.replace:
        raise BadInput(
            f"the answers of {before}; now it is {_note(asked).removeprefix(f'{asked.system}: ')}",
            where=str(arena.path),
            do="give this system another name with --system, or make its answers again with --replace",
        )
    return asked


def _shared(arena: store.Arena, system: str) -> Counter[str]:
    """How many replies of a system are also those of others, by the other's name."""
    rows = arena.sql(
        "SELECT other.system AS system, count(*) AS n FROM answers AS mine JOIN answers AS other USING (call)"
        " WHERE mine.system = ? AND other.system <> ? AND mine.status <> 'api_error' GROUP BY other.system",
        [system, system],
    )
    return Counter(dict(zip(rows["system"].to_pylist(), rows["n"].to_pylist(), strict=True)))


def _count(chosen: Sequence[tuple[str, str, str | None, str | None]], made: pa.Table) -> dict[str, Counter[str]]:
    """Answers to the chosen questions by language and status."""
    rows = zip(*(made[name].to_pylist() for name in ("language", "query_id", "status")), strict=True)
    status = {(language, query_id): status for language, query_id, status in rows}
    counts: dict[str, Counter[str]] = {}
    for language, query_id, *_ in chosen:
        counts.setdefault(language, Counter())[status.get((language, query_id), "not asked")] += 1
    return counts


def _write(path: Path, made: pa.Table, asked: Asked, *, made_by: str) -> store.Arena:
    """Put the answers of a system in place of those it had, beside the other systems'."""
    import pyarrow as pa
    import pyarrow.compute as pc

    arena = store.open_arena(path)
    before: dict[str, Any] = {"from": [], "notes": []}
    old = schema.arrow_schema("answers").empty_table()
    if "answers" in arena.tables:
        before = arena.manifest["made"]["answers"]
        old = arena.read("answers")
    mine = pc.equal(old["system"], asked.system)
    replaced = old.filter(mine)
    if replaced.equals(made):
        return arena
    said = {(row["language"], row["query_id"]): (row["text"], row["status"]) for row in made.to_pylist()}
    gone = [
        (row["language"], row["query_id"])
        for row in replaced.to_pylist()
        if said.get((row["language"], row["query_id"])) != (row["text"], row["status"])
    ]
    # First what speaks of answers that go: whoever is killed in between has too little, never something wrong.
    _forget(arena, asked.system, gone)
    return store.write(
        path,
        {"answers": pa.concat_tables([old.filter(pc.invert(mine)), made])},
        made_by=made_by,
        made_from=before["from"],
        notes=[*(one for one in before["notes"] if not one.startswith(f"{asked.system}: ")), _note(asked)],
    )


def _forget(arena: store.Arena, system: str, questions: Sequence[tuple[str, str]]) -> None:
    """Remove what other tables say about the answers of a system to these questions, and what was made of that."""
    import pyarrow as pa

    keys = {"language": [q[0] for q in questions], "query_id": [q[1] for q in questions]}
    about = {"outcomes": ("system",), "features": ("system",), "judgments": ("system_a", "system_b")}
    for name, columns in about.items():
        if name not in arena.tables or not questions:
            continue
        old = kept = arena.read(name)
        for column in columns:
            lost = pa.table({**keys, column: [system] * len(questions)})
            kept = kept.join(lost, ["language", "query_id", column], join_type="left anti")
        if len(kept) < len(old):
            made = arena.manifest["made"][name]
            store.write(
                arena.path,
                {name: schema.sort(name, kept.select(old.column_names).cast(old.schema))},
                made_by=made["by"],
                made_from=made["from"],
                notes=made["notes"],
                stale=derived([name]),
            )
