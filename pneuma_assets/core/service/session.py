"""What questions need, closed when the last one that is being asked has ended.

A workspace may be released while other threads ask it. These go on with what they have, and what
they open meanwhile belongs to the same session: nothing is opened that nobody closes.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.service import state

if TYPE_CHECKING:
    from pneuma_assets.core.models.base import Encoder, LanguageModel
    from pneuma_assets.core.service.answer import Answering
    from pneuma_assets.core.service.engine import LiveQueryEngine


class QuerySession:
    """The index, models and sources of one deployment, each opened when first needed.

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
        self.opened: dict[str, Any] = {}
        self._stack = ExitStack()
        self._opening, self._counting = threading.RLock(), threading.Lock()
        self._asking = 0
        self._retired = False

    @contextmanager
    def asking(self) -> Iterator[Self]:
        """Keep all open while a question is asked.

        Raises:
            StateError: They were retired.
        """
        with self._counting:
            if self._retired:
                raise StateError("Workspace was released; call it again.")
            self._asking += 1
        try:
            yield self
        finally:
            with self._counting:
                self._asking -= 1
                last = self._retired and not self._asking
            if last:
                self._stack.close()

    def retire(self) -> None:
        """Close all now, or when the last question has ended; again, it does nothing."""
        with self._counting:
            last = not self._retired and not self._asking
            self._retired = True
        if last:
            self._stack.close()

    @property
    def engine(self) -> "LiveQueryEngine":
        """What searches the index."""
        return self._once("engine", self._open_engine)  # type: ignore[no-any-return]

    @property
    def answering(self) -> "Answering":
        """What answers in cells."""
        return self._once("answering", self._open_answering)  # type: ignore[no-any-return]

    @property
    def judge(self) -> "LanguageModel | None":
        """The model that judges candidates; None where the deployment names none."""
        config = self._loaded.deployment.judge.model
        return None if config is None else self._model("judge", config)

    @property
    def answers_model(self) -> "LanguageModel | None":
        """The model that writes statements; None where the deployment names none."""
        config = self._loaded.deployment.answers.model
        return None if config is None else self._model("answers_model", config)

    def _once(self, name: str, open_it: Callable[[], Any]) -> Any:
        """Return a resource, opened by one thread; `StateError` where nobody would close it."""
        with self._opening:
            if name not in self.opened:
                with self._counting:
                    if self._retired and not self._asking:
                        raise StateError("Workspace was released; call it again.")
                part = open_it()
                self._stack.callback(part.close)
                self.opened[name] = part
            return self.opened[name]

    def _model(self, name: str, config: ModelConfig) -> "LanguageModel":
        from pneuma_assets.core.models.language.registry import open_language_model

        folder = state.models_folder(self._loaded)
        model: LanguageModel = self._once(
            name, lambda: open_language_model(config, folder, self._environ)
        )
        return model

    def _open_engine(self) -> "LiveQueryEngine":
        from pneuma_assets.core.index.registry import index_credentials
        from pneuma_assets.core.service.engine import LiveQueryEngine

        return LiveQueryEngine(
            self._loaded,
            self._environ,
            self._encoder,
            lambda: self.judge,
            index_credentials(self._loaded.deployment.index, self._environ),
        )

    def _open_answering(self) -> "Answering":
        from pneuma_assets.core.service.answer import Answering

        return Answering(
            self._loaded, self._environ, lambda: self.engine, lambda: self.answers_model
        )
