"""What PostgreSQL's errors mean to the state: which of them pass, and what to do about the others.

The codes are SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). A server
that refuses a connection sends one, too, but the driver hands on only its words, in whatever
language they are.
"""

from sqlalchemy import exc
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

_PASSING = ("08", "57P", "53300", "25006", "40")
"""No connection, shutting down, too many clients, a replica, a deadlock."""
_NO_RIGHT = ("42501", "42P01", "3F000")
"""Refused; and, where a schema may not be looked into, its tables are not found."""
_WAITED = "55P03"
_MOST_WORDS = 500


def passes(error: BaseException) -> bool:
    """Tell a server that restarts from one that refuses, once it has been reached."""
    if not isinstance(error, DBAPIError):
        return False
    state = _state(error)
    return isinstance(error, OperationalError) if state is None else state.startswith(_PASSING)


def described(error: SQLAlchemyError, schema: str, user: str | None) -> str:
    """Return what is wrong and what to do, as the end of a sentence that begins with the state."""
    said = " ".join(str(getattr(error, "orig", None) or error).split())[:_MOST_WORDS]
    state = _state(error)
    if state in _NO_RIGHT:
        return (
            f"does not let its user in ({said}); let the owner of the database run: "
            f"CREATE SCHEMA IF NOT EXISTS {schema}; GRANT USAGE, CREATE ON SCHEMA {schema} TO "
            f"{_quoted(user)}"
        )
    if state == _WAITED or isinstance(error, exc.TimeoutError):
        return f"is in use by others for too long ({said}); run again, nothing is lost."
    if state is None and isinstance(error, OperationalError):
        return (
            f"cannot be reached ({said}); see that the server runs and takes more connections, "
            "and that address, user and password are right."
        )
    return f"failed ({said}); see to the server, and run again: nothing is lost."


def _state(error: SQLAlchemyError) -> str | None:
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    return None if state is None else str(state)


def _quoted(user: str | None) -> str:
    return "the user" if user is None else '"{}"'.format(user.replace('"', '""'))
