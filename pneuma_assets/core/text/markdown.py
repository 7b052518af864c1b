"""Texts of strangers made fit to stand in Markdown, where they could pose as links or headings."""

import re

_SIGNS = re.compile(
    r"[\\`*{}\[\]<>|&~$^]"
    r"|(?<!\w)_|_(?!\w)"  # inside of a word it means nothing, and lists show it as it is
    r"|(?<=\w):(?=//)|(?<=\bwww)\.|(?<=\w)@(?=\w)"  # addresses become links by themselves
    r"|^[#+=-]"
)
_NUMBERED = re.compile(r"^(\d+)([.)])")


def plain_in_markdown(text: str) -> str:
    """Return one line of Markdown that shows exactly this text, and links to nothing."""
    flat = " ".join(text.split())
    return _NUMBERED.sub(r"\1\\\2", _SIGNS.sub(lambda sign: f"\\{sign.group()}", flat))
