"""What several routes take, within bounds, with examples."""

from typing import Annotated

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from pneuma_assets.core.service.catalog_types import Facets

MOST_OFFSET = 10_000_000

Name = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""Of a table, a column, a context."""
Asked = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""A question."""


class Body(BaseModel):
    """A request's body: what it does not know is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


Question = Annotated[
    Asked,
    Query(alias="q", description="In plain language.", examples=["sales by region in 2020"]),
]
TableId = Annotated[
    Name, Query(alias="id", description="A table's id.", examples=["lake/nature/penguins"])
]
Limit = Annotated[int, Query(ge=1, le=200, description="Most of them.", examples=[50])]
Offset = Annotated[
    int, Query(ge=0, le=MOST_OFFSET, description="How many come before.", examples=[0])
]
Most = Annotated[int, Query(ge=1, le=100, alias="k", description="Most results.", examples=[10])]
_Values = Annotated[list[Name], Query(max_length=50)]


class FacetFilter(Body):
    """Which tables are wanted; an empty list does not restrict."""

    sources: list[Name] = Field([], max_length=50, examples=[["lake"]])
    schemas: list[Name] = Field([], max_length=50)
    formats: list[Name] = Field([], max_length=50)
    owners: list[Name] = Field([], max_length=50)
    updated_within_days: int | None = Field(None, ge=1, le=100_000)

    def facets(self) -> Facets:
        """Return the filter as the desk takes it."""
        of = (tuple(self.sources), tuple(self.schemas), tuple(self.formats), tuple(self.owners))
        return Facets(*of, self.updated_within_days)


async def _facets(
    source: _Values = [],  # noqa: B006 (FastAPI copies it)
    schema: _Values = [],  # noqa: B006
    format: _Values = [],  # noqa: A002, B006
    owner: _Values = [],  # noqa: B006
    updated_within_days: Annotated[int | None, Query(ge=1, le=100_000)] = None,
) -> Facets:
    of = (tuple(source), tuple(schema), tuple(format), tuple(owner))
    return Facets(*of, updated_within_days)


Wanted = Annotated[Facets, Depends(_facets)]
"""A filter by facets in a query; each may be given several times."""
