"""Write docs/reference/ from the code: settings, events, contracts, rules, exit codes (part of `make golden`)."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
_LIMITS = ("pattern", "minLength", "maxLength", "minItems", "minimum", "maximum")
_NOTE = "Generated from the code by `make golden`; a test compares it.\n"


def pages() -> Mapping[str, str]:
    """Every page by its file name."""
    made = {
        "settings.md": settings(),
        "events.md": events(),
        "events.schema.json": event_schema(),
        "contracts.md": contracts(),
        "exit-codes.md": exit_codes(),
    }
    return {name: text.rstrip() + "\n" for name, text in made.items()}


def settings() -> str:
    """Every setting with its type, default and meaning."""
    from agentforge.config.schema import explained

    rows = [
        f"| `{row.key}` | {_cell(row.type)} | {_default(row.default)} | {_cell(row.words)} |" for row in explained()
    ]
    return "\n".join(
        (
            "# Settings",
            "",
            _NOTE,
            "In `config.toml` of your configuration folder and in `.agentforge/config.toml` of a project; the project's",
            "file wins, but it cannot lower your safety. `agentforge config show` says what holds and where it comes from,",
            "`config explain KEY` prints a line of this page, `config set KEY VALUE` writes one, `config path` shows the files.",
            "",
            "| setting | type | default | meaning |",
            "|---|---|---|---|",
            *rows,
        )
    )


def events() -> str:
    """Every event of a run's log with its fields."""
    from agentforge.events import kinds
    from agentforge.events.kinds.event import Event

    found = sorted(
        (one for one in vars(kinds).values() if inspect.isclass(one) and issubclass(one, Event) and one is not Event),
        key=lambda one: one.__name__,
    )
    body = [line for one in found for line in _event(one)]
    return "\n".join(
        (
            "# Events",
            "",
            _NOTE,
            "A run is its `events.jsonl`: one record per line, each bound to the one before it by its hash. State and every",
            "other file of the run follow from these records ([the trail](../trail.md)). Mappings and tuples hold JSON values;",
            "large things are blobs, named by digest.",
            "",
            *body,
        )
    )


def event_schema() -> str:
    """A JSON Schema of the records of a log: the envelope, and the data of every event by its type."""
    from pydantic import TypeAdapter

    from agentforge.events.storage.state_codec import event_kinds

    made = {name: TypeAdapter(kind).json_schema() for name, kind in sorted(event_kinds().items())}
    envelope = {
        "seq": {"type": "integer"},
        "at": {"type": "string"},
        "prev": {"type": "string"},
        "hash": {"type": "string"},
    }
    rows = [
        {
            "properties": {**envelope, "type": {"const": name}, "data": {"$ref": f"#/$defs/{name}"}},
            "required": ["seq", "at", "type", "data", "prev", "hash"],
        }
        for name in made
    ]
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A record of events.jsonl",
        "description": _NOTE.strip(),
        "type": "object",
        "oneOf": rows,
        "$defs": made,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False)


def _event(kind: type) -> Iterator[str]:
    text = inspect.getdoc(kind) or ""
    head, _, rest = text.partition("\n\nAttributes:\n")
    yield f"## {kind.__name__}"
    yield ""
    yield _prose(" ".join(head.split()))
    if rest:
        yield ""
        yield from (f"- {_prose(line)}" for line in _attributes(rest))
    yield ""
    fields = cast("Mapping[str, str]", kind.__annotations__)
    yield "| field | type |\n|---|---|" if fields else "No fields.\n"
    yield from (f"| `{name}` | `{_type(str(type_))}` |" for name, type_ in fields.items())
    yield ""


def _attributes(text: str) -> Iterator[str]:
    """Attribute lines; one that goes on is joined with its continuation."""
    joined = re.sub(r"\n {8,}", " ", text)
    yield from (line.strip() for line in joined.splitlines() if line.strip())


def contracts() -> str:
    """Every builtin contract: what its artifact must be, by which rules."""
    from agentforge.config.contract_files import contract_set
    from agentforge.contracts.rules import sort_of

    catalogue = contract_set(None)
    body: list[str] = []
    for name in catalogue.names:
        contract = catalogue.get(name)
        body += [f"## {name}", "", contract.description + ".", ""]
        body += ["| field | must be |", "|---|---|", *_fields(contract.json_schema), ""]
        rules = [f"- {_prose(rule.text)} ({sort_of(rule, source=contract.source)})" for rule in contract.rules]
        body += ["Rules:", "", *rules, ""]
    return "\n".join(
        (
            "# Contracts",
            "",
            _NOTE,
            "An artifact passes its stage when it has this shape and every rule of the sort *fact* holds: a fact was measured by",
            "running something, by git, or on the file system. What a *repair* asks for the harness mends or drops before it",
            "judges, and it says so. A *note* is told to the reviewer of the delivery. A project extends or replaces a contract",
            "with a file in `.agentforge/contracts/`; an entry there may say `{rule: SENTENCE, sort: note}` or `sort: fact` for",
            "itself. `agentforge contracts show NAME` prints what holds in your repository.",
            "",
            *body,
        )
    )


def _fields(schema: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    required = cast("list[str]", schema.get("required", []))
    for name, inner in cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {})).items():
        yield f"| `{prefix}{name}`{'' if name in required else ' (optional)'} | {_cell(_shape(inner))} |"
        deeper = cast("Mapping[str, object]", inner.get("items", inner))
        if isinstance(deeper, Mapping) and "properties" in deeper:
            yield from _fields(deeper, f"{prefix}{name}{'[]' if 'items' in inner else ''}.")


def _shape(schema: Mapping[str, object]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(item) for item in cast("list[object]", schema["enum"]))
    kind = schema.get("type", "any")
    words = " or ".join(str(one) for one in kind) if isinstance(kind, list) else str(kind)
    limits = [
        f"{name} {schema[name]}"
        for name in ("pattern", "minLength", "maxLength", "minItems", "minimum", "maximum")
        if name in schema
    ]
    return ", ".join([words, *limits])


def exit_codes() -> str:
    """The exit codes and the errors behind them."""
    from agentforge import errors

    found: dict[int, list[type[errors.AgentForgeError]]] = {}
    for one in vars(errors).values():
        if inspect.isclass(one) and issubclass(one, errors.AgentForgeError):
            found.setdefault(one.exit_code, []).append(one)
    rows = ["| 0 | done | |", "| 3 | waiting for a human: `agentforge escalations`, `agentforge resolve` | |"]
    for code, kinds in found.items():
        for kind in kinds:
            rows.append(f"| {code} | {_cell((inspect.getdoc(kind) or '').splitlines()[0])} | `{kind.slug}` |")
    rows += ["| 130 | interrupted; `agentforge resume` goes on | |"]
    rows.sort(key=lambda row: int(row.split("|")[1]))
    return "\n".join(
        (
            "# Exit codes",
            "",
            _NOTE,
            "Errors go to standard error as `error[SLUG]: what happened - what to do`; with `--json` the slug stands in",
            "`error.slug`.",
            "",
            "| code | meaning | slug |",
            "|---|---|---|",
            *rows,
        )
    )


def _cell(text: str) -> str:
    return _prose(" ".join(text.split())).replace("|", "\\|")


def _prose(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"(?<![`\\])([<*])", r"\\\1", text.replace("``", "`"))


def _type(text: str) -> str:
    return text.replace("|", "or")


def _default(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value)}`"


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
