"""A language model behind a real endpoint that says what a script has, line by line."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.support.recording_endpoint import Endpoint, completion, serving

Line = dict[str, Any] | str | int | Callable[[str], "Line"]
"""An action or steps, a text of any form, a status to fail with, or what makes one of a prompt."""


def act(action: str, **given: Any) -> dict[str, Any]:
    """Return an action as the conductor's role answers it."""
    return {"actions": [{"action": action, **given}]}


def together(*replies: dict[str, Any]) -> dict[str, Any]:
    """Return several actions as one reply."""
    return {"actions": [one for reply in replies for one in reply["actions"]]}


def say(text: str = "Here it is.", **given: Any) -> dict[str, Any]:
    return act("message", text=text, **given)


class Script:
    """What the model says; past its end it says that the script has ended."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = list(lines)
        self.prompts: list[str] = []
        self._lock = threading.Lock()

    def reply(self, body: dict[str, Any]) -> tuple[int, object]:
        prompt = "\n".join(str(one["content"]) for one in body["messages"])
        with self._lock:
            self.prompts.append(prompt)
            line: Line = self.lines.pop(0) if self.lines else say("The script has ended.")
        while callable(line):
            line = line(prompt)
        if isinstance(line, int):
            return line, {"error": {"message": "as the script has it"}}
        status, answer = completion(line if isinstance(line, str) else json.dumps(line))
        answer["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return status, answer


@contextmanager
def scripted_model(*lines: Line) -> Iterator[tuple[Endpoint, Script]]:
    script = Script(lines)
    with serving(script.reply) as endpoint:
        yield endpoint, script
