"""Conversion of collected records to an arena's tables, determining languages, positions and citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.io.formats.build import UNKNOWN, AnswerSeen, Builder, QuerySeen, merge_queries
from mirage.io.formats.spec import QueryKey, Tables
from mirage.io.options import SHOWN, Refused
from mirage.text.content import renumber
from mirage.text.detection import detect, detect_set, fits_script
from mirage.text.languages import language as language_of
from mirage.text.segmentation import count_text, join_first

_NO_TEXT = "the file does not hold the query"
_SHORT = 1000
"""Answer characters used to detect a short query's language."""
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Known:
    """Queries of an existing arena."""

    queries: Mapping[QueryKey, Mapping[str, Any]]
    """Its queries by key."""
    of_query: Callable[[str, QueryKey], Rows]
    """Its rows of a table with several rows per query."""

    @classmethod
    def of(cls, arena: store.Arena | None) -> Known:
        """Read the queries of an arena; empty if there is none."""
        tables: dict[str, dict[QueryKey, Rows]] = {}

        def of_query(table: str, key: QueryKey) -> Rows:
            if table not in tables:
                tables[table] = {}
                for row in _rows(arena, table):
                    tables[table].setdefault((row["language"], row["query_id"]), []).append(row)
            return tables[table].get(key, [])

        return cls({(row["language"], row["query_id"]): row for row in _rows(arena, "queries")}, of_query)


def _rows(arena: store.Arena | None, table: str) -> Rows:
    return arena.read(table).to_pylist() if arena is not None and table in arena.tables else []


def finish_tables(
    collected: Builder, arena: store.Arena | None, *, errors: list[BadInput], n: int, refers: bool = False
) -> Tables:
    """Build the tables from everything collected, keeping what an arena has of the same queries.

    Args:
        collected: the collected records.
        arena: the target arena; None for a new one.
        errors: errors of the records so far; errors of the whole are added.
        n: number of records, for the message.
        refers: whether queries, and systems of verdicts, that the arena lacks are errors (`spec.Format.refers`).

    Raises:
        Refused: if there are errors.
    """
    known = Known.of(arena)
    if refers and arena is not None:
        _refuse_unknown(collected, known, _systems(arena), errors)
    names = _name_queries(collected, known, errors)
    queries: dict[QueryKey, QuerySeen] = {}
    for key in sorted(collected.queries, key=lambda key: (names.get(key, key), key)):
        entry, name = collected.queries[key], names.get(key)
        if name is None:
            continue
        try:
            queries[name] = merge_queries(queries[name], entry) if name in queries else entry
        except BadInput as error:
            errors.append(error)
    tables: Tables = {}
    if not errors:
        tables = _tables(collected, queries, known, errors)
    if errors:
        raise Refused(errors, n)
    return tables


def _systems(arena: store.Arena) -> dict[str, set[str]]:
    """Return the systems with answers or outcomes in each language of an arena."""
    systems: dict[str, set[str]] = {}
    for table in {"answers", "outcomes"}.intersection(arena.tables):
        pairs = arena.read(table, columns=["language", "system"]).group_by(["language", "system"]).aggregate([])
        for row in pairs.to_pylist():
            systems.setdefault(row["language"], set()).add(row["system"])
    return systems


def _refuse_unknown(collected: Builder, known: Known, systems: Mapping[str, set[str]], errors: list[BadInput]) -> None:
    """Remove the queries that the arena lacks, and add an error for each record on one, or of an unknown system.

    An arena whose queries are themselves only references takes further ones; a verdict needs a query as soon as the
    arena has systems.
    """
    languages: dict[str, set[str]] = {}
    ids: dict[str, set[str]] = {}
    for code, query_id in known.queries:
        languages.setdefault(query_id, set()).add(code)
        ids.setdefault(code, set()).add(query_id)
    closed = any(row["reason"] != _NO_TEXT for row in known.queries.values())
    firsts: dict[tuple[str, str], BadInput] = {}

    def refuse(kind: str, name: str, valid: Iterable[str], where: str) -> None:
        if (first := firsts.get((kind, name))) is not None:
            error = BadInput(first.what, where=where, do=first.do)
        elif len(firsts) < SHOWN:
            error = firsts[kind, name] = UnknownName(kind, name, valid, where=where)
        else:  # Comparing every unknown name with every query would take minutes.
            error = firsts[kind, name] = BadInput(f"there is no {kind} {name!r}", where=where)
        errors.append(error)

    for key, entry in list(collected.queries.items()):
        code, query_id = key
        codes = languages.get(query_id, set())
        codes = codes if code.startswith(UNKNOWN) else codes & {code}
        if not codes and (closed or (systems and entry.judgments)):
            del collected.queries[key]
            kind, valid = ("query", languages) if code.startswith(UNKNOWN) else (f"query in {code}", ids.get(code, ()))
            for where in _places(entry):
                refuse(kind, query_id, valid, where)
        elif systems:
            valid = set().union(*(systems.get(code, ()) for code in codes))
            for (_, system_a, system_b, *_), row in entry.judgments.items():
                if unknown := next((name for name in (system_a, system_b) if name not in valid), None):
                    refuse(f"system in {' or '.join(sorted(codes))}", unknown, valid, row[-1])


def _places(entry: QuerySeen) -> list[str]:
    """Return the locations of the records on a query."""
    rows = (row for part in (entry.samples, entry.judgments) for row in part.values())
    return [*(answer.where for answer in entry.answers.values()), *(row[-1] for row in rows)]


def _name_queries(collected: Builder, known: Known, errors: list[BadInput]) -> dict[QueryKey, QueryKey]:
    """Return language and id of every query: from the source, detected, or from a record or an arena that has it."""
    languages: dict[str, dict[str, str | None]] = {}
    for (code, query_id), row in known.queries.items():
        languages.setdefault(query_id, {})[code] = row["text"]
    for (code, query_id), entry in collected.queries.items():
        if not code.startswith(UNKNOWN):
            languages.setdefault(query_id, {})[code] = entry.text or languages.get(query_id, {}).get(code)
    names: dict[QueryKey, QueryKey] = {}
    open_: list[QueryKey] = []
    for key, entry in collected.queries.items():
        alike = [
            code
            for code, text in languages.get(key[1], {}).items()
            if entry.text is None or text is None or text == entry.text
        ]
        if not key[0].startswith(UNKNOWN):
            names[key] = key
        elif len(alike) == 1:
            names[key] = alike[0], key[1]
        else:
            open_.append(key)
    _detect(collected, sorted(open_, key=lambda key: collected.queries[key].text is None), names, known, errors)
    return names


def _detect(
    collected: Builder,
    keys: Sequence[QueryKey],
    names: dict[QueryKey, QueryKey],
    known: Known,
    errors: list[BadInput],
) -> None:
    """Name queries, those with a text first: one without it may equal one named by then."""
    counts: Counter[str] = Counter()
    undecided: list[QueryKey] = []
    strays: dict[tuple[str, str], list[str]] = {}
    of_id: dict[str, set[str]] = {}
    for code, query_id in names.values():
        of_id.setdefault(query_id, set()).add(code)
    named = Counter(code for code, _ in {*names.values(), *known.queries})
    with_text = [key for key in keys if collected.queries[key].text]
    of_text = dict(
        zip(with_text, detect_set([_spoken(collected.queries[key]) for key in with_text], named), strict=True)
    )
    for key in keys:
        entry = collected.queries[key]
        if entry.text is None and len(of_id.get(key[1], ())) == 1:
            names[key] = next(iter(of_id[key[1]])), key[1]
            continue
        text = _spoken(entry)
        found = of_text.get(key)
        language = found.code if found else None
        if language is None and (heard := detect(_answers(collected, entry), named)) and fits_script(heard, text):
            language = heard
        if found and found.code != found.alone is not None:
            strays.setdefault((str(found.alone), str(found.code)), []).append(key[1])
        if language is None:
            undecided.append(key)
        else:
            names[key] = language, key[1]
            of_id.setdefault(key[1], set()).add(language)
            counts[language] += 1
    usual = min(counts, key=lambda code: (-counts[code], code), default=None)
    taken = Counter[str]()
    for key in undecided:
        if usual is None or not fits_script(usual, _spoken(collected.queries[key])):
            errors.append(
                BadInput(
                    f"the language of query {key[1]} is not given, and {_unheard(collected.queries[key])}",
                    where=collected.queries[key].where,
                    do="set it: --set language=CODE, or map a field: --map THEIRS=language",
                )
            )
        else:
            names[key] = usual, key[1]
            taken[usual] += 1
    if counts:
        shares = ", ".join(f"{language_of(code).name} {n:,}" for code, n in sorted(counts.items(), key=_most))
        collected.note_guess(
            "language", f"detected from the text of the queries: {shares}; override with --set language=CODE"
        )
    for code, n in taken.items():
        collected.note_guess(
            "language of short queries", f"{n:,} queries too short to tell are taken for {language_of(code).name}"
        )
    if strays:
        joined = "; ".join(
            f"{join_first(ids)} {language_of(code).name}, by itself {language_of(alone).name}"
            for (alone, code), ids in sorted(strays.items())
        )
        collected.note_guess("language of stray queries", f"as the rest of the file: {joined}")


def _spoken(entry: QuerySeen) -> str:
    """Return a query after its conversation, whose language a short query shares."""
    return "\n".join([*(text for _, text in entry.turns), entry.text or ""])


def _unheard(entry: QuerySeen) -> str:
    return "it has no text to tell it by" if entry.text is None else "its text is too short to tell"


def _most(count: tuple[str, int]) -> tuple[int, str]:
    return -count[1], count[0]


def _answers(collected: Builder, entry: QuerySeen) -> str:
    """Return the query and the beginnings of its answers."""
    texts = [collected.texts[entry.answers[system].text] or "" for system in sorted(entry.answers)[:3]]
    return "\n".join([entry.text or "", *(text[:_SHORT] for text in texts)])


def _tables(collected: Builder, queries: Mapping[QueryKey, QuerySeen], known: Known, errors: list[BadInput]) -> Tables:
    rows: dict[str, Rows] = {name: [] for name in ("queries", "turns", "tags", "references", "retrieved", *_KEYED)}
    answers: list[tuple[QueryKey, str, AnswerSeen]] = []
    passages: list[tuple[QueryKey, str, Any]] = []
    changed: dict[int, str] = {}
    for key, entry in queries.items():
        of_query = {"language": key[0], "query_id": key[1]}
        old = known.queries.get(key)
        order = _ordered(entry, known.of_query("passages", key))
        passages += [(key, passage_id, entry.passages.get(passage_id)) for passage_id in order]
        labels = [entry.passages[passage_id].relevant for passage_id in entry.passages]
        subset = entry.subset or (old or {}).get("subset") or _subset(labels)
        if subset == "non_relevant" and True in labels:
            errors.append(BadInput("the subset is non_relevant, but a passage is labelled relevant", where=entry.where))
        if old is None or entry.text is not None or entry.subset is not None:
            text = entry.text or (old or {}).get("text")
            reason = None if text else (old or {}).get("reason") or _NO_TEXT
            rows["queries"].append({**of_query, "subset": subset, "text": text, "reason": reason})
        rows["turns"] += [
            {**of_query, "position": position, "speaker": speaker, "text": text}
            for position, (speaker, text) in enumerate(entry.turns, start=1)
        ]
        if entry.tags:
            tags = entry.tags | {(row["tag"], row["value"]) for row in known.of_query("tags", key)}
            rows["tags"] += [{**of_query, "tag": tag, "value": value} for tag, value in sorted(tags)]
        if entry.reference:
            rows["references"].append({**of_query, "text": entry.reference})
        rows["retrieved"] += _of_retrievers(
            of_query, entry, {*order, *(row["passage_id"] for row in known.of_query("passages", key))}
        )
        for system, answer in entry.answers.items():
            answers.append((key, system, answer))
            if (text := _renumber(collected, answer, order)) is not None:
                changed[answer.text] = text
        for table, (seen, columns) in _KEYED.items():
            rows[table] += [
                {**of_query, **dict(zip(columns, (*names, *values), strict=True))}
                for names, values in getattr(entry, seen).items()
            ]
    if changed:
        collected.note_guess(
            "numbered citations",
            f"`[n]` is renumbered in {count_text(len(changed), 'answer')}: passages were shown in another order",
        )
    tables = {name: schema.from_columns(name, _columns(name, part)) for name, part in rows.items() if part}
    tables |= _of_answers(collected, answers, changed)
    tables |= _of_passages(collected, passages, known)
    return {name: tables[name] for name in schema.TABLES if name in tables}


def _of_retrievers(of_query: Mapping[str, str], entry: QuerySeen, passages: set[str]) -> Rows:
    """Return retrievers' rows of a query; passages of the query need no text there."""
    return [
        {
            **of_query,
            "retriever": name,
            **row,
            **({"title": None, "text": None} if row["passage_id"] in passages else {}),
        }
        for (name,), (part, _) in sorted(entry.retrieved.items(), key=lambda item: item[0])
        for row in part
    ]


_JUDGMENT = (
    *("judge", "system_a", "system_b", "voter", "repeat", "verdict", "points", "rationale", "reason", "person"),
    *("inclusion", "criterion", "prompt", "where"),
)
_SCORE = ("system", "measure", "rater", "person", "value", "low", "high", "reason", "where")
_SAMPLE = ("system", "sample", "text", "status", "template", "reason", "where")
_NUGGET = ("nugget_id", "text", "importance", "passage_id", "author", "where")
_ASSIGNMENT = ("system", "nugget_id", "assigner", "assignment", "quote", "reason", "where")
_KEYED: dict[str, tuple[str, tuple[str, ...]]] = {
    "samples": ("samples", _SAMPLE),
    "judgments": ("judgments", _JUDGMENT),
    "scores": ("scores", _SCORE),
    "nuggets": ("nuggets", _NUGGET),
    "nugget_assignments": ("assignments", _ASSIGNMENT),
}
"""By table: the field of `QuerySeen` with its rows by key, and the columns of key and values."""


def _columns(table: str, rows: Rows) -> dict[str, list[Any]]:
    return {column.name: [row.get(column.name) for row in rows] for column in schema.columns(table)}


def _ordered(entry: QuerySeen, old: Rows) -> list[str]:
    """Return the passages of a query in order: those of an arena, then those shown to systems, by system name."""
    places = {row["passage_id"]: row["position"] for row in old}
    order = dict.fromkeys(sorted(places, key=lambda passage_id: places[passage_id])) if entry.passages else {}
    for ids, _ in sorted(entry.orders.items(), key=lambda item: (not item[1], item[1], item[0])):
        order |= dict.fromkeys(ids)
    return list(order)


def _subset(labels: list[bool | None]) -> str | None:
    """Return the subset that is certain from the passages' labels."""
    if True in labels:
        return "relevant"
    return "non_relevant" if labels and None not in labels else None


def _renumber(collected: Builder, answer: AnswerSeen, order: list[str]) -> str | None:
    """Return the text of an answer if its numbered citations change in this order; else None."""
    if not answer.numbered or not answer.shown or list(answer.shown) == order:
        return None
    text = collected.texts[answer.text]
    new = renumber(text, answer.shown, order) if text else text
    return None if new == text else new


def _of_answers(
    collected: Builder, answers: list[tuple[QueryKey, str, AnswerSeen]], changed: Mapping[int, str]
) -> Tables:
    import pyarrow as pa

    if not answers:
        return {}
    numbers = [answer.text for _, _, answer in answers]
    texts: Any = collected.texts.take(numbers)
    if changed:
        texts = pa.array([changed.get(number, old.as_py()) for number, old in zip(numbers, texts, strict=True)])
    return {
        "answers": schema.from_columns(
            "answers",
            {
                "language": [key[0] for key, _, _ in answers],
                "query_id": [key[1] for key, _, _ in answers],
                "system": [system for _, system, _ in answers],
                "text": texts,
                **{
                    name: [getattr(answer, name) for _, _, answer in answers]
                    for name in ("status", "template", "reason", "numbered", "run_date", "retriever", "depth")
                },
                "thoughts": collected.texts.take([answer.thoughts for _, _, answer in answers]),
            },
        )
    }


def _of_passages(collected: Builder, passages: list[tuple[QueryKey, str, Any]], known: Known) -> Tables:
    """Build tables `passages` and `documents`; passages only in the arena are kept."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not passages:
        return {}
    rows: Rows = []
    documents: Rows = []
    position, last = 0, None
    old: dict[str, dict[str, Any]] = {}
    about: dict[str, dict[str, Any]] = {}
    for key, passage_id, seen in passages:
        if key != last:
            position, last = 0, key
            old = {row["passage_id"]: row for row in known.of_query("passages", key)}
            about = {row["passage_id"]: row for row in known.of_query("documents", key)}
        before = old.get(passage_id, {})
        position = max(position + 1, before.get("position", 0))
        label = seen.relevant if seen and seen.relevant is not None else before.get("relevant")
        rows.append(
            {
                "language": key[0],
                "query_id": key[1],
                "passage_id": passage_id,
                "position": position,
                "title": (seen and seen.title) or before.get("title"),
                "text": seen.text if seen else None,
                "relevant": label,
                "pooled": (seen and seen.pooled) if not before else before.get("pooled"),
                "passage_language": (seen and seen.language) or before.get("passage_language"),
                "before": before.get("text"),
            }
        )
        url = (seen and seen.url) or about.get(passage_id, {}).get("url")
        metadata = (seen and seen.metadata) or about.get(passage_id, {}).get("metadata")
        if url or metadata:
            documents.append({**rows[-1], "url": url, "metadata": metadata})
    texts = collected.passage_texts.take([row["text"] for row in rows])
    if any(row["before"] for row in rows):
        texts = pc.coalesce(texts, pa.array([row["before"] for row in rows], pa.string()))
    names = ("language", "query_id", "passage_id", "position", "title", "relevant", "pooled", "passage_language")
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in names}
    tables = {"passages": schema.from_columns("passages", columns | {"text": texts})}
    if documents:
        tables["documents"] = schema.from_columns("documents", _columns("documents", documents))
    return tables
