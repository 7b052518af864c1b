"""What S3's notifications say, in each of the ways that they come, and what is none of them."""

import json

import pytest

from pneuma_assets.core.sources.files.s3_events import MAX_CHARS, addresses_in


def record(key: str, bucket: str = "data", name: str = "ObjectCreated:Put") -> dict:
    about = {"bucket": {"name": bucket}, "object": {"key": key, "size": 3, "eTag": "x"}}
    return {"eventSource": "aws:s3", "eventName": name, "s3": about}


PUT = json.dumps(
    {"Records": [record("tables/a+b%3D1.csv"), record("c", name="ObjectRemoved:Delete")]}
)
BRIDGE = {"source": "aws.s3", "detail-type": "Object Created"}
BRIDGE["detail"] = {"bucket": {"name": "data"}, "object": {"key": "a+b.csv"}}
TEST = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "data"})


@pytest.mark.parametrize(
    ("body", "addresses"),
    [
        (PUT, ["s3://data/tables/a b=1.csv", "s3://data/c"]),
        (json.dumps({"Type": "Notification", "Message": PUT}), addresses_in(PUT)),
        (json.dumps(BRIDGE), ["s3://data/a+b.csv"]),
        (TEST, []),
        (json.dumps({"Type": "Notification", "Message": TEST}), []),
        (json.dumps({"Records": []}), []),
    ],
)
def test_what_messages_are_about(body, addresses):
    assert addresses_in(body) == addresses


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "[]",
        "7",
        "null",
        "{}",
        '{"Records": 7}',
        '{"Records": [{}]}',
        '{"Records": [{"s3": {"bucket": {"name": 1}, "object": {"key": 2}}}]}',
        '{"detail": {"bucket": "data"}}',
        '{"Message": "no JSON"}',
        "[" * 100_000,
        '{"a": ' * 100_000,
        f'{{"Records": [], "more": "{"x" * MAX_CHARS}"}}',
    ],
)
def test_what_is_no_notification_is_told_apart(body):
    assert addresses_in(body) is None
