"""What a source is told of by messages, so that it need not be listed to see a change.

Messages are lost, doubled and late, and anybody who may write to the queue writes them: they say
where to look, and nothing is believed of them. A full listing stays due.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Messages:
    """Some messages that were taken from a queue and are not yet removed from it."""

    handles: Sequence[str]
    """What the queue knows them by."""
    addresses: Sequence[str]
    """What has changed, as it is called where it is kept."""
    unread: int
    """How many messages could not be understood."""


class Mailbox(Protocol):
    """A queue of messages about what has changed."""

    @property
    def address(self) -> str:
        """Tells queues apart: several sources may share one."""
        ...

    @property
    def full_scan_s(self) -> float:
        """How long a source may rely on messages alone, in seconds."""
        ...

    def take(self, most: int, seconds: float) -> Messages:
        """Take up to `most` messages, in about so many seconds at most; none where there are none.

        Raises:
            SourceError: The queue cannot be read.
        """
        ...

    def discard(self, messages: Messages) -> None:
        """Remove messages for good, now that what they say is kept.

        Raises:
            SourceError: They cannot be removed, and will be taken again.
        """
        ...
