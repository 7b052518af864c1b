"""What a resource is given is checked at once, and no error shows it.

Dagster keeps the configuration of a resource: in the history of its runs, and on the pages of its
UI. A secret that stands there, where the name of its variable should, is refused before.
"""

from typing import Any

import dagster as dg
from pydantic import AfterValidator, ConfigDict

from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.source_kinds import read_source


class CheckedResource(dg.ConfigurableResource):
    """Base of all resources: no error shows what was given."""

    model_config = ConfigDict(hide_input_in_errors=True)


def section(kind: type[Section]) -> AfterValidator:
    """Return what refuses a mapping that is not this section of a deployment file."""

    def checked(settings: dict[str, Any]) -> dict[str, Any]:
        kind.model_validate(settings)
        return settings

    return AfterValidator(checked)


def _sources(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for entry in entries:
        read_source(entry)
    return entries


SOURCES = AfterValidator(_sources)
"""Refuses a list that is not that of `sources` in a deployment file."""
