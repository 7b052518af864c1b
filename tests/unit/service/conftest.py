"""The folder that these tests ask in."""

from tests.support.doors import here as here  # noqa: PLC0414 (a fixture of all of them)
