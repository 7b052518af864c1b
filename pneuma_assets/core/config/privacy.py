"""Which cells of tables are never kept, shown or sent anywhere."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from pneuma_assets.core.config.section import Section

_LONGEST = 200


def _pattern(value: str) -> str:
    """Check what is to match names, so that no rule silently matches nothing."""
    if not value.strip():
        raise ValueError("is empty; name a column, or write a pattern such as '*ssn*'")
    if len(value) > _LONGEST:
        raise ValueError(f"has more than {_LONGEST} characters; write a shorter pattern")
    if len(value) > 1 and value.startswith("/") and value.endswith("/"):
        try:
            re.compile(value[1:-1])
        except re.error as error:
            raise ValueError(f"is no regular expression ({error}); correct it") from error
    return value


NamePattern = Annotated[str, AfterValidator(_pattern)]
"""A name, a pattern with `*`, `?` and `[...]`, or a regular expression between slashes."""


class PrivacyConfig(Section):
    """What is never read into anything, of all sources or of one.

    Rules of all sources hold in each of them; a source adds its own and takes none away.
    """

    schema_only: bool = Field(False, description="No cell of any table is kept or shown.")
    hidden_columns: tuple[NamePattern, ...] = Field(
        (), description="Columns whose values are never kept: names and patterns."
    )
    hidden_tags: tuple[NamePattern, ...] = Field((), description="Likewise, by tags of columns.")
    hide_names: bool = Field(False, description="Whether names of hidden columns go, too.")

    def joined(self, others: Self) -> Self:
        """Return the rules of both."""
        return self.model_copy(
            update={
                "schema_only": self.schema_only or others.schema_only,
                "hidden_columns": _both(self.hidden_columns, others.hidden_columns),
                "hidden_tags": _both(self.hidden_tags, others.hidden_tags),
                "hide_names": self.hide_names or others.hide_names,
            }
        )


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*one, *other]))
