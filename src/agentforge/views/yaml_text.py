"""YAML text from JSON values and back, exactly. Nothing here knows what the values mean; nothing touches a file.

PyYAML's C emitter and parser do the work. What is ours: which strings are quoted (everything that some YAML 1.1 or 1.2
reader would take for something else), and a strict reader that takes YAML 1.2 core scalars and nothing clever.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from agentforge.errors import ConfigError

if TYPE_CHECKING:
    from yaml.nodes import Node

MAX_CHARACTERS = 4_000_000
MAX_DEPTH = 64

_WIDTH = 2**30  # never fold: a folded line is harder to grep and to diff
_OTHER_MEANING = re.compile(
    r"(?:~|null|true|false|yes|no|on|off|y|n|=|<<|[-+]?(?:[0-9].*|[._]*[._0-9][._0-9eE+-]*|\.inf|\.nan|inf|nan))?",
    re.IGNORECASE | re.DOTALL,
)
_LITERAL = re.compile(r"(?=.*\n)[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]+", re.DOTALL)
_ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\r]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_TAGS = {
    "ScalarNode": "tag:yaml.org,2002:str",
    "MappingNode": "tag:yaml.org,2002:map",
    "SequenceNode": "tag:yaml.org,2002:seq",
}

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]{1,4000}")
_OCT = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def dump(value: object) -> str:
    """Render a JSON value as block-style YAML, keys in their order.

    Several lines become a literal block where that is exact; lone surrogates, which YAML cannot hold, become visible
    `\\udXXX` text.

    Raises:
        TypeError: a value that JSON cannot hold.
    """
    import yaml

    text: str = yaml.serialize(_node(value), Dumper=_dumper(), allow_unicode=True, width=_WIDTH)
    return text.removesuffix("...\n")


def load(text: str, *, source: str = "yaml") -> Any:
    """Read one YAML document of plain JSON values.

    Args:
        source: what the text is, for messages.
    Raises:
        ConfigError: not YAML; an alias, anchor, tag, second document or duplicate key; a key that is no string; too
            deep or too large. The message names the line.
    """
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"{source} has {len(text)} characters", hint=f"the limit is {MAX_CHARACTERS}")
    import yaml

    try:
        return _document(_Events(yaml.parse(text, Loader=yaml.CSafeLoader), source))
    except yaml.MarkedYAMLError as exc:
        line = exc.problem_mark.line + 1 if exc.problem_mark else 1
        raise ConfigError(f"{source} line {line}: {exc.problem or 'not YAML'}", hint="correct the YAML") from exc
    except (yaml.YAMLError, UnicodeEncodeError) as exc:
        raise ConfigError(f"{source} is not YAML: {exc}", hint="remove characters that YAML does not allow") from exc


@cache
def _dumper() -> type[Any]:
    import yaml

    class Dumper(yaml.CSafeDumper):
        """Leaves every scalar in the style that its node asks for: `_node` knows what is a string and what is not."""

        def resolve(self, kind: type[Node], _value: object, _implicit: object) -> str:
            return _TAGS[kind.__name__]

    return Dumper


def _node(value: object) -> Node:
    """The value as a tree of fresh nodes, so that nothing is written as an alias."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    def node(value: object) -> Node:
        if isinstance(value, str):
            text = _SURROGATE.sub(_visible, value) if not value.isascii() else value
            return ScalarNode(_TAGS["ScalarNode"], text, style=_style(text))
        if isinstance(value, (list, tuple)):
            return SequenceNode(_TAGS["SequenceNode"], [node(item) for item in value])
        if isinstance(value, (dict, Mapping)):  # the first is common, the second is slow to ask for
            return MappingNode(_TAGS["MappingNode"], [(node(_key(key)), node(item)) for key, item in value.items()])
        return ScalarNode(_TAGS["ScalarNode"], _scalar(value))

    return node(value)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of a mapping must be a string, not {key!r}")
    return key


def _scalar(value: object) -> str:
    """The text of what is no string."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and isfinite(value):
        digits, exponent, power = repr(value).partition("e")
        return f"{digits if '.' in digits else f'{digits}.0'}{exponent}{power}"  # YAML 1.1 takes 1e+20 for a string
    raise TypeError(f"{type(value).__name__} {value!r:.50} cannot be written as YAML")


def _visible(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


@lru_cache(maxsize=1024)
def _style(value: str) -> str | None:
    """The style to ask for: `|`, `"`, or None for plain (the emitter quotes what plain cannot hold)."""
    if "\n" in value:
        return "|" if _LITERAL.fullmatch(value) and value.strip() else '"'
    if _OTHER_MEANING.fullmatch(value) or _ESCAPED.search(value):
        return '"'
    return None


class _Events:
    """The parser's events, one ahead, with the checks that hold for each of them."""

    def __init__(self, events: Iterator[Any], source: str) -> None:
        self._events = events
        self._source = source

    def take(self) -> Any:
        """The next event."""
        event = next(self._events)
        if getattr(event, "anchor", None):
            raise self.refused(event, "anchors and aliases are not read", "write the value out")
        if getattr(event, "tag", None) is not None:
            raise self.refused(event, f"the tag {event.tag} is not read", "write a plain value")
        return event

    def refused(self, event: Any, what: str, hint: str) -> ConfigError:
        """The error for `event`, with its line."""
        return ConfigError(f"{self._source} line {event.start_mark.line + 1}: {what}", hint=hint)


def _document(events: _Events) -> Any:
    import yaml

    events.take()  # the stream's start
    first = events.take()
    if isinstance(first, yaml.StreamEndEvent):
        return None
    value = _value(events, events.take(), 0)
    events.take()  # the document's end
    after = events.take()
    if not isinstance(after, yaml.StreamEndEvent):
        raise events.refused(after, "a second document", "one document a file")
    return value


def _value(events: _Events, event: Any, depth: int) -> Any:
    import yaml

    if depth > MAX_DEPTH:
        raise events.refused(event, f"nested deeper than {MAX_DEPTH}", "flatten the value")
    if isinstance(event, yaml.ScalarEvent):
        return _plain(event.value) if not event.style else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := events.take(), yaml.SequenceEndEvent):
            items.append(_value(events, item, depth + 1))
        return items
    return _mapping(events, depth)


def _mapping(events: _Events, depth: int) -> dict[str, Any]:
    import yaml

    mapping: dict[str, Any] = {}
    while not isinstance(key := events.take(), yaml.MappingEndEvent):
        if not isinstance(key, yaml.ScalarEvent):
            raise events.refused(key, "a key that is no string", "use a string")
        if key.value in mapping:
            raise events.refused(key, f"the key {key.value!r} stands twice", "keep one of them")
        mapping[key.value] = _value(events, events.take(), depth + 1)
    return mapping


def _plain(text: str) -> object:
    """A plain scalar by the core schema of YAML 1.2; dates, `yes` and `1_000` are strings there."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if isfinite(number) else text  # JSON has no infinity
    if _OCT.fullmatch(text) or _HEX.fullmatch(text):
        return int(text, 0)
    return text
