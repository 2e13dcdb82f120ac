"""The calls of `near_results` made on a tree: in plain processes, whatever the specification declares."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from agentforge.languages.javascript.source import is_javascript
from agentforge.languages.symbols import Symbol, exists
from agentforge.suite import Rig
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.near_results import Answers, NearGroup, granted, unmet, with_calls_before
from agentforge.verification.examples.plain_answers import CallResult
from agentforge.verification.examples.plain_check import Probe, evaluate, resolve
from agentforge.verification.examples.plain_javascript import evaluate_in_node, resolved_in_node
from agentforge.workspace.code.relevance import is_test_path

_MOST = 40
"""Calls of a request that are made."""
_FILES = 40
_MISSING = re.compile(r"missing \d+ required|takes \d+ positional|(?:module|type object) .* has no attribute")
_UNDEFINED = re.compile(r"([\w$.]+) is not (?:a function|a constructor|defined)")


def near_facts(
    rig: Rig, groups: Sequence[NearGroup], *, symbols: Sequence[Symbol], base_tree: str, tree: str
) -> list[dict[str, Any]]:
    """What stands near calls of the request, and may be unmet by a tree.

    Args:
        symbols: the declared ones; other names are looked for in the tree.
    Raises:
        SandboxError, ToolchainError: the calls cannot be made here.
    """
    if rig.plan.language not in ("python", "javascript"):
        return []
    reader = claims if rig.plan.language == "python" else claims_javascript
    called = [one for group in groups for one in (*(call.source for call in group.calls), *group.others)]
    names = dict.fromkeys(name for one in called for name in reader.names_of(one))
    known = [*symbols, *(found for name in names for found in _found(rig, tree, name, symbols))]
    trees = _Trees(rig=rig, symbols=known, base=base_tree, tree=tree)
    looks, shown, came = trees.looked_at(groups)
    doubted = [with_calls_before(group, came) for group in groups if looks[_key(group)] and len(group.calls) > 1]
    again = trees.looked_at(doubted)[0] if doubted else {}
    wished = {reader.names_of(one) for one in shown}
    return [
        row
        for key, rows in looks.items()
        if again.get(key, rows)
        for row in rows
        if not row["as_before"] or reader.names_of(row["source"]) in wished
    ]


def _key(group: NearGroup) -> tuple[int, str]:
    return group.start, group.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trees:
    """The base and the delivered tree, and where the names of the calls are defined."""

    rig: Rig
    symbols: Sequence[Symbol]
    base: str
    tree: str

    def looked_at(
        self, groups: Sequence[NearGroup]
    ) -> tuple[dict[tuple[int, str], list[dict[str, Any]]], list[str], set[str]]:
        """What the trees show of each group, the calls of which they show that a wish is met, and those that came to a result."""
        called = [one for group in groups for one in (*(call.source for call in group.calls), *group.others)]
        sources = list(dict.fromkeys(called))[:_MOST]
        now = answers(self.rig, sources, symbols=self.symbols, tree=self.tree)
        before = answers(self.rig, [one for one in sources if one in now], symbols=self.symbols, tree=self.base)
        shown = [one for group in groups for one in granted(group, before, now)]
        return {_key(group): unmet(group, before, now) for group in groups}, shown, {*now}


def answers(rig: Rig, sources: Sequence[str], *, symbols: Sequence[Symbol], tree: str) -> Answers:
    """What calls give on a tree, each in a process of its own; what came to no result is left out.

    Args:
        symbols: where their names are defined.
    """
    if rig.plan.language == "javascript":
        asked = {one: resolved_in_node(one, symbols, rig, tree) for one in sources}
        probes = {one: probe for one, probe in asked.items() if probe is not None}
        told = evaluate_in_node(rig, tree, list(probes.values()))
        return {one: answer for one, answer in zip(probes, told, strict=True) if _came(one, answer)}
    read = rig.read(tree)
    called = [one for one in sources if not any(_is_signature(one, read(symbol.file)) for symbol in symbols)]
    resolved = {one: resolve(one, symbols, read=read, roots=rig.plan.roots) for one in called}
    ready = {one: Probe(source=one, names=found) for one, found in resolved.items() if found is not None}
    groups = evaluate(rig, tree, [[probe] for probe in ready.values()])
    return {one: group[0] for one, group in zip(ready, groups, strict=False) if _came(one, group[0])}


def _came(source: str, answer: CallResult) -> bool:
    """Whether a call came to a result: a value, or an exception of its own and not of the way in which it was made."""
    if answer.lost or answer.stage == "import":
        return False
    if answer.value is not None:
        return True
    unknown = _UNDEFINED.match(answer.message)
    return bool(answer.raised) and not _MISSING.search(answer.message) and not (unknown and unknown[1] in source)


def _found(rig: Rig, tree: str, name: str, symbols: Sequence[Symbol]) -> Iterator[Symbol]:
    """Where a name is defined in a tree, when no declared symbol has it: in one file, or as the name of one."""
    if any(one.name.split(".")[0] == name for one in symbols):
        return
    done = rig.git.command.run("grep", "-l", "-z", "-I", "-F", "-w", "-e", name, tree)
    paths = [os.fsdecode(one).removeprefix(f"{tree}:") for one in done.output.split(b"\0") if one]
    javascript = rig.plan.language == "javascript"
    fits = [
        one for one in paths if not is_test_path(one) and (is_javascript(one) if javascript else one.endswith(".py"))
    ]
    here = [
        Symbol(name=name, file=path, kind="function", signature="")
        for path in fits[:_FILES]
        if exists(Symbol(name=name, file=path, kind="function"), rig.read(tree)(path))
    ]
    if len(here) == 1:
        yield here[0]
    elif not here:
        own = [one for one in rig.git.list_files(tree) if PurePosixPath(one).stem == name and not is_test_path(one)]
        own = [one for one in own if (is_javascript(one) if javascript else one.endswith(".py"))]
        yield from (Symbol(name="-", file=path, kind="module", signature="") for path in own[:1])


def _is_signature(call: str, source: bytes | None) -> bool:
    """Whether a call is how a function of a file is declared: `stamp(now=None)`."""
    try:
        asked, body = ast.parse(call, mode="eval").body, ast.walk(ast.parse(source or b""))
    except (SyntaxError, ValueError):
        return False
    if not isinstance(asked, ast.Call) or not asked.keywords:
        return False
    name = ast.unparse(asked.func).rpartition(".")[2]
    given = {one.arg: ast.unparse(one.value) for one in asked.keywords}
    found = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name]
    return any(given.items() <= _defaults(one.args).items() for one in found)


def _defaults(told: ast.arguments) -> dict[str, str]:
    """The parameters that have a default, with its source."""
    named = [*told.posonlyargs, *told.args]
    pairs = [*zip(named[len(named) - len(told.defaults) :], told.defaults, strict=True)]
    pairs += [(one, value) for one, value in zip(told.kwonlyargs, told.kw_defaults, strict=True) if value is not None]
    return {one.arg: ast.unparse(value) for one, value in pairs}
