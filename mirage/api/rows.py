"""People's votes, as passed by callers: data frames, records, files."""

from typing import Any

from mirage import schema
from mirage.battles.decision import READABLE
from mirage.errors import BadInput
from mirage.io.rows import check_voters, read_frame, read_texts, refuse_weight_columns, require_columns
from mirage.people.votes.kinds import UNNAMED, Vote
from mirage.text.languages import UNDETERMINED


def read_votes(data: Any) -> list[Vote]:
    """Return people's verdicts as votes.

    Raises:
        BadInput: if a column is missing or a value cannot be read, naming the row.
    """
    rows = read_frame(data)
    verdict = "vote" if "vote" in rows.column_names else "verdict"
    require_columns(rows, ("query_id", "system_a", "system_b", verdict))
    refuse_weight_columns(rows)
    language, voters = read_texts(rows, "language", UNDETERMINED), read_texts(rows, "voter", UNNAMED)
    check_voters(voters)
    drawn = rows["control"].to_pylist() if "control" in rows.column_names else [True] * len(rows)
    names = ("query_id", "system_a", "system_b", verdict)
    log = []
    known = (*READABLE, "skip")
    for k, (query, a, b, told) in enumerate(zip(*(read_texts(rows, name) for name in names), strict=True)):
        if (word := schema.verdict_word(told)) not in known:
            raise BadInput(
                f"the vote {told!r} is not one of {', '.join(known)}", where=f"row {k + 1:,}", do="correct it"
            )
        log.append(
            Vote(
                vote_id=f"{k:08}",
                time="",
                arena="",
                language=language[k],
                query_id=query,
                system_a=a,
                system_b=b,
                voter=voters[k],
                vote=word,  # type: ignore[arg-type]  # it is one of the words known
                control=bool(drawn[k]),
                why="",
            )
        )
    return log
