"""Stub variants: what they look like and which targets survive them."""

from __future__ import annotations

import pytest

from agentforge.runners.stub_values import values_for
from agentforge.runners.stubs import survivors, variants
from agentforge.runners.symbols import Symbol

BASE = "import os\n\ndef keep(): return 1\n\nclass Cart:\n    def add(self, price: int) -> bool:\n        '''Doc.'''\n        return True\n"


def _symbol(name, signature="", *, kind="function", change="new", file="shop.py"):
    return Symbol(name=name, file=file, kind=kind, signature=signature, change=change)


def _namespace(variant, path="shop.py"):
    names = {}
    exec(variant.files[path], names)
    return names


def test_new_and_changed_symbols_are_stubbed_and_the_rest_stays():
    made = variants(
        [_symbol("slug", "def slug(text: str) -> str"), _symbol("Cart.add", kind="method", change="changed"),
         _symbol("Cart.total", "total(self) -> int", kind="method"), _symbol("LIMIT", "LIMIT: int = 3", kind="constant"),
         _symbol("Order", "class Order:", kind="class"), _symbol("ShopError", "class ShopError(ValueError)", kind="class")],
        source=lambda path: BASE,
    )  # fmt: skip
    assert [one.name for one in made] == ["raises", "wrong", "none", "empty", "other"]
    raising, wrong = _namespace(made[0]), _namespace(made[1])
    for call in (
        lambda: raising["slug"]("a"),
        lambda: raising["Cart"]().add(1),
        lambda: raising["Cart"]().total(),
        raising["Order"],
    ):
        with pytest.raises(NotImplementedError):
            call()
    assert raising["keep"]() == 1 and "LIMIT" not in raising and issubclass(raising["ShopError"], ValueError)
    assert (wrong["slug"]("a"), wrong["Cart"]().total(), wrong["LIMIT"]) == ("\x00wrong", -987654321, -987654321)
    with pytest.raises(NotImplementedError):  # a bool has no value that is wrong everywhere
        wrong["Cart"]().add(1)


def test_the_stub_of_a_changed_function_takes_arguments_that_the_base_lacks():
    made = variants(
        [_symbol("Cart.add", "add(self, price: int, *, note: str) -> int", kind="method", change="changed")],
        source=lambda path: BASE,
    )
    assert _namespace(made[1])["Cart"]().add(1, note="x") == -987654321
    decorated = BASE.replace("    def add", "    @os.fspath\n    def add")
    kept = variants([_symbol("Cart.add", kind="method", change="changed")], source=lambda path: decorated)
    assert "def add(self, price: int)" in kept[0].files["shop.py"]  # a decorator may read the signature


def test_a_new_file_and_a_method_of_a_class_that_is_not_there_are_made():
    made = variants([_symbol("Box.open", "async def open(self) -> str", kind="method")], source=lambda path: None)
    assert "class Box" in made[0].files["shop.py"] and "async def open" in made[0].files["shop.py"]


def test_other_languages_and_removed_symbols_have_no_stubs():
    assert variants([_symbol("f", file="a.rb"), _symbol("g", change="removed")], source=lambda path: "") == ()


@pytest.mark.parametrize(
    ("annotation", "wrong", "nullable"),
    [
        ("str", "'\\x00wrong'", False), ("list[int]", "['\\x00wrong']", False), ("Optional[int]", "-987654321", True),
        ("dict[str, int] | None", "{'\\x00wrong': '\\x00wrong'}", True), ("'str'", "'\\x00wrong'", False), ("bool", "", False),
        ("typing.Sequence[str]", "['\\x00wrong']", False), ("Cart", "type('Wrong', (), {})()", True), ("None", "'\\x00wrong'", True),
        ("Union[str, None]", "'\\x00wrong'", True),
    ],
)  # fmt: skip
def test_wrong_values_follow_the_declared_type(annotation, wrong, nullable):
    import ast

    found = values_for(ast.parse(annotation, mode="eval").body)
    assert (found.wrong, found.nullable) == (wrong, nullable)


def test_an_edge_case_may_pass_for_an_empty_value_but_not_for_every_value():
    made = variants([_symbol("slug", "def slug(text: str) -> str")], source=lambda path: "")
    passed = {"empty": ["edge", "type"], "other": ["type"], "wrong": ["type"]}
    assert survivors(passed, made=made, targets=["edge", "type", "real"]) == [("any value", "type"), ("wrong", "type")]
    assert survivors({"empty": ["edge"]}, made=made, targets=["edge"]) == [("empty", "edge")]


@pytest.mark.parametrize(
    "signature",
    [
        "(text: str) -> str",
        "-> str",
        "slugify(text: str) -> str",
        "def slugify(text: str) -> str:",
        "Shop.slugify(text) -> str",
    ],
)
def test_the_declared_type_is_read_however_the_signature_is_written(signature):
    made = {one.name: one for one in variants([_symbol("slugify", signature)], source=lambda _path: "")}
    assert r"return '\x00wrong'" in made["wrong"].files["shop.py"]
    assert made["none"].hard
