"""Rust, as the rest of the program asks for it.

Names the tests of a Rust file without running it, and says where they stand in a product file: in modules that are compiled
for tests alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from agentforge.languages.language import Language, TestPart
from agentforge.languages.native.mutants import native_mutants
from agentforge.languages.native.stubs import native_variants, null_implementation
from agentforge.languages.native.wrapper_commands import plan_by_manifest, plan_with
from agentforge.languages.rust.runner import run_cargo
from agentforge.workspace.code.symbols_rust import is_for_tests

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_COMMENTS = ("line_comment", "block_comment")


def rust_test_parts(node: SgNode, modules: tuple[str, ...] = ()) -> Iterator[TestPart]:
    """Yield each module behind `#[cfg(test)]`, with its attributes and documentation; one that cannot be parsed is none."""
    before: list[SgNode] = []
    for child in node.children():
        if child.kind() == "attribute_item" or child.kind() in _COMMENTS:
            before.append(child)
            continue
        name, body = child.field("name"), child.field("body")
        if child.kind() == "mod_item" and name is not None:
            inside = (*modules, name.text())
            if any(one.kind() == "attribute_item" and is_for_tests(one.text()) for one in before):
                if child.find(kind="ERROR") is None:
                    yield TestPart(name="::".join(inside), first=_first(before), last=child.range().end.index)
            elif body is not None:
                yield from rust_test_parts(body, inside)
        before = []


def _first(before: list[SgNode]) -> int:
    """Where the first attribute stands, or the first line of documentation; any other comment belongs to the product."""
    own = (one for one in before if one.kind() not in _COMMENTS or one.text().startswith(("///", "/**")))
    return next(own).range().start.index


def rust_tests(node: SgNode, modules: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Functions that an attribute like `#[test]` stands before; an attribute is a sibling of its function."""
    attributes: list[str] = []
    for child in node.children():
        name = child.field("name")
        if child.kind() == "attribute_item":
            attributes.append(child.text())
            continue
        if child.kind() == "function_item" and name is not None and any(_is_test_attribute(one) for one in attributes):
            yield "::".join((*modules, name.text())), "\n".join((*attributes, child.text()))
        elif child.kind() == "mod_item" and name is not None and (body := child.field("body")) is not None:
            yield from rust_tests(body, (*modules, name.text()))
        if child.kind() not in ("line_comment", "block_comment"):
            attributes = []


def _is_test_attribute(text: str) -> bool:
    inner = text.removeprefix("#[").partition("(")[0].removesuffix("]").strip()
    return inner.rpartition("::")[2] in ("test", "rstest", "test_case")


_find = partial(
    plan_by_manifest,
    manifest="Cargo.toml",
    runner="cargo",
    language="rust",
    command=("cargo", "test", "--offline", "--no-fail-fast", "--lib", "--bins", "--tests"),
    noted=" (unit and integration tests; documentation tests are not run)",
)

LANGUAGE = Language(
    name="rust",
    rank=30,
    runners=("cargo",),
    grammars=("rust",),
    manifests=("Cargo.toml",),
    find=_find,
    plan_of_command=partial(plan_with, find=_find, begins=("cargo", "test")),
    run=run_cargo,
    named_tests=rust_tests,
    test_parts=rust_test_parts,
    stubs=partial(native_variants, language="rust"),
    null_implementation=null_implementation,
    mutants=native_mutants,
    is_compiled=True,
    runs_all=True,
    examined_test="tests/examined.rs",
)
