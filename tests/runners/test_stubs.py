"""Stub variants: what they look like and which targets survive them."""

from __future__ import annotations

import pytest

from agentforge.languages.stub_values import drawn, values_for
from agentforge.languages.symbols import Symbol
from agentforge.verification.counterexamples.stub_runs import survivors, variants

WORD, NUMBER = drawn("wrong", seed="1"), int(drawn("987654321", seed="1"))
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
        source=lambda path: BASE, seed="1",
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
    assert (wrong["slug"]("a"), wrong["Cart"]().total(), wrong["LIMIT"]) == (f"\x00{WORD}", -NUMBER, -NUMBER)
    with pytest.raises(NotImplementedError):  # a bool has no value that is wrong everywhere
        wrong["Cart"]().add(1)


def test_the_stub_of_a_changed_function_takes_arguments_that_the_base_lacks():
    made = variants(
        [_symbol("Cart.add", "add(self, price: int, *, note: str) -> int", kind="method", change="changed")],
        source=lambda path: BASE,
        seed="1",
    )
    assert _namespace(made[1])["Cart"]().add(1, note="x") == -NUMBER
    decorated = BASE.replace("    def add", "    @os.fspath\n    def add")
    kept = variants([_symbol("Cart.add", kind="method", change="changed")], source=lambda path: decorated, seed="1")
    assert "def add(self, price: int)" in kept[0].files["shop.py"]  # a decorator may read the signature


def test_a_new_file_and_a_method_of_a_class_that_is_not_there_are_made():
    made = variants(
        [_symbol("Box.open", "async def open(self) -> str", kind="method")], source=lambda path: None, seed="1"
    )
    assert "class Box" in made[0].files["shop.py"] and "async def open" in made[0].files["shop.py"]


def test_other_languages_and_removed_symbols_have_no_stubs():
    assert (
        variants([_symbol("f", file="a.php"), _symbol("g", change="removed")], source=lambda path: "", seed="1") == ()
    )


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
    made = variants([_symbol("slug", "def slug(text: str) -> str")], source=lambda path: "", seed="1")
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
    made = {one.name: one for one in variants([_symbol("slugify", signature)], source=lambda _path: "", seed="1")}
    assert rf"return '\x00{WORD}'" in made["wrong"].files["shop.py"]
    assert made["none"].hard


def test_the_wrong_values_of_a_suite_are_drawn_so_that_no_test_can_know_them():
    python, script = "{'\\x00wrong': -987654321}", '["\\u0000wrong", 253, -9.87654321e30, new (class Wrong {})()]'
    for pattern in (python, script):
        assert drawn(pattern, seed="a") == drawn(pattern, seed="a") != drawn(pattern, seed="b")
        assert "wrong" not in drawn(pattern, seed="a").lower()
    assert all(202 <= int(drawn("253", seed=str(seed))) <= 253 for seed in range(50)), "a drawn value fits its type"
    assert drawn(script, seed="a").startswith('["\\u0000') and drawn(script, seed="a").count("e30") == 1
    symbols = [_symbol("slug", "def slug(text: str) -> str")]
    first, second = (variants(symbols, source=lambda path: "", seed=seed) for seed in ("one tree", "another tree"))
    assert first[1].files != second[1].files and first[0].files == second[0].files
