"""Java, as the rest of the program asks for it.

Names the tests of a Java file without running it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from agentforge.languages.java.project import find_java, plan_of_java_words
from agentforge.languages.java.runner import run_java
from agentforge.languages.language import Language
from agentforge.languages.native.mutants import native_mutants
from agentforge.languages.native.stubs import native_variants, null_implementation

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_JAVA = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory", "Property"})


def java_tests(node: SgNode, owners: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Methods with an annotation that ends in Test or begins a family of tests, and `test...` methods of a TestCase."""
    for child in node.children():
        name = child.field("name")
        body = child.field("body")
        if child.kind() in ("class_declaration", "record_declaration") and name is not None and body is not None:
            yield from java_tests(body, (*owners, name.text()))
        elif child.kind() == "method_declaration" and name is not None and _is_java_test(child, name.text()):
            yield "::".join((*owners, name.text())), child.text()


def _is_java_test(method: SgNode, name: str) -> bool:
    modifiers = next((one for one in method.children() if one.kind() == "modifiers"), None)
    marks = [one.field("name") for one in modifiers.children()] if modifiers is not None else []
    if any(one is not None and one.text().rpartition(".")[2] in _JAVA for one in marks):
        return True
    body = method.parent()
    owner = body.parent() if body is not None else None
    above = owner.field("superclass") if owner is not None else None
    return name.startswith("test") and above is not None and above.text().endswith("TestCase")


LANGUAGE = Language(
    name="java",
    rank=50,
    runners=("java",),
    grammars=("java",),
    manifests=("pom.xml", "build.gradle", "build.gradle.kts"),
    find=find_java,
    plan_of_command=plan_of_java_words,
    run=run_java,
    named_tests=java_tests,
    stubs=partial(native_variants, language="java"),
    null_implementation=null_implementation,
    mutants=native_mutants,
    is_compiled=True,
    keeps_neighbours=True,
)
