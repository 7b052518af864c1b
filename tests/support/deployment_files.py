"""Deployment files as tests need them: written and loaded in one call."""

import json
from collections.abc import Mapping
from pathlib import Path

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment


def folder_source(path: Path | str, name: str = "lake", **more: object) -> dict[str, object]:
    return {"type": "folder", "name": name, "path": str(path), **more}


def deploy(
    folder: Path,
    *sources: Mapping[str, object],
    file: str = "pneuma.yaml",
    environ: Mapping[str, str] | None = None,
    **sections: object,
) -> LoadedDeployment:
    """Write a deployment file whose state folder is `home` beside it, and load it."""
    described = {"home": "home", "sources": sources, **sections}
    (folder / file).write_text(json.dumps(described))
    return load_deployment(config=folder / file, environ=environ or {})
