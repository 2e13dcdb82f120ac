"""Stub variants of declared JavaScript and TypeScript symbols, made by edits of the syntax tree; see `stubs.py`.

A null implementation is a file in which every changed function throws, or gives a text that nobody expects.

A target that expects any exception rightly passes where everything throws, so the raising stub is no hard one here: it
refuses a suite of which every target passes under it. In TypeScript a stub gives `any`: the type of its value would break files
that call it, and a build that wrote nothing says nothing of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agentforge.languages.javascript.source import (
    CLASSES,
    FUNCTIONS,
    TYPED,
    anywhere,
    definitions,
    is_javascript,
    is_module,
    parsed,
    replaced,
    span,
)
from agentforge.languages.javascript.values import Returned, returned_by, type_of, values_for
from agentforge.languages.stub_values import NullWay, Source, Variant, drawn
from agentforge.languages.symbols import Symbol

if TYPE_CHECKING:
    from ast_grep_py import SgNode


_RAISE = 'throw new Error("not implemented");'
_NO_RUNTIME = ("interface ", "type ", "declare ", "export interface ", "export type ")
_SPOILS = '(typeof args === "undefined" ? undefined : spoilArguments(args))'
_SPOILING = """
function spoilArguments(args) {
  const get = globalThis.process?.getBuiltinModule ?? (() => undefined);
  const fs = get("node:fs"), path = get("node:path");
  for (const one of args) try {
    if (Array.isArray(one)) one.splice(0, one.length, ...Array.from({ length: one.length + 1 }, () => Symbol()));
    else if (one instanceof Map) for (const key of [...one.keys(), Symbol()]) one.set(key, Symbol());
    else if (one instanceof Set) { one.clear(); one.add(Symbol()); }
    else if (one && typeof one === "object") for (const key of [...Object.keys(one), "spoiled"]) one[key] = Symbol();
    else if (typeof one === "string" && /[\\\\/]/.test(one)) {
      const place = fs.existsSync(one) && fs.statSync(one).isDirectory() ? path.join(one, "spoiled") : one;
      if (fs.existsSync(path.dirname(place))) fs.appendFileSync(place, "spoiled");
    }
  } catch {}
}
"""
"""Puts something else into every array, collection, object, file and folder that is given, each time that it is called."""
_FAULTS = ("Error", "Exception")
Choose = Callable[[Returned], str]
_RAISES, _GIVES = 'throw new Error("wrong on purpose");', 'return "\\u0000wrong";'
_NEUTRAL = re.compile(
    r"\s*(?:$|//|/\*|\*|import\b|export\s*[{*]|(?:const|let|var)\s+[\w${},\s:]+=\s*require\(|[\w$.]+\s*=\s*[A-Za-z_$][\w$]*\s*;?$"
    r"|(?:module\.)?exports(?:\.[\w$]+)?\s*=\s*\{?[\w$\s,]*\}?\s*;?$"
    r"|[A-Za-z_$][\w$]*,?$|[^\w\"'`]*$)"
)


def javascript_variants(symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
    """Make the stub variants of the declared symbols, the raising one first.

    Args:
        source: text of a repository path at the base; None when it does not exist.
        seed: draws the wrong values.
    Returns:
        () when no symbol of these languages is declared as new or changed.
    """
    wanted, files = _wanted(symbols, source)
    if not files:
        return ()
    found = [_variant("raises", wanted, files, lambda _: "", hard=False)]
    if any(returned_by(one.signature, files[one.file].known.get(one.name)).values.wrong for one in wanted):
        found.append(_variant("wrong", wanted, files, lambda one: drawn(one.values.wrong, seed=seed), hard=True))
    found.append(_variant("empty", wanted, files, lambda one: one.values.empty, hard=False))
    found.append(_variant("other", wanted, files, lambda one: one.values.other, hard=False))
    return tuple(found)


@dataclass(slots=True, kw_only=True)
class _File:
    """A file at the base: its tree, what it defines, how it exports."""

    path: str
    text: str
    source: Source
    root: SgNode | None = field(init=False)
    known: dict[str, SgNode] = field(init=False)

    def __post_init__(self) -> None:
        self.root = parsed(self.path, self.text)
        self.known = {one.name: one.node for one in definitions(self.root)} if self.root is not None else {}

    @property
    def is_module(self) -> bool:
        """Whether it exports as ES modules do."""
        folders = [*PurePosixPath(self.path).parents]
        package = next((text for one in folders if (text := self.source(str(one / "package.json")))), "")
        return is_module(self.path, self.text, package=package or "")

    def standing(self, symbol: Symbol) -> SgNode | None:
        """What the symbol stands for now; a changed one may be the anonymous default export."""
        found = self.known.get(symbol.name)
        if found is None and symbol.change == "changed" and self.root is not None:
            found = anywhere(self.root, symbol.name)
        if found is None and symbol.change == "changed" and not symbol.owner:
            found = self.known.get("default")
        return found


def javascript_spoiling(symbols: Iterable[Symbol], *, source: Source, seed: str) -> tuple[Variant, ...]:
    """Make the implementation that changes what it is given, by the same arguments as `javascript_variants`."""
    wanted, files = _wanted(symbols, source)
    made = _variant("spoils", wanted, files, lambda _: _SPOILS, hard=False)
    return (replace(made, files={path: text + _SPOILING for path, text in made.files.items()}),) if files else ()


def _wanted(symbols: Iterable[Symbol], source: Source) -> tuple[list[Symbol], dict[str, _File]]:
    """The symbols that stubs can stand for, and their files; no file where one of them cannot be read."""
    wanted = [
        one
        for one in symbols
        if is_javascript(one.file)
        and one.change in ("new", "changed")
        and not one.signature.strip().startswith(_NO_RUNTIME)
    ]
    files = {one.file: _File(path=one.file, text=source(one.file) or "", source=source) for one in wanted}
    return (wanted, {}) if any(file.root is None for file in files.values()) else (wanted, files)


def _variant(name: str, symbols: Sequence[Symbol], files: dict[str, _File], choose: Choose, *, hard: bool) -> Variant:
    made = {}
    for path, file in files.items():
        own = [one for one in symbols if one.file == path]
        made[path] = _stubbed(file, sorted(own, key=lambda one: one.name.count(".")), choose)
    return Variant(name=name, hard=hard, files=made)


def _stubbed(file: _File, symbols: Sequence[Symbol], choose: Choose) -> str:
    edits: list[tuple[int, int, str]] = []
    fresh: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        node = file.standing(symbol)
        owner = file.known.get(symbol.owner) if symbol.owner else None
        if node is not None:
            edits += _replacement(node, symbol, choose)
        elif owner is not None and owner.kind() in (*CLASSES, "object"):
            edits.append(_inserted(owner, _method(symbol, choose)))
        elif owner is not None:
            fresh.setdefault("", []).append(symbol)
        else:
            fresh.setdefault(symbol.owner or symbol.name, []).append(symbol)
    text = replaced(file.text, edits)
    added = _added(file, fresh, choose)
    head = "// @ts-nocheck\n" if file.path.endswith(TYPED) and not text.startswith("#!") else ""
    return f"{head}{text.rstrip()}\n{added}"


def _replacement(node: SgNode, symbol: Symbol, choose: Choose) -> list[tuple[int, int, str]]:
    """Edits that make a definition wrong."""
    returned = returned_by(symbol.signature, node)
    if node.kind() in FUNCTIONS:
        return [(*span(node), _function(node, returned, choose, typed=_is_typed(symbol)))]
    if node.kind() in CLASSES:
        return _class(node, returned, choose, typed=_is_typed(symbol))
    if node.kind() == "object":
        inner = [
            child.field("value") if child.kind() == "pair" else child
            for child in node.children()
            if child.kind() in ("pair", "method_definition")
        ]
        functions = [one for one in inner if one is not None and one.kind() in FUNCTIONS]
        if functions:
            return [(*span(one), _function(one, returned, choose, typed=_is_typed(symbol))) for one in functions]
    value = choose(returned)
    return [(*span(node), value)] if value else []


def _is_typed(symbol: Symbol) -> bool:
    return symbol.file.endswith(TYPED)


def _anything(*, typed: bool) -> str:
    """The parameters of a function that takes any arguments, and the type of what it gives."""
    return "(...args: any[]): any" if typed else "(...args)"


def _function(node: SgNode, returned: Returned, choose: Choose, *, typed: bool) -> str:
    """A function of the same kind that takes any arguments."""
    kinds = {child.kind() for child in node.children()}
    generates = "*" in kinds
    body = _body(returned, choose, generates=generates)
    waits = "async " if "async" in kinds or returned.promised else ""
    name = node.field("name")
    if node.kind() == "method_definition":
        return f"{_method_head(node, name)}{_arguments(node, typed=typed)} {{ {body} }}"
    if node.kind() == "arrow_function":
        return f"{waits}{_anything(typed=typed)} => {{ {body} }}"
    star = "*" if generates else ""
    return f"{waits}function{star} {name.text() if name is not None else ''}{_anything(typed=typed)} {{ {body} }}"


def _method_head(node: SgNode, name: SgNode | None) -> str:
    """Everything of a method up to the end of its name: static, async, get, the star."""
    end = span(name)[1] - span(node)[0] if name is not None else 0
    return node.text()[:end]


def _arguments(node: SgNode, *, typed: bool) -> str:
    kinds = {child.kind() for child in node.children()}
    if "get" in kinds:
        return "(): any" if typed else "()"
    return "(value)" if "set" in kinds else _anything(typed=typed)


def _body(returned: Returned, choose: Choose, *, generates: bool) -> str:
    value = choose(returned)
    if not value:
        return _RAISE
    if generates:
        items = value[1:-1] if value.startswith("[") else value
        return f"yield {items};" if items and items != "undefined" else "return;"
    return f"return {value};"


def _class(node: SgNode, returned: Returned, choose: Choose, *, typed: bool) -> list[tuple[int, int, str]]:
    """Every method is wrong, and so is every one that does not exist yet."""
    body = node.field("body")
    heritage = next((child for child in node.children() if child.kind() == "class_heritage"), None)
    if body is None or (heritage is not None and heritage.text().rstrip().endswith(_FAULTS)):
        return []
    members = [child if child.kind() == "method_definition" else child.field("value") for child in body.children()]
    edits = []
    for method in members:
        if method is None or method.kind() not in FUNCTIONS:
            continue
        name = method.field("name")
        is_constructor = method.kind() == "method_definition" and name is not None and name.text() == "constructor"
        text = "" if is_constructor else _function(method, returned_by("", method), choose, typed=typed)
        edits.append((*span(method), text))
    start = span(body)[0] + 1
    return [(start, start, f" {_constructor(returned, choose, derived=heritage is not None)} "), *edits]


def _constructor(returned: Returned, choose: Choose, *, derived: bool) -> str:
    value = choose(returned)
    first = "super(...args); " if derived else ""
    if not value:
        return f"constructor(...args) {{ {_RAISE} }}"
    return (
        f"constructor(...args) {{ {first}return new Proxy(this, {{ get(own, name) {{ "
        f'return typeof name === "symbol" || name === "then" || name in own ? own[name] : () => {value}; }} }}); }}'
    )


def _inserted(owner: SgNode, text: str) -> tuple[int, int, str]:
    """Put a new method at the start of a class body or of an object."""
    place = owner.field("body") if owner.kind() in CLASSES else owner
    start = span(place if place is not None else owner)[0] + 1
    return (start, start, f" {text if owner.kind() in CLASSES else text.partition(' static ')[0] + ','} ")


def _method(symbol: Symbol, choose: Choose) -> str:
    """A new method, of the object and of the class."""
    returned = returned_by(symbol.signature, None)
    said = symbol.signature.strip()
    words = said.partition("(")[0].replace("*", " * ").split()
    generates = "*" in words
    wait = "async " if returned.promised or "async" in words else ""
    body = _body(returned, choose, generates=generates)
    if said.startswith(("get ", "static get ")):
        return f"get {symbol.last}() {{ {body} }} static get {symbol.last}() {{ {body} }}"
    whole = f"{wait}{'*' * generates}{symbol.last}{_anything(typed=_is_typed(symbol))} {{ {body} }}"
    return f"{whole} static {whole}"


def _added(file: _File, fresh: dict[str, list[Symbol]], choose: Choose) -> str:
    """New definitions at the end of the file, exported in the way of the file."""
    lines = [_attached(one, choose) for one in fresh.pop("", [])]
    made = {name: source for name, own in fresh.items() if (source := _new(name, own, choose))}
    bare = not file.text.strip()
    if file.is_module:
        lines += [f"export {source}" for source in made.values()]
        if made and "default" not in file.known and "export default" not in file.text:
            lines.append(f"export default {next(iter(made))};")
    elif made:
        lines += made.values()
        first = next(iter(made))
        if bare and not made[first].startswith("const "):
            lines.append(f"module.exports = {first};\nmodule.exports.default = {first};")
        lines += [f"module.exports.{name} = {name};" for name in made]
    return "".join(f"{line}\n" for line in lines)


def _attached(symbol: Symbol, choose: Choose) -> str:
    """A new property of a function or of another value that stands there."""
    owner = f'(typeof {symbol.owner} === "undefined" ? module.exports : {symbol.owner})'
    place = symbol.last if symbol.last.startswith("[") else f".{symbol.last}"
    return f"{owner}{place} = {_arrow(returned_by(symbol.signature, None), choose)};"


def _arrow(returned: Returned, choose: Choose) -> str:
    wait = "async " if returned.promised else ""
    return f"{wait}(...args) => {{ {_body(returned, choose, generates=False)} }}"


def _new(name: str, symbols: Sequence[Symbol], choose: Choose) -> str:
    """Source of a new definition that takes any arguments; empty for a constant while everything throws."""
    own = next((one for one in symbols if one.name == name), None)
    members = [one for one in symbols if one.owner]
    returned = returned_by(own.signature if own is not None else "", None)
    if own is None or own.kind == "class" or members or own.signature.strip().startswith("class "):
        if name.endswith(_FAULTS) or (own is not None and "extends" in own.signature and "Error" in own.signature):
            return f'class {name} extends Error {{ constructor(...args) {{ super(...args); this.name = "{name}"; }} }}'
        inner = " ".join(_method(one, choose) for one in members)
        return f"class {name} {{ {_constructor(returned, choose, derived=False)} {inner} }}"
    if own.kind == "constant":
        value = choose(_of_constant(own))
        return f"const {name} = {value};" if value else ""
    wait = "async " if returned.promised else ""
    return f"{wait}function {name}{_anything(typed=_is_typed(own))} {{ {_body(returned, choose, generates=False)} }}"


def _of_constant(symbol: Symbol) -> Returned:
    said = symbol.signature.rpartition(":")[2] if ":" in symbol.signature else symbol.signature
    return Returned(values=values_for(type_of(said)))


def javascript_null(path: str, before: bytes | None, after: bytes, *, way: NullWay) -> bytes | None:
    """Put a wrong statement before the bodies of changed functions; b"" when none changed, None when data did."""
    old, new = (before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")
    was, now = _changed(path, new, old), _changed(path, old, new)
    if not _only_functions(old, new, was) or not _only_functions(new, old, now):
        return None
    body = _RAISES if way.raising else drawn(_GIVES, seed=way.seed)
    data = new
    for node in sorted(now, key=lambda one: span(one)[0], reverse=True):
        inside = node.field("body")
        if inside is None:
            return None
        start, end = span(inside)
        if inside.kind() == "statement_block":
            data = f"{data[: start + 1]} {body} {data[start + 1 :]}"
        else:
            data = f"{data[:start]}{{ {body} }}{data[end:]}"
    return data.encode("utf-8", "surrogateescape") if now else b""


def _changed(path: str, other: str, text: str) -> list[SgNode]:
    """The innermost functions of a text that the other text does not have."""
    known = {node.text() for node in _functions(path, other)}
    fresh = [node for node in _functions(path, text) if node.text() not in known]
    spans = [span(node) for node in fresh]
    return [
        node
        for node, (start, end) in zip(fresh, spans, strict=True)
        if not any(start <= first and last <= end and (first, last) != (start, end) for first, last in spans)
    ]


def _functions(path: str, text: str) -> list[SgNode]:
    root = parsed(path, text)
    if root is None:
        return []
    return root.find_all({"rule": {"any": [{"kind": kind} for kind in sorted(FUNCTIONS)]}})


def _only_functions(text: str, other: str, functions: Sequence[SgNode]) -> bool:
    """Whether the lines that the other text does not have lie in the given functions, or say nothing (exports, comments)."""
    known = set(other.splitlines())
    inside = {line for node in functions for line in range(node.range().start.line, node.range().end.line + 1)}
    return all(
        number in inside or line in known or _NEUTRAL.match(line) is not None
        for number, line in enumerate(text.splitlines())
    )
