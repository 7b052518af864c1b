"""What a Markdown document says of columns: its tables, lists, and indented text, as HTML."""

from collections.abc import Iterator

from pneuma_assets.core.sources.written.html import lists_on, parse_page, text_of
from pneuma_assets.core.sources.written.lines import lists_in
from pneuma_assets.core.sources.written.listed import Listed


def lists_in_markdown(text: str) -> Iterator[Listed]:
    """Yield each list of names and meanings, with the headings above it.

    Paragraphs are read line by line, too: people write `name - text` without making it a list.

    Raises:
        ValueError: It nests too deeply.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 20}).enable("table")
    root = parse_page(parser.render(text))
    if root is None:
        return
    yield from lists_on(root)
    for paragraph in root.iter("p"):
        yield from map(Listed, lists_in(text_of(paragraph)))
