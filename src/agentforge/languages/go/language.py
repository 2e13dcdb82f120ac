"""Go, as the rest of the program asks for it.

Names the tests of a Go file without running it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from agentforge.languages.go.runner import run_go
from agentforge.languages.language import Language, ProjectFiles
from agentforge.languages.native.mutants import native_mutants
from agentforge.languages.native.stubs import native_variants, null_implementation
from agentforge.languages.native.wrapper_commands import plan_with
from agentforge.testing.plan import TestPlan

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_GO = ("Test", "Example", "Fuzz")


def go_tests(root: SgNode) -> Iterator[tuple[str, str]]:
    """Yield (name, source text) of each function that `go test` runs."""
    for node in root.children():
        name = node.field("name") if node.kind() == "function_declaration" else None
        if name is not None and name.text().startswith(_GO):
            yield name.text(), node.text()


def _find(project: ProjectFiles) -> TestPlan | None:
    if not project.holds("go.mod"):
        return None
    there = shutil.which("go", path=project.environ.get("PATH")) is not None
    return TestPlan(
        runner="go" if there else "none",
        command=("go", "test", "./..."),
        language="go",
        source="detected: go via go.mod",
        problems=() if there else ("go is not on PATH; install Go",),
        **project.base,
    )


def _plan_of_command(project: ProjectFiles, command: Sequence[str]) -> TestPlan | None:
    return plan_with(_find(project), command, begins=("go", "test"))


LANGUAGE = Language(
    name="go",
    rank=40,
    runners=("go",),
    grammars=("go",),
    manifests=("go.mod",),
    find=_find,
    plan_of_command=_plan_of_command,
    run=run_go,
    named_tests=go_tests,
    stubs=partial(native_variants, language="go"),
    null_implementation=null_implementation,
    mutants=native_mutants,
    is_compiled=True,
    keeps_neighbours=True,
    examined_test="examined_test.go",
)
