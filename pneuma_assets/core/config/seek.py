"""Conversations that end in the table somebody needed: who conducts them, and their budgets."""

from pydantic import Field

from pneuma_assets.core.config.models import ModelChoice
from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.section_base import Section


class SeekConfig(Section):
    """What a conversation may take (Pneuma-Seeker, section 3.2); budgets are of a whole one."""

    model: ModelChoice | None = Field(
        None, description="The language model that conducts; none: people edit what is proposed."
    )
    replies: int = Field(
        5, ge=1, le=20, description="Most replies of the model, of up to five actions each, a turn."
    )
    confirm: bool = Field(True, description="Whether nothing is made before the person agrees.")
    prompt_tokens: int = Field(
        30_000, ge=1_000, le=200_000, description="Most of one prompt; below 3,000 the short form."
    )
    reply_tokens: int = Field(4_000, ge=200, le=50_000, description="Most of one answer.")
    requests: int = Field(200, ge=1, description="Most requests to the model.")
    tokens: int = Field(500_000, ge=1_000, description="Most tokens, read and written.")
    seconds: float = Field(3600.0, gt=0.0, description="Most seconds that it works.")
    cost: float | None = Field(None, gt=0.0, description="Most money, by the model's prices.")
    rows: int = Field(50, ge=1, le=10_000, description="Most rows of a query that are shown.")
    file_megabytes: int = Field(20, ge=1, le=500, description="Most of a person's own file.")
    web: EndpointUrl | None = Field(
        None, description="Base URL of a SearXNG server; none: the web is not searched."
    )
    web_key_env: VariableName | None = Field(
        None, description="Names the variable with a bearer token for that server."
    )
