"""A judge behind an endpoint that may not be shown what tables hold."""

from collections.abc import Iterator, Sequence

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Generation, LanguageModel


class WithheldJudge:
    """Refuses to judge: what it would be asked about holds sampled rows and values of tables.

    A refusal is heard of, where verdicts on less than the best text would be worse without a word.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Identifies model and weights."""
        return self._model.name

    def generate(
        self,
        prompts: Sequence[str],  # noqa: ARG002
        max_new_tokens: int,  # noqa: ARG002
        stop: Sequence[str] = (),  # noqa: ARG002
    ) -> Iterator[Generation]:
        """Refuse likewise; no caller asks a judge for text."""
        raise _refusal()

    def yes_probability(self, prompts: Sequence[str]) -> list[float | None]:
        """Raise `ModelError`, unless there is nothing to judge."""
        if not prompts:
            return []
        raise _refusal()

    def close(self) -> None:
        """Close the endpoint's connections."""
        self._model.close()


def _refusal() -> ModelError:
    return ModelError(
        "The judge is behind an endpoint, and would show it rows and values of tables; set "
        "judge.send_values: true to allow that, judge with a model on this machine, or ask without "
        "the judge (judge.enabled: false, --no-judge)"
    )
