"""Extract query and passages from a published prompt by the positions of the known numbers.

The vanilla and the role template of NoMIRACL (appendix of arXiv 2312.11361) differ only in their first paragraph:

    ... QUESTION:, the query, CONTEXTS:, then `[1] passage` to `[10] passage`, each its own paragraph, OUTPUT:

A passage starts at its number only if the number starts a paragraph, after a blank line, and the numbers are in order.
So a number within text, at the start of a line, or out of order belongs to the text, and so do the words QUESTION:,
CONTEXTS: and OUTPUT: inside a passage. MIRACL splits its passages at blank lines, so none of them contains one; in
other texts a paragraph that starts with the passage's own or the next number would be ambiguous. Such a prompt is
rejected.
"""

from mirage.errors import BadInput
from mirage.io.sources.nomiracl.origin import PASSAGES

TEMPLATES = ("vanilla", "role")
"""Templates with this frame."""

_QUESTION = "\n\nQUESTION:\n"
_OUTPUT = "\n\nOUTPUT:\n"
_NUMBERS = ("\n\nCONTEXTS:\n[1] ", *(f"\n\n[{k}] " for k in range(2, PASSAGES + 1)))
_ONE_MORE = f"\n\n[{PASSAGES + 1}] "


def split_prompt(prompt: str, *, query_id: str, where: str = "") -> tuple[str, list[str]]:
    """Split a prompt into the query and its 10 passages, character for character.

    Args:
        prompt: the whole prompt.
        query_id: the query's id, for error messages.
        where: file and line of the prompt.

    Returns:
        The query, and the passages in the order of their numbers, each `title: text`.

    Raises:
        BadInput: naming the query, if the frame is different, if there are fewer or more than 10 passages, or if the
            prompt can be split in more than one way.
    """

    def refuse(problem: str, do: str) -> BadInput:
        return BadInput(f"the prompt of query {query_id} {problem}", where=where, do=do)

    start = prompt.find(_QUESTION)
    if start < 0 or not prompt.endswith(_OUTPUT):
        raise refuse("has no QUESTION: or does not end in OUTPUT:", "take that row out, or give the whole prompt")
    body = prompt[start + len(_QUESTION) : -len(_OUTPUT)]

    earliest = []
    position = 0
    for number, mark in enumerate(_NUMBERS, start=1):
        begin = body.find(mark, position)
        if begin < 0:
            raise refuse(
                f"shows {number - 1} passages, not {PASSAGES}: no paragraph begins with [{number}] where it should",
                "take that row out, or give the whole prompt",
            )
        earliest.append(begin)
        position = begin + len(mark)
    if body.find(_ONE_MORE, position) >= 0:
        raise refuse(f"shows more than {PASSAGES} passages", "take that row out")

    passages = []
    end = len(body)
    for number in range(PASSAGES, 0, -1):
        mark = _NUMBERS[number - 1]
        # The latest chain of numbers: where it is the earliest one too, there is no other.
        latest = body.rfind(mark, 0, end)
        if latest != earliest[number - 1]:
            raise refuse(
                f"can be split in more than one way: several paragraphs begin with [{number}]",
                "take that row out, or reword the paragraph that only looks like a passage",
            )
        passages.append(body[latest + len(mark) : end])
        end = latest
    return body[:end], passages[::-1]


def split_title(passage: str) -> tuple[str | None, str]:
    """Split a passage into title and text at its first colon and space; without one there is no title.

    A title with a colon and a space is cut there, as the prompt does not mark its end.
    """
    title, colon, text = passage.partition(": ")
    return (title, text) if colon else (None, passage)
