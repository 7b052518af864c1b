"""What everything of one deployment is called in Dagster, so that nothing is called as another's.

Asset keys begin with the deployment's prefix. Names that have no parts (jobs, sensors, resources,
groups, ops) begin with the same parts, '_' between them.
"""

import re
from dataclasses import dataclass
from typing import Self

import dagster as dg

from pneuma_assets.core.config.deployment import Deployment

STAGE_NAMES = frozenset(
    ("raw_tables", "sampled_rows", "schema_narrations", "embedding_blocks", "search_index")
)
"""The last parts of the keys of stages."""


def may_be_a_stage(table_id: str) -> bool:
    """Tell whether a table's key may be the key of a stage of another deployment.

    The table `sales/search_index` of a deployment under `pneuma` and the stage `search_index` of
    one under `pneuma/sales` would have the same, and neither knows of the other: so no table whose
    name is that of a stage has a page.
    """
    return table_id.rpartition("/")[2] in STAGE_NAMES


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one deployment.

    Attributes:
        prefix: What asset keys begin with, parts with '/' between them.
    """

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
