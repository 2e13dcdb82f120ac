"""Names the tests of a Rust file without running it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode


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
