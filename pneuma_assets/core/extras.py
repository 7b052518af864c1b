"""Packages that not every installation has, and the extra of this project that brings each."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from pneuma_assets.core.errors import PneumaError

EXTRA_OF = {
    **dict.fromkeys(
        (
            *("torch", "transformers", "accelerate", "sentence_transformers"),
            *("xllamacpp", "gguf", "openai"),
        ),
        "models",
    ),
    **dict.fromkeys(("elasticsearch", "elastic_transport", "orjson"), "elasticsearch"),
    **dict.fromkeys(("boto3", "botocore", "dagster_aws"), "aws"),
    **dict.fromkeys(
        (
            *("authlib", "fastapi", "httpx", "itsdangerous", "jinja2", "joserfc"),
            *("prometheus_client", "python_multipart", "starlette", "uvicorn"),
        ),
        "web",
    ),
    "dagster_duckdb": "duckdb",
    "mcp": "mcp",
    "pandas": "seek",
    "psycopg": "postgresql",
    "openlineage": "openlineage",
    "deltalake": "delta",
    "pyiceberg": "iceberg",
    "python_calamine": "excel",
    "fastavro": "avro",
    "gcsfs": "gcs",
    "adlfs": "azure",
}
"""By the names that are imported; those of databases' drivers stand in `sources.sql.engines`."""


def needs_extra(what: str, extra: str) -> str:
    """Return the line that names an extra and how it is installed."""
    return f"{what} needs the extra {extra}: pip install 'pneuma-assets[{extra}]'"


def not_installed(module: str) -> str:
    """Return the line about a module that is not there, with the command that installs it."""
    name = module.partition(".")[0]
    if name in EXTRA_OF:
        return needs_extra(f"the package {name} is not installed; it", EXTRA_OF[name])
    return f"the package {name} is not installed: pip install {name}"


@contextmanager
def extra_for(what: str, error_type: type[PneumaError]) -> Iterator[None]:
    """Turn a failed import within the block into one line that says what to install.

    Args:
        what: What needs the package, as people know it.
        error_type: Raised in place of the `ImportError`.
    """
    try:
        yield
    except ImportError as error:
        name = (error.name or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and name in EXTRA_OF:
            raise error_type(needs_extra(what, EXTRA_OF[name])) from error
        cause = " ".join(str(error).split())[:300]
        raise error_type(f"{what} needs a package that cannot be imported ({cause})") from error


def require(what: str, error_type: type[PneumaError], *modules: str) -> None:
    """Raise the error of `extra_for` where a module is not installed; none is imported."""
    with extra_for(what, error_type):
        for module in modules:
            if not installed(module):
                raise ModuleNotFoundError(name=module)


def installed(*modules: str) -> bool:
    """Tell whether all these modules can be found; none is imported."""
    try:
        return all(name in sys.modules or find_spec(name) is not None for name in modules)
    except ModuleNotFoundError:
        return False
