"""Finds tables by what a question mentions (Octopus, sections 4.1 to 4.3), beside the default.

    python -m pneuma_bench.experiments.entities --keep FOLDER --set T.jsonl Q.jsonl --set ... \
        [--questions 300]
    python -m pneuma_bench.experiments.entities --config FILE --home HOME --asked questions.jsonl

Sets are as `pneuma-bench run` reads them, and are indexed in FOLDER as it does that; the
second asks an index that is there, of PostgreSQL with the schemas of
`pneuma_bench.experiments.warehouse` say. Both can be given at once.

Each question is asked of the default, and scored over all tables of the set by equations 1 to 9,
its mentions looked up without a model. Fused, both scores are scaled by the question's best and
added, the entities' by the weight shown. Printed are R@1, R@10 and recall@10 of each; then for each
way how precision, recall and F1 of the tables shown, averaged over questions, change with tau
(section 4.3), beside the first k.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pneuma_assets import open_workspace
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.search.mentions import HeaderMatcher, headers_of, held_values
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.entities.counting import report_ranks, report_taus
from pneuma_bench.experiments.entities.scoring import looked_up_columns, score_tables
from pneuma_bench.lab import Lab
from pneuma_bench.memory import RememberingEncoder
from pneuma_bench.reading import read_files
from pneuma_bench.settings import setting_of

DEPTH = 100
"""Tables of the default that are fused."""


@dataclass(frozen=True)
class Asked:
    """One question, the tables that it needs, and the scores of tables by each way."""

    needed: frozenset[str]
    default: Mapping[str, float]
    columns: Mapping[str, float]
    entities: Mapping[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--set", type=Path, nargs=2, action="append", default=[])
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--asked", type=Path)
    options = parser.parse_args()
    asked = {
        tables.name.split(".")[0]: of_set(tables, queries, options.keep, options.questions)
        for tables, queries in options.set
    }
    if options.asked:
        asked["warehouse"] = of_deployment(options.config, options.home, options.asked)
    report_ranks(asked)
    report_taus(asked)


def of_set(tables: Path, queries: Path, keep: Path, questions: int) -> list[Asked]:
    dataset = read_files(tables, queries)
    dataset = dataset.first(questions) if questions else dataset
    setting = setting_of(Deployment(), {})
    with Lab(dataset, keep, os.environ) as lab:
        index, _ = lab.index(setting)
        with closing(index):
            engine = lab.engine(setting, index, remembering=True)
            encoder = RememberingEncoder(lab.encoder(setting), lab._vectors)
            pairs = zip(dataset.questions, dataset.relevant, strict=True)
            wanted = [(question, frozenset(needed)) for question, needed in pairs if needed]
            return list(ask(tables.name, engine, index, encoder, wanted))


def of_deployment(config: Path, home: Path, path: Path) -> list[Asked]:
    with open_workspace(config, home) as workspace:
        index, engine = workspace.search_index, workspace.query_engine()
        named = {table.split("/", 1)[1]: table for table in index.list_tables()}
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        wanted = [
            (one["question"], frozenset(named[t.replace(".", "/")] for t in one["tables"]))
            for one in lines
            if one["tables"]
        ]
        return list(ask("warehouse", engine, index, workspace.encoder, wanted))


def ask(
    name: str,
    engine: QueryEngine,
    index: SearchIndex,
    encoder: Encoder,
    wanted: Sequence[tuple[str, frozenset[str]]],
) -> Iterator[Asked]:
    tables = columns_of(index)
    headers = headers_of(tables)
    began = time.process_time()
    vectors = np.concatenate([encoder.encode_documents(some) for some in chunks(headers, 256)])
    kept = dict(zip(headers, vectors, strict=True))
    print(f"{name}: {len(tables):,} tables, {len(headers):,} headers embedded in "
          f"{time.process_time() - began:.1f} s of processor, {vectors.nbytes / 1e6:.1f} MB; "
          f"{len(wanted)} questions", flush=True)  # fmt: skip
    matcher = HeaderMatcher(encoder, ENGLISH, lambda _: kept)
    began = time.process_time()
    for some in chunks(wanted, 50):
        answers = engine.ask_many([question for question, _ in some], k=DEPTH)
        for (question, needed), answer in zip(some, answers, strict=True):
            columns = list(looked_up_columns(matcher, question, tables).values())
            scores = score_tables(columns, tables, held_values(index, question))
            yield Asked(
                needed,
                {one.table_id: one.score for one in answer},
                {table: one.columns for table, one in scores.items()},
                {table: one.total for table, one in scores.items()},
            )
    took = (time.process_time() - began) / max(1, len(wanted))
    print(f"  {1000 * took:.0f} ms of processor a question", flush=True)


def columns_of(index: SearchIndex) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for some in chunks(list(index.list_tables()), 200):
        found |= {table: one.columns for table, one in index.evidence(some).items()}
    return found


if __name__ == "__main__":
    main()
