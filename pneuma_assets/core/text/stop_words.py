"""Words that say nothing of a table, in English; other languages have no list of good standing."""

_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with"
)
ENGLISH_STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Lucene's list: short, so that it seldom takes a word that matters away from a column's name."""

_FUNCTION_WORDS = (
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves what which who whom "
    "whose this that these those am is are was were be been being have has had having do does did "
    "doing would should could ought can may might must shall will a an the and but if or because "
    "as until while of at by for with about against between into through during before after "
    "above below to from up down in out on off over under again further then once here there when "
    "where why how all any both each few more most other some such no nor not only own same so "
    "than too very"
)
QUESTION_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Snowball's English list and the modal verbs, left out of questions only: a sentence asks with
words that are rare in tables, and BM25 takes rare for telling. A column named `how` stays in the
index, and a question of nothing but such words keeps them."""
