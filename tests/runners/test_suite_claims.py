"""What straight-line tests assert is read from their source; what needs fixtures or steps is left alone."""

from __future__ import annotations

import pytest

from agentforge.verification.examples.suite_claims import asserted

SOURCE = '''"""Tests."""
import pytest
import kit
from kit import slug

EXPECTED = "a-b"

def test_plain():
    assert slug("A B") == EXPECTED

def test_inside():
    from kit import other as thing
    result = thing(1, key=[2])
    assert result is True

@pytest.mark.parametrize("text, want", [("A", "a"), pytest.param("B", "b", id="second")])
def test_rows(text, want):
    assert slug(text) == want and kit.slug(text) == want

class CaseTest(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(slug("A"), "a", "lower")
        with self.assertRaises(TypeError):
            slug(1)

class InheritedTest(Base):
    def test_equal(self):
        self.assertEqual(slug("A"), "a")

class TestMore:
    def test_raises(self):
        with pytest.raises(ValueError):
            slug(None)

def test_fixture(tmp_path):
    assert slug(tmp_path) == "x"

def test_steps():
    cart = kit.Cart()
    cart.add(1)
    assert cart.total() == 1

def test_unknown():
    assert len("abc") == 3
'''


@pytest.mark.parametrize(
    ("named", "rows", "calls"),
    [
        ("['text']", "[['A'], ('B',)]", ["slug('A')", "slug('B')"]),
        ("'text'", "[['A'], 'B']", ["slug(['A'])", "slug('B')"]),
        ("'text,'", "[['A']]", ["slug(['A'])"]),
        ("('text',)", "['A']", []),
    ],
)
def test_a_list_of_one_name_has_rows_of_one_cell(named, rows, calls):
    source = f"import pytest\nfrom kit import slug\n@pytest.mark.parametrize({named}, {rows})\ndef test_rows(text):\n    assert slug(text) == 'a'\n"
    assert [one.call for one in asserted("t.py", source.encode())] == calls


def test_the_assertions_of_straight_tests_are_read_with_the_origin_of_their_names():
    found = [
        (one.test.partition("::")[2], one.call, one.returns or one.raises) for one in asserted("t.py", SOURCE.encode())
    ]
    assert found == [
        ("test_plain", "slug('A B')", "'a-b'"),
        ("test_inside", "thing(1, key=[2])", "True"),
        ("test_rows", "slug('A')", "'a'"),
        ("test_rows", "kit.slug('A')", "'a'"),
        ("test_rows", "slug('B')", "'b'"),
        ("test_rows", "kit.slug('B')", "'b'"),
        ("CaseTest::test_equal", "slug('A')", "'a'"),
        ("CaseTest::test_equal", "slug(1)", "TypeError"),
        ("TestMore::test_raises", "slug(None)", "ValueError"),
    ]
    (inside,) = [one for one in asserted("t.py", SOURCE.encode()) if one.test == "t.py::test_inside"]
    assert inside.names == {"thing": (("kit",), "other")}


@pytest.mark.parametrize("more", ["import os\nos.environ['A'] = 'b'\n", "def setup_module(): pass\n", "def broken(:\n",
                                  "@pytest.fixture(autouse=True)\ndef around(): pass\n"])  # fmt: skip
def test_a_file_with_a_setup_of_its_own_gives_nothing(more):
    assert asserted("t.py", (SOURCE + more).encode()) == ()


def test_a_local_with_a_state_of_its_own_is_not_put_in_its_place() -> None:
    """`next(source)` after something was taken out of it is another value than `next(count())`."""
    source = (
        "from itertools import count\nfrom kit import batches\n\n"
        "def test_lazy():\n    source = count()\n    assert next(batches(source, 2)) == [0, 1]\n    assert next(source) == 2\n\n"
        "def test_looked_at():\n    made = batches([1], 1)\n    assert len(made) == 1\n    assert made == [[1]]\n"
    )
    assert [one.call for one in asserted("tests/test_kit.py", source.encode())] == [
        "len(batches([1], 1))",
        "batches([1], 1)",
    ]
