"""How long does it take to tell which tables have some values as whole cells?

    python -m pneuma_bench.experiments.embedded.holding [--tables 10000] [--rows 20] [--values 200]

Tables with the evidence of --rows rows of real words, in cells of two. Asked for are --values cells
of tables drawn by chance; as many, of which 20 are in a fiftieth of all tables and one in every
table; and, beside them, what `search` takes that is asked the same values, a question each, in the
tables' evidence alone. Milliseconds are median / 95th percentile / median of processor time of
--repeats calls, each with other values; the index is warm, and `search` remembers no score.
"""

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pneuma_assets.core.index.base import IndexFilter, IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.tables import TableFacts, TableTerms
from pneuma_bench.experiments.support.corpus import (
    DIMENSION,
    CorpusMaker,
    arguments,
    seconds,
    time_each,
)

_KINDS, _EVERYWHERE = 50, "yes"
_FREQUENT = 20
_TABLES_A_WRITE = 500
_HITS = 50


def main() -> None:
    """Fill an index, ask it both ways and print how long it took."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--values", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        index = EmbeddedIndex(Path(folder), "made", DIMENSION)
        cells = fill(index, CorpusMaker(options.data), options.tables, options.rows)
        print(f"{options.tables:,} tables, {len(cells):,} different cells of their rows")

        def drawn(frequent: Sequence[str] = ()) -> list[list[str]]:
            rare = options.values - len(frequent)
            return [[*chance.sample(cells, rare), *frequent] for _ in range(options.repeats)]

        frequent = [*(f"kind {number}" for number in range(_FREQUENT)), _EVERYWHERE]
        report(index, "rare values", drawn())
        report(index, "21 frequent values among them", drawn(frequent))
        index.close()


def fill(index: SearchIndex, maker: CorpusMaker, tables: int, rows: int) -> list[str]:
    """Write the tables, a half of them for one role alone; return all different cells."""
    known: set[str] = set()
    for first in range(0, tables, _TABLES_A_WRITE):
        some = {}
        for number in range(first, min(first + _TABLES_A_WRITE, tables)):
            table_id = f"lake/folder{number % 100}/table{number}"
            evidence = maker.evidence(table_id, rows)
            known.update(cell for row in evidence.rows for cell in row if cell)
            some[table_id] = _contents(evidence, number)
        index.replace_tables(some)
    return sorted(known)


def _contents(evidence: TableTerms, number: int) -> TableContents:
    told = replace(evidence, cells=(f"kind {number % _KINDS}", _EVERYWHERE))
    return TableContents((), told, TableFacts(None if number % 2 else ("w/role",)))


def report(index: SearchIndex, name: str, values: Sequence[Sequence[str]]) -> None:
    """Print how long it takes to find the tables of values, and to search for the same."""
    role = IndexFilter(readers=("w/nobody",))
    first, _ = seconds(lambda: index.holding(values[0]))
    held = sum(map(len, index.holding(values[0]).values()))
    print(f"{name} ({held:,} tables in all), p50 / p95 / cpu ms; the first call {1000 * first:.1f}")
    ways: dict[str, Callable[[Sequence[str]], object]] = {
        "holding": index.holding,
        "holding, who may see a half": lambda some: index.holding(some, role),
        "search": lambda some: index.search([IndexQuery(None, None, v) for v in some], _HITS),
    }
    for way, ask in ways.items():
        ask(values[0])
        print(f"  {way}:", time_each(ask, values[1:]))


if __name__ == "__main__":
    main()
