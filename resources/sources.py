"""The configured sources, which open themselves as for the command line."""

import os
from pathlib import Path

from pydantic import PrivateAttr

from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.resources.deployment import DeploymentPart


class SourcesResource(DeploymentPart):
    """Where tables come from. Credentials stay in environment variables, named by each entry."""

    _opened: list[Source] | None = PrivateAttr(default=None)

    def release(self) -> None:
        """Let go of the sources now; asked again, they are opened anew."""
        for source in self._opened or ():
            source.close()
        self._opened = None

    @property
    def opened(self) -> list[Source]:
        """Every source, made once, so that what one stage learns of a file serves the next."""
        if self._opened is None:
            says, base = self.loaded.deployment, Path(self.loaded.base)
            configs = [source.resolved(base) for source in says.sources]
            self._opened = [IsolatedSource(config, os.environ, says.limits) for config in configs]
        return self._opened
