"""Sources that are read in this process: to start another one takes a second."""

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import PneumaError, TableReadError
from pneuma_assets.core.sources.privacy.source import open_private


class ReaderHere:
    """Answers as `core.sources.isolation.reader_handle.Reader` does, without its bounds."""

    answered = spent = grown = ended = False
    idle = True

    def __init__(
        self, config: SourceConfig, environ: Mapping[str, str], _limits: LimitsConfig
    ) -> None:
        self._source = open_private(config, config.environment(environ))
        self.close = weakref.finalize(self, self._source.close)

    def ask(self, method: str, *arguments: object) -> Iterator[object]:
        """Yield what the source's method returns: all batches of a scan, or one answer."""
        if method == "scan":
            self._source.close()  # it forgets what it knows of tables
        try:
            answer = getattr(self._source, method)(*arguments)
            yield from answer if method == "scan" else [answer]
        except PneumaError:
            raise
        except Exception as error:
            raise TableReadError(f"Unexpected {type(error).__name__}: {error}") from error


@contextmanager
def reading_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pneuma_assets.core.sources.isolation.source.Reader", ReaderHere)
        yield
