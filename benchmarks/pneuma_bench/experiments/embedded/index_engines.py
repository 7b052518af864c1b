"""Which engine should the embedded index stand on? Candidates side by side, in one run.

    python -m pneuma_bench.experiments.embedded.index_engines --blocks 25000 100000

tantivy and lancedb are measured where they are installed (pip install tantivy lancedb) and
skipped with a message where they are not. One process, files in the system's cache. Times in ms
are median / 95th percentile / median of processor time, which tells engines apart even where
other work keeps the machine busy.
"""

import shutil
import tempfile
from pathlib import Path

from pneuma_bench.experiments.embedded.index_candidates import CANDIDATES, Candidate
from pneuma_bench.experiments.support.corpus import (
    Corpus,
    CorpusMaker,
    arguments,
    seconds,
    time_each,
)

CANDIDATES_A_SIDE = 50
REPLACEMENTS = 20
HEADER = (
    "| engine | blocks | build s / cpu | words ms | vectors ms | both ms "
    "| open and first answer s / cpu | replacement seen ms | MB |"
)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, nargs="+", default=[25_000, 100_000])
    parser.add_argument("--engines", nargs="+", default=[kind.name for kind in CANDIDATES])
    options = parser.parse_args()
    maker = CorpusMaker(options.data)
    print(HEADER, "|" + " --- |" * 9, sep="\n", flush=True)
    for blocks in options.blocks:
        corpus = maker.corpus(blocks, options.questions)
        for kind in CANDIDATES:
            if kind.name in options.engines:
                folder = Path(tempfile.mkdtemp(prefix="index-engines-"))
                try:
                    print(measure(kind, folder / "index", corpus, maker), flush=True)
                except ImportError as error:
                    print(f"(skipped: {kind.name}: pip install {error.name})", flush=True)
                finally:
                    shutil.rmtree(folder, ignore_errors=True)  # some still merge there


def measure(kind: type[Candidate], folder: Path, corpus: Corpus, maker: CorpusMaker) -> str:
    """Return one line of the table."""
    candidate = kind(folder)

    def build() -> None:
        candidate.replace(corpus.tables)
        candidate.finish()

    def both(place: int) -> None:
        candidate.lexical(corpus.questions[place], CANDIDATES_A_SIDE)
        candidate.semantic(corpus.vectors[place], CANDIDATES_A_SIDE)

    built, built_cpu = seconds(build)
    places = range(len(corpus.questions))
    both(0)
    words = time_each(lambda q: candidate.lexical(q, CANDIDATES_A_SIDE), corpus.questions)
    vectors = time_each(lambda v: candidate.semantic(v, CANDIDATES_A_SIDE), corpus.vectors)
    together = time_each(both, places)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6

    def open_and_ask() -> None:
        again = kind(folder)
        again.lexical(corpus.questions[0], CANDIDATES_A_SIDE)
        again.semantic(corpus.vectors[0], CANDIDATES_A_SIDE)

    cold, cold_cpu = seconds(open_and_ask)
    changed = [dict([maker.table(number)]) for number in range(REPLACEMENTS)]

    def replace_and_see(tables: dict) -> None:
        candidate.replace(tables)
        both(0)

    seen = time_each(replace_and_see, changed)
    return (
        f"| {kind.name} | {len(corpus.blocks):,} | {built:.1f} / {built_cpu:.1f} | {words} "
        f"| {vectors} | {together} | {cold:.2f} / {cold_cpu:.2f} | {seen} | {size:.0f} |"
    )


if __name__ == "__main__":
    main()
