"""Which settings an ablation compares: those a file names, or what Pneuma varies.

`vary` makes a setting of each value of each option, all else as the default; `grid` one of each
combination; `cells` names settings one by one; `base` holds for all of them:

    base: {query.n: 5}
    vary: {alpha: [0, 0.3, 0.7, 1], without: [[schema], [rows]]}
    grid: {k: [5, 10], sampling.rows: [1, 5]}
    cells: {words of rows: {alpha: 1, kinds: [rows]}}
"""

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.yaml_file import read_yaml
from pneuma_assets.core.errors import BenchmarkError
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
        made = {_DEFAULT: setting_of(deployment, self.base)}
        for name, options in self._cells():
            made.setdefault(name, setting_of(deployment, self.base | options))
            if len(made) > MOST_CELLS:
                raise BenchmarkError(f"more than {MOST_CELLS:,} settings; compare fewer")
        return made

    def _cells(self) -> Iterator[tuple[str, Options]]:
        """Yield names and options, those of the base aside."""
        for name, values in self.vary.items():
            for value in values:
                yield _named({name: value})
        if self.grid:
            for combination in product(*self.grid.values()):
                yield _named(dict(zip(self.grid, combination, strict=True)))
        yield from self.cells.items()


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


def usual_spec(deployment: Deployment) -> Spec:
    """Return what Pneuma varies, as far as it takes no language model, and each weight set to 0.

    Section 7.3.1 compares kinds of documents, 7.3.2 one side of the search with both, and 7.4.1 to
    7.4.3 vary alpha, k and n. How many rows are drawn is varied, too.
    """
    kinds = ("schema", "rows", "context", "names", "values")
    weights = {
        f"query.{key}.{name}": [0]
        for key, value in deployment.query.model_dump().items()
        if isinstance(value, Mapping)
        for name in value
    }
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


def _named(options: Options) -> tuple[str, Options]:
    return Setting(Deployment(), options).name, options
