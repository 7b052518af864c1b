"""Texts of strangers to stand in Markdown as they are, and what in their Markdown is prose."""

import re

_SIGNS = re.compile(
    r"[\\`*{}\[\]<>|&~$^]"
    r"|(?<!\w)_|_(?!\w)"  # inside of a word it means nothing, and lists show it as it is
    r"|(?<=\w):(?=//)|(?<=\bwww)\.|(?<=\w)@(?=\w)"  # addresses become links by themselves
    r"|^[#+=-]"
)
_NUMBERED = re.compile(r"^(\d+)([.)])")
_HEADING = re.compile(r" {0,3}#{1,6}(\s+|$)")
_FENCES = ("```", "~~~")


def plain_in_markdown(text: str) -> str:
    """Return one line of Markdown that shows exactly this text, and links to nothing."""
    flat = " ".join(text.split())
    return _NUMBERED.sub(r"\1\\\2", _SIGNS.sub(lambda sign: f"\\{sign.group()}", flat))


def prose(text: str) -> str:
    """Return Markdown without fenced code, and without headings that have no text of their own.

    Descriptions that programs write end in such a block: dagster-dbt appends a model's query.
    """
    kept: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = line.strip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCES:
            fence = mark
        elif heading := _HEADING.match(line):
            kept = [*_said(kept), "#" + line[heading.end() :]]
        else:
            kept.append(" " + line)
    return "\n".join(line[1:] for line in _said(kept))


def _said(lines: list[str]) -> list[str]:
    """Return lines, of which headings are marked by '#', up to the last that is prose."""
    end = len(lines)
    while end and (lines[end - 1][0] == "#" or not lines[end - 1].strip()):
        end -= 1
    return lines[:end]
