"""Command for cross-lingual arenas: `mirage languages`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import typer

from mirage.cli.common import ArenaDir, How, Languages, app, codes
from mirage.cli.output import note, show
from mirage.errors import BadInput

PREFERENCE = (
    *("name", "query_language", "passage_language", "share", "expected"),
    *("preference", "preference_low", "preference_high", "p", "n", "units"),
)
"""Columns of `language_preference`."""
CONSISTENCY = (
    *("name", "measure", "first", "second", "agreement", "agreement_low", "agreement_high"),
    *("independent", "n", "units"),
)
"""Columns of `language_consistency`."""
ANSWERS = ("system", "query_language", "answer_language", "k", "n", "share", "share_low", "share_high")
"""Columns of `answer_languages`."""


@app.command("languages")
def report(
    dir_: ArenaDir,
    of: Annotated[
        Literal["retrievers", "systems", "answers", "consistency", "judges"],
        typer.Option(
            help="retrievers, systems: languages of passages that they prefer; answers: languages of answers;"
            " consistency: systems over the languages of a query; judges: their verdicts over the languages of a query."
        ),
    ] = "retrievers",
    depth: Annotated[int, typer.Option(min=1, help="retrievers: number of first passages to count.")] = 10,
    detect: Annotated[
        bool, typer.Option("--detect", help="First detect and store the languages of passages that have none.")
    ] = False,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Report preferences for languages, and consistency over languages, with 95% intervals.

    Reads the tables passages, retrieved, answers, outcomes, nuggets and judgments. Intervals are over queries; a query
    asked in several languages, with one id, is one unit. A preference is significant if its p-value, Holm-adjusted over
    the rows of a retriever or system, is below 0.05. Passages without a known language are left out. Writes nothing,
    except the column passage_language with --detect.
    """
    from mirage import api, store
    from mirage.stages.across import summary

    if detect:
        from mirage.stages.across.detection import detect_passage_languages

        result = detect_passage_languages(dir_, made_by="mirage languages --detect")
        note(f"Languages of {result.detected:,} passages detected; {result.unknown:,} unknown.")
    arena = store.open_arena(dir_)
    chosen = codes(languages)
    if of in ("retrievers", "systems"):
        unknown, total = summary.count_unknown(arena)
        if unknown == total:
            raise BadInput("no passage has a language", where=arena.address, do=f"run mirage languages {dir_} --detect")
        whose: Any = of
        rows = api.language_preference(arena, of=whose, depth=depth, languages=chosen)
        show(_ends(rows, "preference"), PREFERENCE, output_format)
        if unknown:
            note(f"{unknown:,} of {total:,} passages have no known language and are left out.")
    elif of == "answers":
        show(_ends(api.answer_languages(arena, languages=chosen), "share"), ANSWERS, output_format)
    else:
        own: Any = "systems" if of == "consistency" else "judges"
        rows = api.language_consistency(arena, of=own, languages=chosen)
        show(_ends(rows, "agreement"), CONSISTENCY, output_format)
        if not rows:
            note("No query is asked in several languages with one id.")


def _ends(rows: Iterable[Mapping[str, Any]], value: str) -> list[dict[str, Any]]:
    """Return rows with interval columns named after the value."""
    return [{**row, f"{value}_low": row["low"], f"{value}_high": row["high"]} for row in rows]
