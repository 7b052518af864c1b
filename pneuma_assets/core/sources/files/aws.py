"""Clients of Amazon's services, or of servers that speak as they do."""

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boto3.session import Session

_MAKING = Lock()
"""A session makes one client at a time: it is not safe between threads, clients are."""


@cache
def _session() -> "Session":
    """Return the one session of this process: each reads megabytes of descriptions of services."""
    import boto3

    return boto3.session.Session()


def client_of(
    service: str,
    endpoint_url: str | None,
    region: str | None,
    access_key_id: str | None,
    secret_access_key: str | None,
    session_token: str | None,
    *,
    read_timeout: int,
    attempts: int,
    **more: Any,
) -> Any:
    """Make a client that gives up on an unreachable server within some ten seconds.

    Args:
        service: As boto3 calls it: s3, sqs.
        endpoint_url: Of another server than Amazon's.
        region: As Amazon has it; another server needs any.
        access_key_id: None: boto3 looks for keys by itself.
        secret_access_key: Likewise.
        session_token: Likewise.
        read_timeout: Seconds without an answer.
        attempts: How often a call is tried in all.
        more: Further settings of botocore's.
    """
    from botocore.config import Config

    config = Config(
        connect_timeout=3,
        read_timeout=read_timeout,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        **more,
    )
    make: Any = _session().client  # its types are known of S3 alone
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
