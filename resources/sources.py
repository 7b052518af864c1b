"""The configured sources, which open themselves as for the command line."""

import os
from collections.abc import Sequence

from pydantic import PrivateAttr

from pneuma_assets.core.service.sources import open_sources
from pneuma_assets.core.sources.base import Source
from pneuma_assets.resources.deployment import DeploymentPart


class SourcesResource(DeploymentPart):
    """Where tables come from. Credentials stay in environment variables, named by each entry."""

    _opened: Sequence[Source] | None = PrivateAttr(default=None)

    def release(self) -> None:
        """Let go of the sources now; asked again, they are opened anew."""
        for source in self._opened or ():
            source.close()
        self._opened = None

    @property
    def opened(self) -> Sequence[Source]:
        """Every source, made once, so that what one stage learns of a file serves the next."""
        if self._opened is None:
            self._opened = open_sources(self.loaded, os.environ)
        return self._opened
