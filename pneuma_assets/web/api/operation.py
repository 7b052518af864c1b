"""Where the deployment stands, and who asks."""

from typing import Any

from pydantic import BaseModel, Field

from pneuma_assets.web.api.router import api_router
from pneuma_assets.web.dependencies import Desk, WhoAsks

router = api_router("operation")


class Me(BaseModel):
    """Who asks, and what they may do."""

    name: str = Field(examples=["ana"])
    may_edit: bool
    is_operator: bool
    sees_all: bool


class Standing(BaseModel):
    """How many tables there are."""

    tables: int = Field(description="Those that who asks may see.", examples=[36])
    whole: dict[str, Any] | None = Field(
        description="Tables, problems and index, as `pneuma-assets status --json` shows them; "
        "for operators alone."
    )


@router.get("/me", operation_id="who_asks", summary="Who asks")
async def who_asks(asker: WhoAsks) -> Me:
    """Return by what name the server knows who asks."""
    return Me(
        name=asker.name,
        may_edit=asker.may_edit,
        is_operator=asker.is_operator,
        sees_all=asker.readers is None,
    )


@router.get("/status", operation_id="status", summary="Where the deployment stands")
def status(desk: Desk, asker: WhoAsks) -> Standing:
    """Return all to operators, and to others how many tables they see."""
    tables = len(desk.known_tables(readers=asker.readers))
    return Standing(tables=tables, whole=desk.status().to_dict() if asker.is_operator else None)
