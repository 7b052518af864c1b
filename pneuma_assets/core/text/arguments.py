"""What callers in Python give: of the wrong type, it is refused in one line, not deep inside."""

from collections.abc import Collection

from pneuma_assets.core.errors import PneumaError


def check_text(what: str, given: object, error: type[PneumaError]) -> None:
    """Raise `error` unless this is text; `what` says what of, such as 'the question'."""
    if not isinstance(given, str):
        raise error(f"{what} must be a str, not {type(given).__name__}")


def check_names(what: str, given: object, error: type[PneumaError]) -> None:
    """Raise `error` unless these are texts in a list, a tuple or a set.

    One text alone is refused: it would be taken for a name a letter.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Collection):
        raise error(f"{what} must be a list of str, not {type(given).__name__}")
    for name in given:
        check_text(f"each of {what}", name, error)
