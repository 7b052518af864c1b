"""`pneuma-assets serve`: the page and the HTTP interface."""

import os
import socket
import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.output import print_line
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.extras import require

if TYPE_CHECKING:
    from pneuma_assets.workspace import Workspace

_NEEDED = ("fastapi", "uvicorn", "jinja2", "joserfc", "authlib", "httpx", "prometheus_client")


def serve(
    workspace: "Workspace",
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Where to listen; others than this machine need keys or OIDC."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where to listen.")] = 8765,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes, which share the index.")
    ] = 1,
) -> None:
    """Serve the page and the HTTP interface until interrupted."""
    require("pneuma-assets serve", ConfigError, *_NEEDED)
    import uvicorn

    from pneuma_assets.core.service.state import has_keys
    from pneuma_assets.web.policy import SERVER, VARIABLE, policy_of

    loaded = workspace.loaded
    by_key = loaded.deployment.web.oidc.issuer is None and has_keys(loaded, os.environ)
    policy = policy_of(loaded, host, os.environ, has_keys=by_key)
    shown = f"[{host}]" if ":" in host else host
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {shown}:{port} ({error.strerror}); choose another address with "
            "--host and --port, or end the program that listens there"
        ) from error
    with ExitStack() as stack:
        os.environ["PNEUMA_HOME"], os.environ[VARIABLE] = str(loaded.home), policy.to_environ()
        if loaded.file is not None:
            os.environ["PNEUMA_CONFIG"] = str(loaded.file)
        if workers > 1:
            folder = tempfile.TemporaryDirectory(prefix="pneuma-metrics-")
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = stack.enter_context(folder)
        print_line(f"http://{shown}:{port}  (Ctrl-C ends it)")
        uvicorn.run(
            "pneuma_assets.web.app:app_from_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            **SERVER,
        )
