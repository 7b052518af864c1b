"""Figures for Prometheus. No label holds a table's name, a question, or who asks."""

import hmac
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.requests import Request

from pneuma_assets.core.config.secrets import read_secret
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.core.models.usage import Usage

T = TypeVar("T")

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """What one server counts; several workers add up through PROMETHEUS_MULTIPROC_DIR.

    Args:
        config: The section `web`.
        environ: Holds the token that reads them.
    """

    def __init__(self, config: WebConfig, environ: Mapping[str, str]) -> None:
        variable, where = config.metrics_token_env, "web.metrics_token_env"
        self._token = variable and read_secret(environ, variable, where, "what reads /metrics")
        self._registry = CollectorRegistry()
        named = partial(_named, self._registry)
        labels = ("method", "route")
        self._requests = named(Counter, "requests", "Requests answered.", (*labels, "status"))
        self._seconds = named(
            Histogram, "request_seconds", "Time to answer.", labels, buckets=_BUCKETS
        )
        self._asked = named(Counter, "model_requests", "Requests to language models.")
        self._tokens = named(Counter, "model_tokens", "Read and written by them.", ("how",))
        self._cost = named(Counter, "model_cost", "What they cost, by the prices of `models`.")
        self._running = named(
            Gauge, "requests_in_progress", "Being answered.", multiprocess_mode="livesum"
        )

    def is_reader(self, request: Request) -> bool:
        """Tell whether a request bears the token that reads them."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        mine = (self._token or "").encode()
        is_same = hmac.compare_digest(token.strip().encode("utf-8", "replace"), mine)
        return bool(mine) and scheme.lower() == "bearer" and is_same

    @contextmanager
    def in_progress(self) -> Iterator[None]:
        """Count what is being answered."""
        with self._running.track_inprogress():
            yield

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer; routes are as they are written in this program."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def note_usage(self, used: Usage) -> None:
        """Count what language models were asked for a request."""
        self._asked.inc(used.calls)
        self._tokens.labels("read").inc(used.read)
        self._tokens.labels("written").inc(used.written)
        self._cost.inc(used.cost)

    def text(self) -> bytes:
        """Return all figures, those of other workers included, in the format of Prometheus."""
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _named(
    registry: CollectorRegistry,
    kind: type[T],
    name: str,
    what: str,
    labels: tuple[str, ...] = (),
    **more: Any,
) -> T:
    return kind(name, what, labels, registry=registry, namespace="pneuma", **more)  # type: ignore[call-arg]
