"""Go, as the rest of the program asks for it.

Names the tests of a Go file without running it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from agentforge.languages.go.runner import run_go
from agentforge.languages.language import Language
from agentforge.languages.native.mutants import native_mutants
from agentforge.languages.native.stubs import native_variants, null_implementation
from agentforge.languages.native.wrapper_commands import plan_by_manifest, plan_with

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_GO = ("Test", "Example", "Fuzz")


def go_tests(root: SgNode) -> Iterator[tuple[str, str]]:
    """Yield (name, source text) of each function that `go test` runs."""
    for node in root.children():
        name = node.field("name") if node.kind() == "function_declaration" else None
        if name is not None and name.text().startswith(_GO):
            yield name.text(), node.text()


_find = partial(plan_by_manifest, manifest="go.mod", runner="go", language="go", command=("go", "test", "./..."))

LANGUAGE = Language(
    name="go",
    rank=40,
    runners=("go",),
    grammars=("go",),
    manifests=("go.mod",),
    find=_find,
    plan_of_command=partial(plan_with, find=_find, begins=("go", "test")),
    run=run_go,
    named_tests=go_tests,
    stubs=partial(native_variants, language="go"),
    null_implementation=null_implementation,
    mutants=native_mutants,
    is_compiled=True,
    keeps_neighbours=True,
    subtests="/",
    examined_test="examined_test.go",
)
