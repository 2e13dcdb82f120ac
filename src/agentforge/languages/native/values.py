"""Wrong values by declared type in Go, Rust and Java: what a stub gives back to see whether a test looks at the value at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.languages.native.source import Function

if TYPE_CHECKING:
    from ast_grep_py import SgNode

RAISES = {
    "go": 'panic("not implemented")',
    "rust": 'if true { panic!("not implemented") }',
    "java": 'if (true) throw new UnsupportedOperationException("not implemented");',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """Expressions of one type; `wrong` is empty where no value is implausible, the others where none can be written."""

    wrong: str = ""
    empty: str = ""
    other: str = ""


def statement(function: Function, which: str) -> str:
    """The statement that makes a function give back a wrong value; empty when no such value can be written.

    Args:
        which: wrong (no honest test expects it), empty (the zero value), or other (another plausible one).
    """
    language = function.language
    if not function.returns:
        return {"go": "return", "rust": "if true { return; }", "java": "if (true) return;"}[language] * (
            which == "empty"
        )
    values = [_VALUES[language](one) for one in function.returns]
    chosen = [getattr(one, which) for one in values]
    if which != "empty" and not any(chosen):
        return ""
    chosen = [one or value.empty for one, value in zip(chosen, values, strict=True)]
    if not all(chosen):
        return ""
    told = ", ".join(chosen)
    return {"go": f"return {told}", "rust": f"if true {{ return {told}; }}", "java": f"if (true) return {told};"}[
        language
    ]


def _numbers(wrong: str, names: str, *, form: str = "{0}", zero: str = "0", other: str = "1") -> dict[str, Native]:
    return {
        name: Native(wrong=form.format(wrong, name), empty=form.format(zero, name), other=form.format(other, name))
        for name in names.split()
    }


_TEXTS = ('"\\x00wrong"', '""', '"x"')
_GO = {
    "string": Native(wrong=_TEXTS[0], empty=_TEXTS[1], other=_TEXTS[2]),
    "bool": Native(empty="false", other="true"),
    **_numbers("-987654321", "int int32 int64 rune", other="-1"),
    **_numbers("987654321", "uint uint32 uint64 uintptr"),
    **_numbers("-99", "int8"),
    **_numbers("-31999", "int16"),
    **_numbers("253", "uint8 byte"),
    **_numbers("64999", "uint16"),
    **_numbers("-9.87654321e30", "float32 float64", other="-1"),
}
_RUST = {
    "String": Native(wrong='String::from("\\0wrong")', empty="String::new()", other='String::from("x")'),
    "str": Native(wrong='"\\0wrong"', empty='""', other='"x"'),
    "bool": Native(empty="false", other="true"),
    "char": Native(wrong="'\\u{fffe}'", empty="'\\0'", other="'x'"),
    **_numbers("-987654321", "i32 i64 i128 isize", other="-1"),
    **_numbers("987654321", "u32 u64 u128 usize"),
    **_numbers("-99", "i8"),
    **_numbers("-31999", "i16"),
    **_numbers("253", "u8"),
    **_numbers("64999", "u16"),
    **_numbers("-9.87654321e30", "f32 f64", zero="0.0", other="-1.0"),
}
_RUST_EMPTY = {
    name: f"{path}::{name}::new()"
    for path, names in (
        ("std::collections", "HashMap HashSet BTreeMap BTreeSet VecDeque BinaryHeap LinkedList"), ("std::path", "PathBuf"),
    )
    for name in names.split()
}  # fmt: skip
_JAVA = {
    "String": Native(wrong='"\\0wrong"', empty='""', other='"x"'),
    "CharSequence": Native(wrong='"\\0wrong"', empty='""', other='"x"'),
    "boolean": Native(empty="false", other="true"),
    "Boolean": Native(empty="false", other="true"),
    "char": Native(wrong="'\\uFFFE'", empty="'\\0'", other="'x'"),
    **_numbers("-987654321", "int Integer", other="-1"),
    **_numbers("-987654321", "long Long", form="{0}L", other="-1"),
    **_numbers("-99", "byte", form="(byte) {0}"),
    **_numbers("-31999", "short", form="(short) {0}"),
    **_numbers("-9.87e30", "double Double", form="{0}d", zero="0", other="-1"),
    **_numbers("-9.87e30", "float Float", form="{0}f", zero="0", other="-1"),
}
_JAVA_COLLECTIONS = {
    **dict.fromkeys(("List", "Collection", "Iterable"), ("singletonList(null)", "emptyList()")),
    "Set": ("singleton(null)", "emptySet()"),
    "Map": ("singletonMap(null, null)", "emptyMap()"),
}


def _go(kind: SgNode) -> Native:
    """Every type of Go has a zero value, which `*new(T)` writes down."""
    known = _GO.get(kind.text())
    if known is not None:
        return known
    element = kind.field("element") if kind.kind() == "slice_type" else None
    inside = _GO.get(element.text()) if element is not None else None
    zero = f"*new({kind.text()})"
    if inside is None:
        return Native(empty=zero)
    wrong = f"{kind.text()}{{{inside.wrong}}}" if inside.wrong else ""
    return Native(wrong=wrong, empty=zero, other=f"{kind.text()}{{{inside.other}}}")


def _rust(kind: SgNode) -> Native:
    if kind.kind() == "reference_type":
        inner = kind.field("type")
        return _RUST["str"] if inner is not None and inner.text() == "str" else Native()
    if kind.kind() == "unit_type":
        return Native(empty="()")
    if kind.kind() == "tuple_type":
        return _joined([_rust(one) for one in kind.children() if one.is_named()])
    outer = kind.field("type") if kind.kind() == "generic_type" else kind
    name = outer.text().rpartition("::")[2] if outer is not None else ""
    if name in _RUST:
        return _RUST[name]
    if name in _RUST_EMPTY:
        return Native(empty=_RUST_EMPTY[name])
    arguments = kind.field("type_arguments")
    inner = next((one for one in arguments.children() if one.is_named()), None) if arguments is not None else None
    return _wrapped(name, _rust(inner)) if inner is not None else Native()


def _wrapped(name: str, inside: Native) -> Native:
    """Values of `Option<T>`, `Result<T, _>`, `Vec<T>` and `Box<T>` by those of T."""
    form, empty = {
        "Option": ("Some({0})", "None"), "Vec": ("vec![{0}]", "Vec::new()"),
        "Result": ("Ok({0})", ""), "Box": ("Box::new({0})", ""),
    }.get(name, ("", ""))  # fmt: skip
    if not form:
        return Native()
    wrong, other = (form.format(one) if one else "" for one in (inside.wrong, inside.other))
    return Native(wrong=wrong, empty=empty or (form.format(inside.empty) if inside.empty else ""), other=other)


def _joined(parts: Sequence[Native]) -> Native:
    def tuple_of(which: str) -> str:
        chosen = [getattr(one, which) or one.empty for one in parts]
        told = which == "empty" or any(getattr(one, which) for one in parts)
        return f"({', '.join(chosen)},)" if told and all(chosen) else ""

    return Native(wrong=tuple_of("wrong"), empty=tuple_of("empty"), other=tuple_of("other"))


def _java(kind: SgNode) -> Native:
    """Every type of Java that is no primitive one has null."""
    known = _JAVA.get(kind.text().removeprefix("java.lang."))
    if known is not None:
        return known
    if kind.kind() == "array_type":
        element = kind.field("element")
        inside = _JAVA.get(element.text()) if element is not None else None
        name, text = (element.text() if element is not None else ""), kind.text()
        plain = text == f"{name}[]" and "<" not in name
        wrong = f"new {name}[] {{{inside.wrong}}}" if plain and inside is not None and inside.wrong else ""
        return Native(wrong=wrong, empty=f"new {name}[0]" if plain else "null")
    outer = kind.text().partition("<")[0].rpartition(".")[2]
    if outer in _JAVA_COLLECTIONS:
        wrong, empty = _JAVA_COLLECTIONS[outer]
        return Native(wrong=f"java.util.Collections.{wrong}", empty=f"java.util.Collections.{empty}", other="null")
    if outer == "Optional":
        return Native(empty="java.util.Optional.empty()", other="null")
    return Native(empty="null")


_VALUES = {"go": _go, "rust": _rust, "java": _java}
