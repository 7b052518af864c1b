"""Stages as they are written, and the assets that a deployment makes of them."""

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import dagster as dg

from pneuma_assets.core.config.orchestration import DagsterConfig
from pneuma_assets.resources.binding import bound
from pneuma_assets.resources.names import Names

Compute = Callable[..., dg.MaterializeResult]
Pool = Literal["gpu", "index_writer"]


@dataclass(frozen=True, slots=True)
class Stage:
    """One asset of the pipeline, before it is any deployment's.

    Attributes:
        compute: What materializes it. Its docstring tells people in the UI what the asset is.
        after: The stages it depends on.
        kinds: What the graph shows it is made with; a deployment may say otherwise.
        code_version: Changes with what the stage writes.
        pool: What it shares with other runs, by its name in `dagster.pools`.
    """

    compute: Compute
    after: tuple["Stage", ...]
    kinds: frozenset[str]
    code_version: str
    pool: Pool | None

    @property
    def name(self) -> str:
        """The last part of its key."""
        return self.compute.__name__

    def asset(
        self, names: Names, config: DagsterConfig, kinds: Collection[str] | None = None
    ) -> dg.AssetsDefinition:
        """Return the asset of one deployment.

        Args:
            names: Those of the deployment: of the asset, its op and its resources.
            config: Group, owners, tags and pools.
            kinds: Shown in place of the stage's own.
        """
        spec = dg.AssetSpec(
            names.key(self.name),
            deps=[names.key(stage.name) for stage in self.after],
            description=inspect.getdoc(self.compute),
            group_name=config.group or names.identifier,
            owners=list(config.owners),
            tags=config.tags,
            kinds=set(self.kinds if kinds is None else kinds),
            code_version=self.code_version,
        )
        pool = None if self.pool is None else getattr(config.pools, self.pool)
        # Not `asset`, which takes no name for its op.
        making = dg.multi_asset(name=names(self.name), specs=[spec], pool=pool)
        return making(bound(self.compute, names))


def stage(
    *,
    after: Sequence[Stage] = (),
    kinds: Collection[str] = (),
    code_version: str,
    pool: Pool | None = None,
) -> Callable[[Compute], Stage]:
    """Describe the stage that a function is; the arguments are those of `Stage`."""

    def described(compute: Compute) -> Stage:
        return Stage(compute, tuple(after), frozenset(kinds), code_version, pool)

    return described
