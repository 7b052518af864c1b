"""What a model is asked in TARGET's downstream tasks, word for word.

The texts in capitals are those of `GeneratorPrompts.py` in the package `target_benchmark` 0.1.3
(Ji et al., 2025, appendix B), Copyright the authors of TARGET, Licence Apache-2.0
(https://www.apache.org/licenses/LICENSE-2.0); unchanged but for where lines are broken here. Only
`SQL_FORMAT` is this project's: the package asks for JSON by a parameter of an endpoint, and the
contract of models here (`models.base`) has none.
"""

from typing import Final

VERSION: Final = "target-0.1.3"
"""Names these texts in the keys of kept answers."""

QA_SYSTEM = "You are a data analyst who reads tables to answer questions."
QA_USER = """
Use the provided table(s) to answer the question. Yield a concise answer to the question.
If none of the tables provide relevant information, use your knowledge base to generate an answer \
— but only if you are confident in the answer's factuality.
If the neither the tables nor your knowledge can be used to answer the question reliably, say that \
not enough information is provided.\n

Tables: {table_str} \n

Question: {query_str}
"""

FACTS_SYSTEM = "You are an expert in evaluating statements on factuality given the provided tables"
FACTS_USER = """Given the following evidence which may take the form of sentences or a data table,
determine whether the evidence supports or refutes the following statement.
If none of the tables provide relevant information, refer to your knowledge base — but only if you \
are confident your answer's factuality. If the neither the evidence nor your knowledge can be used \
to verify the statement reliably, state that there is not enough information.
Assign the statement one of three labels: True, False, Not Enough Information. Do not include \
anything else in your answer.\n

Tables: {table_str}\n

Statement: {query_str}
"""

SQL_SYSTEM = "You are a helpful AI assistant."
"""What the package sends; its `TEXT2SQL_SYSTEM_PROMPT` is sent nowhere."""
SQL_USER = """
Below, you are presented with a database schema and a question.
Your task is to read the schema, understand the question, and generate a
valid SQLite query to answer the question.
Before generating the final SQL query, think step by step on how to write the query.

Database Schema:
{table_str}
This schema offers an in-depth description of the database's architecture,
detailing tables, columns, primary keys, foreign keys, and any pertinent
information regarding relationships or constraints.

Question:
{query_str}

Take a deep breath and think step by step to find the correct SQLite SQL
query. If you follow all the instructions and generate the correct query,
I will give you 1 million dollars."""
SQL_FORMAT = (
    'Answer with one JSON object with the keys "chain_of_thought_reasoning", "sql_query" and '
    '"database_id".'
)

NO_TABLES = (
    "Some or all tables are not available. Don't acknowledge the lack of information in your "
    "response. Please use your knowledge base and answer to the best of your ability, without "
    "producing false information. "
)
"""In place of tables, where nothing was retrieved."""


def answering(tables: str, question: str) -> str:
    """Return the prompt of table question answering: system and user text as one turn."""
    return f"{QA_SYSTEM}\n\n{QA_USER.format(table_str=tables, query_str=question)}"


def verifying(tables: str, statement: str) -> str:
    """Return the prompt of fact verification, likewise."""
    return f"{FACTS_SYSTEM}\n\n{FACTS_USER.format(table_str=tables, query_str=statement)}"


def writing_sql(schema: str, question: str) -> str:
    """Return the prompt of text-to-SQL, likewise; it ends with what form the answer has."""
    user = SQL_USER.format(table_str=schema, query_str=question)
    return f"{SQL_SYSTEM}\n\n{user}\n\n{SQL_FORMAT}"
