"""JavaScript and TypeScript, as the rest of the program asks for them."""

from __future__ import annotations

from agentforge.languages.javascript.mutants import javascript_mutants
from agentforge.languages.javascript.project import find_javascript, plan_of_words
from agentforge.languages.javascript.runner import run_javascript
from agentforge.languages.javascript.stubs import javascript_null, javascript_spoiling, javascript_variants
from agentforge.languages.javascript.tests import holds_tests, plain_tests
from agentforge.languages.language import Language

LANGUAGE = Language(
    name="javascript",
    rank=20,
    runners=("node", "vitest", "jest", "mocha"),
    grammars=("javascript", "typescript", "tsx"),
    manifests=("package.json",),
    find=find_javascript,
    plan_of_command=plan_of_words,
    run=run_javascript,
    named_tests=plain_tests,
    holds_tests=holds_tests,
    stubs=javascript_variants,
    spoiling=javascript_spoiling,
    null_implementation=javascript_null,
    mutants=javascript_mutants,
    examined_test="test/examined.test.js",
)
