"""A part that failed is left alone for a while, and nothing grows meanwhile."""

import pytest

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.missing_parts import Resting


def test_an_error_that_is_raised_again_and_again_does_not_grow():
    resting, asked = Resting(), []

    def fails():
        asked.append(1)
        raise ModelError("away")

    lengths = []
    for _ in range(4):
        with pytest.raises(ModelError, match="away") as caught:
            resting.use(fails, ModelError)
        lengths.append(len(caught.traceback))
    assert len(asked) == 1
    assert lengths[1] == lengths[-1]
