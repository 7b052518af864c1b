"""How many foreign keys that nobody declared are found.

    python -m pneuma_bench.experiments.joins --data FOLDER [--weights]

Infers the joins of each database of a folder: schemas of which names alone are known
(`spider_schemas_dev`, `beaver_dw`: `NAME.tables.jsonl`, `NAME.joins.jsonl`), folders of CSV files
(`databases`), and the seven schemas of `pneuma_bench.experiments.warehouse`
(`warehouse.tables.jsonl`, with `joins.tsv`, which was written by hand). Each is also
looked at as people name it who prefix, glue and shorten words (`support.shortened_names`). Keys of
several columns count a column each. The benchmark joins of
`beaver_dw` are those that its questions need, so that its precision is a lower bound.
`--weights` prints weights fitted to all of them. Left out:
with weights fitted to nine tenths of the databases, all names of a database being one.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from pneuma_assets.core.evaluation.metrics import Values, drawn, interval_of
from pneuma_assets.core.relations.infer_joins import Candidate, candidates, choose
from pneuma_assets.core.relations.join_features import WEIGHTS, Features
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_bench.experiments.support.key_databases import Edge, KeyDatabase, read_databases
from pneuma_bench.experiments.support.shortened_names import renamed

FOLDS = 10
SAME = {"store": "chinook", "geo": "geography"}
"""Schemas of Spider that are another one, too."""
GOLD = Path(__file__).with_suffix(".tsv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", action="store_true")
    options = parser.parse_args()
    databases = databases_of(options.data)
    if options.weights:
        found = fit(databases, sampled(databases), range(len(databases)))
        print(json.dumps(found, indent=4, sort_keys=True))
    else:
        report_joins(databases)


def databases_of(folder: Path) -> list[KeyDatabase]:
    """Return the databases of a folder, and those that are no others with fewer facts, renamed."""
    read = list(read_databases(folder, GOLD))
    names_only = {one.kind for one in read if one.kind.endswith("names alone")}
    plain = [one for one in read if one.kind not in names_only or one.kind.startswith("Spider")]
    return [*read, *(other for one in plain for other in renamed(one))]


Samples = Sequence[Sequence[Sequence[Candidate]]]
"""Of each database, of each column, the keys that it may refer to."""


def sampled(databases: Sequence[KeyDatabase]) -> Samples:
    return [list(candidates(one.lake, one.overlap.share)) for one in databases]


def edge_of(one: Candidate | JoinEdge) -> Edge:
    if isinstance(one, Candidate):
        one = one.edge(0.0)
    return one.table[2:], one.columns[0], one.other[2:], one.other_columns[0]


def fit(databases: Sequence[KeyDatabase], samples: Samples, train: Sequence[int]) -> Features:
    """Return weights fitted to some databases, by their places; those with all known keys count."""
    pairs = [
        (one, edge_of(one) in databases[place].gold)
        for place in train
        if databases[place].directed
        for some in samples[place]
        for one in some
    ]
    reader = DictVectorizer(sparse=False)
    rows = reader.fit_transform([dict(one.features) for one, _ in pairs])
    model = LogisticRegression(C=1.0, max_iter=5_000, fit_intercept=False)
    model.fit(rows, [known for _, known in pairs])
    named = zip(reader.get_feature_names_out(), model.coef_[0], strict=True)
    return {str(name): round(float(weight), 2) for name, weight in named}


def left_out(databases: Sequence[KeyDatabase], samples: Samples) -> list[Features]:
    """Return for each database weights fitted without it and those that are it by other names."""
    groups = [SAME.get(name := one.name.rstrip("_0123456789"), name) for one in databases]
    fold = {name: place % FOLDS for place, name in enumerate(sorted({*groups}))}
    of_fold = [
        fit(databases, samples, [at for at, name in enumerate(groups) if fold[name] != number])
        for number in range(FOLDS)
    ]
    return [of_fold[fold[name]] for name in groups]


def count(database: KeyDatabase, found: set[Edge]) -> tuple[int, int, int]:
    """Return how many joins are found, are found and right, and are known."""
    turned = set() if database.directed else {(*one[2:], *one[:2]) for one in database.gold}
    right = found & (database.gold | turned)
    hit = {one if one in database.gold else (*one[2:], *one[:2]) for one in right}
    return len(found), len(hit), len(database.gold)


def report_joins(databases: Sequence[KeyDatabase]) -> None:
    samples = sampled(databases)
    ways = {"fitted": [WEIGHTS] * len(databases), "left out": left_out(databases, samples)}
    for kind in dict.fromkeys(one.kind for one in databases):
        places = [place for place, one in enumerate(databases) if one.kind == kind]
        known = sum(len(databases[place].gold) for place in places)
        print(f"{kind}: {len(places)} databases, {known} joins")
        for way, weights in ways.items():
            counts = [
                count(databases[at], {edge_of(one) for one in choose(samples[at], weights[at])})
                for at in places
            ]
            print(f"  {way}: {said_of(np.array(counts, np.float64))}", flush=True)


def said_of(counts: Values) -> str:
    """Return precision and recall over all databases, with intervals over these."""
    values = ratios(counts.sum(axis=0)[np.newaxis])[0]
    samples = np.concatenate([ratios(weights @ counts) for weights in drawn(len(counts))])
    told = []
    for place, name in enumerate(("precision", "recall")):
        low, high = interval_of(samples[:, place])
        told.append(f"{name} {values[place]:.3f} ({low:.3f} to {high:.3f})")
    return "; ".join(told)


def ratios(sums: Values) -> Values:
    """Return precision and recall of each row of summed counts."""
    found, right, known = np.maximum(sums, [1, 0, 1]).T
    return np.stack([right / found, right / known], axis=1)


if __name__ == "__main__":
    main()
