"""What a model is asked to word a content question, and to lead it back (Pneuma, section 6.1.2).

The authors' own prompts are lost, so these are others, made for the same tasks and tried with
a model of half a billion parameters. Names, descriptions, cells, and the model's own answers are
hostile: each is bounded and made `harmless`. What all prompts of a kind have in common stands first
and is read once.
"""

import re

from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.text.safe import harmless, one_line
from pneuma_bench.generator.queries import SqlQuery, Subject

VERSION = "content 1"
"""Of all prompts; with another one, nothing that was answered before is taken for an answer."""
STOP = "\n\n"
LONGEST = 500
"""Characters of a question; one that quotes more than that is none."""
_SHOWN_ROWS = 3
_MOST_COLUMNS = 40
"""Of a wider table the first ones are shown, and those that the query names."""
_NAME, _DESCRIPTION, _CELL = 64, 80, 30
_LABEL = re.compile(
    r"^\W*(?:question|plain|rewritten|in other words)[^:?]{0,40}:\W*", re.IGNORECASE
)
_QUOTES = "\"'`*\u201c\u201d "
_FEWEST_WORDS = 4

# Without examples, a small model rewrites nothing, or answers the question.
_REWRITE = """\
Rewrite a stiff question in natural English. Keep every number, name and value, and add nothing. \
For example:
"What is the average weight in tons where the number of cylinders is 4 and the miles per gallon is \
more than 20?" becomes "How many tons do cars of 4 cylinders and more than 20 miles per gallon \
weigh on average?"
"For each department with a total salary of more than 5000, what is the total salary?" becomes \
"Which departments have a total salary of more than 5000, and what is that total?"
"What are the name and the year of birth where the city is Rome?" becomes "Who lives in Rome, and \
in which year were they born?"
Now rewrite this question, and answer with the new question alone:
"{question}\""""

_BACK = """\
Write the SQL query that answers a question about a table. It has this form, of which parts may be \
missing:
SELECT columns, or MAX, MIN, AVG or SUM of a column
WHERE conditions with =, <, > or BETWEEN, joined by AND
GROUP BY a column HAVING a condition with MAX, MIN, AVG or SUM
ORDER BY a column LIMIT a number
There is no FROM. Write column names in double quotes, as the table has them. "Average" means AVG, \
"total" means SUM, "highest" means MAX and "lowest" means MIN, but "the 3 rows with the highest" \
means ORDER BY DESC LIMIT 3. Answer with the SQL alone.

A table has these columns:
/*
{columns}
*/
Some of its rows:
/*
{rows}
*/
Question: {question}
SQL:"""


def rewrite_prompt(question: str) -> str:
    """Ask for a question of the template in other words."""
    return _REWRITE.format(question=harmless(question, LONGEST))


def back_prompt(question: str, query: SqlQuery, subject: Subject) -> str:
    """Ask for the query that answers a question; of the query, only its columns are shown.

    They are shown among all others; of a very wide table they would not be there else.
    """
    places = sorted({*range(len(subject.columns))[:_MOST_COLUMNS], *query.columns})
    columns = []
    for at in places:
        said = harmless(subject.described.get(at, ""), _DESCRIPTION)
        name = harmless(subject.columns[at], _NAME)
        columns.append(f'"{name}": {said}' if said else f'"{name}"')
    rows = [
        " | ".join(harmless("" if row[at] is None else str(row[at]), _CELL) for at in places)
        for row in map(
            subject.rows.__getitem__, sample_positions(len(subject.rows), _SHOWN_ROWS, 0)
        )
    ]
    return _BACK.format(
        columns="\n".join(columns), rows="\n".join(rows), question=harmless(question, LONGEST)
    )


def read_question(text: str) -> str:
    """Return the question that a model answered with, on one line; empty if there is none.

    It is the first line that is one; what stands before it ("Sure, here is the question:"), around
    it and after it is left out.
    """
    for line in text.splitlines():
        question = one_line(_LABEL.sub("", line).strip(_QUOTES), LONGEST + 1)
        if question.endswith("?") and len(question.split()) >= _FEWEST_WORDS:
            return question if len(question) <= LONGEST else ""
    return ""
