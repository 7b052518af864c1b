"""What a model is asked for context questions: the paper's prompts, word for word.

Pneuma prints none; these are those of its authors' public code (github.com/TheDataStation/pneuma,
MIT License), sections 6.2.1 and 6.2.3. Ours are `grounded_prompt`, which shows a table's documents
and so asks for what is known in place of what may be, and those `by_examples`: a model of half a
billion parameters answered the paper's example, "This table was created by X", eight times of nine
with "What table was created by X?". All that is quoted is made harmless.
"""

from collections.abc import Sequence

from pneuma_assets.core.text.safe import harmless

VERSION = "context 3"
"""Part of the key of what was answered."""

DOCUMENT_CHARACTERS = 2_500
"""Of a table's documents, so many are shown."""
SHOWN_CONTEXT = 1_500
NOT_STATED = "Not stated"

NO_CONTEXT = "No description."
"""Shown in place of a context, to see what the model says of none."""

_EXAMPLES = (
    (
        "The prices of wheat were collected by the Ministry of Agriculture from 1950 to 1972.",
        "Which table has prices of wheat that the Ministry of Agriculture collected from 1950 to "
        "1972?",
        "Where can I find what wheat cost between 1950 and 1972, as gathered by the farming "
        "ministry?",
    ),
    (
        "Survey of 900 nurses in Ohio about night shifts; the answers of 12 nurses are missing.",
        "Which table has a survey of nurses in Ohio about night shifts, where some answers are "
        "missing?",
        "I need incomplete data on how hospital staff in Ohio feel about working at night.",
    ),
)

_COLUMNS, _NAME_CHARACTERS = 100, 64
_QUESTION_CHARACTERS = 1_200
_CRITERIA = (
    "satisfying the following criteria:\n"
    "1. Completeness: The answer must definitively and comprehensively address all parts of the "
    "question.\n"
    "2. Relevance: The answer must directly provide the information requested in the question "
    "without any extraneous details."
)


def played_prompt(columns: Sequence[str], rows: int, question: str) -> str:
    """Ask for a context as the paper does: the model plays the table's creator."""
    return (
        f"{_table(columns, rows)}and this question:\n/*\n{_question(question)}\n*/\n"
        "Assume you are the creator of the table and have all the necessary information to respond "
        "to the question. Generate a concise answer to the question based on the table, "
        f"{_CRITERIA}"
    )


def grounded_prompt(columns: Sequence[str], rows: int, document: str, question: str) -> str:
    """Ask for a context that the table's own documents give."""
    return (
        f"{_table(columns, rows)}and this text about it:\n/*\n"
        f"{harmless(document, DOCUMENT_CHARACTERS)}\n*/\n"
        f"and this question:\n/*\n{_question(question)}\n*/\n"
        "Assume you are the creator of the table. Generate a concise answer to the question using "
        f'only this text; if the text does not say, answer "{NOT_STATED}." The answer is in whole '
        f"sentences, {_CRITERIA}"
    )


def question_prompt(context: str) -> str:
    """Ask for a question by a context (the paper's BX1)."""
    return (
        f'Context: "{harmless(context, SHOWN_CONTEXT)}"\n\n'
        "The above context describes a table. Please create a question that requests a table based "
        'on this description. For example, given a context "This table was created by X", the '
        'question would be "Provide a table that was created by X."\n\n'
        "Respond in the following format:\nQuestion: ..."
    )


def rephrasing_prompt(question: str) -> str:
    """Ask for the same question in other words (the paper's BX2)."""
    return (
        f'Original Question:"{_question(question)}"\n\n'
        "Rephrase the above question with different wordings. Respond in the following format:\n"
        "Rephrased Question: ..."
    )


def question_by_examples(context: str) -> str:
    """Ask for a question by a context, after two examples; the answer is one line.

    What is to be done stands behind the examples once more: asked to go on with a third, a small
    model answers the first.
    """
    examples = "".join(
        f"Description: {description}\nRequest: {question}\n\n"
        for description, question, _ in _EXAMPLES
    )
    return (
        "Somebody looks for a table of data. Write the request that this description answers, "
        f"with the words of the description. For example:\n\n{examples}"
        "Now write the request for this description, in one sentence that begins with "
        '"Which table". Answer with the request alone.\n\n'
        f"Description: {harmless(context, SHOWN_CONTEXT)}"
    )


def rephrasing_by_examples(question: str) -> str:
    """Ask for the same question in other words, after two examples; the answer is one line."""
    examples = "".join(f'"{one}" becomes "{other}"\n' for _, one, other in _EXAMPLES)
    return (
        "Rewrite a question for a table in natural English, with other words that mean the same. "
        f"Keep every number and name, and add nothing. For example:\n{examples}"
        "Now rewrite this question, and answer with the new question alone:\n"
        f'"{_question(question)}"'
    )


def label_prompt(context: str, question: str) -> str:
    """Ask whether another table answers a question, too."""
    return (
        f'Context:"{harmless(context, SHOWN_CONTEXT)}"\n\nQuestion:"{_question(question)}"\n\n'
        "The context describes a specific table that we have access to. Does this table answer the "
        "question? Begin your response with yes/no."
    )


def _table(columns: Sequence[str], rows: int) -> str:
    shown = " | ".join(harmless(name, _NAME_CHARACTERS) for name in columns[:_COLUMNS])
    known = f"a dataset, consisting of {rows} rows, with the following columns"
    return f"Given {known}:\n/*\n{shown}\n*/\n"


def _question(text: str) -> str:
    return harmless(text, _QUESTION_CHARACTERS)
