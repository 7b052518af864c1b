"""Answers without a model: a question is read word by word, and SQL made of what it names.

A word is accounted for if it names a column, a table or a cell that the statement uses, or says
what is done with these. Whoever reads so understands nothing: each draft says what share of the
telling words it accounts for, and where that is little there is none.
"""

from collections.abc import Sequence, Set

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.tables import AnswerSet, Draft, NoDraft
from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.capitals import cell_left, names_by_capitals
from pneuma_assets.core.answers.templates.fields import KEYS, NAMING
from pneuma_assets.core.answers.templates.mentions import names_in
from pneuma_assets.core.answers.templates.missing import asks_hidden, stands_by_of
from pneuma_assets.core.answers.templates.names import Names, names_of, with_short
from pneuma_assets.core.answers.templates.parts import asking_for_all, leaves_parts
from pneuma_assets.core.answers.templates.plan import NoPlanError, Plan
from pneuma_assets.core.answers.templates.planning import plan_of
from pneuma_assets.core.answers.templates.reading import read
from pneuma_assets.core.answers.templates.sentence import Reading
from pneuma_assets.core.answers.templates.values import ValueSpan, values_in
from pneuma_assets.core.answers.templates.words import MOST_WORDS, Word, read_words
from pneuma_assets.core.answers.templates.writing import Writer
from pneuma_assets.core.errors import SqlRefusedError
from pneuma_assets.core.text.analysis import Analyzer

LEAST_SURE = 0.6
"""How much of a question a draft accounts for at least (docs/measurements.md)."""
_RELATED = 0.3
"""What a verb weighs by which tables are related: a join says most of it."""
_ASKED = 0.5
"""What is left where the first word behind `which` is not accounted for."""
_CUT_SHORT = 0.9
"""What is left for each word that was taken for what a name cuts short of it."""
_NAMED = 0.7
"""What is left of a draft for each word that names something which is not there."""
_SHOWN = 5
"""Words that are told of which nothing was made."""


def draft(
    question: str,
    tables: AnswerSet,
    dialect: str,
    analyzer: Analyzer,
    least_sure: float = LEAST_SURE,
) -> Draft | NoDraft:
    """Return a statement that may answer a question, or why there is none.

    Args:
        question: In plain language.
        tables: Which it may be answered from.
        dialect: What sqlglot calls the SQL: duckdb or postgres.
        analyzer: Tells which words of names are the same.
        least_sure: A draft that accounts for less of the question is none.
    """
    words = read_words(question, analyzer)
    if not words or not tables.tables:
        return NoDraft(f"it has no word, or more than {MOST_WORDS}")
    names = names_of(tables, analyzer)
    named = names_by_capitals(words)
    values, little = values_in(words, tables, names, named)
    words = with_short(words, names, analyzer)
    spans = names_in(words, names)
    of_names = {place for one in spans for place in one.words}
    of_values = {place for one in values for place in range(one.start, one.stop)}
    share = len(of_names | of_values) / len(words)
    try:
        reading = read(words, spans, values)
        plan = plan_of(reading, words, names, tables)
        _check_left(words, little, reading, plan, names, tables)
        sure = _sure(words, named, reading, plan)
        _check_sure(sure, least_sure, words, named, reading)
        sql = Writer(tables, dialect).written(plan)
        checked(sql, [table.read for table in tables.tables], dialect, most_rows=1)
    except (NoPlanError, SqlRefusedError) as why:  # A name has a character that SQL may not have.
        return NoDraft(str(why), share)
    return Draft(sql, f"template {_form(plan)}", sure, share)


def _check_left(
    words: Sequence[Word],
    little: Sequence[ValueSpan],
    reading: Reading,
    plan: Plan,
    names: Names,
    tables: AnswerSet,
) -> None:
    """Refuse a plan of a question that says something more, which would be left out."""
    if asks_hidden(words, reading, names, plan):
        raise NoPlanError("it may ask for a column that rules of privacy hide")
    if leaves_parts(words, reading, plan, tables):
        raise NoPlanError("no statement is about all the parts of a table")
    for place, word in enumerate(words):
        if word.sign and place not in reading.used:
            raise NoPlanError(f"no cell is {word.spelled + word.sign!r}")
    if cell := cell_left(words, little, reading.used):
        raise NoPlanError(f"{cell!r} may be a value, or say nothing; put it in quotes if it is one")


def _check_sure(
    sure: float, least: float, words: Sequence[Word], named: Set[int], reading: Reading
) -> None:
    """Refuse a draft that is not sure enough, and say which words keep it from that."""
    if sure >= least:
        return
    left = (n for n in range(len(words)) if n not in reading.used)
    telling = (words[n].text for n in left if _tells(words, n, named, reading.used))
    shown = list(dict.fromkeys(repr(one) for one in telling if one not in say.RELATING))
    made = f"nothing is made of {', '.join(shown[:_SHOWN])}"
    raise NoPlanError(made if shown else "too much of it is guessed")


def _form(plan: Plan) -> str:
    if plan.groups:
        return "largest group" if plan.limit else "group"
    if plan.how:
        return plan.how
    if plan.order is not None:
        return "largest"
    return "lookup" if plan.where else "list"


def _sure(words: Sequence[Word], named: Set[int], reading: Reading, plan: Plan) -> float:
    """Return the share of the telling words that are accounted for, less for what looks wrong."""
    said = every = 0.0
    doubt = plan.doubt
    parts = asking_for_all(words)
    for place, word in enumerate(words):
        if not _tells(words, place, named, reading.used):
            continue
        if place in parts and place not in reading.used:
            continue  # Of which table that is not left out, `leaves_parts` has told.
        related = word.text in say.RELATING and not word.quoted and place not in named
        weight = _RELATED if related else 1.0
        every += weight
        if place in reading.used:
            said += weight
            doubt *= _CUT_SHORT if word.short else 1.0
        elif stands_by_of(words, place):
            return 0.0
        elif words[max(0, place - 1)].text in say.WHICH:
            doubt *= _ASKED  # What is asked for.
        elif weight == 1.0:
            doubt *= _doubted(words, place, reading)
    return round(doubt * said / every, 3) if every else 0.0


def _tells(words: Sequence[Word], place: int, named: Set[int], used: Set[int]) -> bool:
    """Tell whether a word has to be accounted for."""
    word = words[place]
    unit = word.text in say.UNITS and place not in used
    return word.quoted or place in named or not (unit or word.text in say.ASKING)


def _doubted(words: Sequence[Word], place: int, reading: Reading) -> float:
    """Return what a word that nothing accounts for takes off beyond its share, as a factor."""
    word = words[place]
    if word.number or word.quoted or (word.capital and place > 0):
        return _NAMED  # A value that no cell has.
    if place + 1 in reading.used and words[place + 1].text in say.MOST | say.LEAST:
        return _NAMED  # Another than the first: `next highest`.
    if place in reading.clause:
        return _NAMED  # Ordered by something else: `by the length of the name`.
    heads = {one.stop for one in (*reading.groups, reading.measured) if one is not None}
    plain = word.text in {*NAMING, *KEYS} or word.text.endswith(("ed", "ing"))
    if place in heads and not (words[place - 1].ends or plain):
        return _NAMED  # The head of a name: `population density` where there is no density.
    return 1.0
