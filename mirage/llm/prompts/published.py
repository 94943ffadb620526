"""Prompt templates as the NoMIRACL package offers them: a callable of a query and a fixed number of passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mirage.errors import BadInput, UnknownName
from mirage.llm.prompts import Template, load_template, render

PUBLISHED = ("vanilla", "role", "repeat", "explanation")
"""Templates of the package."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt template for a fixed number of passages."""

    template: Template
    """Text and generation settings."""
    count: int = 10
    """Number of passages."""

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
        return render(self.template, query, [(None, passage) for passage in passages])


def load_published(name: str, count: int = 10) -> PromptTemplate:
    """Load a template by name; a name that contains one of `PUBLISHED` counts, such as `vanilla_prompt`.

    Raises:
        UnknownName: if there is no such template.
        BadInput: if the number of passages is below 1.
    """
    found = next((known for known in PUBLISHED if known in name), None)
    if found is None:
        raise UnknownName("prompt template", name, PUBLISHED)
    if count < 1:
        raise BadInput(f"count is {count}", do="use 1 or more")
    return PromptTemplate(load_template(found), count)
