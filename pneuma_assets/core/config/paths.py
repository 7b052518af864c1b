"""Makes the paths of a deployment absolute, so that no later change of folder moves anything."""

import os
from pathlib import Path
from typing import TypeVar

from pneuma_assets.core.config.deployment import Deployment, LanguageModelConfig
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import ConfigError

Model = TypeVar("Model", bound=LanguageModelConfig)


def with_absolute_paths(deployment: Deployment, base: Path, home: Path) -> Deployment:
    """Return the deployment with this home, and every other path resolved against `base`."""
    encoder = deployment.encoder
    return deployment.model_copy(
        update={
            "home": home,
            "sources": tuple(source.resolved(base) for source in deployment.sources),
            "narration": _resolved_model(base, deployment.narration),
            "judge": _resolved_model(base, deployment.judge),
            "encoder": encoder.model_copy(update={"model": _model_path(base, encoder.model)}),
            "index": _resolved_index(base, deployment.index),
        }
    )


def absolute(base: Path, path: Path) -> Path:
    """Resolve against `base`; links are followed only where `..` would lose its meaning."""
    try:
        joined = base / path.expanduser()
        return joined.resolve() if ".." in joined.parts else joined
    except (RuntimeError, ValueError, OSError) as error:
        raise ConfigError(f"{str(path)!r} is not a usable path: {error}") from error


def _resolved_index(base: Path, config: IndexConfig) -> IndexConfig:
    certificates = config.elasticsearch.ca_certs
    if certificates is None:
        return config
    server = config.elasticsearch.model_copy(update={"ca_certs": absolute(base, certificates)})
    return config.model_copy(update={"elasticsearch": server})


def _resolved_model(base: Path, config: Model) -> Model:
    if config.backend == "openai" or config.endpoint_url is not None:
        return config  # the name belongs to the endpoint
    return config.model_copy(update={"model": _model_path(base, config.model)})


def _model_path(base: Path, model: str) -> str:
    """Resolve a model that is a path; hub ids and built-in names stay as they are."""
    written_as_path = model.startswith(("/", "./", "../", "~")) or model.endswith(".gguf")
    path = absolute(base, Path(model))
    there = os.path.exists(path)  # noqa: PTH110 (unlike Path.exists, never raises)
    return str(path) if written_as_path or there else model
