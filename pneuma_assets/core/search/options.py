"""Checks of what a question may ask for; `QueryConfig` says the ranges, once for all."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from pydantic import ValidationError

from pneuma_assets.core.access import names_of_asker
from pneuma_assets.core.config.query import QueryConfig
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.text.safe import well_formed
from pneuma_assets.core.text.suggest import check_names, check_text

Question = TypeVar("Question", str, str | None)

MOST_CHARACTERS = 10_000
"""Of a question. A longer one is refused: cut, it would silently become another question."""

MOST_CANDIDATES = 10_000
"""Blocks asked of each side, k times n."""


def checked_question(question: str) -> str:
    """Return the question without surrounding whitespace and malformed characters.

    Raises:
        QueryError: It is no text, empty, or too long.
    """
    check_text("the question", question, QueryError)
    if len(question) > MOST_CHARACTERS:
        raise QueryError(
            f"The question has {len(question):,} characters; ask in at most {MOST_CHARACTERS:,}"
        )
    cleaned = well_formed(question).strip()
    if not any(character.isalnum() for character in cleaned):
        raise QueryError(
            "The question has no words; ask in some, such as 'sales by region in 2020'"
        )
    return cleaned


def listed(questions: Iterable[Question]) -> list[Question]:
    """Return several questions as a list, whatever they are.

    Raises:
        QueryError: They are one text, which would be a question a letter, or cannot be listed.
    """
    if isinstance(questions, str | bytes) or not isinstance(questions, Iterable):
        raise QueryError(f"questions must be a list of str, not {type(questions).__name__}")
    return list(questions)


def check_judge(judge: bool | None) -> None:
    """Raise `QueryError` unless it is said, or left open, whether to ask the judge."""
    if judge is not None and not isinstance(judge, bool):
        raise QueryError(f"judge must be True, False or None, not {judge!r}")


def check_tau(tau: float | None) -> None:
    """Raise `QueryError` unless it is left open, or from 0 to 1, how near to the best is enough."""
    if tau is None:
        return
    if isinstance(tau, bool) or not isinstance(tau, int | float) or not 0.0 <= tau <= 1.0:
        raise QueryError(f"tau must be a number from 0.0 to 1.0, not {tau!r}")


def check_filter(where: IndexFilter) -> None:
    """Raise `QueryError` unless this is a filter of names."""
    if not isinstance(where, IndexFilter):
        raise QueryError(f"where must be an IndexFilter, not {type(where).__name__}")
    for part in fields(where):
        names = getattr(where, part.name)
        if names is not None or part.name != "readers":
            check_names(f"{part.name} of a filter", names, QueryError)


def as_asked(where: IndexFilter) -> IndexFilter:
    """Return a filter with all names of who asks (`core.access`).

    Raises:
        QueryError: One of them is none.
    """
    if where.readers is None:
        return where
    return replace(where, readers=names_of_asker(where.readers))


def checked_options(
    defaults: QueryConfig, k: int | None, n: int | None, alpha: float | None
) -> QueryConfig:
    """Return the defaults with what was asked for in place.

    Raises:
        QueryError: A value is out of range.
    """
    given = {"k": k, "n": n, "alpha": alpha}
    changes = {key: value for key, value in given.items() if value is not None}
    try:
        options = QueryConfig.model_validate(defaults.model_dump() | changes, strict=True)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        raise QueryError(f"{key} must be {_range(key)}, not {given[key]!r}") from error
    if options.k * options.n > MOST_CANDIDATES:
        raise QueryError(
            f"k times n must be at most {MOST_CANDIDATES:,}, not {options.k * options.n:,}"
        )
    return options


def _range(key: str) -> str:
    """Describe the values that `QueryConfig` allows, such as 'a whole number from 1 to 100'."""
    field = QueryConfig.model_fields[key]
    bounds: dict[str, Any] = {}
    for limit in field.metadata:
        bounds |= {name: getattr(limit, name) for name in ("ge", "le") if hasattr(limit, name)}
    what = "a whole number" if field.annotation is int else "a number"
    return f"{what} from {bounds['ge']} to {bounds['le']}"
