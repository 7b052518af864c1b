"""What is said of a table itself, on its page in Dagster and by `describe` alike."""

from collections.abc import Iterable
from dataclasses import replace

from pneuma_assets.core.store.corrections import Correction
from pneuma_assets.core.tables import Description, Provenance
from pneuma_assets.core.text.first_words import first_words

MOST_CHARS = 500
"""Of a table's description."""


def said_of_table(
    comment: str, written: Description | None, corrections: Iterable[Correction]
) -> Description | None:
    """Return what a table is in people's words, at most `MOST_CHARS` of them; None if in nobody's.

    Args:
        comment: The one in the table itself.
        written: How the first text about it begins (`Documents.beginnings`).
        corrections: Those of this table; one without a text rejects what documents say.
    """
    own = next((one for one in corrections if one.column is None), None)
    comments = Description(comment, Provenance.PERSON, "comment")
    told = (comments, written) if own is None else (own.description, comments)
    for one in told:
        words = "" if one is None else first_words(one.text, MOST_CHARS)
        if one is not None and words:
            return replace(one, text=words)
    return None
