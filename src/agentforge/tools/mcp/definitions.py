"""What a server says that its tools are: made plain, held fast by digest, and compared when it says something else.

From what a server answers to an observation: text as text, everything else named with its size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from agentforge.canonical import digest_value
from agentforge.config.edits import write_text
from agentforge.frozen import dataclass
from agentforge.safety.text.hygiene import clean
from agentforge.tools.base import Observation, failed

_LONGEST_DESCRIPTION = 1000
_LONGEST_NAME = 64
_DEEPEST = 12
_MOST_NODES = 4000
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_KEPT_OUT = frozenset({"$defs", "definitions", "$schema", "$id", "$comment", "title", "examples"})
_ANYTHING: Mapping[str, object] = {"type": "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One tool of a server.

    Attributes:
        parameters: JSON Schema without references.
        looks: the server says that it changes nothing.
        destroys: the server says that it may destroy something.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    looks: bool = False
    destroys: bool = False

    def value(self) -> dict[str, object]:
        """The definition as plain data."""
        return {
            **{"name": self.name, "description": self.description, "parameters": self.parameters},
            **{"looks": self.looks, "destroys": self.destroys},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt that a server fills in for a person who asks for it.

    Attributes:
        arguments: their names, in the server's order.
        required: those of them that it cannot do without.
    """

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()

    def value(self) -> dict[str, object]:
        """The prompt as plain data."""
        lists = {"arguments": list(self.arguments), "required": list(self.required)}
        return {"name": self.name, "description": self.description, **lists}

    @property
    def command(self) -> str:
        """The name as it stands in a command: letters, digits, - and _."""
        return _NOT_IN_NAMES.sub("_", self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What a server offered when the user last agreed to it.

    Attributes:
        resources: whether it offers resources to read.
        prompts: nobody has to agree to them: a person asks for each.
    """

    definitions: tuple[Definition, ...]
    resources: bool = False
    prompts: tuple[Prompt, ...] = ()

    def changes(self, now: Pinned) -> dict[str, str]:
        """What `now` differs in, by name of the tool: "new" or "changed"; a tool that is gone needs nobody."""
        before = {one.name: digest_value(one.value()) for one in self.definitions}
        return {
            one.name: "changed" if one.name in before else "new"
            for one in now.definitions
            if before.get(one.name) != digest_value(one.value())
        }


def definition_of(name: str, description: str, schema: object, *, looks: bool, destroys: bool) -> Definition:
    """Make a server's words fit to be offered: clean text of bounded length, a schema without references."""
    return Definition(
        name=clean(name)[:200],
        description=" ".join(clean(description).split())[:_LONGEST_DESCRIPTION],
        parameters=plain_schema(schema),
        looks=looks,
        destroys=destroys,
    )


def prompt_of(name: str, description: str, arguments: Iterable[tuple[str, bool]]) -> Prompt:
    """Make a server's words about a prompt fit to be shown.

    Args:
        arguments: name of each, and whether it is required.
    """
    named = [(clean(one)[:100], required) for one, required in arguments]
    return Prompt(
        name=name[:200],
        description=" ".join(clean(description).split())[:_LONGEST_DESCRIPTION],
        arguments=tuple(one for one, _ in named),
        required=tuple(one for one, required in named if required),
    )


def plain_schema(schema: object) -> Mapping[str, object]:
    """Put the definitions of a schema in the places that refer to them.

    Returns:
        A valid schema of type object; one that takes anything when the given one is none, or grows beyond bounds.
    """
    if not isinstance(schema, Mapping):
        return _ANYTHING
    inliner = _Inliner(schema)
    plain = inliner.inline(schema)
    if not isinstance(plain, dict) or inliner.nodes > _MOST_NODES:
        return _ANYTHING
    plain["type"] = "object"
    return plain if _is_valid(plain) else _ANYTHING


class _Inliner:
    """One walk over a schema."""

    def __init__(self, root: Mapping[str, object]) -> None:
        self.nodes = 0
        self._root = root

    def inline(self, node: object, chain: tuple[str, ...] = (), *, names: bool = False) -> object:
        """A copy without references; one that leads to itself takes anything.

        Args:
            chain: the references that led here.
            names: the keys of `node` are names of properties, none of them a keyword.
        """
        self.nodes += 1
        if self.nodes > _MOST_NODES:
            return {}
        if isinstance(node, list):
            return [self.inline(item, chain) for item in node]
        if not isinstance(node, Mapping):
            return node
        if names:
            return {str(key): self.inline(value, chain) for key, value in node.items()}
        beside = {
            str(key): self.inline(value, chain, names=key in ("properties", "patternProperties"))
            for key, value in node.items()
            if key not in _KEPT_OUT and key != "$ref"
        }
        reference = str(node.get("$ref", ""))
        if not reference or reference in chain or len(chain) >= _DEEPEST:
            return beside
        found = self.inline(self._target(reference), (*chain, reference))
        return {**found, **beside} if isinstance(found, dict) else beside

    def _target(self, reference: str) -> object:
        """What a reference inside of this schema leads to; None for every other one."""
        if not reference.startswith("#"):
            return None
        node: object = self._root
        for part in reference[1:].strip("/").split("/") if reference != "#" else ():
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, Mapping) or key not in node:
                return None
            node = node[key]
        return node


def _is_valid(schema: Mapping[str, object]) -> bool:
    from jsonschema_rs import Draft202012Validator

    try:
        Draft202012Validator(json.loads(json.dumps(schema)))
    except (ValueError, TypeError):
        return False
    return True


def offered_names(server: str, definitions: Iterable[Definition]) -> dict[str, Definition]:
    """Name a server's tools `server__tool`, in letters that every provider takes; no two alike."""
    found: dict[str, Definition] = {}
    for one in definitions:
        name = _NOT_IN_NAMES.sub("_", f"{server}__{one.name}")
        if len(name) > _LONGEST_NAME or name in found:
            name = f"{name[: _LONGEST_NAME - 9]}_{digest_value([one.name])[:8]}"
        found.setdefault(name, one)
    return found


class Pins:
    """What the user agreed to, one file for each server in the data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, digest: str) -> Pinned | None:
        """What a server offered when it was agreed to; None when it is new, or the file is damaged."""
        try:
            value = json.loads(self._file(digest).read_bytes())
            return Pinned(
                definitions=tuple(_definition(one) for one in value["tools"]),
                resources=bool(value["resources"]),
                prompts=tuple(_prompt(one) for one in value.get("prompts", ())),
            )
        except (OSError, ValueError, KeyError, TypeError):  # it is asked anew
            return None

    def store(self, digest: str, pinned: Pinned) -> None:
        """Agree to what a server offers.

        Raises:
            StorageError: the file cannot be written.
        """
        value = {
            "tools": [one.value() for one in pinned.definitions],
            "resources": pinned.resources,
            "prompts": [one.value() for one in pinned.prompts],
        }
        write_text(self._file(digest), json.dumps(value), folder_mode=0o700)

    def _file(self, digest: str) -> Path:
        return self._folder / f"{digest.rpartition(':')[2]}.json"


def _definition(value: Mapping[str, object]) -> Definition:
    parameters = value["parameters"]
    if not isinstance(parameters, Mapping):
        raise TypeError("parameters")
    return Definition(
        name=str(value["name"]),
        description=str(value["description"]),
        parameters=cast("Mapping[str, object]", parameters),
        looks=value.get("looks") is True,
        destroys=value.get("destroys") is True,
    )


def _prompt(value: Mapping[str, object]) -> Prompt:
    return Prompt(
        name=str(value["name"]),
        description=str(value["description"]),
        arguments=tuple(map(str, cast("list[object]", value["arguments"]))),
        required=tuple(map(str, cast("list[object]", value["required"]))),
    )


_MOST_CHARACTERS = 2_000_000


def observed(tool: str, result: Any) -> Observation:
    """Show the result of a call."""
    text = _cut("\n".join(_blocks(result.content)))
    if not text.strip() and result.structured_content is not None:
        text = _cut(json.dumps(result.structured_content, ensure_ascii=False, default=str))
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no output")[:120]
    if result.is_error:
        return failed(f"{tool} failed: {first}", error_type="server-error", text=text)
    return Observation(status="success", summary=f"{tool}: {first}", text=text)


def filled_in(result: Any) -> str:
    """The messages of a prompt as one text, with the resources that stand in them."""
    return _cut("\n\n".join(_blocks(one.content for one in result.messages)))


def read_out(uri: str, result: Any) -> Observation:
    """Show a resource."""
    text = _cut("\n".join(_contents(one) for one in result.contents))
    return Observation(status="success", summary=f"{uri}: {len(text):,} characters", text=text)


def _blocks(blocks: Iterable[Any]) -> Iterable[str]:
    for block in blocks:
        kind = getattr(block, "type", "")
        if kind == "text":
            yield str(block.text)
        elif kind == "resource":
            yield _contents(block.resource)
        elif kind == "resource_link":
            yield f"[resource {block.uri}: {block.name}]"
        else:
            yield f"[{kind or 'something'} {getattr(block, 'mime_type', '')}, {len(getattr(block, 'data', ''))} bytes, not shown]"


def _contents(contents: Any) -> str:
    if hasattr(contents, "text"):
        return str(contents.text)
    return f"[{contents.uri}: {contents.mime_type or 'binary'}, {len(contents.blob)} bytes, not shown]"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}\n... {len(text):,} characters in all"
