"""One file describes a deployment; Dagster and the command line read the same one.

Secrets never stand in the file: it names the environment variables that hold them.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import (
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from pneuma_assets.core.config.index import IndexConfig, engine_named
from pneuma_assets.core.config.models import (
    PACKAGED_ENCODER,
    PACKAGED_MODEL,
    AnswersConfig,
    BenchConfig,
    EncoderConfig,
    JudgeConfig,
    ModelConfig,
    NarrationConfig,
)
from pneuma_assets.core.config.query import QueryConfig
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.seek import SeekConfig
from pneuma_assets.core.config.small_sections import (
    DagsterConfig,
    IndexingConfig,
    LimitsConfig,
    LineageConfig,
    PrivacyConfig,
    SamplingConfig,
    StateChoice,
    StateConfig,
)
from pneuma_assets.core.config.source_kinds import AnySource
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.config.values import DeploymentName, LocalPath
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.core.text.suggest import nearest

_MODELS = TypeAdapter(dict[str, ModelConfig])


class Deployment(Section):
    """Everything that one deployment needs to know."""

    name: DeploymentName | None = Field(None, description="Tells it from others in one Dagster.")
    home: LocalPath = Field(Path(".pneuma"), description="State folder; relative to the file.")
    state: StateChoice = StateConfig()
    privacy: PrivacyConfig = PrivacyConfig()
    sources: tuple[AnySource, ...] = ()
    sampling: SamplingConfig = SamplingConfig()
    models: dict[str, ModelConfig] = Field({}, description="Models by the names that sections use.")
    narration: NarrationConfig = NarrationConfig()
    judge: JudgeConfig = JudgeConfig()
    encoder: EncoderConfig = EncoderConfig()
    index: IndexConfig = IndexConfig()
    query: QueryConfig = QueryConfig()
    answers: AnswersConfig = AnswersConfig()
    seek: SeekConfig = SeekConfig()
    indexing: IndexingConfig = IndexingConfig()
    limits: LimitsConfig = LimitsConfig()
    lineage: LineageConfig = LineageConfig()
    bench: BenchConfig = BenchConfig()
    dagster: DagsterConfig = DagsterConfig()
    web: WebConfig = WebConfig()

    @property
    def key_prefix(self) -> str:
        """What the asset keys of this deployment begin with, parts with '/' between them."""
        named = "pneuma" if self.name is None else f"pneuma/{self.name}"
        return self.dagster.key_prefix or named

    @property
    def language_models(self) -> dict[str, ModelConfig]:
        """The language model of each section that names one."""
        named = {
            "narration": self.narration.model,
            "judge": self.judge.model,
            "answers": self.answers.model,
            "seek": self.seek.model,
        }
        return {name: one for name, one in named.items() if one is not None}

    @property
    def notices(self) -> list[str]:
        """What models lack or do without, and caveats of sources."""
        used = self.language_models
        absent = [f"{name}: {one.absence}" for name, one in used.items() if one.absence]
        models = absent or (self.narration.notice, self.answers.notice)
        sources = (one.caveat and f"source {one.name}: {one.caveat}" for one in self.sources)
        return [notice for notice in (*models, *sources) if notice]

    @model_validator(mode="before")
    @classmethod
    def _models_by_name(cls, given: Any) -> Any:
        """Put the entry of `models` in the place of its name, wherever a section names one."""
        models = given.get("models") if isinstance(given, Mapping) else None
        try:
            known = _MODELS.validate_python(models or {})
        except ValidationError:
            return given  # which the key itself says
        if not known:
            return given
        named = {}
        for key, section in given.items():
            name = section.get("model") if isinstance(section, Mapping) else None
            if key != "models" and isinstance(name, str):
                named[key] = {**section, "model": known.get(name, name)}
                meant = [entry for entry, one in known.items() if one.model == name]
                near = meant or nearest(name, known, 1, 0.6)
                own = name in {*known, PACKAGED_ENCODER, PACKAGED_MODEL}
                if near and not own and not re.search(r"/|\.gguf$", name):
                    raise _unknown_model(key, name, near[0])
        return {**given, **named}

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

    @field_validator("sources", mode="after")
    @classmethod
    def _rules_of_all_hold_in_each(
        cls, sources: tuple[SourceConfig, ...], info: ValidationInfo
    ) -> tuple[SourceConfig, ...]:
        """Whoever opens a source by its entry alone then knows every rule."""
        of_all = info.data.get("privacy", PrivacyConfig())
        if of_all == PrivacyConfig():
            return sources
        return tuple(
            one.model_copy(update={"privacy": of_all.joined(one.privacy)}) for one in sources
        )

    @model_validator(mode="after")
    def _what_is_shared_is_shared_whole(self) -> Self:
        """Machines that share a state but no index would each miss the other's tables for ever."""
        engine = engine_named(self.index.engine)
        if self.state.url is not None and engine.of_one_machine:
            raise ValueError(
                "state.url is a server, which several machines can share, but the index of engine "
                f"{engine.name} is one machine's; set index.engine: elasticsearch, or remove state"
            )
        return self


def _unknown_model(section: str, name: str, near: str) -> ValidationError:
    error = PydanticCustomError("model_unknown", "is no entry of models", {"near": near})
    details = InitErrorDetails(type=error, loc=(section, "model"), input=name)
    return ValidationError.from_exception_data("Deployment", [details], hide_input=True)
