"""Who besides the tables themselves says what they are built from."""

from typing import Self

from pydantic import Field, model_validator

from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.values import LocalPath, is_exposed


class WebserverConfig(Section):
    """A webserver of Dagster, or a deployment of Dagster+, whose assets may be tables."""

    url: EndpointUrl | None = Field(
        None, description="As a browser opens it, such as `http://localhost:3000`; none: not asked."
    )
    token_env: VariableName | None = Field(
        None, description="Names the variable with a user token of Dagster+."
    )

    @model_validator(mode="after")
    def _token_is_encrypted(self) -> Self:
        """A token that crosses a network in the clear is everybody's."""
        if self.token_env is not None and self.url is not None and is_exposed(self.url):
            raise ValueError(f"{self.url} would carry the token unencrypted; use https")
        return self


class LineageConfig(Section):
    """Files of other tools, read again when they change, a webserver, and who is told."""

    dbt: tuple[LocalPath, ...] = Field(
        (), description="Folders with a `manifest.json` of dbt, such as `target`, or such files."
    )
    openlineage: tuple[LocalPath, ...] = Field(
        (), description="Files of OpenLineage events, one JSON object a line, or folders of them."
    )
    emit: LocalPath | None = Field(
        None,
        description="An `openlineage.yml` of openlineage-python: runs send there what changed.",
    )
    webserver: WebserverConfig = Field(
        WebserverConfig(), description="Of Dagster, which knows other code locations."
    )
