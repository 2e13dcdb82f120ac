from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import example, given, strategies as st

from agentforge.errors import ConfigError
from agentforge.views.yaml_text import MAX_DEPTH, dump, load

ODD_PIECES = [
    "yes", "No", "on", "OFF", "y", "null", "~", "", "=", "<<", "1e3", "0o7", "0x1F", "007", "1_000", "190:20:30", ".5", ".inf", "-.INF", ".nan",
    "2025-01-01", "2025-01-01T10:00:00Z", "+1", "-", "- a", "? a", ": ", "a: b", "a #b", "#a", "!t", "&a", "*a", "|", ">", "%a", "@a", "`a", "'", '"',
    "{a}", "[a]", "a,b", " lead", "trail ", "\ttab", "a\tb", "a\n", "\na", "a\n\n", "\n", " a\nb", "a \nb", "a\n  b\n", "a\r\nb", "a\rb", "a\x85b\nc",
    "a\u2028b\nc", "\ufeffa", "\x00", "\x1b[0m", "\x7f", "é\nü", "日本\n語", "😀", "😀\n😀", "---", "...", "--- a\nb", "a\n---\nb", "\x07\n",
    "trailing\n \n", "x\n\t\n", "\n\n a\n", "#\n#", ".", "..", "._", "-_1", "True", "nan", "inf", "0b1", "1:2", "a" * 300 + " " + "b" * 300,
]  # fmt: skip
ODD_TEXT = st.one_of(
    st.sampled_from(ODD_PIECES), st.text(), st.lists(st.sampled_from([*"ab \n\t:#-'\"é😀\r", "\n  "])).map("".join)
)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), ODD_TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(ODD_TEXT, inner, max_size=4)),
    max_leaves=12,
)


@given(JSON_VALUES)
@example({"": [{}, [], [[]], {"a": []}]})
@example("a")
def test_every_json_value_is_read_back_exactly(value: object) -> None:
    again = load(dump(value))
    assert again == value
    assert json.dumps(again, sort_keys=True) == json.dumps(value, sort_keys=True)  # 1 is not 1.0, True is not 1


@pytest.mark.parametrize("text", ODD_PIECES)
def test_odd_strings_are_strings_for_a_yaml_1_1_reader_too(text: str) -> None:
    assert yaml.safe_load(dump({"key": text, "list": [text]})) == {"key": text, "list": [text]}


@pytest.mark.parametrize("text", ODD_PIECES)
def test_odd_strings_stand_as_keys(text: str) -> None:
    assert load(dump({text: 1})) == {text: 1}


@given(ODD_TEXT)
def test_the_plain_yaml_1_1_reader_agrees_on_any_text(text: str) -> None:
    assert yaml.safe_load(dump([text])) == [text]


def test_several_lines_are_a_literal_block_and_keys_keep_their_order() -> None:
    assert dump({"b": "one\ntwo: x\n", "a": [1, {"c": None}]}) == "b: |\n  one\n  two: x\na:\n- 1\n- c: null\n"


@pytest.mark.parametrize("word", ["yes", "1e3", "0o7", "2025-01-01", "null", "~", "=", "007", "1_000", ".inf", ""])
def test_words_with_another_meaning_are_quoted(word: str) -> None:
    assert dump({"k": word}) == f'k: "{word}"\n'


def test_a_repeated_object_is_written_out_instead_of_an_alias() -> None:
    shared = {"x": [1]}
    assert load(dump([shared, shared])) == [shared, shared]


def test_lone_surrogates_become_visible_text() -> None:
    assert load(dump({"k": "a\udc80b"})) == {"k": "a\\udc80b"}


def test_long_lines_are_not_folded() -> None:
    assert dump({"k": "word " * 400 + "end"}).count("\n") == 1


def test_what_json_cannot_hold_is_refused() -> None:
    for value in (object(), {1: 2}, float("nan"), float("inf"), b"bytes"):
        with pytest.raises(TypeError):
            dump({"k": value})


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_floats_for_a_yaml_1_1_reader_too(number: float) -> None:
    again = yaml.safe_load(dump([number]))
    assert again == [number] and type(again[0]) is float


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\na: 2\n", "line 2: the key 'a' stands twice"),
        ("a: &x 1\nb: *x\n", "line 1: anchors and aliases"),
        ("b: *x\n", "line 1: anchors and aliases"),
        ("a: !!python/object:os.system 1\n", "line 1: the tag"),
        ("a: !!str 1\n", "line 1: the tag"),
        ("a: 1\n---\nb: 2\n", "line 2: a second document"),
        ("? [a]\n: 1\n", "line 1: a key that is no string"),
        ("a: [1\nb: 2\n", "line 2"),
        ("a: \x07\n", "not YAML"),
        ("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), "nested deeper"),
        ("a" * 4_000_001, "4000001 characters"),
    ],
)
def test_the_reader_refuses_what_is_not_plain_data(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("(", r"\(")):
        load(text, source="x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [("", None), ("# only a comment\n", None), ("yes", "yes"), ("1_000", "1_000"), ("2025-01-01", "2025-01-01"), ("1e3", 1000.0), ("0o7", 7),
     ("0x1f", 31), ("-12", -12), ("TRUE", True), ("~", None), ("a: ", {"a": None}), ("'1'", "1"), ("{a: 1, b: [x]}", {"a": 1, "b": ["x"]})],
)  # fmt: skip
def test_plain_scalars_are_read_by_the_core_schema_of_yaml_1_2(text: str, value: object) -> None:
    assert load(text) == value
