"""The arguments of a tool call: from the model's text to a checked object, or to an answer that says what is wrong.

Writes that would put the placeholder of a secret into a file: told to the model instead of done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Never

from agentforge.tools.base import Observation, Tool, ToolError, failed

_SHOWN_AROUND = 24
_MOST_FAILURES = 10


def parse_arguments(tool: Tool, text: str) -> dict[str, object]:
    """Read the raw text of a call's arguments; nothing at all means no arguments.

    Raises:
        ToolError: not JSON, a key twice, a number that JSON does not know, no object, or a sign in it that no path, command
            or file of text can hold.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as exc:
        raise _malformed(tool, f"{exc.msg} at line {exc.lineno} column {exc.colno}", near=_near(text, exc.pos)) from exc
    except (ValueError, RecursionError) as exc:
        raise _malformed(tool, str(exc) or "nested too deeply", near="") from exc
    if not isinstance(value, dict):
        raise _malformed(tool, f"a JSON object is needed, this is {_type_name(value)}", near="")
    sign = _impossible_sign(value)
    if sign:
        raise _malformed(tool, f"it holds {sign}, which no path, command or file of text can hold", near="")
    return value


def check_arguments(tool: Tool, arguments: Mapping[str, object]) -> None:
    """Hold arguments against the tool's schema.

    Raises:
        ToolError: with every failure and its path, and what the tool takes.
    """
    failures = _failures(json.dumps(tool.parameters, sort_keys=True), arguments)
    if not failures:
        return
    raise ToolError(
        failed(
            f"{tool.name} was not run: {failures[0]}",
            error_type="bad-arguments",
            text="\n".join([*(f"- {failure}" for failure in failures), signature(tool)]),
            next_actions=(f"call {tool.name} again with corrected arguments",),
        )
    )


def signature(tool: Tool) -> str:
    """One line that tells what a tool takes, e.g. `grep takes: pattern (string), path (string, optional)`."""
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    if not isinstance(properties, Mapping) or not properties:
        return f"{tool.name} takes no arguments"
    needed = set(required) if isinstance(required, list | tuple) else set()
    parts = [f"{name} ({_kind(schema)}{'' if name in needed else ', optional'})" for name, schema in properties.items()]
    return f"{tool.name} takes: {', '.join(parts)}"


def _failures(schema: str, arguments: Mapping[str, object]) -> list[str]:
    errors = [f"{_where(error.instance_path)}: {error.message}" for error in _validator(schema).iter_errors(arguments)]
    if len(errors) > _MOST_FAILURES:
        errors[_MOST_FAILURES:] = [f"{len(errors) - _MOST_FAILURES} more"]
    return errors


@lru_cache(maxsize=128)
def _validator(schema: str):  # type: ignore[no-untyped-def]  # jsonschema_rs is imported only when a tool is called
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(json.loads(schema))


def _malformed(tool: Tool, what: str, *, near: str) -> ToolError:
    return ToolError(
        failed(
            f"{tool.name} was not run: its arguments are malformed ({what})",
            error_type="malformed-arguments",
            text="\n".join(line for line in (f"{what}{near}", "Nothing was executed.", signature(tool)) if line),
            next_actions=(f"call {tool.name} again with one valid JSON object",),
        )
    )


def _near(text: str, position: int) -> str:
    around = text[max(0, position - _SHOWN_AROUND) : position + _SHOWN_AROUND]
    return f", near {around!r} (character {position} of {len(text)})"


def _impossible_sign(value: object) -> str:
    """The first sign in a value that the system takes in no name and no encoding has; "" when there is none."""
    if isinstance(value, str):
        found = re.search("[\0\ud800-\udfff]", value)
        return f"the character U+{ord(found.group()):04X}" if found else ""
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return next(filter(None, map(_impossible_sign, parts)), "")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"the key {key!r} stands twice")
        out[key] = value
    return out


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON number")


def _where(path: list[str | int]) -> str:
    return ".".join(map(str, path)) or "arguments"


def _kind(schema: object) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    choices = schema.get("enum")
    return "|".join(map(str, choices)) if isinstance(choices, list | tuple) else str(schema.get("type", "any"))


def _type_name(value: object) -> str:
    names = {
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        type(None): "null",
    }
    return names.get(type(value), "something else")


_PLACEHOLDER = re.compile(r"\[redacted: [a-z-]+\]")


def refuse_placeholders(tool: Tool, arguments: Mapping[str, object], root: Path) -> None:
    """Refuse a write whose text holds a placeholder that does not stand in the file itself.

    Either the model saw a file without its secret and gives the placeholder back, or its own text held something in the
    shape of a secret, which was taken out before it was recorded. Both would damage the file.

    Raises:
        ToolError: the write must not happen.
    """
    if tool.effect != "write":
        return
    meant = [found for text in _texts(arguments) if "[redacted: " in text for found in _PLACEHOLDER.findall(text)]
    if not meant:
        return
    known = "".join(content_of(root / path) for path in tool.writes(arguments))
    strange = next((found for found in meant if found not in known), None)
    if strange is None:
        return
    raise ToolError(
        Observation(
            status="error",
            summary=f"{tool.name}: {strange} is a placeholder for a secret; nothing was written",
            text=(
                f"Nothing was written. {strange} stands where a secret was taken out: the file holds the secret itself, you"
                " never see it. Edit the lines around it and leave that line alone. If your own text held something in the"
                " shape of a secret, build it from parts or read it from the environment instead."
            ),
            error_type="redacted",
            retryable=True,
            next_actions=("choose an old_string without the placeholder", "replace only lines without a secret"),
        )
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def content_of(file: Path) -> str:
    """Read the text of a file; "" where there is none that can be read."""
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:  # no such file, or a folder: the write itself says so
        return ""
