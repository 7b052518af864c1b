"""What is said of a table itself, on its page in Dagster and by `describe` alike."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from pneuma_assets.core.store.corrections import Correction
from pneuma_assets.core.tables import Column, Description, Provenance, comments_on_columns
from pneuma_assets.core.text.sentences import first_words

MOST_CHARS = 500
"""Of a table's description."""


def said_of_table(
    comment: str,
    written: Iterable[Description],
    corrections: Iterable[Correction],
    columns: Callable[[], Iterable[Column]],
) -> Description | None:
    """Return what a table is in people's words, at most `MOST_CHARS` of them; None if in nobody's.

    What a database's comments say of its columns is not said of the table.

    Args:
        comment: The one in the table itself.
        written: How the texts about it begin (`DocumentStore.beginnings`).
        corrections: Those of this table; one without a text rejects what documents say.
        columns: Returns its columns; asked only where a document may be made of their comments.
    """
    own = next((one for one in corrections if one.column is None), None)
    comments = Description(comment, Provenance.PERSON, "the table's comment")
    for one in (comments, *written) if own is None else (own.description, comments):
        words = first_words(one.text, MOST_CHARS)
        if words and not (one.provenance == Provenance.DOCUMENT and _of_columns(words, columns)):
            return replace(one, text=words)
    return None


def _of_columns(words: str, columns: Callable[[], Iterable[Column]]) -> bool:
    """Tell whether so begins the document that a source makes of the comments on columns."""
    return ": " in words and words == first_words(comments_on_columns(columns()), MOST_CHARS)
