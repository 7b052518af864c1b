"""What questions need: the index, models and sources of one deployment, opened when needed."""

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.service import state

if TYPE_CHECKING:
    from pneuma_assets.core.models.base import Encoder, LanguageModel
    from pneuma_assets.core.search.judge import Judge
    from pneuma_assets.core.service.answer import Answering
    from pneuma_assets.core.service.engine import LiveQueryEngine


class QuerySession(Closing):
    """The index, models and sources of one deployment, each opened by the first that needs it.

    Closed, it raises `StateError` where it would open something that nobody closes.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
        encoder: Returns the configured encoder, which is not closed with these.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        environ: Mapping[str, str],
        encoder: "Callable[[], Encoder]",
    ) -> None:
        self._loaded, self._environ, self._encoder = loaded, environ, encoder
        self._opened: dict[str, Any] = {}
        self._stack, self._lock, self._closed = ExitStack(), threading.RLock(), False

    def close(self) -> None:
        """Close all that was opened."""
        with self._lock:
            self._closed = True
        self._stack.close()

    @property
    def engine(self) -> "LiveQueryEngine":
        """What searches the index."""
        from pneuma_assets.core.service.engine import LiveQueryEngine

        given = self._loaded, self._environ, self._encoder, self.judge
        return self._once("engine", lambda: LiveQueryEngine(*given))  # type: ignore[no-any-return]

    @property
    def answering(self) -> "Answering":
        """What answers in cells."""
        from pneuma_assets.core.service.answer import Answering

        given = self._loaded, self._environ, lambda: self.engine, lambda: self.model("answers")
        return self._once("answering", lambda: Answering(*given))  # type: ignore[no-any-return]

    def judge(self) -> "Judge | None":
        """Return the deployment's judge, a language model or a reranker, if there is one."""
        from pneuma_assets.core.models.reranker import Reranker

        config = self._loaded.deployment.judge
        if (model := config.model) is None or not config.reranker:
            return self.model("judge")
        return self._once("judge", lambda: Reranker(model, self._environ))  # type: ignore[no-any-return]

    def model(self, section: str) -> "LanguageModel | None":
        """Return the model of a section (`answers`, `judge`, `seek`); None where it names none."""
        from pneuma_assets.core.models.language.registry import open_language_model

        config: ModelConfig | None = getattr(self._loaded.deployment, section).model
        if config is None:
            return None
        folder = state.models_folder(self._loaded)
        return self._once(section, lambda: open_language_model(config, folder, self._environ))  # type: ignore[no-any-return]

    def _once(self, name: str, open_it: Callable[[], Any]) -> Any:
        with self._lock:
            if name not in self._opened:
                if self._closed:
                    raise StateError("Workspace was released; call it again.")
                self._opened[name] = resource = open_it()
                self._stack.callback(resource.close)
            return self._opened[name]
