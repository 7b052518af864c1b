"""The section of the page and the HTTP interface: where they are reached, and who asks there."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.values import Reader, is_exposed, matching

_Claim = Annotated[
    str, matching(r"[\w:./-]{1,200}", "must be the name of a claim, such as sub or groups")
]
_Shown = Annotated[str, matching(r"(?!\s)[^\x00-\x1f\x7f]{1,100}", "must be 1 to 100 characters")]


class OidcConfig(Section):
    """An OpenID Connect provider that signs people in, and whose tokens programs send."""

    issuer: EndpointUrl | None = Field(None, description="As its tokens name it; none: not used.")
    client_id: str | None = Field(
        None, min_length=1, description="What this server is called there."
    )
    client_secret_env: VariableName | None = Field(
        None, description="Names the variable with the client's secret; none: a public client."
    )
    audience: str | None = Field(
        None, min_length=1, description="Of tokens that programs send; none: the client's id."
    )
    name_claim: _Claim = Field(
        "sub", description="Who asks; one that people cannot change themselves."
    )
    groups_claim: _Claim = Field("groups", description="The names under which tables let them in.")

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        """Catch a provider without a client, and keys that cross a network in the clear."""
        if self.issuer is not None and self.client_id is None:
            raise ValueError("issuer is given, but no client_id that the provider knows")
        if self.issuer is not None and is_exposed(self.issuer):
            raise ValueError(f"{self.issuer} would be asked unencrypted; use https")
        return self


class WebConfig(Section):
    """What `pneuma-assets serve` serves, and to whom."""

    title: _Shown = Field("pneuma-assets", description="What the page is called.")
    base_url: EndpointUrl | None = Field(
        None, description="As a browser opens it, such as `https://data.example.com`."
    )
    dagster_url: EndpointUrl | None = Field(
        None, description="Where Dagster's webserver is opened; none: no links to assets."
    )
    oidc: OidcConfig = OidcConfig()
    editors: tuple[Reader, ...] = Field(
        (), description="Names of those whom the provider signs in who may correct and confirm."
    )
    operators: tuple[Reader, ...] = Field((), description="Likewise, of those who may see all.")
    session_hours: float = Field(12.0, gt=0, le=24 * 30, description="How long a login lasts.")
    session_secret_env: VariableName | None = Field(
        None,
        description="Names the variable with the secret that signs logins; none: logins end with "
        "the server.",
    )
    metrics_token_env: VariableName | None = Field(
        None, description="Names the variable with the bearer token that reads /metrics."
    )
    allowed_origins: tuple[EndpointUrl, ...] = Field(
        (), description="Other pages whose scripts may ask, with tokens of their own (CORS)."
    )
    sample_rows: bool = Field(True, description="Whether rows of tables are shown.")
    requests_per_minute: int = Field(1200, ge=1, le=1_000_000, description="Of one asker.")
    request_seconds: float = Field(30.0, ge=1, le=3600, description="Longer ones are given up.")
    answer_seconds: float = Field(
        120.0, ge=1, le=3600, description="Likewise, of answers in cells and of statements."
    )
    usage_days: int = Field(
        90, ge=0, le=3650, description="How long questions that failed are kept; 0: not at all."
    )
