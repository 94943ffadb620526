"""Search among the answers of an arena: by system, outcome, subset and text.

    find_answers(arena, text="Suomenlinna", languages=["fi"])    # language, query_id, answers

Texts are matched literally and case-insensitively, in any script: both are compared after NFC and lower-casing by
DuckDB.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.store.arena import Arena

if TYPE_CHECKING:
    import pyarrow as pa

_FOLD = "lower(nfc_normalize({}))"
"""SQL for the form of a text in which texts are compared."""
_COLUMNS = ("language", "system", "subset", "parser", "outcome")


def find_answers(
    arena: Arena,
    *,
    chosen: Mapping[str, Collection[str]] = {},
    languages: Collection[str] = (),
    text: str = "",
    among: Sequence[pa.Table] = (),
) -> pa.Table:
    """Return the queries with an answer that matches, sorted by language and id, with the number of such answers.

    Args:
        arena: an arena with outcomes or answers.
        chosen: values by column of the table `outcomes` (`system`, `outcome`, `subset`, `parser`); none for all. An
            answer without an outcome has no parser, and matches any.
        languages: codes; empty for all.
        text: literal text that the answer or its query contains; empty for all.
        among: tables of `language, query_id, system`; the answers are in all of them.

    Returns:
        `language, query_id, answers`; answers that are missing match, but are not counted.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    values: dict[str, str] = {}

    def one_of(column: str, wanted: Collection[str]) -> str:
        # Scalars, not a list, so that DuckDB can skip files by their statistics.
        names = {f"{column}{n}": value for n, value in enumerate(wanted)}
        values.update(names)
        return f"{column} IN ({', '.join(f'${name}' for name in names)})"

    wanted = {"language": languages, **chosen}
    unread = {"parser": "parser IS NULL OR "}
    conditions = [f"({unread.get(column, '')}{one_of(column, own)})" for column, own in wanted.items() if own]
    conditions += [f"(language, query_id, system) IN (FROM among{n})" for n in range(len(among))]
    if any("\ud800" <= character <= "\udfff" for character in text):
        conditions.append("false")  # a lone surrogate, which UTF-8 text cannot contain
    elif text:
        values["text"] = text
        holds = f"contains({_FOLD.format('text')}, {_FOLD.format('$text')})"
        places = [
            f"({key}) IN (SELECT {key} FROM {table} WHERE {holds})"  # noqa: S608  # constants alone
            for table, key in (("answers", "language, query_id, system"), ("queries", "language, query_id"))
            if table in arena.tables
        ]
        conditions.append(f"({' OR '.join(places) or 'false'})")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return arena.sql(
        "SELECT language, query_id, count(*) FILTER (outcome IS DISTINCT FROM 'missing') AS answers "  # noqa: S608  # constants alone
        f"FROM ({_rows(arena)}) {where} GROUP BY ALL ORDER BY ALL",
        values,
        given={f"among{n}": table for n, table in enumerate(among)},
    )


def answer_values(arena: Arena) -> dict[str, Any]:
    """Return the values that `find_answers` can choose among: `language`, `system`, `subset`, `parser`, `outcome`, each
    a list without null; and the number of `queries`, and of `answers` that are not missing.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    lists = ", ".join(f"coalesce(list(DISTINCT {name}) FILTER ({name} IS NOT NULL), []) AS {name}" for name in _COLUMNS)
    rows = arena.sql(
        f"SELECT {lists}, count(DISTINCT (language, query_id)) AS queries, "  # noqa: S608  # constants alone
        "count(DISTINCT (language, query_id, system)) FILTER (outcome IS DISTINCT FROM 'missing') AS answers "
        f"FROM ({_rows(arena)})"
    )
    values: dict[str, Any] = rows.to_pylist()[0]
    return values


@lru_cache(maxsize=16)
def sample_numbers(arena: Arena) -> tuple[str, ...]:
    """Return the numbers of the samples of an arena, 0 for the answers first; only 0 if no query was asked twice."""
    if "samples" not in arena.tables:
        return ("0",)
    numbers = arena.sql("SELECT DISTINCT sample FROM samples ORDER BY sample")["sample"].to_pylist()
    return ("0", *map(str, numbers))


def _rows(arena: Arena) -> str:
    """Return SQL for one row an answer and parser, with the outcome; without labels of its query an answer has none."""
    outcomes = "SELECT language, query_id, system, parser, subset, outcome FROM outcomes"
    if "answers" not in arena.tables:
        arena.need("outcomes")
        return outcomes
    join, subset, before = "", "NULL::VARCHAR", ""
    if "queries" in arena.tables:
        join, subset = "LEFT JOIN queries q USING (language, query_id)", "q.subset"
    if "outcomes" in arena.tables:
        join += " ANTI JOIN outcomes USING (language, query_id, system)"
        before = f"{outcomes} UNION ALL "
    without = (
        f"SELECT language, query_id, system, NULL::VARCHAR AS parser, {subset} AS subset, "  # noqa: S608  # constants alone
        f"CASE WHEN status = 'missing' THEN 'missing' END AS outcome FROM answers {join}"
    )
    return before + without
