"""Conversion of collected records to an arena's tables, determining languages, positions and citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any

from mirage.battles.counts import QUERIES
from mirage.errors import BadInput, UnknownName
from mirage.io.columns import Columns
from mirage.io.formats import rag
from mirage.io.formats.build import UNKNOWN, Builder, QuerySeen
from mirage.io.formats.spec import ABSENT, NO_TEXT, GivenVerdict, QueryKey, ShownPassage, Tables
from mirage.io.options import SHOWN, Refused
from mirage.stages.outcomes.tables import RIGHT, parse_outcome
from mirage.store.arena import Arena
from mirage.text.content import content_id, renumber
from mirage.text.detection import CLOSE, detect, detect_set, fits_script
from mirage.text.languages import base, fold_codes
from mirage.text.languages import language as language_of
from mirage.text.segmentation import count_text, join_first

_SHORT = 1000
"""Answer characters used to detect a short query's language."""
_LABELS = {"field": "answerability, by a field of the file", "reference": "answerability, by the reference answers"}
"""Names of labels in the summary, by their source."""
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Known:
    """Queries of an existing arena."""

    queries: Mapping[QueryKey, Mapping[str, Any]]
    """Its queries by key."""
    of_query: Callable[[str, QueryKey], Rows]
    """Its rows of a table with several rows per query."""

    @classmethod
    def of(cls, arena: Arena | None) -> Known:
        """Read the queries of an arena; empty if there is none."""

        @cache
        def by_query(table: str) -> dict[QueryKey, Rows]:
            rows: dict[QueryKey, Rows] = {}
            for row in arena.read(table).to_pylist() if arena is not None and table in arena.tables else ():
                rows.setdefault((row["language"], row["query_id"]), []).append(row)
            return rows

        queries = {key: row for key, (row,) in by_query("queries").items()}
        return cls(queries, lambda table, key: by_query(table).get(key, []))


def finish_tables(
    collected: Builder, arena: Arena | None, *, n: int, refers: bool = False, apart: Collection[str] = ()
) -> Tables:
    """Build the tables from everything collected, keeping what an arena has of the same queries.

    Args:
        collected: the collected records.
        arena: the target arena; None for a new one.
        n: number of records, for the message.
        refers: whether queries, and systems of verdicts, that the arena lacks are errors (`spec.Format.refers`).
        apart: codes of languages that are not read as another code of theirs.

    Raises:
        Refused: if there are errors, of the records or of the whole.
    """
    known = Known.of(arena)
    _fold_languages(collected, known, apart)
    if {query_id for _, query_id in known.queries}.isdisjoint(query_id for _, query_id in collected.queries):
        _join_records(collected)
    if refers and arena is not None:
        _refuse_unknown(collected, known, _systems(arena))
    names = _name_queries(collected, known)
    queries = _merge(collected, {key: names[key] for key in sorted(names, key=lambda key: (names[key], key))})
    for key, entry in queries.items():
        _promote_samples(entry, key, known)
    _drop_texts(collected, queries.values())
    tables = {} if collected.errors else _tables(collected, queries, known)
    if collected.errors:
        raise Refused(collected.errors, n)
    return tables


def _merge(collected: Builder, names: Mapping[QueryKey, QueryKey]) -> dict[QueryKey, QuerySeen]:
    """Return the queries under their names, with an error for each two of one name that contradict each other."""
    queries: dict[QueryKey, QuerySeen] = {}
    for key, name in names.items():
        entry = collected.queries[key]
        try:
            if queries.setdefault(name, entry) is not entry:
                queries[name].merge(entry)
        except BadInput as error:
            collected.refuse(error)
    return queries


def _join_records(collected: Builder) -> None:
    """Join queries of one text whose ids are of their records: each has one answer, and no two of a system."""
    texts: dict[QueryKey, tuple[Any, ...]] = {}
    for key, entry in collected.queries.items():
        if entry.text is None or len(entry.answers) != 1:
            return
        texts[key] = key[0], entry.text, *chain(*entry.turns)
    facts = {(*texts[key], entry.subset, entry.reference) for key, entry in collected.queries.items()}
    systems = {(*texts[key], *entry.answers) for key, entry in collected.queries.items()}
    if len(set(texts.values())) == len(facts) < len(systems) == len(texts):
        collected.queries = _merge(collected, {key: (asked[0], content_id(*asked[1:])) for key, asked in texts.items()})
        why = "no two systems share an id, so it is taken for the record's, and queries are told apart by their texts"
        collected.note_guess("query_id", why)


def _promote_samples(entry: QuerySeen, query: QueryKey, known: Known) -> None:
    """Make the first sample of a system without an answer its answer: other programs number runs from 1."""
    samples = sorted((key[2], key) for key in entry.rows if key[0] == "samples")
    answered = {row["system"] for row in known.of_query("answers", query)} if samples else set()
    for _, key in samples:
        row, where = entry.rows[key]
        if row.system not in answered and row.system not in entry.answers:
            del entry.rows[key]
            entry.put_answer(replace(row, sample=0), where)


def _drop_texts(collected: Builder, queries: Iterable[QuerySeen]) -> None:
    """Drop the scores of fields that are numbers in some records only, or the same for all systems of every query."""
    held: dict[str, dict[int, list[tuple[QuerySeen, tuple[Any, ...]]]]] = {}
    for place, entry in enumerate(queries):
        for key, (row, _) in entry.rows.items():
            if key[0] == "scores" and row.rater == rag.OWN:
                held.setdefault(row.measure, {}).setdefault(place, []).append((entry, key))
    for measure, of_query in held.items():
        compared = [{entry.rows[key][0].value for entry, key in rows} for rows in of_query.values() if len(rows) > 1]
        if measure in collected.texts:
            why = "it is a number in some records only"
        elif compared and measure not in rag.KNOWN and all(len(values) == 1 for values in compared):
            why = "it is the same for all systems of a query, so it measures no answer"
        else:
            continue
        for entry, key in chain.from_iterable(of_query.values()):
            collected.left_out(measure, why)
            del entry.rows[key]


def _fold_languages(collected: Builder, known: Known, apart: Collection[str]) -> None:
    """Read the codes of one language as one code, unless two of its queries have one id and different texts."""
    given = {code for code, _ in collected.queries if not code.startswith(UNKNOWN)}
    shown = {passage.language for entry in collected.queries.values() for passage, _ in entry.passages.values()}
    every = given | {code for code in shown if code is not None}
    folded = fold_codes(every, {code for code, _ in known.queries}, apart)
    texts: dict[QueryKey, set[str]] = {}
    for (code, query_id), entry in collected.queries.items():
        if entry.text and code in every:
            texts.setdefault((folded.get(code, code), query_id), set()).add(entry.text)
    several = {code for (code, _), different in texts.items() if len(different) > 1}
    collected.folded = {code: other for code, other in folded.items() if other not in several}
    names = {(code, query_id): (collected.folded.get(code, code), query_id) for code, query_id in collected.queries}
    collected.queries = _merge(collected, names)
    for other in dict.fromkeys(folded.values()):
        codes = " and ".join(code for code in folded if folded[code] == other)
        if other in several:
            why = f"{codes} and {other} stay languages of their own: queries of one id have different texts in them"
        else:
            first = codes.partition(" ")[0]
            why = f"{codes} read as {other}; kept apart with --value language:{first}={first}"
        collected.note_guess(f"codes of {language_of(other).name}", why)


def _systems(arena: Arena) -> dict[str, set[str]]:
    """Return the systems with answers or outcomes in each language of an arena."""
    systems: dict[str, set[str]] = {}
    for table in {"answers", "outcomes"}.intersection(arena.tables):
        pairs = arena.read(table, columns=["language", "system"]).group_by(["language", "system"]).aggregate([])
        for row in pairs.to_pylist():
            systems.setdefault(row["language"], set()).add(row["system"])
    return systems


def _refuse_unknown(collected: Builder, known: Known, systems: Mapping[str, set[str]]) -> None:
    """Remove the queries that the arena lacks, and add an error for each record on one, or of an unknown system.

    An arena whose queries are themselves only references takes further ones; a verdict needs a query as soon as the
    arena has systems.
    """
    languages: dict[str, set[str]] = {}
    for code, query_id in known.queries:
        languages.setdefault(query_id, set()).add(code)
    closed = any(row["reason"] != NO_TEXT for row in known.queries.values())
    firsts: dict[tuple[str, str], BadInput] = {}

    def refuse(kind: str, name: str, valid: Iterable[str], where: str) -> None:
        if (first := firsts.get((kind, name))) is not None:
            error = BadInput(first.what, where=where, do=first.do)
        elif len(firsts) < SHOWN:
            error = firsts[kind, name] = UnknownName(kind, name, valid, where=where)
        else:  # Comparing every unknown name with every query would take minutes.
            error = firsts[kind, name] = BadInput(f"there is no {kind} {name!r}", where=where)
        collected.errors.append(error)

    for key, entry in list(collected.queries.items()):
        code, query_id = key
        codes, anywhere = languages.get(query_id, set()), code.startswith(UNKNOWN)
        codes = codes if anywhere else codes & {code}
        if not codes and (closed or (systems and _verdicts(entry))):
            del collected.queries[key]
            kind = "query" if anywhere else f"query in {code}"
            for _, where in (*entry.answers.values(), *entry.rows.values()):
                valid = (name for name, of_name in languages.items() if anywhere or code in of_name)
                refuse(kind, query_id, valid, where)
        elif systems:
            there = set().union(*(systems.get(code, ()) for code in codes))
            for row, where in _verdicts(entry):
                if unknown := next((name for name in (row.system_a, row.system_b) if name not in there), None):
                    refuse(f"system in {' or '.join(sorted(codes))}", unknown, there, where)


def _verdicts(entry: QuerySeen) -> list[tuple[GivenVerdict, str]]:
    return [placed for key, placed in entry.rows.items() if key[0] == "judgments"]


def _name_queries(collected: Builder, known: Known) -> dict[QueryKey, QueryKey]:
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
    entries = [collected.queries[key] for key in open_]
    bare = [entry for entry in entries if _verdicts(entry) and not (entry.text or entry.answers)]
    if bare and len(bare) == len(collected.queries) and not known.queries:
        code, why = ABSENT["language"]
        collected.note_guess("language", why)
        return {key: (code, key[1]) for key in open_}
    _detect(collected, sorted(open_, key=lambda key: collected.queries[key].text is None), names, known)
    return names


def _detect(collected: Builder, keys: Sequence[QueryKey], names: dict[QueryKey, QueryKey], known: Known) -> None:
    """Name queries, those with a text first: one without it may equal one named by then."""
    counts: Counter[str] = Counter()
    undecided: list[QueryKey] = []
    strays: dict[tuple[str, str], list[str]] = {}
    of_id: dict[str, set[str]] = {}
    for code, query_id in names.values():
        of_id.setdefault(query_id, set()).add(code)
    named = Counter(code for code, _ in {*names.values(), *known.queries})
    of_base = {base(code): code for code in named if sum(base(code) == base(other) for other in named) == 1}
    with_text = [key for key in keys if collected.queries[key].text]
    of_text = dict(
        zip(with_text, detect_set([_with_turns(collected.queries[key]) for key in with_text], named), strict=True)
    )
    for group in map(frozenset, CLOSE):
        # Short questions alone would give a relative's queries to the other: their answers tell more.
        if any(found.code != found.alone and group.issuperset(found) for found in of_text.values()):
            related = [key for key, found in of_text.items() if found.code in group]
            longer = detect_set([_answers(collected.queries[key]) for key in related], named)
            of_text |= {key: found for key, found in zip(related, longer, strict=True) if found.code in group}
    for key in keys:
        entry = collected.queries[key]
        if entry.text is None and len(of_id.get(key[1], ())) == 1:
            names[key] = next(iter(of_id[key[1]])), key[1]
            continue
        text = _with_turns(entry)
        found = of_text.get(key)
        language = found.code if found else None
        if language is None and (heard := detect(_answers(entry), named)) and fits_script(heard, text):
            language = heard
        if found and found.code != found.alone is not None:
            strays.setdefault((str(found.alone), str(found.code)), []).append(key[1])
        if language is None:
            undecided.append(key)
        else:
            language = of_base.get(language, language)
            names[key] = language, key[1]
            of_id.setdefault(key[1], set()).add(language)
            counts[language] += 1
    ranked = sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    usual = ranked[0][0] if ranked else None
    taken = Counter[str]()
    for key in undecided:
        entry = collected.queries[key]
        if usual is None or not fits_script(usual, _with_turns(entry)):
            why = "it has no text to tell it by" if entry.text is None else "its text is too short to tell"
            what = f"the language of query {key[1]} is not given, and {why}"
            do = "set it: --set language=CODE, or map a field: --map THEIRS=language"
            collected.errors.append(BadInput(what, where=entry.where, do=do))
        else:
            names[key] = usual, key[1]
            taken[usual] += 1
    _note_detected(collected, dict(ranked), taken, strays)


def _note_detected(
    collected: Builder, counts: Mapping[str, int], taken: Mapping[str, int], strays: Mapping[tuple[str, str], list[str]]
) -> None:
    """Say in which languages queries are by their texts, and where that is least certain.

    Args:
        collected: the collected records.
        counts: number of queries by language, the most frequent first.
        taken: of them too short to tell, by the language assumed.
        strays: ids of queries by the language that they have alone, and the one that they get.
    """
    if counts:
        shares = ", ".join(f"{language_of(code).name} {n:,}" for code, n in counts.items())
        collected.note_guess(
            "language", f"detected from the text of the queries: {shares}; override with --set language=CODE"
        )
    for group in CLOSE:
        if len(close := [language_of(code).name for code in group if code in counts]) > 1:
            collected.note_guess(
                "close languages",
                f"{' and '.join(close)} are close relatives, and single texts may be in the other; give the language "
                "where it is known: --map THEIRS=language",
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


def _with_turns(entry: QuerySeen) -> str:
    """Return a query after its conversation, whose language a short query shares."""
    return "\n".join([*(text for _, text in entry.turns), entry.text or ""])


def _answers(entry: QuerySeen) -> str:
    """Return the query and the beginnings of its answers."""
    texts = [entry.answers[system][0].text or "" for system in sorted(entry.answers)[:3]]
    return "\n".join([entry.text or "", *(text[:_SHORT] for text in texts)])


def _tables(collected: Builder, queries: Mapping[QueryKey, QuerySeen], known: Known) -> Tables:
    columns = Columns()
    renumbered = 0
    labelled: Counter[tuple[str | None, str | None]] = Counter()
    for key, entry in queries.items():
        labels = [passage.relevant for passage, _ in entry.passages.values()]
        subset, source = _label(key, entry, known.queries.get(key, {}), labels)
        if subset == "non_relevant" and True in labels:
            what = "the subset is non_relevant, but a passage is labelled relevant"
            collected.errors.append(BadInput(what, where=entry.where))
        labelled[subset, source] += 1
        _add_query(columns, key, entry, known, subset, source)
        order = _add_passages(columns, key, entry, known, collected.folded)
        for answer, _ in entry.answers.values():
            text = answer.text
            if text and answer.numbered and answer.shown and list(answer.shown) != order:
                text = renumber(text, answer.shown, order)
                renumbered += text != answer.text
            columns.add("answers", key, answer, text=text)
        for (table, *_), (row, _) in entry.rows.items():
            if table != "retrieved":
                columns.add(table, key, row)
                continue
            for rank, (passage, score) in enumerate(row.passages, start=1):
                # Passages of the query need no text here.
                held = {"title": None, "text": None} if passage.passage_id in order else {}
                about = {"retriever": row.retriever, "rank": rank, "score": score}
                code = collected.folded.get(passage.language, passage.language)
                columns.add(table, key, passage, passage_language=code, **about, **held)
    if renumbered:
        collected.note_guess(
            "numbered citations",
            f"`[n]` is renumbered in {count_text(renumbered, 'answer')}: passages were shown in another order",
        )
    for source, noun in _LABELS.items():
        if counts := [f"{n:,} {QUERIES[subset]}" for subset in RIGHT if (n := labelled[subset, source])]:
            collected.note_guess(noun, f"{' and '.join(counts)} queries")
    return columns.tables()


def _add_query(
    columns: Columns, key: QueryKey, entry: QuerySeen, known: Known, subset: str | None, source: str | None
) -> None:
    """Add a query with its turns, tags and reference."""
    old = known.queries.get(key, {})
    if not old or entry.text is not None or entry.subset is not None or subset != old["subset"]:
        text = entry.text or old.get("text")
        reason = None if text else old.get("reason") or NO_TEXT
        by = old.get("labelled_by") if subset == old.get("subset") else None
        columns.add("queries", key, subset=subset, text=text, reason=reason, labelled_by=by, labelled_from=source)
    for position, (speaker, text) in enumerate(entry.turns, start=1):
        columns.add("turns", key, position=position, speaker=speaker, text=text)
    tags = entry.tags | {(row["tag"], row["value"]) for row in known.of_query("tags", key) if entry.tags}
    for tag, value in sorted(tags):
        columns.add("tags", key, tag=tag, value=value)
    if entry.reference:
        columns.add("references", key, text=entry.reference)


def _label(
    key: QueryKey, entry: QuerySeen, old: Mapping[str, Any], labels: Collection[bool | None]
) -> tuple[str | None, str | None]:
    """Return the subset of a query, and what it was read from unless from labels of relevance: these decide, then a
    field that says whether it is answerable, then its reference answer, which claims something or abstains.
    """
    kept = old.get("subset"), old.get("labelled_from")
    certain = "non_relevant" if labels and None not in labels else None
    by_passages = "relevant" if True in labels else certain
    if label := entry.subset or (kept[0] if kept[1] is None else None) or by_passages:
        return label, None
    if len(entry.stated) == 1:
        return "relevant" if True in entry.stated else "non_relevant", "field"
    if kept[1] != "field" and entry.reference:
        text = entry.text or old.get("text") or ""
        outcome = parse_outcome(entry.reference, language=key[0], template=None, query=text).outcome
        label = next((subset for subset, right in RIGHT.items() if right == outcome), None)
        return label, "reference" if label else None
    return kept


def _add_passages(
    columns: Columns, key: QueryKey, entry: QuerySeen, known: Known, folded: Mapping[str, str]
) -> list[str]:
    """Add the passages of a query and their documents; return the ids of all its passages in order.

    The arena's own passages come first, all kept; then those shown to systems, by system name.
    """
    old = {row["passage_id"]: row for row in known.of_query("passages", key)}
    about = {row["passage_id"]: row for row in known.of_query("documents", key)} if entry.passages else {}
    order = dict.fromkeys(sorted(old, key=lambda passage_id: old[passage_id]["position"]))
    for ids, _ in sorted(entry.orders.items(), key=lambda item: (not item[1], item[1], item[0])):
        order |= dict.fromkeys(ids)
    position = 0
    for passage_id in order if entry.passages else ():
        seen, _ = entry.passages.get(passage_id, (ShownPassage(None), ""))
        before = old.get(passage_id, {})
        position = max(position + 1, before.get("position", 0))
        columns.add(
            "passages",
            key,
            passage_id=passage_id,
            position=position,
            title=seen.title or before.get("title"),
            text=before.get("text") if seen.text is None else seen.text,
            relevant=before.get("relevant") if seen.relevant is None else seen.relevant,
            pooled=before.get("pooled") if before else seen.pooled,
            passage_language=folded.get(code, code) if (code := seen.language) else before.get("passage_language"),
        )
        document = {name: getattr(seen, name) or about.get(passage_id, {}).get(name) for name in ("url", "metadata")}
        if any(document.values()):
            columns.add("documents", key, passage_id=passage_id, **document)
    return list(order)
