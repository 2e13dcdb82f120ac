"""Proves workspace/codemap.py, symbols.py and relevance.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentforge.workspace.code.codemap import definitions, find, outline, rank, source_of
from agentforge.workspace.code.pointed_places import holding
from agentforge.workspace.code.relevance import is_test_path
from agentforge.workspace.code.stems import stem, words

PYTHON = '''"""Shapes."""

from typing import TYPE_CHECKING

LIMIT: int = 3
TABLE = {
    "a": 1,
    "b": 2,
    "c": 3,
}

if TYPE_CHECKING:
    def hidden() -> None: ...


@property
@staticmethod
def area(width: int, *, height: int = 2) -> int:
    """Width times height.

    More.
    """
    return width * height


class Circle(object, metaclass=type):
    """Round."""

    radius: float

    async def area(self, scale=1.0):
        return area(1) * self.radius
'''
OTHERS = {
    "a.js": (
        "function one(x) { return two(x) }\nclass Q extends P { m(y) { } }\nexport const f = (x) => x;\n",
        ["one", "Q", "Q.m", "f"],
    ),
    "a.ts": (
        "interface I { a: number }\nexport type T = string;\nexport class K { private m(a: string): void {} }\n",
        ["I", "T", "K", "K.m"],
    ),
    "a.tsx": (
        "export default function () {}\nconst api = { m(x) {}, k: (y) => 2 };\nexports.s = async (a) => a;\nKit.prototype.go = function () {};\n"
        "abstract class A { abstract z(): void; private open = (x) => 1; static #p() {} }\nnamespace N { export function i() {} }\n"
        "export const Row = memo(({ a }: P) => <b>{a}</b>);\nconst n = count(3);\nmodule.exports = { w: () => 1 };\n",
        ["default", "api", "api.m", "api.k", "s", "Kit.go", "A", "A.z", "A.open", "A.#p", "N.i", "Row", "n", "w"],
    ),
    "a.go": (
        "package m\nconst Max = 3\nfunc A(x int) int { return 1 }\ntype T struct{}\nfunc (t *T) M() {}\nfunc (l *L[K]) Add(x K) {}\n",
        ["Max", "A", "T", "T.M", "L.Add"],
    ),
    "a.rs": ("pub fn a() -> i32 { 1 }\nstruct S;\nimpl S { fn m(&self) {} }\n", ["a", "S", "S.m"]),
    "b.rs": (
        "pub const MAX: u8 = 3;\nimpl<T> S<T> { fn m(&self) {} }\nmod inner { pub fn deep() {} }\n",
        ["MAX", "S.m", "inner.deep"],
    ),
    "c.rs": (
        "impl<'a, T> Iterator for &'a mut Deep<T> { type Item = u8; fn next(&mut self) {} }\n"
        "impl fmt::Display for error::Error { fn fmt(&self) {} }\nimpl Any for dyn Kind + Send { fn z(&self) {} }\n",
        ["Deep.Item", "Deep.next", "Error.fmt", "Kind.z"],
    ),
    "d.rs": (
        "macro_rules! make {\n  ($x:ident) => {\n    impl $x { pub(crate) const fn $all() -> u8 { 1 } fn declared(); }\n  };\n}\n"
        "cfg_if! { if #[cfg(x)] { pub fn alone() {} } }\nflags! { pub struct Bits: u32 { const A = 1; } }\n"
        'fn f() { println!("fn no"); }\n',
        ["make", "make.all", "make.declared", "alone", "Bits", "f"],
    ),
    "A.java": (
        "class A { static final int MAX = 1; int m() { return 1; } @interface N {} }\n",
        ["A", "A.MAX", "A.m", "A.N"],
    ),
    "a.c": ("int *f(int x) { return 0; }\nstruct s { int a; };\nint g(void) { struct s q; }\n", ["f", "s", "g"]),
    "a.h": (
        "#ifndef A_H\n#define A_H\n#define MOST(a) (a)\n#define N 3\ntypedef struct { int x; } point;\n#endif\n",
        ["MOST", "N", "point"],
    ),
    "a.cpp": ("class A { void m() {} };\nint A::k() { return 1; }\n", ["A", "A.m", "A::k"]),
    "a.rb": ("class A\n  def m(x)\n  end\nend\n", ["A", "A.m"]),
    "a.kt": ("class A { fun m() {} }\n", ["A", "A.m"]),
    "a.php": ("<?php function f($a) {} class A { function m() {} }\n", ["f", "A", "A.m"]),
    "a.sh": ("f() { echo; }\n", ["f"]),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """One Python module, its user, and one file of every other language."""
    (tmp_path / "shapes.py").write_text(PYTHON)
    (tmp_path / "use.py").write_text(
        "import shapes\nfrom shapes import area as size\n\n\ndef total(items):\n    return sum(\n        shapes\n        .area(item)\n        for item in items\n    )\n\n\nprint(area=1)\n"
    )
    for name, (text, _) in OTHERS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_python_is_outlined_exactly(tree: Path) -> None:
    rows = [
        (item.qualified, item.kind, item.line, item.end_line, item.signature, item.doc)
        for item in outline(tree, "shapes.py")
    ]
    assert rows == [
        ("LIMIT", "variable", 5, 5, "LIMIT: int = 3", ""),
        ("TABLE", "variable", 6, 10, "TABLE", ""),
        ("hidden", "function", 13, 13, "def hidden() -> None", ""),
        ("area", "function", 16, 23, "def area(width: int, *, height: int=2) -> int", "Width times height."),
        ("Circle", "class", 26, 32, "class Circle(object, metaclass=type)", "Round."),
        ("Circle.radius", "variable", 29, 29, "radius: float", ""),
        ("Circle.area", "method", 31, 32, "async def area(self, scale=1.0)", ""),
    ]


@pytest.mark.parametrize("name", OTHERS)
def test_other_languages_are_outlined(name: str, tree: Path) -> None:
    assert [item.qualified for item in outline(tree, name)] == OTHERS[name][1]


def test_signatures_end_where_the_body_begins(tree: Path) -> None:
    assert [item.signature for item in outline(tree, "a.rs")] == ["pub fn a() -> i32", "struct S;", "fn m(&self)"]
    (tree / "u.js").write_text("// ünïcödé\nfunction eins(ä) { return 1 }\n")
    assert outline(tree, "u.js")[0].signature == "function eins(ä)"


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("broken.py", b"def f(:\n", "broken.py does not parse as Python (line 1: invalid syntax)"),
        ("nul.py", b"a = '\0'\n", "nul.py cannot be read as source"),
        ("deep.py", b"(" * 5000, "deep.py does not parse as Python ("),
        ("gone.py", None, "gone.py cannot be read as source"),
    ],
)
def test_a_broken_file_gives_a_note(name: str, content: bytes | None, note: str, tree: Path) -> None:
    if content is not None:
        (tree / name).write_bytes(content)
    (only,) = definitions(tree, [name, "README.md"])
    assert only.note.startswith(note)
    assert outline(tree, name) == list(only.symbols)


def test_definitions_are_found_by_plain_and_by_qualified_name(tree: Path) -> None:
    assert [(place.path, place.line) for place in find(tree, "area", kind="definitions").places] == [
        ("shapes.py", 16),
        ("shapes.py", 31),
    ]
    assert [place.line for place in find(tree, "Circle.area", kind="definitions").places] == [31]
    assert [place.path for place in find(tree, "M", kind="definitions").places] == ["a.go"]


def test_references_and_callers_name_what_encloses_them(tree: Path) -> None:
    rows = [(place.path, place.line, place.enclosing) for place in find(tree, "area", kind="references").places]
    assert rows == [("shapes.py", 32, "Circle.area"), ("use.py", 2, ""), ("use.py", 8, "total"), ("use.py", 13, "")]
    rows = [(place.path, place.line, place.enclosing) for place in find(tree, "area", kind="callers").places]
    assert rows == [("shapes.py", 32, "Circle.area"), ("use.py", 8, "total")]


def test_callers_in_other_languages_are_calls_and_not_mentions(tree: Path) -> None:
    (tree / "b.js").write_text("const g = two;\nfunction h() {\n  obj.two(1);\n  k(two);\n  new two();\n}\n// two\n")
    found = find(tree, "two", kind="callers")
    assert [(place.path, place.line, place.enclosing) for place in found.places] == [
        ("a.js", 1, "one"),
        ("b.js", 3, "h"),
        ("b.js", 5, "h"),
    ]
    assert [place.line for place in find(tree, "two", kind="references").places if place.path == "b.js"] == [1, 3, 4, 5]


def test_a_broken_file_does_not_hide_the_others(tree: Path) -> None:
    (tree / "broken.py").write_text("area(\n")
    found = find(tree, "area", kind="definitions")
    assert len(found.places) == 2
    assert found.notes == ("broken.py does not parse as Python (line 1: '(' was never closed)",)


def test_a_search_that_stops_says_so(tree: Path) -> None:
    found = find(tree, "area", kind="references", limit=1)
    assert (len(found.places), found.stopped_at) == (1, 1)


def test_source_of_gives_the_exact_text(tree: Path) -> None:
    source = source_of(tree, "shapes.py", "Circle.area")
    assert source is not None
    assert (source.line, source.end_line) == (31, 32)
    assert source.text == "    async def area(self, scale=1.0):\n        return area(1) * self.radius"
    plain = source_of(tree, "shapes.py", "area")
    assert plain is not None and plain.text.startswith("@property\n@staticmethod\ndef area(")
    assert source_of(tree, "shapes.py", "perimeter") is None
    assert source_of(tree, "gone.py", "area") is None


def test_line_numbers_survive_form_feeds_and_windows_line_ends(tree: Path) -> None:
    (tree / "odd.py").write_bytes(b"a = 1\r\n\x0c\r\ndef f():\r\n    return 1\r\n")
    source = source_of(tree, "odd.py", "f")
    assert source is not None
    assert (source.line, source.text) == (3, "def f():\n    return 1")


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """A package in which the words of a request stand at different places."""
    for name, text in {
        "shop/retry.py": "class Backoff:\n    def next_delay(self):\n        ...\n\ndef parse_retry_after(header):\n    ...\n",
        "shop/client.py": "from shop.retry import parse_retry_after\n\ndef send(request):\n    return parse_retry_after(request)\n",
        "shop/termui.py": "def progressbar(items):\n    ...\n",
        "shop/model.py": "class Order:\n    def header(self):\n        ...\n",
        "shop/views.py": "# generates a report\ndef index():\n    ...\n",
        "tests/test_retry.py": "from shop.retry import parse_retry_after\n\ndef test_parse():\n    parse_retry_after('3')\n",
        "docs/retry.md": "How the header Retry-After is parsed.\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_file_that_a_request_is_about_comes_first(product: Path) -> None:
    found = rank(product, ["parse", "the", "Retry-After", "header", "of", "a", "reply"])
    assert found[0].path == "shop/retry.py"
    assert found[0].symbols[0].name == "parse_retry_after"
    assert "shop/views.py" not in [item.path for item in found]


def test_tests_are_ranked_apart_behind_the_sources(product: Path) -> None:
    found = rank(product, ["retry"], limit=2)
    assert [item.path for item in found if item.is_test] == ["tests/test_retry.py"]
    assert len([item for item in found if not item.is_test]) == 2
    assert found[-1].is_test


def test_an_identifier_that_is_written_out_beats_words(product: Path) -> None:
    assert rank(product, ["next_delay"])[0].symbols[0].qualified == "Backoff.next_delay"
    (product / "shop/talk.py").write_text("# next delay, next delay, next of all delay\n" * 30)
    assert rank(product, ["next_delay"])[0].path == "shop/retry.py"


def test_a_file_that_defines_the_thing_beats_files_that_talk_about_it(product: Path) -> None:
    (product / "shop/talk.py").write_text("# convert the currency, convert a currency\n" * 30)
    (product / "shop/money.py").write_text("def convert_currency(amount):\n    ...\n")
    assert rank(product, ["convert", "currency"])[0].path == "shop/money.py"


def test_run_together_words_are_found(product: Path) -> None:
    assert rank(product, ["show", "a", "progress", "bar"])[0].path == "shop/termui.py"


def test_ranking_is_the_same_every_time_and_empty_without_words(product: Path) -> None:
    assert rank(product, ["retry", "header", "parse"]) == rank(product, ["retry", "header", "parse"])
    assert rank(product, ["the", "a", "of", "7"]) == []
    assert rank(product, []) == []


def test_words_are_split_and_stemmed() -> None:
    assert words("HTTPServerError_parsing2") == ("http", "serv", "error", "pars", "2")
    assert {stem("parse"), stem("parser"), stem("parsing"), stem("parses")} == {"pars"}
    assert {stem("stop"), stem("stopping"), stem("stopped")} == {"stop"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True), ("a/test_b.py", True), ("a/b_test.go", True), ("src/a.test.ts", True), ("conftest.py", True),
        ("app/FooTest.java", True), ("src/a/tests.rs", True), ("tests.py", True), ("shop/tests.py", True), ("src/contests.py", False), ("src/Contest.java", False), ("src/contest.py", False), ("src/testing_tools.py", False), ("latest/a.py", False),
        ("t/slug.t", True), ("a/slug.bats", True), ("src/SlugTests.cs", True), ("lib/SlugTest.php", True), ("src/Contest.cs", False), ("a.txt", False),
    ],
)  # fmt: skip
def test_tests_are_known_by_their_path(path: str, expected: bool) -> None:
    assert is_test_path(path) is expected


def test_components_are_called_by_their_tags_and_names_may_hold_dollars(tmp_path: Path) -> None:
    text = "const Row = ({ a }) => <b>{a}</b>;\nfunction App() {\n  $get(Row);\n  return <div><Row a={1} /><Row>x</Row></div>;\n}\n"
    (tmp_path / "a.tsx").write_text(text)
    assert [(one.line, one.enclosing) for one in find(tmp_path, "Row", kind="callers").places] == [(4, "App")]
    assert [one.line for one in find(tmp_path, "Row", kind="references").places] == [3, 4]
    assert [one.line for one in find(tmp_path, "$get", kind="callers").places] == [3]


def _write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "a.py",
            "from typing import overload\n\n\n@overload\ndef item(a: int) -> int: ...\n@overload\ndef item(a: str) -> str: ...\ndef item(a):\n    return a\n",
            8,
        ),
        ("a.ts", "export function item(a: string): string;\nexport function item(a: any) {\n  return a;\n}\n", 2),
    ],
)
def test_the_source_of_an_overloaded_function_is_its_implementation(
    name: str, text: str, line: int, tmp_path: Path
) -> None:
    source = source_of(_write(tmp_path, {name: text}), name, "item")
    assert source is not None
    assert source.line == line
    assert [symbol.line for symbol in rank(tmp_path, [], text="`item()` fails")[0].symbols] == [line]


def test_methods_of_traits_and_constants_of_modules_are_outlined(tmp_path: Path) -> None:
    _write(tmp_path, {"a.rs": "pub trait T { fn a(&self) -> i32; }\n", "a.js": "export const KINDS = ['a', 'b'];\n"})
    assert [symbol.qualified for symbol in outline(tmp_path, "a.rs")] == ["T", "T.a"]
    assert [symbol.qualified for symbol in outline(tmp_path, "a.js")] == ["KINDS"]


TERMINAL = {
    "kit/__init__.py": "from kit.termui import edit as edit\n",
    "kit/termui.py": "from typing import overload\n\n\ndef prompt(text):\n    return text\n\n\ndef edit(filename=None):\n    return filename\n",
    "kit/core.py": "def edits(filename):\n    'Edit the filename, edit it again.'\n    return filename\n\n\nclass Item:\n    def edit_all(self): ...\n",
    "kit/items.py": "def item(value):\n    raise ValueError(f'no item called {value!r} is known here')\n\n\ndef other():\n    return 1\n",
    "vendor/edit.py": "def edit(filename): ...\n",
    "docs/edit.py": "def edit(): ...  # edit edit edit\n",
}


@pytest.mark.parametrize(
    ("request_text", "path", "name"),
    [
        ("kit.edit(filename=...) should accept a list", "kit/termui.py", "edit"),
        ("item() should return its value", "kit/items.py", "item"),
        ("Item.edit_all does nothing", "kit/core.py", "Item.edit_all"),
        ("ValueError: no item called 'x' is known here", "kit/items.py", "item"),
        ("kit/items.py:6 should return 2", "kit/items.py", "other"),
        ('  File "/home/ann/site-packages/kit/items.py", line 6, in other', "kit/items.py", "other"),
    ],
)
def test_what_the_request_spells_comes_first(request_text: str, path: str, name: str, tmp_path: Path) -> None:
    best = rank(_write(tmp_path, TERMINAL), [], text=request_text)[0]
    assert best.path == path
    assert best.symbols[0].qualified == name


def test_lines_that_the_request_points_at_are_told(tmp_path: Path) -> None:
    best = rank(_write(tmp_path, TERMINAL), [], text="see kit/items.py:6")[0]
    assert best.lines == (6,)


def test_a_function_is_found_by_the_words_inside_of_it(tmp_path: Path) -> None:
    body = "def first():\n    return 1\n\n\ndef second(handle):\n    handle.flush_buffers('newline')\n\n\ndef third():\n    return 3\n"
    best = rank(_write(tmp_path, {"a.py": body}), [], text="Buffers should be flushed at a newline")[0]
    assert best.symbols[0].name == "second"


def test_generated_files_are_no_candidates(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "dist/parse.js": "function parse() {}\n",
            "lib/parse.js": "function parse() {}\n",
            "parse.lock": "parse parse\n",
        },
    )
    assert [one.path for one in rank(tmp_path, ["parse"]) if one.symbols] == ["lib/parse.js"]


@pytest.mark.parametrize("names", [[], ["src/Retry.py", "a/b/retry_it.py", "c.py"], ["İretry.py", "x.py", "RETRY"]])
def test_words_are_found_in_all_paths_as_in_each(names: list[str]) -> None:
    stems = ["retry", "a/", "py", "nothing"]
    assert holding(names, stems) == {name for name in names if any(one in name.lower() for one in stems)}


def test_a_phrase_is_found_where_its_words_are_only_looked_for_in_files_that_hold_them(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"other_{number}.py").write_text(f"value_{number} = 'nothing of it'\n")
    (tmp_path / "one.py").write_text('"""Othello World of it."""\n')
    (tmp_path / "two.py").write_text("x = 1\nraise ValueError('cannot parse header of it')\n")
    found = rank(tmp_path, [], text='it says "Hello World" and "cannot parse header"')
    assert {one.path: one.lines for one in found if one.lines} == {"two.py": (2,)}
    (tmp_path / "one.py").write_text('"""Oh\nSayHello World of it."""\n')
    found = rank(tmp_path, [], text='it says "Hello World" and "cannot parse header"')
    assert {one.path: one.lines for one in found if one.lines} == {"one.py": (2,), "two.py": (2,)}
