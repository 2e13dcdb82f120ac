"""Reading contract files: a strict subset of YAML. No anchors, aliases, tags, duplicate or merged keys; a size cap.

Scalars follow YAML 1.2: `yes`, `off` and dates are strings.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from agentforge.errors import ContractInvalid

SIZE_LIMIT = 256 * 1024
"""Characters of one contract file."""
DEPTH_LIMIT = 40


def load_strict(text: str, *, source: str) -> object:
    """Read one YAML document.

    Raises:
        ContractInvalid: not YAML, or YAML beyond the subset; names the line.
    """
    import yaml

    if len(text) > SIZE_LIMIT:
        raise ContractInvalid(f"{source} is {len(text)} characters long", hint=f"keep it under {SIZE_LIMIT}")
    loader = _loader_class()(text)
    try:
        _refuse_exotic(text, source=source)
        return loader.get_single_data()
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        place = f" line {mark.line + 1}" if mark else ""
        told = " ".join(part for part in (exc.context, exc.problem) if part)
        raise ContractInvalid(f"{source}{place}: {told}", hint="correct the YAML") from exc
    except yaml.YAMLError as exc:
        raise ContractInvalid(f"{source}: {' '.join(str(exc).split())}", hint="correct the YAML") from exc
    except ValueError as exc:
        raise ContractInvalid(f"{source}: {exc}", hint="correct the YAML") from exc
    finally:
        loader.dispose()


def _refuse_exotic(text: str, *, source: str) -> None:
    """Look for what a contract never needs before anything is built from it."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = getattr(event.start_mark, "line", 0) + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ContractInvalid(f"{source} line {line}: anchors and aliases are not read", hint="write the value out")
        if tag := getattr(event, "tag", None):
            raise ContractInvalid(f"{source} line {line}: the tag {tag} is not read", hint="remove the tag")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_LIMIT:
            raise ContractInvalid(f"{source} line {line}: nested deeper than {DEPTH_LIMIT}", hint="flatten it")


@functools.cache
def _loader_class() -> Any:  # Any: the class is made from a lazily imported, C-implemented base
    """CSafeLoader without YAML 1.1 booleans, dates, merge keys and duplicate keys."""
    import yaml

    class StrictLoader(yaml.CSafeLoader):
        """See the module's docstring."""

        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    for tag, pattern, first in (
        ("bool", r"^(?:true|false|True|False|TRUE|FALSE)$", "tTfF"),
        ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
        ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ):
        StrictLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))
    StrictLoader.add_constructor("tag:yaml.org,2002:int", _construct_decimal)
    StrictLoader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)
    return StrictLoader


def _construct_decimal(loader: Any, node: Any) -> int:
    """YAML 1.1 reads 010 as eight; a contract means ten."""
    return int(loader.construct_scalar(node))


def _construct_mapping(loader: Any, node: Any) -> dict[str, object]:
    """Build a mapping; a key that is no string, or stands twice, is an error. There is no merge key."""
    from yaml.constructor import ConstructorError

    result: dict[str, object] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise ConstructorError(None, None, f"the key {key!r} is not a string: quote it", key_node.start_mark)
        if key in result:
            raise ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
        result[key] = loader.construct_object(value_node, deep=True)
    return result
