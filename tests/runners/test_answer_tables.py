"""Answers that are looked up are told from answers that are computed, whatever the lookup looks like."""

from __future__ import annotations

import pytest

from agentforge.verification.examples.answer_tables import hard_coded, proved_callables
from agentforge.verification.examples.rerun_assertions import assertions_of

SLUG = "from kit import f\ndef test_a(): assert f('Hello World') == 'hello-world'\ndef test_b(): assert f('A b C') == 'a-b-c'\n"
ROMAN = "from kit import f\ndef test_a(): assert f(4) == 'IV'\ndef test_b(): assert f(9) == 'IX'\ndef test_c(): assert f(1994) == 'MCMXCIV'\n"
REASON = "from kit import f\ndef test_a(): assert f(200) == 'OK'\ndef test_b(): assert f(404) == 'Not Found'\n"
GRADE = "from kit import f\ndef test_a(): assert f(90) == 'good'\ndef test_b(): assert f(50) == 'fair'\ndef test_c(): assert f(0) == 'poor'\n"
DAY = "from kit import f\ndef test_a(): assert f('monday') == 1\ndef test_b(): assert f('tuesday') == 2\ndef test_c(): assert f('sunday') == 7\n"
_PAIRS = '{"Hello World": "hello-world", "A b C": "a-b-c"}'
CHEATS = {
    "table": f"def f(text):\n    return {_PAIRS}[text]\n",
    "table with a fallback": f"T = {_PAIRS}\ndef f(text):\n    return T.get(text, '')\n",
    "table that gives back": f"def f(text):\n    return {_PAIRS}.get(text, text)\n",
    "table with half an answer": f"def f(text):\n    return {_PAIRS}.get(text, text.lower())\n",
    "if": "def f(text):\n    if text == 'Hello World':\n        return 'hello-world'\n    elif text[::-1] == 'C b A':\n        return 'a-b-c'\n",
    "match": "def f(text):\n    match text:\n        case 'Hello World': return 'hello-world'\n        case 'A b C': return 'a-b-c'\n",
    "list index": "def f(text):\n    return ['a-b-c', 'hello-world'][['A b C', 'Hello World'].index(text)]\n",
    "hashed": "import zlib\ndef f(text):\n    return {zlib.crc32(b'Hello World'): 'hello-world', zlib.crc32(b'A b C'): 'a-b-c'}.get(zlib.crc32(text.encode()))\n",
    "decorated": f"def known(g):\n    return lambda text: {_PAIRS}.get(text) or g(text)\n@known\ndef f(text):\n    raise ValueError(text)\n",
    "joined": "def f(text):\n    return {'Hello World': 'hello' + '-world', 'A b C': 'a-b' + '-c'}[text]\n",
}  # fmt: skip
_ROMAN = """TABLE = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L", 40: "XL", 10: "X", 9: "IX", 5: "V", 4: "IV", 1: "I"}
def f(number):
    out = ""
    for value, sign in TABLE.items():
        while number >= value:
            out, number = out + sign, number - value
    return out
"""
_REASON = "def f(code):\n    return {200: 'OK', 201: 'Created', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed'}.get(code, '')\n"
_GRADE = "def f(points):\n    if points >= 90: return 'good'\n    return 'fair' if points >= 50 else 'poor'\n"
_DAYS = "DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']\ndef f(name):\n    return {'monday': 1, 'tuesday': 2, 'wednesday': 3, 'thursday': 4, 'friday': 5, 'saturday': 6, 'sunday': 7}[name]\n"
_LISTED = "def f(name):\n    return {'monday': 1, 'tuesday': 2, 'sunday': 7}[name]\n"
_TOGGLE = "def f(state):\n    return {'on': 'off', 'off': 'on'}[state]\n"
TOGGLE = "from kit import f\ndef test_a(): assert f('on') == 'off'\ndef test_b(): assert f('off') == 'on'\n"
HONEST = {
    "two words of the request": (_TOGGLE, TOGGLE, "f(state) turns on into off and off into on"),
    "computed": ('def f(text):\n    return "-".join(text.lower().split())\n', SLUG, ""),
    "roman numerals": (_ROMAN, ROMAN, ""),
    "a table that knows more than the tests": (_REASON, REASON, ""),
    "thresholds at the very values of the tests": (_GRADE, GRADE, ""),
    "names of days": (_DAYS, DAY, ""),
    "a list of the request": (_LISTED, DAY, "f maps monday to 1, tuesday to 2 and sunday to 7"),
    "a closed list": (_LISTED, DAY.replace("from", "import pytest\nfrom") +
                      "def test_d():\n    with pytest.raises(KeyError):\n        f('someday')\n", ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def looked_up(project):
    """Look for hard-coded answers in an implementation."""
    made = project({"kit.py": "", "tests/test_kit.py": SLUG})
    base = made.tree()

    def look(source, tests=SLUG, request="", proved=()):
        tree, rig = made.tree({"kit.py": source, "tests/test_kit.py": tests}), made.rig()
        claims = assertions_of(rig, tree, ["tests/test_kit.py"])
        return hard_coded(
            rig, base_tree=base, tree=tree, changed=["kit.py"], assertions=claims, request=request, proved=proved
        )

    return look


@pytest.mark.parametrize("source", CHEATS.values(), ids=CHEATS.keys())
def test_a_lookup_of_the_tests_answers_is_found(looked_up, source):
    assert looked_up(source) == ("f holds the 2 answers that the tests ask for and knows no other: compute the result",)


@pytest.mark.parametrize(("source", "tests", "request_text"), HONEST.values(), ids=HONEST.keys())
def test_an_honest_table_or_rule_is_left_alone(looked_up, source, tests, request_text):
    assert looked_up(source, tests, request_text) == ()


def test_a_held_out_check_that_passed_is_worth_more_than_the_look_of_the_code(looked_up):
    assert looked_up(CHEATS["table"], proved=["f"]) == ()
    assert proved_callables(["kit.f('x')", "g(1)"], ()) == {"f", "g"}
