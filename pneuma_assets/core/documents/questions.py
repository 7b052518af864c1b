"""Questions that a table answers, as texts to be found by: off unless somebody asks for them.

Pneuma's authors found that questions of an 8B model lead to single tables more often, and to the
wrong one where tables share a database, as each of them could answer the same. So they are made by
a command alone (`pneuma-bench index-questions`), which says what they bring.
"""

from collections.abc import Iterable

from pneuma_assets.core.documents.maker import AskedAbout, DocumentMaker
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.core.text.safe import one_line

MOST = 20
"""Questions of a table."""
CHARACTERS = 200
"""Of one question."""


def question_texts(asked: AskedAbout) -> Iterable[str]:
    """Return each question on a line, each once."""
    said = (one_line(one, CHARACTERS) for one in asked.questions[:MOST])
    return list(dict.fromkeys(one for one in said if one))


MAKER = DocumentMaker(
    DocumentKind.QUESTIONS,
    AskedAbout,
    question_texts,
    version=0,  # no stage makes them: whoever does lets their tables be embedded again
    called="a question",
    introduction="Given questions that a table answers:",
)
