"""From a deployment file's section to a language model."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pneuma_assets.core.config.models import PACKAGED_MODEL, ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.models.endpoint import endpoint_of
from pneuma_assets.core.models.language import smollm2
from pneuma_assets.core.models.language.llamacpp import LlamaCppModel
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.models.language.transformers.model import TransformersModel

WINDOW = 8192
"""Tokens of a prompt and its answer in llama.cpp, which takes memory for them at first use."""

MAX_BATCH = 128
"""Upper bound of the search for the best batch size."""


def open_language_model(
    config: ModelConfig, cache_dir: Path, environ: Mapping[str, str]
) -> LanguageModel:
    """Return a configured model; nothing is read, loaded or connected to before its first use.

    An `endpoint_url` means that endpoint and a `.gguf` file llama.cpp, unless there is a GPU; all
    else runs in transformers.

    Args:
        config: An entry of `models`.
        cache_dir: Where a converted model is kept.
        environ: Where the endpoint's key is looked up.

    A model that is missing or cannot be loaded raises `ModelError` at its first use.
    """
    if config.endpoint_url is not None:
        return OpenAIModel(config.model, endpoint_of(config.endpoint_url, config, environ))
    if config.model.endswith(".gguf") and not _uses_gpu(config.device):
        return LlamaCppModel(
            config.model,
            partial(_existing, Path(config.model)),
            device=config.device,
            window=config.context or WINDOW,
        )
    return TransformersModel(
        config.model,
        _location(config.model, cache_dir),
        device=config.device,
        dtype=config.dtype,
        max_batch=MAX_BATCH,
    )


def _uses_gpu(device: str) -> bool:
    if device != "auto":
        return device != "cpu"
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def _location(model: str, cache_dir: Path) -> Callable[[], str | Path]:
    """Return what finds the model that transformers loads: a path, or a hub id."""
    if model == PACKAGED_MODEL:
        return partial(smollm2.converted_folder, cache_dir)
    path = Path(model).expanduser()
    if path.is_absolute() or model.startswith(".") or model.endswith(".gguf") or path.exists():
        return partial(_existing, path)
    return lambda: model


def _existing(path: Path) -> Path:
    if not path.expanduser().exists():
        raise ModelError(f"There is no model at {path}; correct the path of the model")
    return path.expanduser()
