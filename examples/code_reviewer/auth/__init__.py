"""Authentication: who somebody is, what they may do, and for how long."""

from auth.errors import AuthError, InvalidCredentials, PermissionDenied, SessionExpired
from auth.models import Role, Session, User
from auth.permissions import requires_role
from auth.service import AuthService
from auth.sessions import SessionStore
from auth.tokens import TokenSigner

__all__ = [
    "AuthError",
    "AuthService",
    "InvalidCredentials",
    "PermissionDenied",
    "Role",
    "Session",
    "SessionExpired",
    "SessionStore",
    "TokenSigner",
    "User",
    "requires_role",
]
