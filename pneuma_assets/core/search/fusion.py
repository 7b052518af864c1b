"""Fusing what the two sides of the search say (Pneuma, section 5.1, "Hybrid Search")."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FusedScore:
    """One candidate's standing among the candidates of its question; all between 0 and 1."""

    block_id: str
    score: float
    lexical: float
    semantic: float


def min_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores so that the lowest becomes 0.0 and the highest 1.0.

    Where all are equal there is no scale: each becomes 1.0, being as good as the best, or 0.0
    where the score is 0 or less, because nothing was matched.
    """
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if low == high:
        return dict.fromkeys(scores, 1.0 if high > 0 else 0.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def fuse(
    lexical: Mapping[str, float], semantic: Mapping[str, float], alpha: float
) -> list[FusedScore]:
    """Rank candidates by `alpha * lexical + (1 - alpha) * semantic`, each side min-max scaled.

    Args:
        lexical: True BM25 score of every candidate, by block id.
        semantic: True cosine of every candidate; the same keys.
        alpha: Weight of the lexical side, 0 to 1.

    Returns:
        Best first; equal scores by block id, so that an answer never depends on chance.

    Raises:
        ValueError: The two sides do not score the same candidates.
    """
    if lexical.keys() != semantic.keys():
        raise ValueError("both sides must score the same candidates")
    words, meaning = min_max(lexical), min_max(semantic)
    fused = [
        FusedScore(
            block_id,
            alpha * words[block_id] + (1.0 - alpha) * meaning[block_id],
            words[block_id],
            meaning[block_id],
        )
        for block_id in lexical
    ]
    return sorted(fused, key=lambda candidate: (-candidate.score, candidate.block_id))
