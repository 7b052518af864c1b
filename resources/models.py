"""The models that index, as Dagster resources; loaded at first use, freed at the end.

Nothing is loaded while a run waits for its pool: a model loaded early lands on a busy GPU.
"""

import os

from pydantic import PrivateAttr

from pneuma_assets.core.config.models import EncoderConfig, NarrationConfig
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.pipeline.describe import describing_key
from pneuma_assets.core.service.state import models_folder
from pneuma_assets.resources.deployment import DeploymentPart


class EncoderResource(DeploymentPart):
    """The sentence encoder that embeds blocks and questions."""

    _encoder: Encoder | None = PrivateAttr(default=None)

    @property
    def config(self) -> EncoderConfig:
        """The encoder section of the deployment file."""
        return self.loaded.deployment.encoder

    @property
    def encoder(self) -> Encoder:
        """The encoder, opened once."""
        if self._encoder is None:
            self._encoder = open_encoder(self.config)
        return self._encoder


class NarratorResource(DeploymentPart):
    """The language model that describes columns (Pneuma, section 4), or none."""

    _model: LanguageModel | None = PrivateAttr(default=None)

    @property
    def config(self) -> NarrationConfig:
        """The narration section of the deployment file."""
        return self.loaded.deployment.narration

    @property
    def model(self) -> LanguageModel | None:
        """The model, opened once; None where the section names none."""
        if self._model is None and self.config.model is not None:
            folder = models_folder(self.loaded)
            self._model = open_language_model(self.config.model, folder, os.environ)
        return self._model

    @property
    def way(self) -> str:
        """What decides how columns are described."""
        return describing_key(self.model, self.config)

    def release(self) -> None:
        """Free the model's memory now; asked again, it is opened anew."""
        if self._model is not None:
            self._model.close()
            self._model = None
