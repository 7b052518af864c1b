"""How a cluster that keeps the index is reached, and how the index is made there."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from pneuma_assets.core.config.secrets import VariableName
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.values import (
    IndexName,
    LocalPath,
    NodeUrl,
    Replicas,
    is_exposed,
    matching,
)

_USER = matching(
    r"[!-9;-~]([ -9;-~]*[!-9;-~])?", "must be ASCII without ':' and without blanks at its ends"
)


class ElasticsearchConfig(Section):
    """An Elasticsearch 9 cluster; secrets stay in environment variables."""

    timeout_seconds: ClassVar[float] = 30.0
    """Of one request, after which it counts as lost; what was replaced is kept for two of them."""
    patience_seconds: ClassVar[float] = 60.0
    """How long a call tries again while the cluster cannot, so that a node may restart."""

    urls: tuple[NodeUrl, ...] = Field(
        ("http://localhost:9200",), min_length=1, description="Of one node, or of several."
    )
    name: IndexName = Field(
        "pneuma", description="The alias that is asked; its indices are called NAME-000001 and so."
    )
    api_key_env: VariableName | None = Field(
        None, description="Names the variable that holds an encoded API key."
    )
    username: Annotated[str, _USER] | None = Field(None, max_length=1024)
    password_env: VariableName | None = None
    ca_certs: LocalPath | None = Field(
        None, description="PEM file of the authority that signed the nodes' certificates."
    )
    insecure_http: bool = Field(
        default=False, description="Send secrets unencrypted to other machines."
    )
    shards: int = Field(1, ge=1, le=1024)
    replicas: Replicas = Field(
        "auto", description="Copies of each shard; 'auto' is one where there is a second node."
    )
    quantization: Literal["bbq", "int8", "none"] = "bbq"

    @model_validator(mode="after")
    def _signs_in_one_way_and_safely(self) -> Self:
        """Refuse what would show up as a refusal of the cluster later, or give a secret away."""
        if self.api_key_env is not None and self.username is not None:
            raise ValueError("give api_key_env, or username and password_env, not both")
        if (self.username is None) != (self.password_env is None):
            raise ValueError("username and password_env belong together; give both, or neither")
        signs_in = self.api_key_env is not None or self.username is not None
        exposed = [url for url in self.urls if is_exposed(url)]
        if signs_in and exposed and not self.insecure_http:
            raise ValueError(
                f"{exposed[0]} would carry the secret unencrypted; use https, or set "
                "insecure_http: true in a network that you trust"
            )
        plain = [url for url in self.urls if not url.startswith("https://")]
        if plain and self.ca_certs is not None:
            raise ValueError(f"ca_certs needs https, but urls has {plain[0]}")
        return self
