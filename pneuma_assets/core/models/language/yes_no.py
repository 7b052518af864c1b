"""What counts as yes and as no in a model's first token, and how the two are weighed."""

import math
from collections.abc import Iterable

YES_WORDS = ("yes", "Yes", "YES", " yes", " Yes", " YES")
NO_WORDS = ("no", "No", "NO", " no", " No", " NO")


def yes_share(log_probabilities: Iterable[tuple[str, float]]) -> float | None:
    """Return P(yes) / (P(yes) + P(no)) over first tokens, or None where neither occurs.

    Args:
        log_probabilities: The text of each candidate token and its natural log probability.
    """
    yes = no = 0.0
    for text, value in log_probabilities:
        word = text.strip().lower()
        if word == "yes":
            yes += math.exp(value)
        elif word == "no":
            no += math.exp(value)
    return yes / (yes + no) if yes + no > 0 else None


def said(answer: str) -> float:
    """Return 1.0 for an answer that begins with yes; as with the authors, all else is a no: 0.0."""
    return float(answer.lstrip(" \t\r\n\"'*#-").lower().startswith("yes"))
