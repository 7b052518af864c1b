"""Paths of a deployment file, made absolute so that no later change of folder moves anything."""

import os
from pathlib import Path

from pneuma_assets.core.errors import ConfigError


def absolute(base: Path, path: Path) -> Path:
    """Resolve against `base`; links are followed only where `..` would lose its meaning."""
    try:
        joined = base / path.expanduser()
        return joined.resolve() if ".." in joined.parts else joined
    except (RuntimeError, ValueError, OSError) as error:
        raise ConfigError(f"{str(path)!r} is not a usable path: {error}") from error


def model_path(base: Path, model: str) -> str:
    """Resolve a model that is a path; hub ids and built-in names stay as they are."""
    written_as_path = model.startswith(("/", "./", "../", "~")) or model.endswith(".gguf")
    path = absolute(base, Path(model))
    there = os.path.exists(path)  # noqa: PTH110 (unlike Path.exists, never raises)
    return str(path) if written_as_path or there else model
