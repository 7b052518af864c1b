"""What it takes to keep the headers of a large lake, and to ask for some (section 4).

    python -m pneuma_bench.experiments.entities.scale [--tables 10000] [--headers 30000]

Made tables of 12 columns, named by one to three words of which so many different headers are drawn.
Timed are the end of the first run, that of one without a change, and that of one after which one
more table with another header is there; then what a question takes that asks for the columns of 30
tables.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.pipeline.embed import embed_column_names
from pneuma_assets.core.search.mentions import HeaderMatcher, word_mentions
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Table, TableRef
from pneuma_assets.core.text.analysis import ENGLISH

QUESTION = "What was the average unit price of tea that customers in each region of Peru ordered?"
WIDTH, CANDIDATES = 12, 30
SYLLABLES = tuple(map("".join, product("bcdfglmnprstv", "aeiou")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--headers", type=int, default=30_000)
    options = parser.parse_args()
    drawn = random.Random(0)
    words = ["".join(drawn.choices(SYLLABLES, k=3)) for _ in range(3_000)]
    names: set[str] = set()
    while len(names) < options.headers:
        names.add("_".join(drawn.sample(words, drawn.randint(1, 3))))
    headers = sorted(names)
    tables = {
        f"lake/t{n}": [headers[(n * WIDTH + at) % len(headers)] for at in range(WIDTH)]
        for n in range(options.tables)
    }
    tables["lake/late"] = ["another_header"]
    encoder = open_encoder(EncoderConfig())
    encoder.encode_documents(["ready"] * 2_000)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "state.db") as store:
        refs = [TableRef(one, "lake", f"/{one}", "csv", "1") for one in tables]
        store.listings.sync("lake", refs)
        store.queue.claim("run", len(tables), 3, ["lake"])
        store.queue.save_profiles("run", [table_of(*one) for one in tables.items()])
        *first, late = (Finished(one, "hash", 1) for one in tables)
        store.queue.finish("run", first)
        with timed("the first run"):
            print(f"{embed_column_names(store, encoder):,} headers of {len(tables):,} tables")
        with timed("a run without a change"):
            embed_column_names(store, encoder)
        store.queue.finish("run", [late])
        with timed("a run with one more table"):
            print(embed_column_names(store, encoder), "header")
        store.embeddings.close()
        size = sum(file.stat().st_size for file in Path(folder).glob("embeddings.db*"))
        print(f"{size / 1e6:.1f} MB")
        matcher = HeaderMatcher(encoder, ENGLISH, lambda some: store.headers.of(encoder.name, some))
        some = {one: tables[one] for one in drawn.sample(list(tables), CANDIDATES)}
        mentions = word_mentions(QUESTION)
        for name, one in (("kept", matcher), ("made", HeaderMatcher(encoder, ENGLISH))):
            with timed(f"a question of {len(mentions)} mentions, headers {name}"):
                one.matched_columns(mentions, some)


def table_of(table_id: str, columns: list[str]) -> Table:
    return Table(table_id, tuple(Column(name, "") for name in columns), 1, "")


@contextmanager
def timed(what: str) -> Iterator[None]:
    clock, processor = time.perf_counter(), time.process_time()
    yield
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{what}: {clock:.2f} s, {processor:.2f} s of processor", flush=True)


if __name__ == "__main__":
    main()
