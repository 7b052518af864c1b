"""Tables with documents, for tests of questions about what people wrote."""

from pneuma_assets.core.tables import Column, Table
from pneuma_bench.sets import RetrievalSet

_LAKE = """R: Depths of lakes

Description

This dataset contains depths of lakes in Norway, measured by sonar from 1984 to 1991.

Format

A data frame with 12 observations on the following 2 variables:

lake

name of the lake

Details

The measurements were funded by a grant of the Nansen fund. They were repeated once.
Three lakes are missing, because ice kept the boat away.

References

Hansen, O. (1993). Deep water. Journal of Lakes 4, 12-19.

Examples

plot(depth ~ lake, data = lakes)

# Base plot

# Leave space on the right for the labels of all lakes
par(mar = c(5, 4))
"""
_BOATS = """# Boats

Boats in the harbour of Bergen. The lengths were recorded by volunteers of the harbour museum.

The data may be used to illustrate linear regression.
"""
_COPY = "Depths of lakes in Norway once more."
_BIRDS = """Counts of birds on the island of Runde, collected by students of biology in 2003.

Note that the counts of puffins are estimates.

The Nansen fund gave no grant for the counts, which were paid by the county.
"""


def documented_set() -> RetrievalSet:
    """Return four tables: two of the same rows, and none without a document."""
    depths = [(f"lake {n}", str(n * 17)) for n in range(12)]
    boats = [(f"boat {n}", str(n % 7), "oak") for n in range(20)]
    birds = [(f"bird {n}", str(n * n)) for n in range(15)]
    tables = [
        ("lakes", ("lake", "depth"), depths, _LAKE),
        ("boats", ("boat", "length", "wood"), boats, _BOATS),
        ("lakes_again", ("lake", "depth"), depths, _COPY),
        ("birds", ("bird", "count"), birds, _BIRDS),
    ]
    return RetrievalSet(
        "documented",
        [
            (
                Table(
                    f"documented/{name}",
                    tuple(Column(one, "VARCHAR") for one in columns),
                    len(rows),
                    "",
                ),
                rows,
            )
            for name, columns, rows, _ in tables
        ],
        (),
        (),
        {f"documented/{name}": (name,) for name, *_ in tables},
        {f"documented/{name}": [text] for name, *_, text in tables},
    )
