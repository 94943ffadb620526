"""Measurements in the format `tot` of TREC AutoJudge: all systems in one file.

    my-model	error_rate	all	0.125              system, measure, topic and value

The tracks on generation publish their results so (autojudge-evaluate 0.2: `eval_results/io.py`). It is split at white
space by its readers, so white space in a name is written `%20`, as in URLs, and `%` itself `%25`.
"""

import re
from pathlib import Path
from urllib.parse import quote

from mirage.ranking.records import JOINT
from mirage.store.arena import Arena
from mirage.store.export import write_whole
from mirage.views.topics import topics_view

_BREAKS = re.compile(r"[\s%\x00-\x20\x7f-\x9f]")


def export_trec(arena: Arena, out: Path, *, queries: bool = False) -> int:
    """Write the measurements of each system, and of its answers with `queries`, into one file.

    `hallucination_rate` and `error_rate` are by the strict parser, 1 for a wrong answer, missing if the outcome is
    undecided; features are under their names, imported scores as `MEASURE/RATER`, stored ratings over all languages as
    `rating/JUDGE/SKILL`. The topic `all` is the mean over topics by language, then over languages with equal weights.
    Other topics are the query's id if there is one language, else `LANGUAGE:ID`.

    Returns:
        Number of systems.

    Raises:
        NotEnoughData: if there are no measurements.
        BadInput: if the file cannot be written.
    """
    view, lines = topics_view(arena), []
    for system, measure in sorted(view.whole):
        name = f"{token(system)}\t{token(measure)}"
        for topic, value in view.topics.get((system, measure), {}).items() if queries else ():
            lines.append(f"{name}\t{token(':'.join(topic) if view.several else topic[1])}\t{value!r}\n")
        lines.append(f"{name}\t{JOINT}\t{view.whole[system, measure]!r}\n")
    write_whole(out, "".join(lines).encode("utf-8"))
    return len({system for system, _ in view.whole})


def token(name: str) -> str:
    """Encode a name without whitespace or control characters, reversibly by percent-decoding."""
    return _BREAKS.sub(lambda match: quote(match.group()), name)
