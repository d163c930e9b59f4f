"""Roles of messages, and the order in which a prompt's sections have them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["SECTION_ROLES", "Role", "in_role_order"]


class Role(StrEnum):
    """The author of a message; sections can have the first three."""

    SYSTEM = "system"
    """The application's instructions, above all others."""
    DEVELOPER = "developer"
    """The developer's instructions; providers without such messages take them as the system's."""
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


SECTION_ROLES = (Role.SYSTEM, Role.DEVELOPER, Role.USER)
"""The roles of sections, in the order in which their messages are sent."""


class HasRole(Protocol):
    """Anything with the role of a section; None means the user's."""

    @property
    def role(self) -> Role | None:
        """The declared role."""


HasRoleT = TypeVar("HasRoleT", bound=HasRole)


def in_role_order(sections: Iterable[HasRoleT]) -> list[HasRoleT]:
    """Return top-level sections as they are sent: by role, and in declared order within a role."""
    return sorted(sections, key=lambda section: SECTION_ROLES.index(section.role or Role.USER))
