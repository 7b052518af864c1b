"""Words of English questions that say what is done with what is asked for, or nothing."""

_ASKING = """
what which who whose where when how many much list show give get return find tell display provide
name names please is are was were do does did has have had there of the a an in on at to for with by
from and or their its his her that whats me us i you all any it they them also along together
corresponding respective respectively relevant results result information details data database
dataset table record records entry entries row rows order ordered sorted sort so be been
"""
_RELATING = """
located based found associated published written offered offer offers received have having made
posted presented belong belongs belonging existing exist exists listed recorded placed place bought
buy sold sell won win played play born owned own owns measured taken took moved available
called named known serve serves served serving hold held occurred occur contain contains include
includes including used use uses using given got gotten run runs live lives lying lie lies stand
stands situated flow flows through within among across between during each every per
"""
_UNITS = """
meters metres meter kilometers kilometres km miles feet square inches kg kilograms pounds dollars
usd euros cents percent minutes hours days seconds people inhabitants persons units points degrees
"""
_SUPERLATIVES = """
highest largest biggest greatest longest tallest most maximum max top best latest newest heaviest
fastest richest recent widest deepest last expensive lowest smallest shortest least fewest minimum
min earliest oldest first cheapest worst lightest slowest poorest youngest nearest closest
"""
_COMPUTING = """
average avg mean total sum combined overall distinct unique different various value values rate
rates level levels amount amounts number count more less fewer greater higher lower yes no true
false high low long
"""
_COMPARING = """
above after before below bigger earlier equals exactly exceeding larger later longer older over
shorter since smaller than under until up younger not
"""
_DENYING = """
arent didnt doesnt dont except excluding isnt neither never non nor other unless without
"""
_RELATED = """
ago compare compared comparison consecutive correlation currently deviation difference differences
fraction growth median now percentage percentages proportion proportions ratio ratios share today
trend variance varies vary versus vs yesterday
"""
_ARRANGING = """
alphabetical alphabetically arranged as asc ascending begin begins convert decimal decimals desc
descending format integer ranked return round rounded starting starts
"""
_FILLING = """
both common could current describe explain frequent frequently he if might often one our popular
recommend same she should we whether why would him
"""


def _words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


LITTLE = _words(_ASKING, _RELATING, _UNITS, _SUPERLATIVES, _COMPUTING)
"""Words that tell tables apart only where nothing else is meant by them."""

LIGHT = LITTLE | _words(_COMPARING, _DENYING, _RELATED, _ARRANGING, _FILLING)
"""Words that need not be in an answer: they say nothing, or what is done with what is asked for."""
