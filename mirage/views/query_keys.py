"""Ordered queries: positions, list pages, and resolution of links."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mirage.errors import MirageError, UnknownName
from mirage.text.languages import base, language

PAGE = 12
"""Queries per page of a list."""

Key = tuple[str, str]
"""Language and id of a query."""


def language_place(code: str, languages: Sequence[str]) -> int:
    """Return the position of a language among the preferred ones; after the last if it is not one of them."""
    return languages.index(code) if code in languages else len(languages)


def key_text(key: Key) -> str:
    """Return a query as written in the URL: `ar:771728#0`."""
    return ":".join(key)


@dataclass(frozen=True, eq=False)
class Keys:
    """Queries, by language and id."""

    keys: tuple[Key, ...]

    @cached_property
    def _places(self) -> dict[Key, int]:
        return {key: position for position, key in enumerate(self.keys)}

    @property
    def pages(self) -> int:
        """Number of list pages, at least one."""
        return max(1, -(-len(self.keys) // PAGE))

    def place(self, key: Key) -> int | None:
        """Return the position of a query, from 0; None if it is not in the list."""
        return self._places.get(key)

    def page(self, number: int) -> tuple[Key, ...]:
        """Return the queries of one page of the list; pages count from 1."""
        return self.keys[(number - 1) * PAGE : number * PAGE]

    def first_in(self, languages: Sequence[str]) -> Key | None:
        """Return the first query of the first of these languages that has any, else of all; None without queries."""
        return min(self.keys, key=lambda key: (language_place(key[0], languages), key), default=None)

    def resolve(self, link: str, languages: Sequence[str] = ()) -> Key:
        """Return the query that a link names: `ar:771728#0`, or an id alone.

        Args:
            link: value of the query parameter.
            languages: languages to search first for an id that occurs in several.

        Raises:
            UnknownName: if it is not among them; the message names the nearest.
        """
        code, _, query_id = link.partition(":")
        if self.place((code, query_id)) is not None:
            return code, query_id
        matches = [key for key in self.keys if key[1] == link]
        if not matches:
            raise UnknownName("query", link, map(key_text, [key for key in self.keys if key[0] == code] or self.keys))
        return min(matches, key=lambda key: (key[0] not in languages, key))


def preferred_languages(locale: str | None) -> tuple[str, ...]:
    """Return codes in order of preference: the locale's, its base language, English.

    Args:
        locale: the browser's locale (`pt-BR`); English only if None or unknown.
    """
    codes = ["en"]
    if locale:
        try:
            code = language(locale).code
        except MirageError:
            code = base(locale.replace("_", "-").lower())
        codes = [code, base(code), "en"]
    return tuple(dict.fromkeys(codes))
