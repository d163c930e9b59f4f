"""Roles of messages, and the order in which a prompt's sections have them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["SECTION_ROLES", "Role"]


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
