"""Cells by question."""

from pydantic import Field

from pneuma_assets.core.answers.results import CellAnswer
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.web.api.parameters import Asked, Body
from pneuma_assets.web.api.router import api_router
from pneuma_assets.web.dependencies import Desk, WhoAsks
from pneuma_assets.web.pool import AnswerRoute

router = api_router("answers", AnswerRoute)


class CellQuestion(Body):
    """A question that is answered in cells."""

    question: Asked = Field(examples=["How heavy is each species?"])
    k: int | None = Field(None, ge=1, le=10, description="Most sets of tables looked at.")
    model: bool | None = Field(None, description="Whether a language model writes a statement.")


@router.post("/answers", operation_id="answer", summary="Answer a question in cells")
def answer(desk: Desk, asker: WhoAsks, asked: CellQuestion) -> CellAnswer:
    """Return rows with the statement that gave them; without a model, those the question names."""
    where = IndexFilter(readers=asker.readers)
    return desk.answer(asked.question, k=asked.k, model=asked.model, where=where)
