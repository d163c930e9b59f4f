"""What can go wrong when somebody signs in."""


class AuthError(Exception):
    """The root of this package's errors; `public_message` may be shown to the person."""

    public_message = "You could not be signed in."


class InvalidCredentials(AuthError):
    """The name or the password is wrong; which of them is not said."""


class AccountLocked(AuthError):
    """Too many attempts failed.

    Attributes:
        retry_after: Seconds until the next attempt is looked at.
    """

    public_message = "Too many attempts. Try again later."

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"locked for {retry_after:.0f} s")
        self.retry_after = retry_after


class SessionExpired(AuthError):
    """The session is over, or never was."""

    public_message = "Your session has ended. Sign in again."


class PermissionDenied(AuthError):
    """The person is known and may not do this."""

    public_message = "You are not allowed to do this."
