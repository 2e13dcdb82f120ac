"""Tests that cannot fail are named with the reason; honest neighbours are left alone."""

from __future__ import annotations

import pytest

from agentforge.verification.source.test_hashes import test_functions as functions_of
from agentforge.verification.source.vacuity import conditional_only, counted, vacuous_tests

VACUOUS = {
    "asserts a tuple": "    assert (slug('a') == 'b', 'message')\n",
    "asserts a constant": "    slug('a')\n    assert True\n",
    "asserts `or`": "    assert slug('a') == 'b' or True\n",
    "compares a thing with itself": "    found = slug('a')\n    assert found == found\n",
    "swallows": "    try:\n        assert slug('a') == 'b'\n    except Exception:\n        pass\n",
    "suppresses": "    with contextlib.suppress(AssertionError):\n        assert slug('a') == 'b'\n",
    "replaces slug": "    with mock.patch('kit.slug', return_value='b'):\n        assert kit.slug('a') == 'b'\n",
    "replaces slug, which": "    kit.slug = lambda text: 'b'\n    assert kit.slug('a') == 'b'\n",
    "replaces slug, which it": "    slug = mock.Mock(return_value='b')\n    assert slug('a') == 'b'\n",
    "replaces slug, which it should": "    with mock.patch('kit.slug', wraps=kit.slug, return_value='b'):\n"
    "        assert kit.slug('a') == 'b'\n",
    "replaces slug, which it should test": "    with mock.patch.object(kit, 'slug', wraps=kit.slug) as seen:\n"
    "        seen.return_value = 'b'\n        assert kit.slug('a') == 'b'\n",
    "asserts nothing": "    slug('a')\n",
    "loops over nothing": "    for one in []:\n        assert slug(one) == 'b'\n",
}
HONEST = [
    "    assert slug('a') == 'a'\n",
    "    with pytest.raises(ValueError):\n        slug(None)\n",
    "    try:\n        slug(None)\n    except ValueError as exc:\n        assert 'text' in str(exc)\n    else:\n        pytest.fail('no error')\n",
    "    try:\n        assert slug('a') == 'a'\n    except AssertionError:\n        print('seen')\n        raise\n",
    "    with mock.patch('kit.clock', return_value=3):\n        assert slug('a') == 'a'\n",
    "    with mock.patch.object(kit, 'slug', wraps=kit.slug) as seen:\n        assert kit.slugs('a') == ['a']\n",
    "    assert_slug('a', 'a')\n",
    "    self.assertEqual(slug('a'), 'a')\n",
    "    assert slug(slug('a')) == slug('a')\n",
]


def _found(body):
    return vacuous_tests(
        ["t.py"], read=lambda _: f"def test_it(self):\n{body}".encode(), names={"t.py::test_it"}, units={"slug"}
    )


@pytest.mark.parametrize(("why", "body"), VACUOUS.items(), ids=VACUOUS.keys())
def test_a_vacuous_test_is_named_with_its_reason(why, body):
    ((nodeid, reason),) = _found(body)
    assert nodeid == "t.py::test_it" and reason.startswith(why)


@pytest.mark.parametrize("body", HONEST)
def test_an_honest_test_is_left_alone(body):
    assert _found(body) == ()


def test_what_the_base_has_is_not_looked_at():
    read = lambda _: b"def test_old(): pass\n"  # noqa: E731
    assert vacuous_tests(["t.py"], read=read, names={"t.py::test_old"}, units=(), known={"t.py::test_old"}) == ()
    assert vacuous_tests(["t.py"], read=read, names=set(), units=()) == ()


def test_assertions_in_loops_and_under_conditions_are_counted_where_they_run():
    source = (
        "def test_loop(items=()):\n    for one in items:\n        assert one\n\n\ndef test_plain():\n    assert 1\n"
    )
    suspects = [name for name, node, _ in functions_of(source.encode()) if conditional_only(node)]
    assert suspects == ["test_loop"]
    names: dict = {}
    exec(counted(source.encode(), set(suspects)), names)
    names["test_loop"]([1])
    names["test_plain"]()
    with pytest.raises(AssertionError, match="no assertion of this test was executed"):
        names["test_loop"]()
