"""The judge: does this text answer that question? (Pneuma, section 5.1)."""

from collections.abc import Sequence

from pneuma_assets.core.describe.kinds import introduction_of
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.tables import Block
from pneuma_assets.core.text.safe import harmless

YES = 0.5
"""The judge accepts a block to which it gives at least this probability."""

_QUESTION_CHARACTERS = 1_000
_BLOCK_CHARACTERS = 6_000
"""Several times an encoder's window, so that only what is no block is cut."""


def judge_blocks(
    model: LanguageModel, question: str, blocks: Sequence[Block]
) -> list[float | None]:
    """Return how sure the model is that each block's table answers the question, in order.

    The authors let the model write its answer and read whether it starts with yes; here one
    forward pass compares the probabilities of yes and no, so 0.5 and above means yes. None where
    there is no verdict: an endpoint refuses the block, or it does not fit in memory.

    Raises:
        ModelError: The model is missing or fails.
    """
    if not blocks:
        return []
    return model.yes_probability([judge_prompt(question, block) for block in blocks])


def is_refused(verdict: float | None) -> bool:
    """Tell whether a verdict is a veto; a block without one is not refused."""
    return verdict is not None and verdict < YES


def judge_prompt(question: str, block: Block) -> str:
    """Return the authors' prompt, with what it quotes unable to leave its comment."""
    opening = introduction_of(block.kind)
    return (
        f"{opening}\n*/\n{harmless(block.text, _BLOCK_CHARACTERS)}\n*/\n"
        f"and this question:\n/*\n{harmless(question, _QUESTION_CHARACTERS)}\n*/\n"
        "Is the table relevant to answer the question? Begin your answer with yes/no."
    )
