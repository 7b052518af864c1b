"""Functions written for resources by short names, shown to Dagster with a deployment's own."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import dagster as dg

from pneuma_assets.resources.names import Names

R = TypeVar("R")


def bound(function: Callable[..., R], names: Names) -> Callable[..., R]:
    """Return `function` as Dagster is to see it in one deployment.

    Dagster finds a resource by the name of the parameter that takes it. All deployments of a code
    location share these names, so a function that is written for `pneuma_store` is shown to Dagster
    as one for `pneuma_sales_store`. It serves assets, checks, schedules and sensors.

    Args:
        function: Its parameters of a type of resource are renamed, the others stay.
        names: Those of the deployment.
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
