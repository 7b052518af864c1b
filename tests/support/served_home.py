"""A small deployment of three sources with readers of their own, and servers of it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI
from starlette.testclient import TestClient

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.web.app import create_app
from pneuma_assets.web.policy import Policy

LAKE: Mapping[str, str] = {
    "lake/open/nature/penguins.csv": "species,island,mass\n"
    + "".join(f"{one},Dream,{3000 + at}\n" for at, one in enumerate(["Adelie", "Gentoo"] * 30)),
    "lake/open/nature/rivers.csv": "river,length\nDanube,2850\nRhine,1230\n",
    "lake/finance/salaries.csv": "payslip,zloty\nmonthly wages,5000\n",
    "lake/vault/keys.csv": "passphrase,xylophone\nvolga,1\n",
}
FILE = """
home: home
sources:
  - {type: folder, name: open, path: lake/open}
  - {type: folder, name: finance, path: lake/finance, readers: [finance]}
  - {type: folder, name: vault, path: lake/vault, readers: []}
"""
SECRET = "s" * 40


def loaded_from(file: Path, web: WebConfig | None = None) -> LoadedDeployment:
    """The deployment of a file, perhaps with another section `web`."""
    loaded = load_deployment(config=file, environ={})
    changed = {} if web is None else {"web": web}
    return replace(loaded, deployment=loaded.deployment.model_copy(update=changed))


def local_app(file: Path, web: WebConfig | None = None) -> FastAPI:
    """A server of one person, who need prove nothing."""
    return create_app(loaded_from(file, web), Policy(True, False, SECRET), {})


def guarded_app(
    file: Path, web: WebConfig | None = None, environ: Mapping[str, str] | None = None
) -> FastAPI:
    """A server that wants keys or tokens, reached by http."""
    return create_app(loaded_from(file, web), Policy(False, False, SECRET), environ or {})


def client_of(app: FastAPI, **headers: str) -> TestClient:
    return TestClient(
        app, base_url="http://localhost", headers=headers, raise_server_exceptions=False
    )
