"""Changing values in the text of a YAML mapping where they stand: comments, order and all other lines stay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

    Pair = tuple[yaml.Node, yaml.Node]


def holds_key(text: str, key: str) -> bool:
    """Whether a YAML text sets a dotted key, or something below it; a text that is no YAML sets nothing."""
    import yaml

    try:
        return bool(_way(text, key))
    except yaml.YAMLError:
        return False


def with_yaml_values(text: str, values: Mapping[str, object]) -> str:
    """The text with other values for keys that stand in it.

    Args:
        values: by dotted key; None takes the key out.
    Raises:
        ValueError: a key does not stand in the text, or the text is no YAML.
    """
    import yaml

    for key, value in values.items():
        try:
            found = _way(text, key)
        except yaml.YAMLError as exc:
            raise ValueError(f"it is no YAML: {exc}") from exc
        if not found:
            raise ValueError(f"{key} does not stand in it")
        text = _without(text, found) if value is None else _with(text, found[-1], value)
    return text


def _way(text: str, key: str) -> list[Pair]:
    """The pairs of nodes that lead to a dotted key, the key's own last; [] where it does not stand there."""
    import yaml

    node, way = yaml.compose(text, Loader=yaml.CSafeLoader), []
    for part in key.split("."):
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next((pair for pair in pairs if pair[0].value == part), None)
        if found is None:
            return []
        way.append(found)
        node = found[1]
    return way


def _with(text: str, pair: Pair, value: object) -> str:
    """Another value in the place of the old one; JSON is YAML, too."""
    name, old = pair
    start = _offset(text, old.start_mark)
    end = start + len(_own(text[start : _offset(text, old.end_mark)]))
    return f"{text[: _offset(text, name.end_mark)]}: {json.dumps(value, ensure_ascii=False)}{text[end:]}"


def _without(text: str, way: list[Pair]) -> str:
    """The text without the lines of a key; a mapping that would be empty goes with it."""
    *outer, pair = way
    while outer and len(outer[-1][1].value) == 1:
        pair = outer.pop()
    if outer and getattr(outer[-1][1], "flow_style", False):
        return _with(text, outer[-1], _plain(outer[-1][1], without=pair[0]))
    start = text.rfind("\n", 0, _offset(text, pair[0].start_mark)) + 1
    value = _offset(text, pair[1].start_mark)
    end = text.find("\n", value + len(_own(text[value : _offset(text, pair[1].end_mark)])))
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def _own(body: str) -> str:
    """A value's own text: a block's ends before the blank lines and comments that stand below it."""
    lines = body.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines).rstrip()


def _plain(node: yaml.Node, *, without: yaml.Node) -> dict[str, object]:
    """A mapping as plain values, one key left out."""
    import yaml

    value: dict[str, object] = yaml.CSafeLoader("").construct_document(node)
    return {name: inner for name, inner in value.items() if name != without.value}


def _offset(text: str, mark: yaml.Mark) -> int:
    """Where a mark is in the text; libyaml counts lines and columns in characters, its index in bytes."""
    lines = text.splitlines(keepends=True)
    return sum(len(line) for line in lines[: mark.line]) + mark.column
