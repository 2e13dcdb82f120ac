"""Ruby, as the rest of the program asks for it.

Names the tests of a Ruby file without running it: `test_...` methods of minitest's classes, `it` blocks of its specs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentforge.languages.language import Language
from agentforge.languages.ruby.counterexamples import null_implementation, ruby_mutants, ruby_variants
from agentforge.languages.ruby.runner import find_ruby, plan_of_ruby_words, run_minitest

if TYPE_CHECKING:
    from ast_grep_py import SgNode


def ruby_tests(node: SgNode, owners: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield (name as the runner tells it, source text) of each test below a node; a computed title is left out."""
    for child in node.children():
        kind, name = child.kind(), child.field("name")
        if kind in ("class", "module") and name is not None:
            yield from ruby_tests(child, (*owners, name.text()))
        elif kind == "method" and name is not None and name.text().startswith("test_"):
            yield "::".join((*owners, name.text())), child.text()
        elif kind == "call" and (word := _word(child)) in ("describe", "it"):
            title = _title(child)
            if title is not None and word == "describe":
                yield from ruby_tests(child, (*owners, title))
            elif title is not None:
                yield "::".join((*owners, title)), child.text()
        elif child.is_named():
            yield from ruby_tests(child, owners)


def _word(call: SgNode) -> str:
    name = call.field("method")
    return name.text() if name is not None and call.field("receiver") is None else ""


def _title(call: SgNode) -> str | None:
    """The first argument, when it is a plain string, a symbol or a constant."""
    arguments = call.field("arguments")
    first = next((one for one in arguments.children() if one.is_named()), None) if arguments is not None else None
    if first is None or "#{" in first.text():
        return None
    if first.kind() == "string":
        return first.text()[1:-1]
    return first.text().lstrip(":") if first.kind() in ("constant", "scope_resolution", "simple_symbol") else None


LANGUAGE = Language(
    name="ruby",
    rank=60,
    runners=("minitest",),
    grammars=("ruby",),
    manifests=("Gemfile", "Rakefile"),
    comment="#",
    find=find_ruby,
    plan_of_command=plan_of_ruby_words,
    run=run_minitest,
    named_tests=ruby_tests,
    stubs=ruby_variants,
    null_implementation=null_implementation,
    mutants=ruby_mutants,
    steering=("Rakefile", "Gemfile", "Gemfile.lock", ".ruby-version", ".minitest.rb"),
    examined_test="test/examined_test.rb",
)
