"""An encoder that is away when an index is opened: words can be searched until it is back."""

from collections.abc import Callable, Sequence

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Encoder, is_elsewhere
from pneuma_assets.core.tables import Vector


class LateEncoder:
    """Opens the encoder whenever it is needed, until that succeeds; keeps `models.base.Encoder`.

    All that needs the model raises `ModelError` while it cannot be opened, or is another one.

    Args:
        name: Of the encoder that built the index.
        dimension: Of its vectors.
        open_it: Opens the configured encoder.
    """

    def __init__(self, name: str, dimension: int, open_it: Callable[[], Encoder]) -> None:
        self.name, self.dimension = name, dimension
        self._open = open_it
        self._opened: Encoder | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether texts leave this machine for it."""
        return is_elsewhere(self._encoder())

    @property
    def window(self) -> int:
        """Most tokens of text read at once."""
        return self._encoder().window

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return where each token of each text starts and ends, in characters."""
        return self._encoder().token_spans(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        """Embed texts of an index."""
        return self._encoder().encode_documents(texts)

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions."""
        return self._encoder().encode_queries(texts)

    def _encoder(self) -> Encoder:
        if self._opened is None:
            found = self._open()
            if found.name != self.name:
                raise ModelError(
                    f"The search index was built with encoder {self.name!r}, and {found.name!r} is "
                    "configured; configure the old one, or let pneuma-assets index build it anew."
                )
            self._opened = found
        return self._opened
