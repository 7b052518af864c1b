"""Words that mostly say nothing of what a question is about, and do so in names, too."""

MOST_CHARACTERS = 2_000
"""Of a question that is read word by word."""

_LITTLE = """
what which who whose where when how many much list show give get return find tell display provide
name names please is are was were do does did has have had there of the a an in on at to for with by
from and or their its his her that whats me us i you all any it they them also along together
corresponding respective respectively relevant results result information details data database
dataset table record records entry entries row rows order ordered sorted sort so be been located
based found associated published written offered offer offers received have having made posted
presented belong belongs belonging existing exist exists listed recorded placed place bought buy
sold sell won win played play born owned own owns measured taken took moved available called named
known serve serves served serving hold held occurred occur contain contains include includes
including used use uses using given got gotten run runs live lives lying lie lies stand stands
situated flow flows through within among across between during each every per meters metres meter
kilometers kilometres km miles feet square inches kg kilograms pounds dollars usd euros cents
percent minutes hours days seconds people inhabitants persons units points degrees highest largest
biggest greatest longest tallest most maximum max top best latest newest heaviest fastest richest
recent widest deepest last expensive lowest smallest shortest least fewest minimum min earliest
oldest first cheapest worst lightest slowest poorest youngest nearest closest average avg mean total
sum combined overall distinct unique different various value values rate rates level levels amount
amounts number count more less fewer greater higher lower yes no true false high low long
"""
LITTLE = frozenset(_LITTLE.split())
"""Words that tell tables apart only where nothing else is meant by them."""
