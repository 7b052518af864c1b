"""From a deployment file's section to a language model."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pneuma_assets.core.config.models import PACKAGED_MODEL, ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.models.language import smollm2
from pneuma_assets.core.models.language.llamacpp import LlamaCppModel
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.models.language.transformers.model import TransformersModel

MAX_BATCH = 128
"""Upper bound of the search for the best batch size."""

CONCURRENCY = 32
"""Requests that an endpoint gets at once."""


def open_language_model(
    config: ModelConfig, cache_dir: Path, environ: Mapping[str, str]
) -> LanguageModel:
    """Return a configured model; nothing is read, loaded or connected to before its first use.

    An `endpoint_url` means that endpoint and a `.gguf` file llama.cpp, unless there is a GPU; all
    else runs in transformers. That is also the quicker one for the packaged model on a CPU: where
    that multiplies bfloat16 it narrates two to three times as many columns a second as llama.cpp,
    elsewhere about as many (`experiments.narration` of the benchmarks).

    Args:
        config: An entry of `models`.
        cache_dir: Where a converted model is kept.
        environ: Where the endpoint's key is looked up.

    A model that is missing or cannot be loaded raises `ModelError` at its first use.
    """
    if config.endpoint_url is not None:
        return OpenAIModel(
            config.model,
            config.endpoint_url,
            api_key=environ.get(config.api_key_env) or None,
            key_variable=config.api_key_env,
            concurrency=CONCURRENCY,
        )
    if config.model.endswith(".gguf") and not _uses_gpu(config.device):
        return LlamaCppModel(
            config.model, partial(_existing, Path(config.model)), device=config.device
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
