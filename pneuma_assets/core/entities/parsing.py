"""What questions mention, by one call of a language model each (Octopus, section 4.1).

The model writes SQL about a table that nobody has described to it. The names in that sketch are
mentions of columns, however they are really called, and what columns are compared with are
mentions of values. The paper takes the latter out by a regular expression; here a parser of SQL
reads the sketch, within bounds, and nothing of it is ever run. (The prompt of the paper's Figure 2
is not in its text; this one does the same.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pneuma_assets.core.entities.mentions import Mentions
from pneuma_assets.core.entities.sketches import sketch_mentions
from pneuma_assets.core.lineage.parsing import UnreadableSQLError
from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.text.untrusted import harmless

MOST_TOKENS = 128
"""Of a sketch; one that is cut off there mostly cannot be read."""
MOST_VARIANCE = 0.05
"""Of the lengths of the prompts of one batch, relative to their mean squared."""

_MOST_CHARACTERS = 2_000
"""Of a question that the model is shown."""
_TOKEN_BYTES = 4
"""Of an English word's token, about; lengths are only compared."""
_STOP = (";", "\n\n", "\nQuestion")

_PROMPT = """\
Write one SQL query that answers the question, as if there were one table with all that it asks \
about. Call each column what a table's header would call it, in one to three words. Write names \
and other values exactly as the question says them, in single quotes. Answer with SQL alone.

Question: How many shops in Lima sell more than 30 kinds of tea?
SQL: SELECT COUNT(shop_name) FROM t WHERE city = 'Lima' AND kinds_of_tea > 30;

Question: {question}
SQL:"""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one question mentions.

    Attributes:
        mentions: Of columns and values.
        by_model: Whether the model says so; else they were looked up.
        problem: Why the model's answer could not be used, for a person; None where it was.
    """

    mentions: Mentions
    by_model: bool
    problem: str | None = None


def parse(
    model: LanguageModel,
    questions: Sequence[str],
    looked_up: Callable[[str], Mentions],
    *,
    max_new_tokens: int = MOST_TOKENS,
) -> list[Parsed]:
    """Return what each question mentions, in order, by one call of the model for each.

    The model is shown the question alone, nothing of any table. Where its answer is no SQL, or
    names neither a column nor a value, the question is looked up, and the result says why.

    Args:
        model: Which writes the sketches.
        questions: In plain language.
        looked_up: Returns what a question mentions without a model.
        max_new_tokens: Of a sketch.

    Raises:
        ModelError: The model cannot be asked at all.
    """
    prompts = [prompt_for(question) for question in questions]
    answers: dict[int, Generation] = {}
    for batch in batches([len(prompt.encode()) // _TOKEN_BYTES for prompt in prompts]):
        for one in model.generate([prompts[at] for at in batch], max_new_tokens, _STOP):
            answers[batch[one.index]] = one
    return [_parsed(answers.get(at), question, looked_up) for at, question in enumerate(questions)]


def prompt_for(question: str) -> str:
    """Return the prompt for one question, which cannot pose as another part of it."""
    return _PROMPT.format(question=harmless(question, _MOST_CHARACTERS))


def batches(lengths: Sequence[int], most: float = MOST_VARIANCE) -> list[list[int]]:
    """Return the places of prompts in batches of like lengths, the shortest first.

    Of a batch, the variance of the lengths is at most `most` of their mean squared ("Batch
    scheduling"), so that no prompt waits for a much longer one.

    Args:
        lengths: Of the prompts, in tokens or what goes with them; 0 or more.
        most: Relative variance of a batch; 5 % as in the paper.
    """
    found: list[list[int]] = []
    total = squares = 0
    for place in sorted(range(len(lengths)), key=lambda place: (lengths[place], place)):
        length = lengths[place]
        total, squares = total + length, squares + length * length
        among = len(found[-1]) + 1 if found else 0
        # variance <= most * mean**2, both times the number squared
        if not found or among * squares - total * total > most * total * total:
            found.append([])
            total, squares = length, length * length
        found[-1].append(place)
    return found


def _parsed(
    answer: Generation | None, question: str, looked_up: Callable[[str], Mentions]
) -> Parsed:
    problem = "the model gave no answer" if answer is None else answer.problem
    if answer is not None and problem is None:
        try:
            mentions = sketch_mentions(answer.text)
        except UnreadableSQLError as error:
            problem = f"the model's sketch cannot be read: {error}"
        else:
            if mentions.columns or mentions.values:
                return Parsed(mentions, by_model=True)
            problem = "the model's sketch names neither a column nor a value"
    return Parsed(looked_up(question), by_model=False, problem=problem)
