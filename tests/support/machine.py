"""One of several machines: indexes as the command line does, until it is done or killed.

    python -m tests.support.machine CONFIG NAME ASKED

It takes itself for a machine called NAME, so that others know of it only by its lease, and notes
each table that its model is asked about in the file ASKED. Progress is printed, a line a step.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pneuma_assets.core.models.base import Conversation, Generation
from pneuma_assets.core.store import runs
from tests.support import pipeline_support
from tests.support.fake_model import FakeLanguageModel
from tests.support.word_encoder import WordEncoder

LEASE_S = 3.0


class NotingFake(FakeLanguageModel):
    """Answers as the fake does, a moment an answer, and notes what it was asked."""

    def __init__(self, asked: Path) -> None:
        super().__init__()
        self._asked = asked

    def generate(
        self, prompts: Sequence[Conversation], max_new_tokens: int, **more: object
    ) -> Iterator[Generation]:
        """Note a prompt when its answer is given: what is lost with a kill is asked again."""
        for generation in super().generate(prompts, max_new_tokens, **more):
            time.sleep(0.005)
            with self._asked.open("a") as file:
                file.write(repr(prompts[generation.index]) + "\n")
            yield generation


def main() -> None:
    """Index; ends as the process does."""
    config, name, asked = sys.argv[1:]
    patched = pytest.MonkeyPatch()
    patched.setattr(runs, "this_machine", lambda: name)
    patched.setattr(runs, "LEASE_S", LEASE_S)
    patched.setattr(runs, "BEAT_S", LEASE_S / 4)
    for module in ("pneuma_assets.resources.models", "pneuma_assets.core.models.encoder.encoder"):
        patched.setattr(f"{module}.open_encoder", lambda *_: WordEncoder())
    pipeline_support.index(Path(config), NotingFake(Path(asked)))


if __name__ == "__main__":
    main()
