"""Words of names, so that one thing has one spelling."""


def singular(word: str) -> str:
    """Return an English noun without the sign of its plural; another word as it is.

    By its ending alone, and where that does not tell (boxes of a box, axes of an axe), both sides
    of a comparison are cut to what they share: categories -> category, statuses -> status,
    addresses -> address, but movies and movie -> movy, houses and house -> hous.
    """
    if len(word) > 4 and word.endswith("ie"):
        return word[:-2] + "y"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "uses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith(("sse", "use", "xe", "che", "she")):
        return word[:-1]
    if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
