"""What everything of one deployment is called in Dagster, so that nothing is called as another's.

Asset keys begin with the deployment's prefix, all other names with its parts, '_' between them.
"""

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import dagster as dg

from pneuma_assets.core.config.deployment import Deployment

STAGE_NAMES = frozenset(
    ("raw_tables", "sampled_rows", "schema_narrations", "embedding_blocks", "search_index")
)
"""The last parts of the keys of stages."""


def may_be_a_stage(table_id: str) -> bool:
    """Tell whether a table's key may be the key of a stage of another deployment.

    So have the table `sales/search_index` under `pneuma` and the stage of one under `pneuma/sales`.
    """
    return table_id.rpartition("/")[2] in STAGE_NAMES


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one deployment; `prefix` begins asset keys, parts with '/' between them."""

    prefix: str

    @classmethod
    def of(cls, deployment: Deployment) -> Self:
        """Return the names of a deployment."""
        return cls(deployment.key_prefix)

    def key(self, *parts: str) -> dg.AssetKey:
        """Return an asset key: the prefix, then these parts."""
        return dg.AssetKey([*self.prefix.split("/"), *parts])

    def __call__(self, name: str) -> str:
        """Return the name of a job, sensor, schedule, op or group of this deployment."""
        return f"{self.identifier}_{name}"

    def resource(self, name: str) -> str:
        """Return the key of a resource that the code calls `pneuma_...`, in this deployment."""
        return self(name.removeprefix("pneuma_"))

    @property
    def identifier(self) -> str:
        """The prefix as one word of letters, digits and '_', as Python's names are."""
        word = re.sub(r"[^A-Za-z0-9_]", "_", self.prefix)
        return f"_{word}" if word[0].isdigit() else word


R = TypeVar("R")


def bind_resources(function: Callable[..., R], names: Names) -> Callable[..., R]:
    """Return an asset, check, schedule or sensor as Dagster is to see it in one deployment.

    Dagster finds a resource by the name of the parameter that takes it, so a function that is
    written for `pneuma_store` is shown to it as one for `pneuma_sales_store`.
    """
    signature = inspect.signature(function)
    taken = [name for name, one in signature.parameters.items() if _is_resource(one)]
    keys = {names.resource(name): name for name in taken}

    @functools.wraps(function)
    def called_by_dagster(*args: Any, **given: Any) -> R:
        return function(*args, **{keys.get(key, key): value for key, value in given.items()})

    @functools.wraps(function)
    def yielding(*args: Any, **given: Any) -> Any:
        results: Any = called_by_dagster(*args, **given)
        yield from results

    shown = [
        one.replace(name=names.resource(name)) if name in taken else one
        for name, one in signature.parameters.items()
    ]
    # Dagster reads this attribute, as `inspect.signature` does.
    # It takes a function for a generator by what it is, not by what it returns.
    serving = yielding if inspect.isgeneratorfunction(function) else called_by_dagster
    serving.__dict__["__signature__"] = signature.replace(parameters=shown)
    return serving


def _is_resource(parameter: inspect.Parameter) -> bool:
    kind = parameter.annotation
    return isinstance(kind, type) and issubclass(kind, dg.ConfigurableResource)
