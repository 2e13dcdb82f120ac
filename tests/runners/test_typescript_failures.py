"""Errors of the TypeScript compiler inside of a test runner: each is about a symbol, and a typo stays a typo."""

from __future__ import annotations

import pytest

from agentforge.languages.javascript.failures import compiler_failures, module_name

_SAID = """\x1b[96msrc/a.spec.ts\x1b[0m:\x1b[93m2\x1b[0m:\x1b[93m10\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2614: \x1b[0mModule '"kit"' has no exported member 'indent'. Did you mean to use 'import indent from "kit"' instead?

\x1b[7m2\x1b[0m import { indent } from 'kit';
/repo/src/a.spec.ts:3:23 - error TS2307: Cannot find module '../other' or its corresponding type declarations.

3 import { other } from '../other';
                        ~~~~~~~~~~
src/a.spec.ts:4:38 - error TS2339: Property 'wrap' does not exist on type 'typeof import("/repo/src/kit")'.
src/a.spec.ts:5:1 - error TS2552: Cannot find name 'indnt'. Did you mean 'indent'?
src/a.spec.ts:6:9 - error TS2554: Expected 1 arguments, but got 2.

6   clamp(1, 2);
             ~
src/kit.ts:7:9 - error TS1005: ';' expected.
"""


def test_each_error_is_told_with_its_kind_and_what_it_is_about():
    found = compiler_failures(_SAID, root="/repo", test_file="src/a.spec.ts")
    assert [(one.exc_type, one.names[:1], one.line, one.in_test) for one in found] == [
        ("ImportError", ("indent",), 2, True),
        ("ModuleNotFoundError", ("other",), 3, True),
        ("AttributeError", ("wrap",), 4, True),
        ("NameError", ("indnt",), 5, True),
        ("TypeError", ("clamp",), 6, True),
        ("SyntaxError", (), 7, False),
    ]


@pytest.mark.parametrize("text", ["", "Error: nothing of a compiler", "expect(a).toBe(b)\n at src/a.ts:3:4"])
def test_other_messages_hold_none(text):
    assert compiler_failures(text, root="/repo", test_file="src/a.spec.ts") == []


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("../slug.js", "src.slug"), ("./kit/index.ts", "src.test.kit"), ("@/text/slug", "text.slug"), ("~/slug", "slug"),
        ("#lib/slug", "slug"), ("@app/text/slug", "text.slug"), ("@scope/pkg", "@scope.pkg"), ("left-pad", "left-pad"),
    ],
)  # fmt: skip
def test_a_module_is_named_as_its_file_whatever_alias_leads_to_it(said, name):
    assert module_name(said, "src/test/a.spec.ts") == name
