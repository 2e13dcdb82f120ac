"""In which form a command answers: text for people, one JSON object, or a stream of JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Literal

Form = Literal["text", "json", "stream-json"]
FORMS: tuple[Form, ...] = ("text", "json", "stream-json")


def wanted_form(arguments: Sequence[str]) -> Form:
    """Read the form from raw arguments, so that an error before or while parsing is reported in it too."""
    found: Form = "text"
    for number, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--json":
            found = "json"
        name, equals, value = argument.partition("=")
        if name == "--output-format":
            word = value if equals else (arguments[number + 1] if number + 1 < len(arguments) else "")
            found = next((form for form in FORMS if form == word), found)
    return found


def write_json(value: object, *, form: Form = "json") -> None:
    """Print a JSON value: indented for `json`, on one line for `stream-json`.

    Side effects: writes to stdout.
    """
    indent = 2 if form == "json" else None
    sys.stdout.write(json.dumps(value, indent=indent, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def result_line(value: Mapping[str, object], *, form: Form) -> dict[str, object]:
    """The closing object of a run in the given form; in a stream it is the line of type "result"."""
    return {"type": "result", **value} if form == "stream-json" else dict(value)
