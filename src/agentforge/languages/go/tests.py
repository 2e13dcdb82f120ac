"""Names the tests of a Go file without running it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_GO = ("Test", "Example", "Fuzz")


def go_tests(root: SgNode) -> Iterator[tuple[str, str]]:
    """Yield (name, source text) of each function that `go test` runs."""
    for node in root.children():
        name = node.field("name") if node.kind() == "function_declaration" else None
        if name is not None and name.text().startswith(_GO):
            yield name.text(), node.text()
