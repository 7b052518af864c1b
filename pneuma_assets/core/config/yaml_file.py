"""Reads one YAML file as data with line numbers, whatever the file holds.

PyYAML's safe loader builds no objects, but still takes the last of two equal keys without a word,
and expands a few lines of nested aliases to gigabytes; both are refused here.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pneuma_assets.core.config.secrets import redacted
from pneuma_assets.core.errors import ConfigError

MAX_BYTES = 256 * 1024
"""Far more than a deployment of a thousand sources needs; PyYAML takes seconds for a megabyte."""

MAX_NODES = 100_000
"""Most values a file may stand for once its aliases are written out."""


@dataclass(frozen=True)
class YamlFile:
    """A parsed file: its values, and the nodes that know on which line each value stands."""

    file: Path
    text: str
    data: Any
    root: yaml.Node

    def line_of(self, keys: tuple[str | int, ...]) -> int:
        """Return the line (from 1) of the deepest part of this path of keys that exists."""
        node, line = self.root, self.root.start_mark.line
        for key in keys:
            found = _child(node, key)
            if found is None:
                break
            mark, node = found
            line = mark.start_mark.line
        return int(line) + 1


def read_yaml(file: Path) -> YamlFile:
    """Read a YAML file whose top level is a mapping.

    Raises:
        ConfigError: The file cannot be read, is not UTF-8, not YAML, empty, too large, or has a
            key twice; the message is one line that names the file, the line and the remedy.
    """
    text = _read_text(file)
    try:
        root, data = _parse(file, text)
    except yaml.YAMLError as error:
        raise ConfigError(_syntax_message(file, error)) from None  # the cause quotes the file
    except RecursionError as error:
        raise ConfigError(f"{file} is nested too deeply to be a deployment file") from error
    except (ValueError, AttributeError, LookupError):  # as PyYAML says of `!!int x` and others
        raise ConfigError(
            f"{file} holds a number or a date that cannot be read; put it in quotes"
        ) from None  # likewise
    if not isinstance(root, yaml.MappingNode):
        kind = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
        raise ConfigError(
            f"{file} must hold 'key: value' lines at its top level, such as 'sources:', not {kind}"
        )
    return YamlFile(file, text, data, root)


def _parse(file: Path, text: str) -> tuple[yaml.Node, Any]:
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            raise ConfigError(f"{file} is empty; give it a list of sources, or remove it")
        _refuse_tricks(file, root)
        return root, loader.construct_document(root)
    finally:
        loader.dispose()


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ConfigError(
            f"deployment file {file} does not exist; check --config and PNEUMA_CONFIG"
        ) from error
    except IsADirectoryError as error:
        raise ConfigError(
            f"deployment file {file} is a folder; name the file, such as {file / 'pneuma.yaml'}"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"deployment file {file} cannot be read ({error.strerror}); check its permissions"
        ) from error
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{file} is larger than {MAX_BYTES // 1024} KiB; is it the right file?")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}, line {line}: not UTF-8; save the file as UTF-8") from error


def _syntax_message(file: Path, error: yaml.YAMLError) -> str:
    """Say on one line where the file stops being YAML, and why."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        said = error.problem or error.context or "syntax error"
        why = re.sub("(alias|anchor|handle|tag) .*", r"\1", said)  # not which: it may be a secret
        return f"{file}{where}: not valid YAML: {why}; check indentation, colons and quotes there"
    if isinstance(error, yaml.reader.ReaderError):
        return f"{file}: a character that YAML does not allow, at position {error.position}"
    return f"{file}: not valid YAML"


def _refuse_tricks(file: Path, root: yaml.Node) -> None:
    """Raise `ConfigError` for a key given twice, and for aliases that grow without bound."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        """Count the values below a node with its aliases written out, each node visited once."""
        known = sizes.get(id(node))
        if known is not None:
            return known
        sizes[id(node)] = MAX_NODES + 1  # what an alias to its own parent comes back to
        total = 1
        if isinstance(node, yaml.MappingNode):
            _refuse_duplicates(file, node)
            total += sum(size(key) + size(value) for key, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            total += sum(size(item) for item in node.value)
        sizes[id(node)] = min(total, MAX_NODES + 1)
        return sizes[id(node)]

    if size(root) > MAX_NODES:
        raise ConfigError(f"{file}: its aliases (&, *) stand for too much; write the values out")


def _refuse_duplicates(file: Path, node: yaml.MappingNode) -> None:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
            continue
        line = key.start_mark.line + 1
        if key.value in lines:
            raise ConfigError(
                f"{file}, line {line}: key {redacted(key.value)[:60]!r} stands twice (first on "
                f"line {lines[key.value]}); keep one"
            )
        lines[key.value] = line


def _child(node: yaml.Node, key: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == str(key):
                return name, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key]
    return None
