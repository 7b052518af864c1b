"""How alike two engines' scores and answers are, and why the answers that differ do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from pneuma_assets.core.index.base import IndexQuery, SearchIndex, SideHits
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.signals import proposed_tables
from pneuma_assets.core.terms.fields import Field
from pneuma_bench.retrieval import RetrievalSet

ALPHAS = {"all signals": None, "fused, alpha 0.5": 0.5, "words only": 1.0, "meaning only": 0.0}
REASONS = ("equal scores", "neighbours missed", "other")
EQUAL = 1e-6  # of scores between 0 and 1, computed in float32

Answer = dict[str, float]
"""Tables in their order, and their scores."""


def print_scores(
    embedded: SearchIndex,
    elastic: SearchIndex,
    queries: Sequence[IndexQuery],
    found: Sequence[tuple[SideHits, SideHits]],
) -> None:
    """Print how far the scores of all blocks that either engine finds are apart."""
    wanted = [
        sorted({hit.block.block_id for one in pair for hit in chain(one.lexical, one.semantic)})
        for pair in found
    ]
    scored = zip(embedded.scores(queries, wanted), elastic.scores(queries, wanted), strict=True)
    pairs = [(ours[key], theirs[key]) for ours, theirs in scored for key in ours]
    lexical = [abs(b.lexical / a.lexical - 1) for a, b in pairs if a.lexical]
    unmatched = sum(bool(a.lexical) != bool(b.lexical) for a, b in pairs)
    cosine = max(abs(a.semantic - b.semantic) for a, b in pairs)
    print("\n| scores | BM25, relative: p50 | most | 0 in one only | cosine, absolute: most |")
    print("|" + " --- |" * 5)
    print(
        f"| {len(pairs):,} | {np.median(lexical):.1e} | {max(lexical):.1e} | {unmatched} "
        f"| {cosine:.1e} |"
    )


def print_fields(
    embedded: SearchIndex,
    elastic: SearchIndex,
    queries: Sequence[IndexQuery],
    found: Sequence[SideHits],
) -> None:
    """Print how far the scores of all tables that `embedded` proposes are apart, by field."""
    wanted = list(map(proposed_tables, found))
    scored = zip(
        embedded.table_scores(queries, wanted), elastic.table_scores(queries, wanted), strict=True
    )
    pairs = [(ours[key], theirs[key]) for ours, theirs in scored for key in ours]
    print("\n| field | scores | relative: p50 | most | in one only |\n|" + " --- |" * 5)
    for field in Field:
        both = [(a.fields.get(field), b.fields.get(field)) for a, b in pairs]
        apart = [abs(b / a - 1) for a, b in both if a is not None and b is not None]
        alone = sum((a is None) != (b is None) for a, b in both)
        if apart:
            p50, most = np.median(apart), max(apart)
            print(f"| {field} | {len(apart):,} | {p50:.1e} | {most:.1e} | {alone} |")
    rows = [(a.row, b.row) for a, b in pairs if a.row is not None or b.row is not None]
    print(f"\nbest rows: {len(rows):,}, the same {sum(a == b for a, b in rows):,}")


def print_answers(
    ours: QueryEngine, theirs: QueryEngine, asked: RetrievalSet, missed: Sequence[bool]
) -> None:
    """Print how many questions get the same ten tables, and why the others do not.

    `missed` tells of each question whether `theirs` lacks one of the nearest blocks.
    """
    print("\n| top 10 tables | same order | same set | tables shared | same first", end=" | ")
    print(*REASONS, sep=" | ", end=" |\n|" + " --- |" * (5 + len(REASONS)) + "\n")
    for title, alpha in ALPHAS.items():
        left, right = (answers_of(engine, asked, alpha) for engine in (ours, theirs))
        pairs = list(zip(left, right, strict=True))
        same_order = sum([*one] == [*other] for one, other in pairs)
        same_set = sum(one.keys() == other.keys() for one, other in pairs)
        same_first = sum([*one][:1] == [*other][:1] for one, other in pairs)
        shared = sum(len(one.keys() & other.keys()) for one, other in pairs) / sum(map(len, left))
        reasons = Counter(map(reason, left, right, missed))
        counted = " | ".join(str(reasons[one]) for one in REASONS)
        print(f"| {title} | {same_order} | {same_set} | {shared:.2%} | {same_first} | {counted} |")


def reason(ours: Answer, theirs: Answer, missed: bool) -> str | None:
    """Return why the answers have another order; None if they have not."""
    if [*ours] == [*theirs]:
        return None
    if equal(ours.values(), theirs.values()):
        return "equal scores"
    return "neighbours missed" if missed else "other"


def same_nearest(ours: SideHits, theirs: SideHits) -> bool:
    """Tell whether both found equally near blocks."""
    near, found = ([hit.score for hit in side.semantic] for side in (ours, theirs))
    return equal(near, found)


def equal(ours: Iterable[float], theirs: Iterable[float]) -> bool:
    """Tell whether two rankings have the same scores, place by place."""
    left, right = [*ours], [*theirs]
    return len(left) == len(right) and np.allclose(left, right, rtol=0, atol=EQUAL)


def answers_of(engine: QueryEngine, asked: RetrievalSet, alpha: float | None) -> list[Answer]:
    """Return the tables of each question."""
    return [
        {result.table_id: result.score for result in results}
        for results in engine.ask_many(asked.questions, alpha=alpha)
    ]
