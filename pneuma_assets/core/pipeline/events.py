"""Consuming the messages of queues that tell of changes."""

from collections.abc import MutableMapping, Sequence

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.watch import TickBudget
from pneuma_assets.core.sources.files.s3_events import Messages, SqsMailbox
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Problem

STAGE = "events"
"""The stage of the problem that a source has while its queue cannot be read."""

MOST = 5000
"""Messages of a queue that one tick takes."""

SECONDS = 8.0
"""What a tick has for one queue; as long as taking messages takes, removing them takes."""

ALL_SECONDS = 15.0
"""What a tick has for all queues together: listings come after them."""


def consume_events(
    store: Store,
    configs: Sequence[SourceConfig],
    mailboxes: MutableMapping[str, SqsMailbox],
    budget: TickBudget | None = None,
) -> dict[str, float]:
    """Take the messages that wait, and keep which sources are to be listed because of them.

    At least one queue is heard, and no other is begun after `ALL_SECONDS` of the tick: its messages
    wait, so its source need not be listed, unless the queue could not be read the last time.

    A message is removed only after what it says is in the store: where this process dies between,
    a source is listed once too often.

    `mailboxes` are by the name of the source; one that has none is not there. What was heard goes
    to their end, so that the others come first the next time. A `budget` of None begins now.

    Returns:
        For how many seconds after a listing sources need not be listed; absent are those whose
        queue could not be read.
    """
    rests: dict[str, float] = {}
    budget = budget or TickBudget()
    away_before = {problem.subject for problem in store.problems.all() if problem.stage == STAGE}
    addresses = dict.fromkeys(one.address for one in mailboxes.values())
    for number, address in enumerate(addresses):
        sharing = [
            c for c in configs if c.name in mailboxes and mailboxes[c.name].address == address
        ]
        left_s = ALL_SECONDS - budget.spent
        if number and left_s <= 0:
            away = away_before
        else:
            mailboxes.update({config.name: mailboxes.pop(config.name) for config in sharing})
            seconds = min(SECONDS, max(left_s, 1.0)) / 2
            cause = _hear_one(store, sharing, mailboxes[sharing[0].name], seconds)
            away = set() if cause is None else {config.name for config in sharing}
        rests |= {c.name: mailboxes[c.name].full_scan_s for c in sharing if c.name not in away}
    return rests


def _hear_one(
    store: Store, sharing: Sequence[SourceConfig], mailbox: SqsMailbox, seconds: float
) -> str | None:
    """Hear one queue, and keep why it cannot be read; None: it can."""
    cause = None
    try:
        messages = mailbox.take(MOST, seconds)
        _keep(store, sharing, messages)
        mailbox.discard(messages)
    except SourceError as error:
        cause = str(error)
    for config in sharing:
        told = [] if cause is None else [Problem(config.name, STAGE, cause)]
        store.problems.record(config.name, STAGE, told)
    return cause


def _keep(store: Store, sharing: Sequence[SourceConfig], messages: Messages) -> None:
    """Note the sources of which a message tells, and all of them where one was not understood."""
    for config in sharing:
        mine = sum(config.holds(address) for address in messages.addresses)
        if not mine and not messages.unread:
            continue
        unread = f", {messages.unread:,} messages not understood" if messages.unread else ""
        store.mark_changed({}, {config.name: ()}, f"{mine:,} events{unread}")
