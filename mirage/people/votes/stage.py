"""Votes on an arena: the queue, agreement, corrected rankings, import and export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mirage import schema
from mirage.battles.decision import decisions
from mirage.battles.verdict_rows import COLUMNS, programs
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people.votes.agreement import Agreement, agreement
from mirage.people.votes.belonging import belonging, votes_on
from mirage.people.votes.correct import CorrectedRating, Correction, correct, join_corrections
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import IMPORTED, AnyRow, Evidence, Vote
from mirage.people.votes.proof import row_content, sign
from mirage.people.votes.queue import Pool, gather_pool
from mirage.people.votes.rows import imported_votes, majorities, people
from mirage.ranking.bootstrap import rate
from mirage.ranking.judges import Judge
from mirage.store import home, records
from mirage.store.arena import Arena
from mirage.store.export import export_rows
from mirage.store.upsert import NewRows, read_consistently, upsert
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CorrectionResult:
    """A judge's ranking corrected by votes, in the languages where this is possible."""

    judge: str
    """The judge."""
    languages: Mapping[str, Correction]
    """Corrections by language code, and `all` if several share systems."""
    refused: Mapping[str, NotEnoughData]
    """Reason why there is none, by code of the other languages."""
    uncorrected: Mapping[tuple[str, str], Mapping[str, Any]]
    """Rating, interval (null where the data puts no bound) and rank by the judge alone, as columns of
    `CorrectedRating`, by language and system."""

    def table(self) -> pa.Table:
        """Return one row per language and system (`votes.CorrectedRating`), the best first."""
        rows = [
            replace(row, **self.uncorrected.get((code, row.system), {}))
            for code, correction in self.languages.items()
            for row in sorted(correction.rows(), key=lambda row: (row.rank, row.system))
        ]
        return schema.from_rows(CorrectedRating, rows)


def vote_pool(arena: Arena, language: str) -> Pool:
    """Return the battles of a language that can be voted on; the same for all voters, cached by the arena's version.

    Raises:
        TableMissing: if the arena has no answers.
        UnknownName: if it has none in the language.
    """
    arena.need("answers")
    if language not in arena.languages("answers"):
        raise UnknownName("language", language, arena.languages("answers"), where=f"{arena.address} (answers)")
    answers = arena.sql(
        "SELECT language, query_id, system, status, md5(trim(text)) AS text FROM answers WHERE language = ?",
        [language],
    )
    judgments = None
    if language in arena.languages("judgments"):
        judgments = arena.read("judgments", columns=COLUMNS, languages=[language])
    return gather_pool(language=language, answers=answers, judgments=judgments)


def votes_that_count(arena: Arena, log: Iterable[Vote]) -> list[Vote]:
    """Return people's votes on an arena in its current state, in order of time: its imported verdicts by people, and
    the valid votes of the log that belong to it (`votes.votes_on`).
    """
    return [*_imported_votes(arena), *votes_on(arena, log).counting]


def grade_support_by_votes(path: Path, log: Iterable[Evidence], *, made_by: str) -> Arena:
    """Store people's votes on citations as grades of the grader `people`, next to those of models.

    The majority on a citation counts: `yes` is full support and `no` is none; without a majority for either there is no
    grade. Grades of undone votes are removed.

    Args:
        path: the arena's folder.
        log: votes on citations; those on other arenas, and on changed answers, are ignored.
        made_by: the command, for the manifest.

    Raises:
        NotEnoughData: if no vote counts.
        ArenaError: if the arena lacks passages or answers, or cannot be written.
    """
    import pyarrow as pa

    from mirage.stages.features import support_grading  # deferred: imports the model clients, which pages do not need

    seen = read_consistently(path, support_grading.seen_citations)
    rows = []
    for (language, query, system, sentence, passage), grade in majorities(votes_on(seen.arena, log).counting).items():
        reason = None if grade else "people find it unclear or disagree"
        rows.append(schema.SupportGrade(language, query, system, sentence, passage, schema.PEOPLE, grade, reason, None))
    if not rows:
        raise NotEnoughData(
            f"there are no votes on citations of {seen.arena.name}",
            do="vote on the Spot check page, with the switch on citations",
        )
    grades = schema.sort("support_grades", schema.from_rows("support_grades", rows))
    replaced = pa.table({"grader": [schema.PEOPLE]})
    new = {"support_grades": NewRows(grades, replaced)}
    return upsert(path, new, made_by=made_by, seen=seen).arena


def vote_agreement(
    arena: Arena,
    log: Iterable[Vote],
    *,
    languages: Sequence[str] | None = None,
) -> list[Agreement]:
    """Compare people with each judge of an arena, and with each other (`votes.agreement`).

    Raises:
        NotEnoughData: without votes on battles drawn at random in the languages.
    """
    arena_votes = [vote for vote in votes_that_count(arena, log) if languages is None or vote.language in languages]
    agreements = agreement(arena_votes, _judgments(arena, {v.language for v in arena_votes}))
    if not agreements:
        missing = "is no vote on a battle drawn at random" if arena_votes else "are no votes"
        where = arena.name + (f" in {', '.join(languages)}" if languages else "")
        raise NotEnoughData(f"there {missing} on {where}", do=_how_to_vote(arena, arena_votes))
    return agreements


def correct_ranking(
    arena: Arena,
    log: Iterable[Vote],
    *,
    judge: str,
    languages: Sequence[str] | None = None,
) -> CorrectionResult:
    """Correct a judge's ranking by people's votes, language by language (`votes.correct`) and overall.

    Args:
        arena: the arena.
        log: its votes.
        judge: the judge.
        languages: codes; None for all with votes.

    Raises:
        UnknownName: if the judge has no verdict here.
        NotEnoughData: if no language has enough votes, with the reason of each.
    """
    arena.need("judgments")
    arena_votes = votes_that_count(arena, log)
    counted = {vote.language for vote in arena_votes if vote.control or vote.inclusion is not None}
    codes = sorted(counted if languages is None else set(languages))
    judged_languages = [code for code in codes if code in arena.languages("judgments")]
    judgments = arena.read("judgments", columns=COLUMNS, languages=judged_languages)
    verdicts = decisions(judgments)
    if codes and judge not in verdicts:
        raise UnknownName("judge", judge, verdicts, where=arena.address)
    corrections, refused = {}, {}
    for code in codes:
        try:
            corrections[code] = correct(arena_votes, verdicts[judge], language=code, judge=judge)
        except NotEnoughData as error:
            refused[code] = error
    if not corrections:
        raise NotEnoughData(
            f"no ranking by {judge} can be corrected",
            where="; ".join(error.what for error in refused.values()) or f"{arena.name} has no votes that count",
            do=_how_to_vote(arena, arena_votes),
        )
    codes = list(corrections)
    with suppress(NotEnoughData):
        corrections["all"] = join_corrections(list(corrections.values()))
    uncorrected = rate(Judge.from_name(judge).battles(judgments), languages=codes).table().to_pylist()
    columns = {"": "rating", "_low": "low", "_high": "high", "_rank": "rank"}
    by_system = {
        (row["language"], row["system"]): {f"uncorrected{end}": row[name] for end, name in columns.items()}
        for row in uncorrected
    }
    return CorrectionResult(judge, corrections, refused, by_system)


def people_verdicts(arena: Arena, log: Iterable[Vote]) -> pa.Table:
    """Return people's votes on an arena as verdicts, one row per vote: language, query_id, system_a, system_b,
    verdict.
    """
    return people(votes_that_count(arena, log))


def export_votes(
    database: Votes, kind: type[AnyRow], out: Path, *, arena: Arena | None = None, key: Path | None = None
) -> int:
    """Write the log, including undone votes, to one file in the format of its extension; each row is signed.

    Args:
        database: the votes.
        kind: kind of votes.
        out: the file.
        arena: only votes of this arena, including those on changed answers; None for all.
        key: new file for the key of the signatures, which other votes need to check them; None to keep it here.

    Returns:
        The number of rows.

    Raises:
        BadInput: if the file's extension is unknown, or it cannot be written.
        Unreachable: if the database does not respond.
    """
    import pyarrow as pa

    rows = database.rows(kind)
    if arena is not None:
        rows = [row for row, _ in belonging(arena, rows)]
    own_key = database.keys()[0]
    signatures = pa.array([sign(own_key, *row_content(row)) for row in rows], pa.string())
    export_rows(schema.from_rows(kind, rows).append_column("signature", signatures), out)
    if key is not None:
        home.write_key(key, own_key)
    return len(rows)


def import_votes(database: Votes, kind: type[AnyRow], path: Path) -> ImportedVotes:
    """Import an exported log; one invalid line rejects the file, and existing rows are unchanged.

    Votes without the signature of a known key are stored as opinions.

    Args:
        database: the votes.
        kind: kind of votes.
        path: the file.

    Raises:
        BadInput: with file and line.
        Unreachable: if the database does not respond.
    """
    lines = list(records.records(path))
    table: type = kind
    names = [column.name for column in schema.columns(table)]
    if not lines:
        raise BadInput("this file has no votes", where=str(path), do="give a file written by mirage votes export")
    rows = [kind(**{name: line.value.get(name) for name in names}) for line in lines]
    signatures = [line.value.get("signature") for line in lines]
    new = database.append(rows, [line.where for line in lines], signatures)
    ids = {row.vote_id for row in rows}
    return count_imported([row for row in database.rows(kind) if row.vote_id in ids], new)


class ImportedVotes(NamedTuple):
    """Numbers of votes of an import."""

    read: int
    """Rows in the file."""
    new: int
    """Rows that were not stored before."""
    opinions: int
    """Rows without proof of their draw."""
    unnamed: int
    """Rows with proof of their draw, but not of the person."""
    replaced: int = 0
    """New votes on items on which their voters had voted."""

    def lines(self) -> list[str]:
        """Return the numbers in sentences."""
        lines = [f"{count_text(self.read, 'row')} read, {self.new:,} of them new"]
        if self.replaced:
            lines.append(f"{count_text(self.replaced, 'vote')} replaced: the same people had voted on these items")
        if self.opinions:
            lines.append(
                f"{count_text(self.opinions, 'row')} taken as opinions, which do not count: not signed here for their "
                "voter and item. If they are from another machine of yours, bring its key: --key FILE"
            )
        if self.unnamed:
            lines.append(f"{count_text(self.unnamed, 'vote')} under unchecked names: person not proved")
        return lines


def count_imported(rows: Collection[Any], new: int, replaced: int = 0) -> ImportedVotes:
    """Count the rows of an import by their proof."""
    proofs = Counter(row.proof for row in rows)
    return ImportedVotes(len(rows), new, proofs["none"], proofs["draw"], replaced)


def _how_to_vote(arena: Arena, votes: Iterable[Vote]) -> str:
    """Return instructions on where to vote, and on the use of imported verdicts."""
    do = "vote on the Spot check page, whose queue draws battles at random"
    if all(vote.why != IMPORTED for vote in votes):
        return do
    exam = f"mirage report judges {arena.argument} --against-people"
    return f"{do}; verdicts by people that came with the data were not drawn here, but examine judges: {exam}"


def _judgments(arena: Arena, languages: Iterable[str]) -> pa.Table | None:
    """Return the verdicts given by programs."""
    codes = sorted(set(languages) & set(arena.languages("judgments")))
    return programs(arena.read("judgments", columns=(*COLUMNS, "person"), languages=codes)) if codes else None


@lru_cache(maxsize=8)
def _imported_votes(arena: Arena) -> tuple[Vote, ...]:
    """Return the verdicts given by people among the arena's judgments."""
    import pyarrow.compute as pc

    # Most arenas have none: reading only this column is fast.
    if "judgments" not in arena.tables or not pc.any(arena.read("judgments", columns=["person"])["person"]).as_py():
        return ()
    return tuple(imported_votes(arena.read("judgments", columns=(*COLUMNS, "person")), arena.name))
