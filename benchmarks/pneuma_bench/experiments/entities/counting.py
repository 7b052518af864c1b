"""Counts how often the tables that a question needs are found, by each way and by both fused."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from pneuma_assets.core.measure.metrics import hit_at, recall_at
from pneuma_assets.core.search.results import reaching

WEIGHTS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
TAUS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FIRST = (1, 2, 3, 5, 10)
AMONG = (10, 30, 100)
"""Candidates among which scores are scaled."""
MOST = 10


class Asked(Protocol):
    """One question, the tables that it needs, and the scores of tables by each way."""

    needed: frozenset[str]
    default: Mapping[str, float]
    columns: Mapping[str, float]
    entities: Mapping[str, float]


def scaled(scores: Mapping[str, float]) -> dict[str, float]:
    best = max(scores.values(), default=0.0)
    return {table: score / best for table, score in scores.items()} if best > 0 else {}


def fused(one: Asked, weight: float) -> dict[str, float]:
    default, entities = scaled(one.default), scaled(one.entities)
    return {
        table: (1 - weight) * default.get(table, 0.0) + weight * entities.get(table, 0.0)
        for table in {*default, *entities}
    }


def ranking(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda table: (-scores[table], table))


def report_ranks(asked: Mapping[str, Sequence[Asked]]) -> None:
    print(f"\n{'R@1, R@10, recall@10':24}" + "".join(f"{name:>26}" for name in asked))
    show(
        "columns alone (eq. 5)",
        {n: [one.columns for one in some] for n, some in asked.items()},
        asked,
    )
    for weight in WEIGHTS:
        name = {0.0: "default", 1.0: "entities alone (eq. 9)"}.get(
            weight, f"fused, weight {weight}"
        )
        show(name, {n: [fused(one, weight) for one in some] for n, some in asked.items()}, asked)


def show(
    way: str,
    scores: Mapping[str, Sequence[Mapping[str, float]]],
    asked: Mapping[str, Sequence[Asked]],
) -> None:
    cells = []
    for name, some in scores.items():
        pairs = [(ranking(s), one.needed) for s, one in zip(some, asked[name], strict=True)]
        means = [
            sum(metric(k, ranked, needed) for ranked, needed in pairs) / len(pairs)
            for metric, k in ((hit_at, 1), (hit_at, 10), (recall_at, 10))
        ]
        cells.append(f"{' / '.join(f'{value:.3f}' for value in means):>26}")
    print(f"{way:24}" + "".join(cells))


def report_taus(asked: Mapping[str, Sequence[Asked]]) -> None:
    print(f"\nprecision, recall, F1, tables shown (at most {MOST})")
    for way in ("default", "entities"):
        found = {
            name: [(ranked_scores(getattr(one, way)), one.needed) for one in some]
            for name, some in asked.items()
        }
        print(f"{way:16}" + "".join(f"{name:>34}" for name in asked))
        for k in FIRST:
            kept = {n: [([t for t, _ in r[:k]], w) for r, w in some] for n, some in found.items()}
            report_line(f"first {k}", kept)
        for among in AMONG:
            for tau in TAUS:
                kept = {
                    name: [(needed_tables(ranked[:among], tau), wanted) for ranked, wanted in some]
                    for name, some in found.items()
                }
                report_line(f"{among} tau {tau:.2f}", kept)


def ranked_scores(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(table, scores[table]) for table in ranking(scores)]


def needed_tables(ranked: Sequence[tuple[str, float]], tau: float) -> list[str]:
    kept = reaching([score for _, score in ranked], tau)
    return [table for (table, _), keep in zip(ranked, kept, strict=True) if keep][:MOST]


def report_line(way: str, kept: Mapping[str, Sequence[tuple[list[str], frozenset[str]]]]) -> None:
    cells = []
    for some in kept.values():
        rows = [figures(shown, needed) for shown, needed in some]
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        shown = " / ".join(f"{value:.3f}" for value in means[:3]) + f" / {means[3]:5.2f}"
        cells.append(f"{shown:>34}")
    print(f"{way:16}" + "".join(cells))


def figures(shown: Sequence[str], needed: frozenset[str]) -> tuple[float, float, float, float]:
    right = len(needed.intersection(shown))
    precision, recall = right / max(1, len(shown)), right / len(needed)
    f1 = 2 * right / (len(shown) + len(needed))
    return precision, recall, f1, float(len(shown))
