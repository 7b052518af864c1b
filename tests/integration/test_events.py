"""A bucket that tells of its changes: a real queue, and no listing where nothing was told."""

import json

import boto3
import dagster as dg
import pytest

from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.sources.files.object_store import ObjectStorage
from pneuma_assets.core.sources.kinds.object_stores import FULL_SCAN_HOURS
from tests.support.ticks import Ticking

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("read_here")]

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


class Told:
    """A deployment of one bucket, whose changes a queue tells of."""

    def __init__(self, root, instance, endpoint) -> None:
        said = {"endpoint_url": endpoint, "region_name": "us-east-1"}
        self.s3, self.sqs = boto3.client("s3", **said), boto3.client("sqs", **said)
        self.s3.create_bucket(Bucket="lake")
        self.queue = self.sqs.create_queue(QueueName="changes")["QueueUrl"]
        source = {"type": "s3", "name": "lake", "bucket": "lake", "prefix": "tables/"}
        self.source = {**source, "endpoint_url": endpoint, "events_queue_url": self.queue}
        self.put("tables/a.csv")
        self.ticking = Ticking(root, instance, sources=[self.source])

    def put(self, key: str, text: str = "id,name\n1,x\n") -> None:
        self.s3.put_object(Bucket="lake", Key=key, Body=text.encode())

    def send(self, *keys: str) -> None:
        records = [{"s3": {"bucket": {"name": "lake"}, "object": {"key": key}}} for key in keys]
        self.say(json.dumps({"Records": records}))

    def say(self, body: str) -> None:
        self.sqs.send_message(QueueUrl=self.queue, MessageBody=body)

    def left(self) -> int:
        """Messages in the queue, those included that were handed out and not removed."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.sqs.get_queue_attributes(QueueUrl=self.queue, AttributeNames=names)
        return sum(int(found["Attributes"][name]) for name in names)

    def skipped(self) -> str:
        decision = self.ticking.watch()
        assert isinstance(decision, dg.SkipReason), decision
        return decision.skip_message

    def asked(self) -> dg.RunRequest:
        decision = self.ticking.watch()
        assert isinstance(decision, dg.RunRequest), decision
        return decision


@pytest.fixture
def told(tmp_path, instance, monkeypatch, s3_endpoint):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return Told(tmp_path, instance, s3_endpoint)


@pytest.fixture
def walks(monkeypatch) -> list[str]:
    seen, walk = [], ObjectStorage.walk
    monkeypatch.setattr(ObjectStorage, "walk", lambda *given: seen.append("") or walk(*given))
    return seen


@pytest.mark.slow
def test_a_bucket_is_listed_when_its_queue_says_so_and_now_and_then(told, walks, monkeypatch):
    told.say(json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"}))
    told.ticking.execute(told.asked())
    assert told.left() == 0
    walks.clear()
    assert "no event was taken that tells of a change in lake" in told.skipped()
    told.put("tables/b.csv")
    told.send("elsewhere/b.csv")
    assert "no event was taken" in told.skipped(), "a prefix of somebody else"
    assert walks == []
    told.send("tables/b.csv", "tables/b.csv")
    request = told.asked()
    assert request.tags["pneuma/why"] == "1 table waits"
    assert (len(walks), told.left()) == (1, 0)
    told.ticking.execute(request)
    told.s3.delete_object(Bucket="lake", Key="tables/a.csv")
    told.send("tables/a.csv")
    told.send("tables/a.csv")
    assert told.asked().tags["pneuma/why"] == "1 table has left its source"
    told.ticking.execute()
    walks.clear()
    told.say("no JSON")
    told.skipped()
    assert len(walks) == 1, "nobody knows what that was about"
    told.put("tables/c.csv")  # its event is lost
    with open_store(told.ticking.loaded, {}) as store:
        now = store.now()
    monkeypatch.setattr(
        "pneuma_assets.core.store.store.Store.now", lambda _: now + 3600 * FULL_SCAN_HOURS + 100
    )
    told.asked()


@pytest.mark.slow
def test_messages_stay_until_what_they_say_is_kept_and_a_lost_queue_stops_nothing(
    told, walks, monkeypatch
):
    told.ticking.execute(told.asked())
    told.put("tables/b.csv")
    told.send("tables/b.csv")
    with monkeypatch.context() as patched:

        def die(*_):
            raise KeyboardInterrupt

        patched.setattr("pneuma_assets.core.store.store.Store.mark_changed", die)
        with pytest.raises(KeyboardInterrupt):
            told.ticking.watch()
    assert told.left() == 1
    told.sqs.delete_queue(QueueUrl=told.queue)
    walks.clear()
    assert told.asked().tags["pneuma/why"] == "1 table waits"
    assert len(walks) == 1, "as if there were no queue"
    with open_store(told.ticking.loaded, {}) as store:
        (problem,) = (one for one in store.problems.all() if one.stage == "events")
    assert "cannot be read" in problem.cause
