"""What the compilers of Go, Rust and Java say, line by line: the kind of each error and the symbol that it is about."""

from __future__ import annotations

import pytest

from agentforge.languages.go import failures as go
from agentforge.languages.java import failures as java
from agentforge.languages.rust import failures as rust

GO = {
    "undefined: Indent": ("ImportError", ("Indent",)),
    "undefined: kit.Indent": ("ImportError", ("Indent",)),
    "name indent not exported by package kit": ("ImportError", ("indent",)),
    "box.Width undefined (type Box has no field or method Width)": ("AttributeError", ("Width",)),
    "unknown field Width in struct literal of type Box": ("AttributeError", ("Width",)),
    "not enough arguments in call to kit.Indent": ("TypeError", ("Indent",)),
    "assignment mismatch: 2 variables but kit.Indent returns 1 value": ("TypeError", ("Indent",)),
    "no required module provides package example.org/kit/text; to add it:": ("ModuleNotFoundError", ("text",)),
    "expected ';', found x": ("SyntaxError", ()),
}
RUST = {
    ("E0425", "cannot find function `indent` in this scope"): ("ImportError", ("indent",)),
    ("E0432", "unresolved import `kit::indent`"): ("ImportError", ("indent",)),
    ("E0599", "no method named `wrap` found for struct `Kit`"): ("AttributeError", ("wrap", "Kit")),
    ("E0061", "this function takes 1 argument but 2 were supplied"): ("TypeError", ()),
    ("", "expected `;`"): ("SyntaxError", ()),
}
JAVA = {
    "error: cannot find symbol\n    symbol:   class Indent\n": ("ImportError", ("Indent",)),
    "error: cannot find symbol\n    symbol:   method wrap(int)\n": ("AttributeError", ("wrap",)),
    "error: method wrap in class Kit cannot be applied to given types;\n": ("TypeError", ("wrap",)),
    "error: package org.example.text does not exist\n": ("ModuleNotFoundError", ("org.example.text",)),
    "error: ';' expected\n": ("SyntaxError", ()),
}


@pytest.mark.parametrize("said", list(GO))
def test_go(said):
    output = f"./kit_test.go:4:2: {said}\n"
    (error,), broken = go.collection_errors(
        output, root="/repo", module="example.org/kit", packages={"": ["kit_test.go"]}
    )
    assert ((error.failure.exc_type, error.failure.names), error.failure.line, set(broken)) == (GO[said], 4, {""})


@pytest.mark.parametrize(("code", "said"), list(RUST))
def test_rust(code, said):
    message = {
        "message": said,
        "code": {"code": code} if code else None,
        "spans": [{"is_primary": True, "line_start": 4}],
    }
    failure = rust.compile_error(message, file="tests/kit.rs").failure
    assert (failure.exc_type, failure.names) == RUST[code, said]


@pytest.mark.parametrize("said", list(JAVA))
def test_java(said):
    test = "src/test/java/KitTest.java"
    (error,), _ = java.compile_errors(
        f"/repo/{test}:4: {said}", root="/repo", tests=[test], line_of=lambda _path, _line: ""
    )
    assert ((error.failure.exc_type, error.failure.names), error.failure.line) == (JAVA[said], 4)
