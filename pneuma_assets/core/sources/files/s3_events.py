"""S3 event notifications from an SQS queue: straight, through SNS, or through EventBridge.

Formats: https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
and https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from boto3.session import Session


AT_ONCE = 10
"""SQS hands out, and removes, so many messages a request."""

MAX_CHARS = 1_100_000
"""Longer bodies than SQS allows (1 MiB) are not parsed."""


@dataclass(frozen=True, slots=True)
class Messages:
    """Some messages that were taken from a queue and are not yet removed from it.

    They are lost, doubled and late, and anybody who may write to the queue writes them: they say
    where to look, and nothing is believed of them. A full listing stays due.

    Attributes:
        handles: What the queue knows them by.
        addresses: What has changed, as it is called where it is kept.
        unread: How many messages could not be understood.
    """

    handles: Sequence[str]
    addresses: Sequence[str]
    unread: int


class SqsMailbox:
    """The queue that a bucket's notifications are sent to. Raises `SourceError` where it fails.

    A source may rely on it alone for `full_scan_s` seconds; the client is made, and something sent,
    when the first message is asked for.
    """

    def __init__(self, queue_url: str, full_scan_s: float, make_client: Callable[[], Any]) -> None:
        self.address = queue_url
        self.full_scan_s = full_scan_s
        self._make_client = make_client

    def take(self, most: int, seconds: float) -> Messages:
        """Take messages until there are none, there are `most`, or the time is spent."""
        handles: list[str] = []
        addresses: dict[str, None] = {}
        unread, until = 0, time.monotonic() + seconds
        while len(handles) < most and time.monotonic() < until:
            messages = self._receive()
            if not messages:
                break
            for message in messages:
                handles.append(message["ReceiptHandle"])
                found = addresses_in(message.get("Body", ""))
                unread += found is None
                addresses.update(dict.fromkeys(found or ()))
        return Messages(handles, list(addresses), unread)

    def discard(self, messages: Messages) -> None:
        """Remove messages from the queue."""
        for start in range(0, len(messages.handles), AT_ONCE):
            some = messages.handles[start : start + AT_ONCE]
            entries = [{"Id": str(n), "ReceiptHandle": one} for n, one in enumerate(some)]
            self._call("delete_message_batch", Entries=entries)

    def _receive(self) -> Any:
        # Waiting a second asks all servers of the queue; a message that is not removed within two
        # minutes is handed out again.
        given = {"MaxNumberOfMessages": AT_ONCE, "WaitTimeSeconds": 1, "VisibilityTimeout": 120}
        return self._call("receive_message", **given).get("Messages", [])

    @cached_property
    def _client(self) -> Any:
        return self._make_client()

    def _call(self, method: str, **given: Any) -> Any:
        with extra_for("events of type: s3", SourceError):
            from botocore.exceptions import BotoCoreError, ClientError

        try:
            return getattr(self._client, method)(QueueUrl=self.address, **given)
        except (BotoCoreError, ClientError) as error:
            raise SourceError(
                f"the queue {self.address} cannot be read: {one_line(str(error))}; check "
                "events.queue_url, and that these keys may sqs:ReceiveMessage and sqs:DeleteMessage"
            ) from error


def addresses_in(body: str) -> list[str] | None:
    """Return the `s3://` addresses that a message is about; None where it cannot be understood.

    S3 sends a test event when notifications are set up, which is about nothing.
    """
    try:
        found = _parsed(body)
        if isinstance(found, dict) and isinstance(found.get("Message"), str):  # SNS
            found = _parsed(found["Message"])
        if not isinstance(found, dict):
            return None
        if found.get("Event") == "s3:TestEvent":
            return []
        if isinstance(found.get("detail"), dict):  # EventBridge, whose keys are as they are
            return [_address(found["detail"], str)]
        return [_address(record["s3"], unquote_plus) for record in found["Records"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _parsed(text: str) -> Any:
    if len(text) > MAX_CHARS:
        raise ValueError("it is longer than SQS allows")
    return json.loads(text)


def _address(event: Any, spelled: Callable[[str], str]) -> str:
    bucket, key = event["bucket"]["name"], event["object"]["key"]
    if not (isinstance(bucket, str) and isinstance(key, str)):
        raise TypeError("bucket and key are texts")
    return f"s3://{bucket}/{spelled(key)}"


_MAKING = Lock()
"""A session makes one client at a time: it is not safe between threads, clients are."""

_PATIENCE = {"s3": (30, 3), "sqs": (10, 2)}
"""Seconds that a service may take to answer, and how often a call is tried in all."""


@cache
def _session() -> "Session":
    """Return the one session of this process: each reads megabytes of descriptions of services."""
    with extra_for("Amazon's S3 and SQS", SourceError):
        import boto3

    return boto3.session.Session()


def aws_client(
    service: str,
    endpoint_url: str | None,
    region: str | None,
    access_key_id: str | None,
    secret_access_key: str | None,
    session_token: str | None,
) -> Any:
    """Make a client of S3 or SQS that gives up on an unreachable server within some ten seconds.

    Without an endpoint it is Amazon's; another server needs any region. Without keys boto3 looks
    for its own.
    """
    make: Any = _session().client  # its types are known of S3 alone
    from botocore.config import Config

    seconds, attempts = _PATIENCE[service]
    config = Config(
        connect_timeout=3,
        read_timeout=seconds,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        s3={"addressing_style": "path"} if endpoint_url else None,
    )
    with _MAKING:
        return make(
            service,
            endpoint_url=endpoint_url,
            region_name=region or ("us-east-1" if endpoint_url else None),
            aws_access_key_id=access_key_id,
            aws_secret_access_key=secret_access_key,
            aws_session_token=session_token,
            config=config,
        )
