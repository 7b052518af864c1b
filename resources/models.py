"""Language models and the encoder, as Dagster resources; loaded at first use, freed at the end.

Nothing is loaded while a run waits for its pool: a model loaded early lands on a busy GPU.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import dagster as dg
from pydantic import Field, PrivateAttr

from pneuma_assets.core.config.models import (
    AnswersConfig,
    EncoderConfig,
    JudgeConfig,
    NarrationConfig,
)
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.pipeline.describe import describing_key
from pneuma_assets.resources.deployment import CheckedResource, read_section, section


class EncoderResource(CheckedResource):
    """The sentence encoder that embeds blocks and questions."""

    settings: Annotated[dict[str, Any], section(EncoderConfig)] = Field(
        description="The `encoder` section of the deployment file."
    )
    _encoder: Encoder | None = PrivateAttr(default=None)

    @property
    def config(self) -> EncoderConfig:
        """The encoder section of the deployment file."""
        return read_section(EncoderConfig, self.settings)

    @property
    def encoder(self) -> Encoder:
        """The encoder, opened once."""
        if self._encoder is None:
            self._encoder = open_encoder(self.config)
        return self._encoder


class LanguageModelResource(CheckedResource):
    """A language model that a section of the deployment file names, or none."""

    kind: ClassVar[type[NarrationConfig | JudgeConfig | AnswersConfig]]
    settings: dict[str, Any] = Field(description="A section of the deployment file.")
    cache: str = Field(description="The folder that converted models are kept in.")
    _model: LanguageModel | None = PrivateAttr(default=None)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:  # noqa: ARG002
        """Free the model's memory when the run ends."""
        try:
            yield self
        finally:
            self.release()

    @property
    def config(self) -> NarrationConfig | JudgeConfig | AnswersConfig:
        """The section of the deployment file."""
        return read_section(self.kind, self.settings)

    @property
    def model(self) -> LanguageModel | None:
        """The model, opened once; None where the section names none."""
        if self._model is None and self.config.model is not None:
            self._model = open_language_model(self.config.model, Path(self.cache), os.environ)
        return self._model

    def release(self) -> None:
        """Free the model's memory now; asked again, it is opened anew."""
        if self._model is not None:
            self._model.close()
            self._model = None


class NarratorResource(LanguageModelResource):
    """The model that describes columns (Pneuma, section 4)."""

    kind = NarrationConfig
    settings: Annotated[dict[str, Any], section(NarrationConfig)] = Field(
        description="The `narration` section of the deployment file."
    )

    @property
    def config(self) -> NarrationConfig:
        """The narration section of the deployment file."""
        return read_section(NarrationConfig, self.settings)

    @property
    def way(self) -> str:
        """What decides how columns are described."""
        return describing_key(self.model, self.config)


class JudgeResource(LanguageModelResource):
    """The model that demotes candidates that do not answer (section 5.1)."""

    kind = JudgeConfig
    settings: Annotated[dict[str, Any], section(JudgeConfig)] = Field(
        description="The `judge` section of the deployment file."
    )


class AnswersResource(LanguageModelResource):
    """The model that writes statements (Octopus, section 5)."""

    kind = AnswersConfig
    settings: Annotated[dict[str, Any], section(AnswersConfig)] = Field(
        description="The `answers` section of the deployment file."
    )
