"""Commands that messages name, so that they can be copied: they are about the same deployment."""

import re
import shlex
from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path

_HINT: ContextVar[tuple[str, str]] = ContextVar("hint", default=("", ""))
"""A pattern of how a hint begins, and what stands in its place."""


def name_deployment(commands: Iterable[str], home: Path | None, config: Path | None) -> None:
    """Let hints from here on name the options that chose the deployment; none: as they are."""
    given = {"--home": home, "--config": config}
    options = "".join(f" {name} {shlex.quote(str(one))}" for name, one in given.items() if one)
    names = "|".join(map(re.escape, commands))
    begins = rf"\bpneuma-assets(?= (?:{names})\b)" if options else ""
    _HINT.set((begins, f"pneuma-assets{options}"))


def copyable(text: str) -> str:
    """Return a text whose hints (`pneuma-assets COMMAND`) name the options that were given."""
    begins, named = _HINT.get()
    return re.sub(begins, lambda _: named, text) if begins else text
