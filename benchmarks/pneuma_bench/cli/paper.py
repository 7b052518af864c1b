"""`pneuma-bench paper`: the figures of Pneuma's section 7, measured on any sets."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.output import counted, print_line, showing_progress
from pneuma_bench.cli.shared import KeepOption, app, deployed, listed, names, narrating, path

if TYPE_CHECKING:
    from pneuma_assets.core.config.load import LoadedDeployment
    from pneuma_bench.ablations.cells import BenchSet

_SET, _OTHER = "NAME=T.jsonl,Q.jsonl", "NAME=PYTHON,SCRIPT"


@app.command()
@deployed
def paper(
    loaded: "LoadedDeployment",
    given_sets: Annotated[
        list[str], names(_SET, "Tables and questions; may be given again.", "--set")
    ],
    keep: KeepOption,
    out: Annotated[Path, path("PAGE.md", "The page to write.")],
    figures: Annotated[
        list[str] | None, names("NUMBER,...", "Such as 6,11-13,'table 2'. [default: all]")
    ] = None,
    keywords: Annotated[
        list[str] | None, names(_SET, "A set asked in its tables' own words (figure 19).")
    ] = None,
    beside: Annotated[
        list[str] | None,
        names(_OTHER, "Another package's retriever, in its own environment; again for more."),
    ] = None,
    compared: Annotated[
        list[str] | None,
        names("NAME,...", "Sets of which every row is embedded, and that others are asked."),
    ] = None,
    varied: Annotated[
        list[str] | None, names("NAME,...", "Sets whose settings are varied.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often 100 questions are timed.")] = 10,
    rows: Annotated[
        int, typer.Option(min=1, max=1_000, help="Rows of a table where all are indexed.")
    ] = 1_000,
    scaled: Annotated[str, names("NAME", "Set cut to sizes. [default: the largest]")] = "",
    note: Annotated[list[str] | None, names("TEXT", "To stand above the figures.")] = None,
    kept_only: Annotated[
        bool, typer.Option("--kept-only", help="Measure nothing; write what was measured.")
    ] = False,
) -> None:
    """Measure what the paper's figures show, and write them as one page with tables and plots.

    What was measured is kept and not measured again: killed, the same command goes on.
    """
    from pneuma_assets.core.config.models import JudgeConfig
    from pneuma_bench.ablations.contestants import Labs
    from pneuma_bench.ablations.figures import PageOptions
    from pneuma_bench.ablations.outside import OutsideContestant
    from pneuma_bench.ablations.page import reproduce
    from pneuma_bench.ablations.paper_figures import chosen

    numbers, sets = chosen(listed(figures)), _read_sets("--set", given_sets)
    unknown = {*listed(compared), *listed(varied), *listed([scaled])} - {one.name for one in sets}
    if unknown:
        raise UsageError(f"no --set is called {min(unknown)!r}")
    silent = narrating(loaded.deployment, enabled=False)
    encoder = silent.encoder.model.model
    others = [_named("--beside", one, _OTHER) for one in beside or ()]
    with showing_progress(), Labs(keep, os.environ) as labs:
        options = PageOptions(
            sets=sets,
            deployment=silent.model_copy(update={"judge": JudgeConfig()}),
            labs=labs,
            keywords=_read_sets("--keywords", keywords or []),
            others=[partial(OutsideContestant, *one, encoder, rows) for one in others],
            compared=listed(compared),
            varied=listed(varied),
            rounds=rounds,
            most_rows=rows,
            scaled=scaled,
        )
        shown = reproduce(options, numbers, keep, out, note or [], kept_only=kept_only)
    print_line(f"{counted(len(numbers), 'figure', 'figures')} written to {out}")
    if missing := sum(bool(one.missing) for one in shown):
        print_line(f"{counted(missing, 'value', 'values')} not measured; the page says why")


def _read_sets(option: str, given: Sequence[str]) -> "list[BenchSet]":
    from pneuma_bench.ablations.cells import BenchSet
    from pneuma_bench.reading import read_files

    sets: dict[str, BenchSet] = {}
    for name, *files in (_named(option, one, _SET) for one in given):
        if name in sets:
            raise UsageError(f"{option}: two sets are called {name!r}")
        sets[name] = BenchSet(name, read_files(*files))
    return [*sets.values()]


def _named(option: str, given: str, shape: str) -> tuple[str, Path, Path]:
    """Return the name and the two paths of `NAME=A,B`."""
    name, _, rest = given.partition("=")
    first, _, second = rest.partition(",")
    if not (name.strip() and first and second):
        raise UsageError(f"{option} takes {shape}, not {given!r}")
    return name.strip(), Path(first), Path(second)
