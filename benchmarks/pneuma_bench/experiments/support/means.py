"""Means as the experiments print them."""

from collections.abc import Sequence

import numpy as np

from pneuma_assets.core.evaluation.metrics import mean_intervals


def mean_in_words(figure: str, values: Sequence[float]) -> str:
    """Return a mean with its 95 % interval: `recall 0.918 (0.910 to 0.926)`."""
    known = np.array(values, np.float64)
    low, high = mean_intervals({"": known})[""]
    return f"{figure} {known.mean():.3f} ({low:.3f} to {high:.3f})"
