"""What a stage writes to the run's log while it works."""

import logging
from types import SimpleNamespace

from pneuma_assets.assets.stage import _logging_progress
from pneuma_assets.core.progress import listening, report, working


def test_what_begins_is_logged_at_once_and_the_rest_seldom(caplog):
    caplog.set_level(logging.INFO)
    context = SimpleNamespace(log=logging.getLogger("run"))
    with listening(_logging_progress(context)), working("loading m (269 MB)"):
        for done in range(50):
            report("schema narrations", done, 50)
    assert caplog.messages == ["loading m (269 MB)", "schema narrations: 0 of 50"]
