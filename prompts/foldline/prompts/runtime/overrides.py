"""Which sections were opened or closed in a session."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["ClearVisibilityOverride", "SetVisibilityOverride", "VisibilityOverrides"]


@FrozenDataclass()
class SetVisibilityOverride:
    """Show the section at `path` in full or summarized from the next render on."""

    path: SectionPath
    visibility: SectionVisibility


@FrozenDataclass()
class ClearVisibilityOverride:
    """Show the section at `path` as it is declared again; without a path, every section."""

    path: SectionPath | None = None


@FrozenDataclass()
class VisibilityOverrides:
    """The overrides of a session, in the order in which they were first set.

    They name sections by path only: a session that serves several prompts opens the section of
    one path in each of them.
    """

    entries: tuple[SetVisibilityOverride, ...] = ()

    @property
    def by_path(self) -> Mapping[SectionPath, SectionVisibility]:
        """The overrides as a render takes them."""
        return MappingProxyType({entry.path: entry.visibility for entry in self.entries})

    def to_json(self) -> object:
        """`[["a", "b"], "FULL"]` for each entry."""
        return [[list(entry.path), entry.visibility.name] for entry in self.entries]

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The reverse of `to_json`.

        Raises:
            ValueError: The value is something else.
        """
        try:
            return cls(
                tuple(
                    SetVisibilityOverride(
                        tuple(str(key) for key in path), SectionVisibility[visibility]
                    )
                    for path, visibility in value  # type: ignore[attr-defined]  # As checked below.
                )
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"Visibility overrides are [[path, 'FULL' or 'SUMMARY'], …], not {value!r}."
            ) from error


def set_override(state: VisibilityOverrides, event: SetVisibilityOverride) -> VisibilityOverrides:
    """The overrides with one more, or with one replaced."""
    path = tuple(event.path)
    entries = {entry.path: entry for entry in state.entries}
    entries[path] = SetVisibilityOverride(path, event.visibility)
    return VisibilityOverrides(tuple(entries.values()))


def clear_override(
    state: VisibilityOverrides, event: ClearVisibilityOverride
) -> VisibilityOverrides:
    """The overrides without one, or none."""
    if event.path is None:
        return VisibilityOverrides()
    path = tuple(event.path)
    return VisibilityOverrides(tuple(entry for entry in state.entries if entry.path != path))
