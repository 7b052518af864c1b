"""Texts of strangers made fit to stand in Markdown, where they could pose as links or headings."""

import re

_SIGNS = re.compile(
    r"[\\`*_{}\[\]<>|&~$^]|(?<=\w):(?=//)|(?<=www)\.|(?<=\w)@(?=\w)|^[#+=-]|^(?<=\d)[.)]"
)
_NUMBERED = re.compile(r"^(\d+)([.)])")


def plain_in_markdown(text: str) -> str:
    """Return one line of Markdown that shows exactly this text; it links to nothing."""
    flat = " ".join(text.split())
    return _NUMBERED.sub(r"\1\\\2", _SIGNS.sub(lambda sign: f"\\{sign.group()}", flat))
