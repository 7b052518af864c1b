"""Asks a language model to describe tables and their columns, and reads what it says."""

import re
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from pydantic import BaseModel

from pneuma_assets.core.describe.prompts import Ground, runs, table_prompt
from pneuma_assets.core.dictionaries.lines import says_something
from pneuma_assets.core.models.base import LanguageModel, conversation
from pneuma_assets.core.models.language.forms import Answer, ask
from pneuma_assets.core.models.usage import CHARACTERS_PER_TOKEN
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import THE_TABLE, Table
from pneuma_assets.core.text.safe import harmless, one_line

ACTIVITY = "schema narrations"
"""What progress is reported under."""

MAX_CHARACTERS = 400
"""Of one description."""

_LEAST_TOKENS, _TABLE_TOKENS, _COLUMN_TOKENS = 2_000, 400, 40
"""Most tokens of an answer: of any, and for the table and each column where that is more. What a
model thinks before it answers counts among them."""

_EXPECTED_OF_TABLE, _EXPECTED_OF_COLUMN = 80, 30
"""Tokens that answers have by and large, for the estimate."""

_NOTHING = re.compile(r"\W*(no description|not sure|cannot tell)\b", re.IGNORECASE)


class SaidOfColumn(BaseModel):
    """What a model says of the column of a number, which counts from 1."""

    n: int
    description: str | None


class SaidOfTable(BaseModel):
    """What a model says of a table and of its columns; null where it is not sure."""

    table: str | None
    columns: list[SaidOfColumn]


@dataclass(frozen=True, slots=True)
class NarrationRequest:
    """A prompt about a table, and what it asks for: positions of columns, or `THE_TABLE`."""

    table_id: str
    asked: tuple[int, ...]
    prompt: str

    @property
    def columns(self) -> int:
        """How many columns it asks for."""
        return len(self.asked) - (THE_TABLE in self.asked)

    @property
    def tokens(self) -> tuple[int, int]:
        """About how many tokens the model will read and write, without what it thinks."""
        of_table = _EXPECTED_OF_TABLE if THE_TABLE in self.asked else 0
        written = of_table + _EXPECTED_OF_COLUMN * self.columns
        return len(self.prompt) // CHARACTERS_PER_TOKEN, written

    @property
    def most_written(self) -> int:
        """How many tokens the model may write, with what it thinks."""
        return max(_LEAST_TOKENS, _TABLE_TOKENS + _COLUMN_TOKENS * self.columns)


@dataclass(frozen=True, slots=True)
class Narration:
    """What a model says to a request.

    Attributes:
        request: It.
        said: One line by position, empty where the model is not sure.
        problem: Why what was asked for and is not in `said` has no answer; empty where all has.
        refused: Whether the prompt itself is to blame, so that asking it again brings the same.
    """

    request: NarrationRequest
    said: Mapping[int, str]
    problem: str = ""
    refused: bool = False


def requests_of(
    table: Table, asked: Collection[int], ground: Ground | None
) -> Iterator[NarrationRequest]:
    """Yield what is to be asked of a table: one request, of a very wide table several.

    Args:
        table: It.
        asked: Positions of columns that nobody described, and `THE_TABLE`, which the first of
            several requests asks for.
        ground: What the model may be shown besides names and types of columns.
    """
    for number, run in enumerate(runs(table)):
        columns = [at for at in sorted(asked) if at in run]
        summary = THE_TABLE in asked and number == 0
        if columns or summary:
            prompt = table_prompt(table, run, columns, ground, summary=summary)
            mine = (*[THE_TABLE] * summary, *columns)
            yield NarrationRequest(table.table_id, mine, prompt)


def narrate_tables(
    model: LanguageModel,
    requests: Sequence[NarrationRequest],
    left: Callable[[], float] = lambda: inf,
) -> Generator[Narration, None, None]:
    """Yield one narration a request, as they finish, in any order.

    The prompts of all tables form one pool (section 4), from which the back end makes its batches.
    Where they might take more tokens than are `left`, those that will not are asked first, to the
    last of them, and others as far as tokens are left then.

    Raises:
        ModelError: The model is missing or fails; what was yielded before is good.
    """
    done, total = 0, len(requests)
    report(ACTIVITY, done, total)
    while requests and (room := left()) > 0:
        most = accumulate(one.tokens[0] + one.most_written for one in requests)
        portion = requests[: max(1, sum(tokens <= room for tokens in most))]
        requests = requests[len(portion) :]
        prompts = [conversation(one.prompt) for one in portion]
        longest = max(one.most_written for one in portion)
        for answer in ask(model, prompts, SaidOfTable, longest):
            done += 1
            report(ACTIVITY, done, total)
            yield _read(portion[answer.index], answer)


def _read(request: NarrationRequest, answer: Answer[SaidOfTable]) -> Narration:
    """Return what an answer says of what was asked; numbers that were not are left out."""
    if answer.value is None:
        return Narration(request, {}, answer.problem, answer.refused)
    told = {THE_TABLE: answer.value.table}
    for one in answer.value.columns:
        told.setdefault(one.n - 1, one.description)
    said = {at: tidy(told[at]) for at in request.asked if at in told}
    if len(said) == len(request.asked):
        return Narration(request, said)
    kept = said if any(said.values()) else {}  # without any word it is no answer
    return Narration(request, kept, "the model's answer leaves it out")


def tidy(said: str | None) -> str:
    """Return what a model says as one harmless line; empty if it says nothing."""
    line = one_line(harmless(said or "", 4 * MAX_CHARACTERS), MAX_CHARACTERS)
    return line if says_something(line) and not _NOTHING.match(line) else ""
