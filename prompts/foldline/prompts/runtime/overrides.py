"""The sections that were opened or closed in a session."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self


@FrozenDataclass()
class SetVisibilityOverride:
    """Show the section at `path` in full or summarized from the next render on."""

    path: SectionPath
    visibility: SectionVisibility


@FrozenDataclass()
class ClearVisibilityOverride:
    """Show the section at `path` as declared again; without a path, every section."""

    path: SectionPath | None = None


@FrozenDataclass()
class VisibilityOverrides:
    """The overrides of a session, in the order in which they were first set.

    They identify sections by path only: a session for several prompts opens the section with a path
    in each of them.
    """

    entries: tuple[SetVisibilityOverride, ...] = ()

    @property
    def by_path(self) -> Mapping[SectionPath, SectionVisibility]:
        """Return the overrides as renders accept them."""
        return MappingProxyType({entry.path: entry.visibility for entry in self.entries})

    def to_json(self) -> object:
        """Return `[["a", "b"], "FULL"]` for each entry."""
        return [[list(entry.path), entry.visibility.name] for entry in self.entries]

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Return the overrides from the result of `to_json`.

        Raises:
            ValueError: The value has another form.
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
    """Return the overrides with one added or replaced."""
    path = tuple(event.path)
    entries = {entry.path: entry for entry in state.entries}
    entries[path] = SetVisibilityOverride(path, event.visibility)
    return VisibilityOverrides(tuple(entries.values()))


def clear_override(
    state: VisibilityOverrides, event: ClearVisibilityOverride
) -> VisibilityOverrides:
    """Return the overrides without one, or no overrides."""
    if event.path is None:
        return VisibilityOverrides()
    path = tuple(event.path)
    return VisibilityOverrides(tuple(entry for entry in state.entries if entry.path != path))
