"""Answers requests of `pneuma-bench paper`, a line of JSON each, in another environment."""

import json
import os
import sys
from typing import Any


def serve(retriever: Any) -> None:
    """Let a retriever answer each line; what fails becomes an error of that request.

    A request is a method of the retriever, `prepare` or `answer`, with its arguments.
    """
    # Packages print; what they print must not be taken for an answer.
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        method = getattr(retriever, {"prepare": "prepare", "answer": "answer"}[request.pop("do")])
        try:
            said = method(**request)
        except Exception as error:  # noqa: BLE001 (whatever a package raises is its reason)
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), file=own, flush=True)
