"""How often does a name that is typed in find what bears it?

    python -m pneuma_bench.experiments.names --tables 10000 --questions 500

Names of a made lake (`lake`) and, where the folder --real is there, of real tables are typed in:
whole, with their schema, in words, in part and with one typo, as written and in lower case. Asked
is `QueryEngine` on the embedded engine, with evidence of names, columns and three rows; vectors are
random, so that meaning says nothing, or something false. For each way of asking: hit@1, hit@5, the
milliseconds a question takes (middle and 95th percentile) and those of processor time.
"""

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Vector
from pneuma_bench.experiments.names.asked import Asked, Asker
from pneuma_bench.experiments.names.lake import NamedTable, made_lake, real_lake
from pneuma_bench.experiments.support.corpus import time_each

DIMENSION = 32
REAL = Path(__file__).resolve().parents[4].parent / "shared/data/lake"


class RandomEncoder:
    """The part of an encoder that asking needs; what it says of a text means nothing."""

    name, dimension = "random", DIMENSION

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Return a unit vector a text, shape (texts, DIMENSION)."""
        drawn = self._random.standard_normal((len(texts), DIMENSION), dtype=np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=500, help="for each way of asking")
    parser.add_argument("--real", type=Path, default=REAL, help="a folder of folders of tables")
    parser.add_argument("--misses", type=int, default=0, help="print so many for each way")
    options = parser.parse_args()
    if options.tables:
        report(made_lake(options.tables), options.questions, options.misses)
    if options.real.is_dir():
        report(real_lake(options.real), options.questions, options.misses)


def report(tables: Sequence[NamedTable], questions: int, misses: int) -> None:
    """Index the tables, ask for their names and print a line for each way of asking."""
    encoder = RandomEncoder()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(EmbeddedIndex(Path(folder) / "index", encoder.name, DIMENSION)) as index,
    ):
        index.replace_tables({table.table_id: _contents(table, encoder) for table in tables})
        size = index.info().size_bytes / 1e6
        print(f"{len(tables):,} tables, {size:.0f} MB", flush=True)
        engine = QueryEngine(index, encoder)
        engine.ask("load it")
        for name, asked in Asker(tables).kinds(questions):
            report_kind(engine, name, asked, misses)


def report_kind(engine: QueryEngine, name: str, asked: Sequence[Asked], misses: int) -> None:
    """Ask in one way and print what came of it."""
    found: list[list[TableResult]] = []
    timing = time_each(lambda one: found.append(engine.ask(one.text)), asked)
    hits = [
        [result.table_id in one.right for result in results]
        for one, results in zip(asked, found, strict=True)
    ]
    first, among = (np.mean([any(one[:most]) for one in hits]) for most in (1, 5))
    shown = f"hit@1 {first:.3f}  hit@5 {among:.3f}  p50 / p95 / cpu ms {timing}"
    print(f"  {name:35} {len(asked):4}  {shown}", flush=True)
    missed = [place for place, one in enumerate(hits) if not any(one[:1])]
    for place in missed[:misses]:
        got = [f"{r.table_id} ({r.parts.named})" for r in found[place][:2]]
        print(f"      {asked[place].text!r}: {sorted(asked[place].right)[:2]}, found {got}")


def _contents(table: NamedTable, encoder: RandomEncoder) -> TableContents:
    """Return the table's evidence, and a block that says its columns, in no known direction."""
    text = " | ".join(column.written for column in table.columns)
    block = Block(table.table_id, DocumentKind.SCHEMA, text or table.name.written)
    (vector,) = encoder.encode_queries([text])
    return TableContents([EmbeddedBlock(block, vector)], table.evidence())


if __name__ == "__main__":
    main()
