"""Compares settings on one set, question by question; what was measured is not measured again."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.query import Weights
from pneuma_assets.core.config.yaml_file import read_yaml
from pneuma_assets.core.errors import BenchmarkError, QueryError
from pneuma_assets.core.evaluation.evaluate import Figures
from pneuma_assets.core.evaluation.metrics import Interval, Values, mean_intervals
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_bench.files import kept_json, write_lines
from pneuma_bench.keys import code_key, questions_key, tables_key
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import THRESHOLD, Outcome, name_of
from pneuma_bench.run import measure
from pneuma_bench.settings import Setting, setting_of

MOST_CELLS = 1_000

_DEFAULT = "default"

Options = dict[str, Any]


class Spec(BaseModel):
    """The settings to compare; see the module for what each key means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: Options = {}
    vary: dict[str, list[Any]] = {}
    grid: dict[str, list[Any]] = {}
    cells: dict[str, Options] = {}

    def settings(self, deployment: Deployment) -> dict[str, Setting]:
        """Return each setting by its name, the default first.

        Raises:
            BenchmarkError: There is no such option, a value cannot be used, or a cell is named
                as the setting that all are compared with.
        """
        if _DEFAULT in self.cells:
            raise BenchmarkError(
                f"{_DEFAULT!r} is what the base is called; name the cell otherwise"
            )
        varied = [{name: value} for name, values in self.vary.items() for value in values]
        if self.grid:
            varied += [
                dict(zip(self.grid, one, strict=True)) for one in product(*self.grid.values())
            ]
        if len(varied) + len(self.cells) >= MOST_CELLS:
            raise BenchmarkError(f"more than {MOST_CELLS:,} settings; compare fewer")
        named: dict[str, Options] = {_DEFAULT: {}}
        named |= {name_of(one): one for one in varied} | self.cells
        return {name: setting_of(deployment, self.base | one) for name, one in named.items()}


def read_spec(path: Path) -> Spec:
    """Read a specification.

    Raises:
        ConfigError: It is no YAML of keys and values.
        BenchmarkError: It has other keys than a specification, or values of other types.
    """
    try:
        return Spec.model_validate(read_yaml(path).data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BenchmarkError(f"{path}: {where}: {first['msg']}") from error


def usual_spec() -> Spec:
    """Return what Pneuma varies, as far as it takes no language model, and each weight set to 0.

    Section 7.3.1 compares kinds of documents, 7.3.2 one side of the search with both, and 7.4.1 to
    7.4.3 vary alpha, k and n. How many rows are drawn is varied, too.
    """
    kinds = ("schema", "rows", "context", "names", "values")
    weights = {f"query.weights.{name}": [0] for name in Weights.model_fields}
    return Spec(
        vary={
            "without": [[kind] for kind in kinds],
            **weights,
            "alpha": [0, 0.3, 0.7, 1],
            "n": [1, 10],
            "k": [20, 50],
            "sampling.rows": [1, 10],
        }
    )


_FOLDER = "cells"


@dataclass(frozen=True, slots=True)
class Compared:
    """One setting's outcome, and by how much each figure is above the default's.

    `differences` are over the same questions, with 95 % intervals; only of what every question has
    a part in.
    """

    outcome: Outcome
    differences: Mapping[str, tuple[float, Interval]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        differences = {
            name: {"difference": value, "interval": list(interval)}
            for name, (value, interval) in self.differences.items()
        }
        return self.outcome.to_dict() | {"differences": differences}


def compare(
    lab: Lab, settings: Mapping[str, Setting], threshold: float = THRESHOLD
) -> list[Compared]:
    """Measure every setting that was not yet, and compare each with the first.

    Settings that share an index are measured one after the other, so it is built once. Killed, the
    next call goes on after the last setting that was finished.

    Args:
        lab: The set, and the folder where outcomes are kept.
        settings: By their names; the first is the default.
        threshold: As for `measure`.

    Raises:
        BenchmarkError: The folder cannot be used.
        QueryError: An option of a setting's questions is out of range; names the setting.
    """
    order: dict[str, list[str]] = {}
    for name, setting in settings.items():
        order.setdefault(setting.index_key, []).append(name)
    outcomes: dict[str, Outcome] = {}
    for name in chain.from_iterable(order.values()):
        report("measuring settings", len(outcomes), len(settings))
        outcomes[name] = _measured(lab, name, settings[name], threshold)
    report("measuring settings", len(outcomes), len(settings))
    first = outcomes[next(iter(settings))].figures.each
    return [
        Compared(
            outcomes[name],
            {n: paired_difference(v, first[n]) for n, v in outcomes[name].figures.each.items()},
        )
        for name in settings
    ]


def _measured(lab: Lab, name: str, setting: Setting, threshold: float) -> Outcome:
    """Return a setting's outcome, kept or measured now."""
    made_of = (tables_key(lab.dataset), questions_key(lab.dataset), code_key(), repr(threshold))
    path = lab.folder / _FOLDER / f"{content_hash(setting.key, *made_of)}.json"
    if (kept := kept_json(path)) is None:
        try:
            outcome = measure(lab, setting, threshold)
        except QueryError as error:
            raise QueryError(f"{name}: {error}") from error
        kept = {
            "options": outcome.options,
            "facts": outcome.facts,
            "all": _record_of(outcome.figures),
            "kinds": {kind: _record_of(figures) for kind, figures in outcome.kinds.items()},
        }
        write_lines(path, [kept])
    kinds = {kind: _figures_of(one) for kind, one in kept["kinds"].items()}
    return Outcome(_figures_of(kept["all"]), kept["facts"], (), kinds, kept["options"], name)


def _record_of(figures: Figures) -> dict[str, Any]:
    each = {name: values.tolist() for name, values in figures.each.items()}
    return {"values": figures.values, "intervals": figures.intervals, "each": each}


def _figures_of(record: Mapping[str, Any]) -> Figures:
    intervals = {key: Interval(*bounds) for key, bounds in record["intervals"].items()}
    each = {key: np.array(values, np.float64) for key, values in record["each"].items()}
    return Figures(record["values"], intervals, each)


def paired_difference(ours: Values, theirs: Values) -> tuple[float, Interval]:
    """Return by how much `ours` is above `theirs` on average over the same questions."""
    difference = ours - theirs
    mean = float(difference.mean()) if len(difference) else float("nan")
    return mean, mean_intervals({"difference": difference})["difference"]
