"""Stub variants of declared Go, Rust and Java symbols, made by edits of the syntax tree; see `stubs.py`.

A wrong statement is put before what a changed function does, so that everything is still compiled. A new function needs its
declared signature. A target that expects a panic rightly passes where everything panics, so the raising stub is no hard one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from agentforge.languages.native.source import (
    Function,
    data_of,
    functions,
    native_language,
    native_tree,
    with_statements,
)
from agentforge.languages.native.values import RAISES, statement
from agentforge.languages.node_mutants import span
from agentforge.languages.stub_values import NullWay, Source, Variant, drawn
from agentforge.languages.symbols import Symbol
from agentforge.workspace.code.symbols import outline_of

_TYPES = ("class", "struct", "type", "enum", "interface", "trait", "record")
_IMPORTED = """
bufio bytes context crypto database/sql database/sql/driver encoding encoding/json encoding/xml errors flag fmt go/ast go/token
hash image image/color io io/fs iter log log/slog math/big math/rand net net/http net/netip net/url os reflect regexp sort
strconv strings sync testing time unicode
"""
"""Packages of Go's own library whose types stand in signatures."""
_GO_PACKAGES = {name.rpartition("/")[2]: name for name in _IMPORTED.split()}
_QUALIFIED = re.compile(r"\b([a-z]\w*)\.[A-Z]")
_EXCEPTIONS = ("Exception", "Error")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wrong:
    """One way to be wrong: raises, wrong, empty or other; the seed draws the values of `wrong`."""

    which: str
    seed: str


def native_variants(symbols: Iterable[Symbol], *, source: Source, seed: str, language: str) -> tuple[Variant, ...]:
    """Make the stub variants of the declared symbols of one language, the raising one first.

    Args:
        source: text of a repository path at the base; None when it does not exist.
        seed: draws the wrong values.
    Returns:
        () when no function of the language is declared as new or changed, or one has no signature that can be read.
    """
    wanted = [one for one in symbols if native_language(one.file) == language and one.change in ("new", "changed")]
    found: list[Variant] = []
    for name, hard in (("raises", False), ("wrong", True), ("empty", False), ("other", False)):
        files = _stubbed(wanted, _Wrong(which=name, seed=seed), source) if wanted else None
        if files is None:
            return ()
        if all(files != one.files for one in found) and files:
            found.append(Variant(name=name, hard=hard, files=files))
    return tuple(found)


def _stubbed(symbols: Sequence[Symbol], wrong: _Wrong, source: Source) -> dict[str, str] | None:
    """The files with wrong functions; None when a function can be neither found nor made."""
    files: dict[str, str] = {}
    made = 0
    for path in dict.fromkeys(one.file for one in symbols):
        own = [one for one in symbols if one.file == path]
        text = _file(path, own, wrong, source)
        if text is None:
            return None
        files[path] = text
        made += sum(not _is_type(one) for one in own)
    return {**files, **_declared_modules(files, source)} if made else None


def _file(path: str, symbols: Sequence[Symbol], wrong: _Wrong, source: Source) -> str | None:
    language, before = native_language(path), source(path)
    text = before if before is not None else _head(path, language, source)
    root = native_tree(language, text)
    if root is None:
        return None
    known = {one.name: one for one in functions(root, language)}
    standing = [one for symbol in symbols for one in _standing(symbol, known)]
    text = with_statements(text, [(one, _statement(one, wrong)) for one in dict.fromkeys(standing)])
    made = []
    for symbol in symbols:
        if not _standing(symbol, known) and not _is_type(symbol):
            fresh = _new(symbol, language, wrong)
            if fresh is None:
                return None
            made.append(fresh)
            text = _placed(text, language, symbol, fresh, [one for one in symbols if _is_type(one)])
    for symbol in symbols:
        if _is_type(symbol) and not _defines(text, language, symbol.last):
            made.append(_new_type(symbol, language))
            text = f"{text.rstrip()}\n{made[-1]}\n"
    return _with_imports(text, language, " ".join(made), source)


def _standing(symbol: Symbol, known: Mapping[str, Function]) -> tuple[Function, ...]:
    """The functions at the base that a symbol stands for: itself, or the methods of a changed type."""
    if symbol.name in known:
        return (known[symbol.name],)
    inside = [one for name, one in known.items() if name.startswith(f"{symbol.last}.")] if _is_type(symbol) else []
    alone = [one for name, one in known.items() if name.rpartition(".")[2] == symbol.last]
    if not inside and not symbol.owner and symbol.change == "changed" and len(alone) == 1:
        return tuple(alone)
    return tuple(inside)


def _statement(function: Function, wrong: _Wrong) -> str:
    """A wrong statement; where a type has no such value, the panic."""
    raising = RAISES[function.language]
    if wrong.which == "raises":
        return raising
    made = "" if function.constructor else statement(function, wrong.which)
    if not made:
        return "" if function.constructor else raising
    return drawn(made, seed=wrong.seed) if wrong.which == "wrong" else made


def _is_type(symbol: Symbol) -> bool:
    said = symbol.signature.strip()
    return symbol.kind in _TYPES or bool(
        re.match(
            r"(?:pub(?:\([^)]*\))?\s+|public\s+|final\s+|abstract\s+)*(?:type|struct|class|enum|trait|interface|record)\s",
            said,
        )
    )


def _new(symbol: Symbol, language: str, wrong: _Wrong) -> str | None:
    """Source of a new function by its declared signature; None when that cannot be read."""
    said = symbol.signature.strip().rstrip(";{ ").strip()
    for candidate in _readings(said, symbol, language):
        root = native_tree(language, _alone(candidate, language))
        found = functions(root, language) if root is not None else ()
        if (
            len(found) == 1
            and found[0].name.rpartition(".")[2] == symbol.last
            and root is not None
            and not root.find(kind="ERROR")
        ):
            text = _alone(candidate, language)
            head = text[span(found[0].node)[0] : span(found[0].body)[0]].rstrip()
            return f"{head} {{ {_ended(_statement(found[0], wrong), found[0])} }}"
    return None


def _alone(candidate: str, language: str) -> str:
    return f"class X {{ {candidate} }}" if language == "java" else candidate


def _readings(said: str, symbol: Symbol, language: str) -> Iterator[str]:
    """A signature as people write it: with or without the word for a function, a receiver or visibility."""
    if not said or "(" not in said:
        return
    if language == "go":
        bare = said.removeprefix("func").strip()
        bare = bare.removeprefix(f"{symbol.owner}.") if symbol.owner else bare
        receiver = f"(recv *{symbol.owner}) " if symbol.owner and not bare.startswith("(") else ""
        yield f"package p\nfunc {receiver}{bare} {{}}"
    elif language == "rust":
        bare = re.sub(rf"\bfn\s+{re.escape(symbol.owner)}::", "fn ", said) if symbol.owner else said
        yield f"{bare} {{}}" if re.search(r"\bfn\b", bare) else f"pub fn {bare.removeprefix(f'{symbol.owner}::')} {{}}"
    else:
        yield f"{said.removeprefix('default ')} {{}}"


def _ended(text: str, function: Function) -> str:
    """A statement as the whole body: without the condition that lets the compiler believe in what follows."""
    if function.language == "rust":
        return re.sub(r"^if true \{ (.*) \}$", r"\1", text, flags=re.DOTALL)
    return text.removeprefix("if (true) ")


def _placed(text: str, language: str, symbol: Symbol, fresh: str, types: Sequence[Symbol]) -> str:
    """Put a new function at the end of its file, or into its class."""
    if language == "go" or (language == "rust" and not symbol.owner):
        return f"{text.rstrip()}\n\n{_public(fresh, language)}\n"
    if language == "rust":
        declared = next((one.signature for one in types if one.last == symbol.owner), "")
        generic = re.search(rf"\b{re.escape(symbol.owner)}\s*(<[^>{{(]*>)", declared + text)
        arguments = generic[1] if generic is not None else ""
        return f"{text.rstrip()}\n\nimpl{arguments} {symbol.owner}{arguments} {{ {_public(fresh, language)} }}\n"
    owner = symbol.owner.rpartition(".")[2] or PurePosixPath(symbol.file).stem
    if not _defines(text, language, owner):
        text = (
            f"{text.rstrip()}\n{_java_class(owner, next((one.signature for one in types if one.last == owner), ''))}\n"
        )
    end = _end_of_class(text, owner)
    return f"{text[:end]}    {fresh}\n{text[end:]}"


def _public(fresh: str, language: str) -> str:
    """A new function as others may call it, in a form that crates take which deny missing documentation or warnings."""
    if language != "rust":
        return fresh
    return f"/// Stands in.\n#[allow(unused_variables)]\n{fresh if fresh.startswith('pub') else f'pub {fresh}'}"


def _defines(text: str, language: str, name: str) -> bool:
    suffix = {"go": ".go", "rust": ".rs", "java": ".java"}[language]
    return any(one.name == name and one.kind in ("class", "type") for one in outline_of(f"x{suffix}", text).symbols)


def _end_of_class(text: str, owner: str) -> int:
    """Where the closing brace of a class stands."""
    root = native_tree("java", text)
    for kind in ("class_declaration", "record_declaration", "interface_declaration", "enum_declaration"):
        for node in root.find_all(kind=kind) if root is not None else ():
            name, body = node.field("name"), node.field("body")
            if name is not None and body is not None and name.text() == owner:
                return span(body)[1] - 1
    return len(text)


def _new_type(symbol: Symbol, language: str) -> str:
    """Source of a new type: as it is declared when that is whole, else without anything in it."""
    said = symbol.signature.strip().rstrip(";").strip()
    if language == "java":
        return _java_class(symbol.last, said)
    whole = said if said.endswith("}") else ""
    if language == "go":
        return whole or f"type {symbol.last} struct{{}}"
    return f"/// Stands in.\n#[derive(Debug, Clone, Default, PartialEq)]\n{whole or f'pub struct {symbol.last};'}"


def _java_class(name: str, said: str) -> str:
    parent = re.search(r"\bextends\s+([\w.]+)", said)
    above = parent[1] if parent is not None else "RuntimeException" if name.endswith(_EXCEPTIONS) else ""
    if above.endswith(_EXCEPTIONS):
        made = f"public {name}() {{}}\n    public {name}(String message) {{ super(message); }}"
        return f"public class {name} extends {above} {{\n    {made}\n}}"
    head = (
        said.partition("{")[0].strip()
        if re.search(r"\b(?:class|interface|record|enum)\b", said)
        else f"public class {name}"
    )
    constructor = f"    public {name}(Object... any) {{}}\n" if " class " in f" {head} " else ""
    return f"{head} {{\n{constructor}}}"


def _head(path: str, language: str, source: Source) -> str:
    """The first lines of a file that does not exist yet."""
    folder = posixpath.dirname(path)
    if language == "go":
        said = _package_beside(folder, source)
        if said:
            return f"package {said}\n"
        return f"package {_package_name(folder or _module(source) or 'main')}\n"
    if language == "java":
        inside = re.sub(r"^.*?src/(?:main|test)/java/?|^src/?|^.*?/src/", "", f"{folder}/").strip("/")
        return f"package {inside.replace('/', '.')};\n" if inside else ""
    return ""


def _module(source: Source) -> str:
    """The path of the Go module; "" where none is named."""
    module = re.search(r"^module\s+(\S+)", source("go.mod") or "", re.MULTILINE)
    return module[1] if module is not None else ""


def _package_name(path: str) -> str:
    """What a Go package at an import path is called where nothing else is known."""
    name = re.sub(r"/v\d+$", "", path).rpartition("/")[2]
    return re.sub(r"^go-|-go$|[.]v[0-9]+$", "", name).replace("-", "").replace(".", "")


def _package_beside(folder: str, source: Source) -> str:
    """What the Go files of a folder call their package, tests included; "" where there are none."""
    files = [one for one in (source(f"{folder}/") or "").split("\n") if one.endswith(".go")]
    clauses = (re.search(r"^package[ \t]+(\w+)", source(one) or "", re.MULTILINE) for one in files)
    return next((found[1].removesuffix("_test") for found in clauses if found is not None), "")


def _declared_modules(files: Mapping[str, str], source: Source) -> dict[str, str]:
    """The crate's root with the modules of new files declared in it."""
    found: dict[str, str] = {}
    for path in files:
        folder, name = posixpath.split(path)
        root = next((one for one in (f"{folder}/lib.rs", f"{folder}/main.rs") if source(one) is not None), "")
        if not path.endswith(".rs") or source(path) is not None or not root or root == path:
            continue
        module = name.removesuffix(".rs")
        text = found.get(root) or files.get(root) or source(root) or ""
        if not re.search(rf"\bmod\s+{re.escape(module)}\b", text):
            found[root] = f"{text.rstrip()}\n\npub mod {module};\n"
    return found


def _with_imports(text: str, language: str, made: str, source: Source) -> str:
    """A text that imports the packages which new functions and types name: Go's own and the module's first, and java.util."""
    if language == "java" and made:
        package = re.search(r"^\s*package\s[^;]+;", text, re.MULTILINE)
        at = package.end() if package is not None else 0
        return f"{text[:at]} import java.util.*; {text[at:]}"
    if language != "go":
        return text
    known = re.findall(r'"([^"\s]+)"', text)
    module = _module(source)
    packages = {**_GO_PACKAGES, _package_name(module): module}
    missing = [
        packages[name]
        for name in dict.fromkeys(_QUALIFIED.findall(made))
        if name in packages and not any(one.rpartition("/")[2] == name for one in known)
    ]
    head = re.search(r"^package\s+\w+", text, re.MULTILINE)
    at = head.end() if head is not None else 0
    return f"{text[:at]}{''.join(f'; import {chr(34)}{one}{chr(34)}' for one in missing)}{text[at:]}"


def null_implementation(path: str, before: bytes | None, after: bytes, *, way: NullWay) -> bytes | None:
    """A file with wrong changed functions; empty when none changed, None when nothing can be told of it."""
    language = native_language(path)
    old, new = (before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")
    roots = native_tree(language, old), native_tree(language, new)
    if roots[0] is None or roots[1] is None or data_of(roots[0]) != data_of(roots[1]):
        return None
    known = {one.node.text() for one in functions(roots[0], language)}
    fresh = [one for one in functions(roots[1], language) if one.node.text() not in known]
    if any(one.constructor for one in fresh):
        return None
    statements = [(one, _first_statement(one, way)) for one in fresh]
    if not all(said for _, said in statements):
        return None
    return with_statements(new, statements).encode("utf-8", "surrogateescape") if fresh else b""


def _first_statement(function: Function, way: NullWay) -> str:
    if way.raising:
        return RAISES[function.language]
    return drawn(statement(function, "wrong"), seed=way.seed) or statement(function, "empty")
