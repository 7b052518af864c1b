"""How a tick shares its time among queues that tell of changes."""

import pytest

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.events import ALL_SECONDS, SECONDS, consume_events
from pneuma_assets.core.pipeline.watch import TickBudget
from pneuma_assets.core.sources.files.s3_events import Messages
from pneuma_assets.core.sources.kinds.object_stores import S3SourceConfig
from pneuma_assets.core.store import Store


class TimedMailbox:
    """A queue in which there is always more, which takes all the time that it is given."""

    full_scan_s = 3600.0

    def __init__(self, name, clock) -> None:
        self.address, self.clock, self.away_s = f"https://queue/{name}", clock, 0.0
        self.told = Messages(["1"], [f"s3://{name}/t.csv"], 0)
        self.kept, self.given = 0, []

    def take(self, most, seconds):
        self.clock.now += self.away_s or seconds
        self.given.append(seconds)
        if self.away_s:
            raise SourceError("away")
        return self.told

    def discard(self, letters):
        self.clock.now += self.given[-1]
        self.kept += 1


class Clock:
    """Seconds that pass only where a queue takes them."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as store:
        yield store


def busy(count):
    """Return a clock, and the sources and queues of so many buckets."""
    clock, names = Clock(), [f"bucket-{number}" for number in range(count)]
    configs = [S3SourceConfig(name=name, bucket=name) for name in names]
    return clock, configs, {name: TimedMailbox(name, clock) for name in names}


def test_busy_queues_leave_time_for_listings_and_each_has_its_turn(store):
    clock, configs, mailboxes = busy(5)
    heard_in = []
    for _ in range(5):
        budget = TickBudget(clock=clock)
        before = {name: mailbox.kept for name, mailbox in mailboxes.items()}
        rests = consume_events(store, configs, mailboxes, budget)
        assert SECONDS < budget.spent <= ALL_SECONDS
        heard_in.append([name for name, one in mailboxes.items() if one.kept > before[name]])
        assert set(rests) == set(mailboxes), "what was not heard waits in its queue"
    assert [len(names) for names in heard_in] == [2] * 5
    assert {mailbox.kept for mailbox in mailboxes.values()} == {2}, "none had more than others"


def test_one_queue_is_heard_however_little_time_there_is(store):
    clock, configs, mailboxes = busy(2)
    budget = TickBudget(clock=clock)
    clock.now += 30.0
    consume_events(store, configs, mailboxes, budget)
    assert list(store.listings.notices()) == ["bucket-0"]
    assert budget.spent == 31.0


def test_a_queue_that_cannot_be_read_does_not_keep_its_turn(store):
    clock, configs, mailboxes = busy(3)
    mailboxes["bucket-0"].away_s = 20.0
    rests = consume_events(store, configs, mailboxes, TickBudget(clock=clock))
    assert (list(store.listings.notices()), list(rests)) == ([], ["bucket-1", "bucket-2"])
    assert [problem.subject for problem in store.problems.all()] == ["bucket-0"]
    rests = consume_events(store, configs, mailboxes, TickBudget(clock=clock))
    assert list(store.listings.notices()) == ["bucket-1", "bucket-2"]
    assert list(rests) == ["bucket-1", "bucket-2"], "nothing told of bucket-0 the last time"
