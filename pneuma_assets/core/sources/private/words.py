"""What a reader said of a table it could not read, without what it may have quoted of its cells.

DuckDB names the value that it could not convert, a CSV reader the line that it could not split. No
rule tells such words from others, so of an error that anything but this project worded, only its
kind is told, and what whoever raised it can say of it without them (`PneumaError.unquoted`).
"""

from collections.abc import Iterator
from types import TracebackType

from pneuma_assets.core.errors import PneumaError, TableReadError

_OURS = "pneuma_assets."
_LEFT_OUT = (
    "what it said is left out, since it may quote hidden values (privacy); read the table with the "
    "engine's own tools to see it"
)


def without_quotes(error: Exception, where: str) -> PneumaError:
    """Return an error that quotes no cell: the same one, if it does not.

    Args:
        error: What was raised.
        where: The table's location.
    """
    if isinstance(error, PneumaError) and not any(map(_may_quote, _chain(error))):
        return error
    kind = type(error) if isinstance(error, TableReadError) else TableReadError
    told = (one.unquoted for one in _chain(error) if isinstance(one, PneumaError))
    said = next(filter(None, told), f"the reader failed ({_names(error)}); {_LEFT_OUT}")
    return kind(f"{where} cannot be read: {said}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all that led to it; its words may repeat those of any."""
    found: BaseException | None = error
    seen: set[int] = set()
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__


def _may_quote(error: BaseException) -> bool:
    if isinstance(error, FileNotFoundError | PermissionError | EOFError):
        return False
    if isinstance(error, OSError):
        return error.errno is None
    return not isinstance(error, PneumaError) or not _raised_by(error.__traceback__)


def _raised_by(traceback: TracebackType | None) -> bool:
    """Tell whether this project raised an error, and not an installed package."""
    last = traceback
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and str(last.tb_frame.f_globals.get("__name__")).startswith(_OURS)


def _names(error: BaseException) -> str:
    """Return of what kinds the errors of a chain are, the first cause last."""
    others = (one for one in _chain(error) if not isinstance(one, PneumaError))
    kinds = dict.fromkeys(type(one).__name__ for one in others)
    return ", ".join(kinds) or type(error).__name__
