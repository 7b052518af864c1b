"""Settings of a connection that hold whatever a role or an address says."""

from pneuma_assets.core.store.database import BUSY_TIMEOUT_S
from pneuma_assets.core.store.postgresql_database import IDLE_S
from pneuma_assets.core.store.runs import BEAT_S, LEASE_S


def test_one_machine_that_stops_in_a_transaction_fails_no_other():
    """The server ends its transaction before others, who wait, give up or fall silent."""
    assert IDLE_S + BEAT_S < LEASE_S
    assert 2 * IDLE_S <= BUSY_TIMEOUT_S
