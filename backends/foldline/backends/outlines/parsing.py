"""Parses sources in this process; `parsing_pool` does it in others."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends import references
from foldline.backends.outlines.outlines import outline_source
from foldline.backends.outlines.syntax import ParseCostlyError, ParseRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.backends.models import Reference
    from foldline.backends.parsers.outline_builder import Outline
    from foldline.backends.references.bases import FileTypes


class Parsed(NamedTuple):
    """A source that is ready to be parsed."""

    path: str
    language: str
    data: bytes

    def digest(self) -> bytes:
        """A digest of all that the parse depends on."""
        digest = hashlib.blake2b(self.data, digest_size=16)
        digest.update(self.language.encode())
        return digest.digest()


class Refused(NamedTuple):
    """A source that wasn't parsed, and why."""

    path: str
    reason: str


if TYPE_CHECKING:
    Found = Reference | Refused | Parsed


def find(source: Parsed, name: str, *, guarded: bool = False) -> list[Found]:
    """The uses of the name; of a `guarded` source that takes too much, the source itself."""
    try:
        return [*references.references_in_source(*source, name, guarded=guarded)]
    except ParseCostlyError:
        return [source]
    except ParseRefusedError as refused:
        return [Refused(source.path, str(refused))]


class Parsing:
    """Makes outlines and finds references in sources, where it is called."""

    def outline(self, source: Parsed) -> Outline:
        """The outline of the source."""
        return outline_source(source.language, source.data)

    def types(self, source: Parsed, *, guarded: bool = False) -> FileTypes | None:
        """The types of the source with their bases; None where it isn't parsed."""
        try:
            return references.types_in_source(*source, guarded=guarded)
        except ParseCostlyError:
            raise
        except ParseRefusedError:
            return None

    def references(self, sources: Iterable[Parsed], name: str) -> Iterator[Reference | Refused]:
        """The uses of the name, source by source, and the sources that weren't parsed."""
        for source in sources:
            yield from (one for one in find(source, name) if not isinstance(one, Parsed))

    def close(self) -> None:
        """End whatever was started."""
