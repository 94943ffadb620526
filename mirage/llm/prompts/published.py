"""Prompt templates as the NoMIRACL package offers them: a callable of a query and a fixed number of passages."""

from collections.abc import Sequence

from mirage.errors import BadInput, UnknownName
from mirage.llm.prompts import load_template, render

PUBLISHED = ("vanilla", "role", "repeat", "explanation")
"""Templates of the package."""


class VanillaTemplate:
    """A prompt of NoMIRACL for a fixed number of passages.

    A subclass may set another `template` after `super().__init__(count)`, as in the NoMIRACL package.

    Args:
        count: number of passages.
        name: one of `PUBLISHED`.

    Raises:
        BadInput: if the number of passages is below 1.
    """

    answer = "Yes, answer is present"
    """Reply if a passage answers the query."""
    no_answer = "I don't know"
    """Reply if none does."""

    def __init__(self, count: int = 10, *, name: str = "vanilla") -> None:
        if count < 1:
            raise BadInput(f"count is {count}", do="use 1 or more")
        self.count = count
        self.passage_variables = [f"passage_{k}" for k in range(1, count + 1)]
        passages = [(None, f"{{{variable}}}") for variable in self.passage_variables]
        self.template = render(load_template(name), "{query}", passages)
        """Text of the prompt, with `{query}` and each of `passage_variables` in braces."""

    def __call__(self, query: str, passages: Sequence[str]) -> str:
        """Return the prompt of a query.

        Raises:
            BadInput: if there are not `count` passages.
        """
        if len(passages) != self.count:
            raise BadInput(
                f"there are {len(passages)} passages, and the template is for {self.count}",
                do=f"give {self.count}, or load the template with count={len(passages)}",
            )
        return self.template.format(query=query, **dict(zip(self.passage_variables, passages, strict=True)))


def load_prompt_template(name: str, count: int = 10) -> VanillaTemplate:
    """Load a NoMIRACL prompt template: `template(query, passages)` returns the prompt for `count` passages.

    Args:
        name: vanilla, role, repeat or explanation, or a name that contains one of them, such as `vanilla_prompt`.
        count: number of passages.

    Raises:
        UnknownName: if there is no such template.
        BadInput: if the number of passages is below 1.
    """
    found = next((known for known in PUBLISHED if known in name), None)
    if found is None:
        raise UnknownName("prompt template", name, PUBLISHED)
    return VanillaTemplate(count, name=found)
