"""Extract query and passages from prompts of MIRAGE-Bench, without loss of text.

    Question: <question>

    Contexts: [<id>] <text>
    [<id>] <text>

    Instruction: ..

A passage starts at a known id in brackets at the start of a line, and each id starts one passage. An id within a line
is text, and so are the keywords of the frame within a passage.
"""

import re
from collections import Counter
from collections.abc import Sequence

from mirage.errors import BadInput

_QUESTION = re.compile(r"\s*Question:")
_CONTEXTS = re.compile(r"\n[^\S\n]*Contexts:[^\S\n]*\n*")
_INSTRUCTION = re.compile(r"\n[^\S\n]*Instruction:")


def split_bench_prompt(
    prompt: str, passage_ids: Sequence[str], *, query_id: str, where: str = ""
) -> tuple[str, dict[str, str]]:
    """Split a prompt into the query and the passages, without white space around either.

    Args:
        prompt: the whole prompt.
        passage_ids: the passages that it may show, in any order.
        query_id: the query's id, for error messages.
        where: file and line of the prompt.

    Returns:
        The query, and the passages by id in the order shown. An id that starts no line was not shown.

    Raises:
        BadInput: naming the query, if the frame is different, if there are passages but no known ids, or if the
            prompt can be split in more than one way.
    """

    def refuse(problem: str, do: str = "take that row out, or give the whole prompt") -> BadInput:
        return BadInput(f"the prompt of query {query_id} {problem}", where=where, do=do)

    head = _QUESTION.match(prompt)
    ends = [match.start() for match in _INSTRUCTION.finditer(prompt)]
    if head is None or not ends:
        raise refuse("does not begin with Question: or has no Instruction:")
    frame = prompt[: ends[-1]]
    # What may be the contexts: where they would begin with their heading, and their text.
    bodies = [(match.start(), frame[match.end() :]) for match in _CONTEXTS.finditer(frame + "\n", head.end())]
    if not bodies:
        raise refuse("has no Contexts:")
    begins = re.compile(rf"^[^\S\n]*\[({'|'.join(map(re.escape, passage_ids)) or '(?!)'})\]", re.MULTILINE)
    contexts = next(((start, body) for start, body in bodies if begins.match(body)), None)
    if contexts is None:
        start, body = bodies[-1]
        if body.strip():
            raise refuse("shows passages, but does not begin with one of positive_ids and negative_ids")
        return frame[head.end() : start].strip(), {}

    start, body = contexts
    marks = _unique_marks(body, list(begins.finditer(body)))
    if marks is None:
        raise refuse(
            "can be split in more than one way: an id begins several lines", "reword the line that only looks like one"
        )
    ends = [*(mark.start() for mark in marks[1:]), len(body)]
    passages = {mark[1]: body[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}
    return frame[head.end() : start].strip(), passages


def _unique_marks(text: str, marks: list[re.Match[str]]) -> list[re.Match[str]] | None:
    """Return the marks that start a passage, each id once; None if ambiguous.

    The first mark always does. If an id starts several lines, those count that are separated from the previous text (by
    a blank line, or by none) in the same way as all ids that start only one.
    """
    first = marks[0]
    rest = [(mark, _after_blank_line(text, mark.start())) for mark in marks[1:] if mark[1] != first[1]]
    times = Counter(mark[1] for mark, _ in rest)
    if any(n > 1 for n in times.values()):
        ways = {after_blank for mark, after_blank in rest if times[mark[1]] == 1}
        rest = [(mark, after_blank) for mark, after_blank in rest if ways == {after_blank}]
        if Counter(mark[1] for mark, _ in rest) != Counter(set(times)):
            return None
    return [first, *(mark for mark, _ in rest)]


def _after_blank_line(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t")
    return before.endswith("\n") and before[:-1].rstrip(" \t").endswith("\n")
