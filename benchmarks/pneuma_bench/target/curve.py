"""How well a needle is found among ever more tables, measured and drawn."""

import json
import multiprocessing
import os
import random
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.progress import working
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Column, Table, content_hash
from pneuma_bench.files import whole
from pneuma_bench.keys import code_key, questions_key, tables_key
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import peak_memory
from pneuma_bench.plot import check_format, save
from pneuma_bench.reading import read_files, read_tables
from pneuma_bench.run import measure
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting, setting_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_ROWS = 50
"""Of a table that others are made of: tables of the web have a dozen, files of a lake thousands."""

_NUMBER = re.compile(r"[-+]?[0-9.,]+%?")

Pair = tuple[Table, Sequence[Row]]


class Haystack(Sequence[Pair]):
    """The tables of a haystack, each made when it is asked for.

    Args:
        asked: Tables that answer the questions.
        others: Real tables that answer none.
        size: How many there are in all.
        seed: Decides what is made.

    Raises:
        BenchmarkError: There are more tables asked for than it may have, or none to make others of.
    """

    def __init__(self, asked: Sequence[Pair], others: Sequence[Pair], size: int, seed: int) -> None:
        if len(asked) > size:
            raise BenchmarkError(
                f"{len(asked):,} tables are asked for, and {size:,} are to be there; ask fewer "
                "questions, or take a larger size"
            )
        self._real = [*asked, *others][:size]
        self._size, self._seed = size, seed
        self._moulds = [mould for mould in _moulds(others).values() if len(mould) > 1]
        if size > len(self._real) and not self._moulds:
            raise BenchmarkError(
                "no two tables have columns of the same kinds, to make others of; give more tables"
            )
        self._weights = [len(mould) for mould in self._moulds]

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | Sequence[Pair]:
        """Return a table, or several; equal places give equal tables."""
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(self._size))]
        at = range(self._size)[place]
        return self._real[at] if at < len(self._real) else self._made(at)

    def __iter__(self) -> Iterator[Pair]:
        return (self[at] for at in range(self._size))

    @property
    def real(self) -> int:
        """How many are real."""
        return len(self._real)

    def _made(self, at: int) -> Pair:
        rng = random.Random(f"{self._seed} {at}")  # noqa: S311
        (mould,) = rng.choices(self._moulds, self._weights)
        (table, rows), (other, cells) = rng.sample(mould, 2)
        if at % 2:
            columns, made = other.columns, list(rows[:MOST_ROWS])
        else:
            columns, made = table.columns, _resampled(rows, cells, rng)
        fresh = tuple(Column(column.name, column.type) for column in columns)
        name = f"hay-{at:07}"
        return Table(f"hay/{name}", fresh, len(made), name), made


def haystack(
    dataset: RetrievalSet, hay: Sequence[RetrievalSet], questions: int, size: int, seed: int
) -> RetrievalSet:
    """Return a set of so many tables, among which the first questions of another have theirs.

    Args:
        dataset: Whose questions.
        hay: Sets whose tables are real ones beside its own.
        questions: How many are asked; the same at every size.
        size: How many tables there are.
        seed: Decides which are made.

    Raises:
        BenchmarkError: As `Haystack`.
    """
    first = dataset.first(questions)
    wanted = {table_id for relevant in first.relevant for table_id in relevant}
    asked = [pair for pair in dataset.tables if pair[0].table_id in wanted]
    others = [pair for pair in dataset.tables if pair[0].table_id not in wanted]
    for number, one in enumerate(hay):
        # Two sets may have a name, and so an id, in common.
        others += [
            (replace(t, table_id=f"hay{number}/{t.table_id}"), rows) for t, rows in one.tables
        ]
    random.Random(seed).shuffle(others)  # noqa: S311
    return replace(first, tables=Haystack(asked, others, size, seed), names={}, contexts={})


def _moulds(tables: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Return the tables by the kinds of their columns: `tn` has a text and a number."""
    moulds: dict[str, list[Pair]] = {}
    for table, rows in tables:
        if len(table.columns) > 1 and len(rows) > 1:
            kinds = "".join(_kind(rows, at) for at in range(len(table.columns)))
            moulds.setdefault(kinds, []).append((table, rows))
    return moulds


def _kind(rows: Sequence[Row], at: int) -> str:
    cells = [row[at] for row in rows[:MOST_ROWS] if row[at]]
    numbers = sum(bool(_NUMBER.fullmatch(str(cell).strip())) for cell in cells)
    return "n" if cells and 2 * numbers > len(cells) else "t"


def _resampled(rows: Sequence[Row], cells: Sequence[Row], rng: random.Random) -> list[Row]:
    """Return half of the rows, with every other cell of text from rows of another table."""
    some = rows[: 2 * MOST_ROWS]
    drawn = rng.sample(range(len(some)), max(1, len(some) // 2))
    texts = [kind == "t" for kind in (_kind(rows, at) for at in range(len(rows[0])))]
    return [
        tuple(
            rng.choice(cells)[at] if is_text and rng.random() < 0.5 else cell
            for at, (cell, is_text) in enumerate(zip(some[place], texts, strict=True))
        )
        for place in sorted(drawn)
    ]


SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
"""Half a power of ten apart."""

_TIMED = 100


@dataclass(frozen=True, slots=True)
class Curve:
    """What is measured.

    Attributes:
        tables: The file of the tables that are asked for, and of others.
        queries: The file of the questions.
        hay: Files of other real tables.
        questions: How many of the first are asked.
        seed: Decides which tables are made.
        setting: How tables are indexed and questions asked.
        folder: Keeps embeddings, indexes, and each size's figures.
    """

    tables: Path
    queries: Path
    hay: tuple[Path, ...]
    questions: int
    seed: int
    setting: Setting
    folder: Path


@dataclass(frozen=True, slots=True)
class Point:
    """The figures of one size, with 95 % intervals; times in milliseconds, sizes in bytes.

    `ms_cpu` is the mean of the processor's time for a question, all threads together: beside other
    work, it says more than the clock.
    """

    tables: int
    real: int
    questions: int
    hit_1: float
    hit_1_interval: tuple[float, float]
    hit_10: float
    hit_10_interval: tuple[float, float]
    ms_p50: float
    ms_p95: float
    ms_cpu: float
    index_bytes: int
    blocks: int
    seconds_to_index: float
    texts_embedded: int
    memory_to_index: int
    memory_to_ask: int


_OF_INDEXING = frozenset({"seconds_to_index", "texts_embedded", "memory_to_index"})
_OF_ASKING = frozenset(field.name for field in fields(Point)) - _OF_INDEXING
Work = Callable[[Curve, int], dict[str, Any]]


def measure_curve(curve: Curve, sizes: Sequence[int] = SIZES) -> list[Point]:
    """Return a point a size, the smallest first; what is kept of one is not measured again.

    Raises:
        BenchmarkError: A file cannot be read, or a process ended before its time, as where memory
            is short; the smaller sizes are kept.
    """
    key, points = _key(curve), []
    for size in sorted(set(sizes)):
        path = curve.folder / "curve" / f"{size}-{key}"
        with working(f"a haystack of {size:,} tables"):
            indexed = _once(path.with_suffix(".indexed.json"), _OF_INDEXING, _build, curve, size)
            asked = _once(path.with_suffix(".asked.json"), _OF_ASKING, _ask, curve, size)
        points.append(Point(**indexed, **asked))
    return points


def set_of(curve: Curve, size: int) -> RetrievalSet:
    """Return the tables and questions of one size."""
    dataset = read_files(curve.tables, curve.queries)
    hay = [read_tables(path) for path in curve.hay]
    return haystack(dataset, hay, curve.questions, size, curve.seed)


def _once(
    path: Path, names: Collection[str], work: Work, curve: Curve, size: int
) -> Mapping[str, Any]:
    """Return what some work came to before, or have it done and keep that."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.keys() == {*names}:
            return kept
    except (OSError, ValueError):
        pass  # never done, or not to its end
    found = _apart(work, curve, size)
    with whole(path) as stream:
        stream.write(json.dumps(found, indent=2).encode() + b"\n")
    return found


def _apart(work: Work, curve: Curve, size: int) -> Mapping[str, Any]:
    """Return what some work comes to in a new process."""
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            found: Mapping[str, Any] = pool.submit(work, curve, size).result()
    except BrokenProcessPool as error:
        raise BenchmarkError(
            f"the process for {size:,} tables ended before its time; is memory short?"
        ) from error
    return found


def _build(curve: Curve, size: int) -> dict[str, Any]:
    """Index a haystack, in a process of its own."""
    with Lab(set_of(curve, size), curve.folder, os.environ) as lab:
        index, built = lab.index(curve.setting)
        index.close()
    return {
        "seconds_to_index": built.seconds,
        "texts_embedded": built.embedded,
        "memory_to_index": peak_memory(),
    }


def _ask(curve: Curve, size: int) -> dict[str, Any]:
    """Ask a haystack that is indexed, in a process of its own."""
    dataset = set_of(curve, size)
    setting = setting_of(curve.setting.deployment, {**curve.setting.given, "k": 10})
    with Lab(dataset, curve.folder, os.environ) as lab:
        outcome = measure(lab, setting)
        cpu = _cpu(lab, setting)
    values, intervals, facts = outcome.figures.values, outcome.figures.intervals, outcome.facts
    return {
        "tables": size,
        "real": dataset.tables.real if isinstance(dataset.tables, Haystack) else size,
        "questions": len(dataset.questions),
        "hit_1": values["R@1"],
        "hit_1_interval": tuple(intervals["R@1"]),
        "hit_10": values["R@10"],
        "hit_10_interval": tuple(intervals["R@10"]),
        "ms_cpu": cpu,
        **{name: facts[name] for name in ("ms_p50", "ms_p95", "index_bytes", "blocks")},
        "memory_to_ask": facts["peak_memory_bytes"],
    }


def _cpu(lab: Lab, setting: Setting) -> float:
    """Return the milliseconds of processor time that a question takes by itself, on average."""
    questions = lab.dataset.questions[:_TIMED]
    index, _ = lab.index(setting)
    with closing(index):
        engine = lab.engine(setting, index, remembering=False)
        options = setting.ask_options(index.kinds())
        engine.ask_many(questions[:1], **options)
        began = time.process_time()
        for question in questions:
            engine.ask_many([question], **options)
        return (time.process_time() - began) * 1000 / len(questions)


def _key(curve: Curve) -> str:
    """Return a name for all that decides a point but its size."""
    dataset = read_files(curve.tables, curve.queries).first(curve.questions)
    sets = [tables_key(dataset), questions_key(dataset)]
    sets += [tables_key(read_tables(path)) for path in curve.hay]
    return content_hash(curve.setting.key, *sets, str(curve.seed), code_key())[:16]


_BLUE, _RED, _GREY = "#2f5d8a", "#b2432f", "#6b7280"
_MB = 1e6

Line = tuple[str, str, Callable[[Point], float], Callable[[Point], tuple[float, float]] | None]

_PANELS: Sequence[tuple[str, bool, Sequence[Line]]] = (
    (
        "share of questions",
        False,
        (
            ("R@1", _RED, lambda p: p.hit_1, lambda p: p.hit_1_interval),
            ("R@10", _BLUE, lambda p: p.hit_10, lambda p: p.hit_10_interval),
        ),
    ),
    (
        "milliseconds a question",
        True,
        (
            ("median", _BLUE, lambda p: p.ms_p50, None),
            ("95 of 100", _RED, lambda p: p.ms_p95, None),
            ("processor", _GREY, lambda p: p.ms_cpu, None),
        ),
    ),
    (
        "megabytes",
        True,
        (
            ("memory to ask", _BLUE, lambda p: p.memory_to_ask / _MB, None),
            ("memory to index", _RED, lambda p: p.memory_to_index / _MB, None),
            ("index on disk", _GREY, lambda p: p.index_bytes / _MB, None),
        ),
    ),
)


def draw_curve(path: Path, points: Sequence[Point]) -> None:
    """Draw a panel for each kind of figure; bands are 95 % intervals over the questions.

    The same points give the same file: nothing in it says when it was drawn.

    Raises:
        BenchmarkError: The format is not known, or the file cannot be written.
    """
    check_format(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    panels = figure.subplots(1, len(_PANELS), squeeze=False)[0]
    for panel, (title, is_logarithmic, lines) in zip(panels, _PANELS, strict=True):
        _draw(panel, points, lines)
        panel.set(title=title, xscale="log", xlabel="tables")
        if is_logarithmic:
            panel.set_yscale("log")
        else:
            panel.set_ylim(0, 1)
        panel.grid(visible=True, linewidth=0.4)
        panel.legend(frameon=False, fontsize=8)
    save(figure, path)


def _draw(panel: "Axes", points: Sequence[Point], lines: Sequence[Line]) -> None:
    sizes = [point.tables for point in points]
    for name, colour, value, interval in lines:
        panel.plot(sizes, [value(point) for point in points], "o-", color=colour, ms=4, label=name)
        if interval is not None:
            low, high = zip(*(interval(point) for point in points), strict=True)
            panel.fill_between(sizes, low, high, color=colour, alpha=0.12, linewidth=0)
