"""Who describes the columns of a page: a short mark in each cell, and one legend for all."""

from datetime import UTC, datetime

from pneuma_assets.core.tables import Description
from pneuma_assets.core.text.safe import plain_in_markdown

DESCRIBED_BY = "described by"
"""Metadata of a page that says what the marks stand for."""


class Signatures:
    """Numbers whoever describes columns of one page, in the order in which they are met."""

    def __init__(self) -> None:
        self._sure: dict[str, list[float]] = {}

    def signed(self, said: Description) -> str:
        """Return a description with the mark of who says it; without one where nobody is named."""
        text = plain_in_markdown(said.text)
        if said.source in ("", str(said.provenance)):
            return text
        who = f"{said.provenance}: {plain_in_markdown(said.source)}"
        if said.said_at is not None:
            who += f", {datetime.fromtimestamp(said.said_at, UTC).date().isoformat()}"
        sure = self._sure.setdefault(who, [])
        if said.confidence is not None:
            sure.append(said.confidence)
        return f"{text} {_mark([*self._sure].index(who))}"

    def legend(self) -> str:
        """Return a line a mark: who that is, when they said it, and how sure; empty without any."""
        lines = [
            f"{_mark(at)} {who}{_range(sure)}" for at, (who, sure) in enumerate(self._sure.items())
        ]
        return "\n\n".join(lines)


def _mark(at: int) -> str:
    """Return `[1]` for the first, escaped, as Markdown would take it for a link."""
    return rf"\[{at + 1}\]"


def _range(sure: list[float]) -> str:
    ends = dict.fromkeys(f"{one:.2f}" for one in (min(sure), max(sure))) if sure else ()
    return f", confidence {' to '.join(ends)}" if ends else ""
