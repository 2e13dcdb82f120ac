"""Held-out checks in plain processes: honest results pass, whatever lies about itself does not."""

from __future__ import annotations

import pytest

from agentforge.languages.symbols import Symbol
from agentforge.verification.examples.claims import Claim
from agentforge.verification.examples.plain_check import check_claims

SLUG = Symbol(name="slug", file="kit.py", kind="function", signature="(text: str) -> str")
HONEST = 'def slug(text):\n    return "-".join(text.lower().split())\n'
CLAIMS = (
    Claim(call="slug('A B')", returns="'a-b'", requirement="REQ-001"),
    Claim(call="slug('C  D e')", returns="'c-d-e'", requirement="REQ-001", hidden=True),
    Claim(call="slug(3)", raises="AttributeError", requirement="REQ-002"),
)


@pytest.fixture(scope="module")
def checked(project):
    """Check claims on the working files of a small project."""
    made = project({"kit.py": HONEST, "tests/test_kit.py": "def test_it(): pass\n"})
    base = made.tree()

    def check(source, claims=CLAIMS, symbols=(SLUG,)):
        tree = made.tree({"kit.py": source})
        return check_claims(made.rig(), tree, claims, symbols=symbols, base_tree=base)

    return check


def test_an_honest_implementation_passes_every_claim(checked):
    verdict = checked(HONEST)
    assert verdict.value() == {"checked": 3, "failed": [], "unchecked": [], "notes": []}


def test_a_wrong_result_is_told_in_full_when_public_and_without_its_input_when_held_out(checked):
    verdict = checked(HONEST.replace('"-"', '"_"'))
    public, hidden = (text for _, text, _ in verdict.failed)
    assert (
        public == "outside the test runner slug('A B') -> 'a-b' does not hold: the result is another value; it is 'a_b'"
    )
    assert hidden == "a held-out check of slug fails: the result is another value"


_TABLE = 'TABLE = {"A B": "a-b"}\ndef slug(text):\n    if not isinstance(text, str): raise AttributeError\n'
_RIGHT = '"-".join(text.lower().split())'
TRICKS = {
    "hard-coded": _TABLE + '    return TABLE.get(text, "")\n',
    "always-equal": "class Any(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
    "def slug(text):\n    text.lower\n    return Any()\n",
    "lies about its class": "class Any:\n    __class__ = str\n    def __eq__(self, other): return True\ndef slug(text):\n"
    "    text.lower\n    return Any()\n",
    "class with a lying metaclass": "class Meta(type):\n    def __eq__(self, other): return True\n"
    "    def __hash__(self): return hash(str)\n    def __instancecheck__(self, one): return True\n"
    "class Any(metaclass=Meta):\n    def __eq__(self, other): return True\ndef slug(text):\n    text.lower\n    return Any()\n",
    "only under pytest": f"import sys\ndef slug(text):\n    return {_RIGHT} if 'pytest' in sys.modules or text == 3 else ''\n",
    "no bytecode": f"import sys\ndef slug(text):\n    text.lower\n    return {_RIGHT} if sys.dont_write_bytecode else ''\n",
    "isolated start": f"import sys\ndef slug(text):\n    text.lower\n    return {_RIGHT} if sys.flags.no_user_site else ''\n",
    "fixed hash seed": f"import os\ndef slug(text):\n    text.lower\n    return {_RIGHT} if os.environ.get('PYTHONHASHSEED') else ''\n",
    "no clone": "import os\nHERE = os.path.dirname(__file__)\ndef slug(text):\n    text.lower\n"
    f"    return '' if os.path.exists(os.path.join(HERE, '.git', 'HEAD')) else {_RIGHT}\n",
    "empty home": f"import os\ndef slug(text):\n    text.lower\n    return '' if os.listdir(os.path.expanduser('~')) else {_RIGHT}\n",
    "nobody's variables": f"import os\ndef slug(text):\n    text.lower\n    return '' if os.environ.get('USER') else {_RIGHT}\n",
    "environment of pytest": f"import os\ndef slug(text):\n    text.lower\n    return {_RIGHT} if 'PYTEST_CURRENT_TEST' in os.environ else ''\n",
    "arguments of the process": f"import sys\ndef slug(text):\n    text.lower\n    return {_RIGHT} if 'pytest' in sys.argv[0] else ''\n",
    "frames of the runner": "import sys\ndef slug(text):\n    text.lower\n    frame, found = sys._getframe(), ''\n    while frame:\n"
    f"        if frame.f_code.co_name == 'pytest_pyfunc_call': found = {_RIGHT}\n        frame = frame.f_back\n    return found\n",
    "leaves the process": "import os\ndef slug(text): os._exit(0)\n",
    "leaves at import": "import os\nos._exit(0)\n",
    "writes what it finds": "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'{\"value\": [\"str\", \"a-b\"]}\\n\\n')\n"
    "    except OSError: pass\ndef slug(text): return ''\n",
    "its own exception of that name": f"class AttributeError(Exception): __module__ = 'builtins'\ndef slug(text):\n"
    f"    if text == 3: raise AttributeError\n    return {_RIGHT}\n",
    "returns bytes": f"def slug(text):\n    return {_RIGHT}.encode()\n",
}  # fmt: skip


@pytest.mark.parametrize("source", TRICKS.values(), ids=TRICKS.keys())
def test_no_trick_survives_a_plain_process(checked, source):
    verdict = checked(source)
    assert verdict.failed, verdict


@pytest.mark.parametrize(
    ("body", "returns", "right"),
    [
        ("[1, 2.0, 'a', None, True, b'x', {1: (2,)}, {3}]", "[1, 2.0, 'a', None, True, b'x', {1: (2,)}, {3}]", True),
        ("[True]", "[1]", True),
        ("0.1 + 0.2", "0.3", True),
        ("4.0", "4", True),
        ("float('nan')", "'nan'", False),
        ("collections.Counter('aab')", "{'a': 2, 'b': 1}", True),
        ("collections.namedtuple('P', 'x y')(1, 2)", "(1, 2)", True),
        ("(one for one in (1, 2))", "[1, 2]", True),
        ("type('L', (list,), {})([1])", "[1]", True),
        ("type('L', (list,), {'__eq__': lambda self, other: True})([1])", "[1]", False),
        ("((1, 2))", "[1, 2]", False),
        ("type('D', (dict,), {'items': lambda self: [('a', 1)]})()", "{'a': 1}", False),
        ("{2, 1}", "{1, 2}", True),
        ("10 ** 5000", "10", False),
    ],
)
def test_type_and_value_are_compared_through_containers(checked, body, returns, right):
    source = f"import collections\ndef slug(text):\n    return {body}\n"
    symbol = Symbol(name="slug", file="kit.py", kind="function")
    verdict = checked(source, (Claim(call="slug(0)", returns=returns),), (symbol,))
    assert (verdict.failed == ()) is right, verdict


def test_an_equal_value_of_another_type_is_a_note_unless_the_type_is_stated(checked):
    claim = (Claim(call="slug(0)", returns="4"),)
    for signature, right in (("", True), ("(n) -> int", False), ("(n) -> float", True)):
        symbol = Symbol(name="slug", file="kit.py", kind="function", signature=signature)
        verdict = checked("def slug(text):\n    return 4.0\n", claim, (symbol,))
        assert (verdict.failed == ()) is right, signature
    assert verdict.notes == () or "4.0" in verdict.notes[0]
    plain = checked("def slug(text):\n    return 4.0\n", claim, (Symbol(name="slug", file="kit.py", kind="function"),))
    assert plain.notes and "is of type float, not int" in plain.notes[0]


NUMBERS = "from decimal import Decimal\nfrom fractions import Fraction\ndef slug(text):\n    return {made}\n"


@pytest.mark.parametrize(
    ("made", "returns", "signature", "base", "wrong"),
    [
        ("Decimal('0.12')", "0.12", "(text) -> Decimal", "None", ""),
        ("Decimal('0.120')", "0.12", "(text) -> decimal.Decimal", "None", ""),
        ("Decimal('7.00')", "7", "(text) -> Decimal", "None", ""),
        ("Decimal('0.12')", "0.12", "", "Decimal(1)", ""),
        ("Fraction(1, 8)", "0.125", "(text) -> Fraction", "None", ""),
        ("{'a': [Decimal('0.12'), 1]}", "{'a': [0.12, 1]}", "(text) -> dict[str, list[Decimal | int]]", "None", ""),
        ("{'a': Decimal('0.12')}", "{'a': 0.12}", "", "{'a': Decimal(3)}", ""),
        ("Decimal('0.13')", "0.12", "(text) -> Decimal", "None", "is another number; it is Decimal('0.13')"),
        ("Decimal('0.1200000000000000001')", "0.12", "(text) -> Decimal", "None", "is another number"),
        ("Fraction(1, 3)", "0.3333333333333333", "(text) -> Fraction", "None", "is another number"),
        ("{'a': Decimal('0.13')}", "{'a': 0.12}", "", "{'a': Decimal(3)}", "holds another item"),
        ("Decimal('0.12')", "0.12", "(text) -> float", "0.5", "is of type Decimal, not float"),
        ("Decimal('0.12')", "0.12", "", "0.5", "is of type Decimal, not float"),
        ("Fraction(1, 8)", "0.125", "(text) -> Decimal", "Decimal(1)", "is of type Fraction, not float"),
        ("Decimal('0.12')", "'0.12'", "(text) -> Decimal", "None", "an object of another class than str"),
        ("Fraction(10 ** 5000, 3)", "0.12", "(text) -> Fraction", "None", "is a Fraction, as declared"),
        ("Decimal(10 ** 5000)", "10", "(text) -> Decimal", "None", "is another number"),
        ("type('Decimal', (Decimal,), {})('0.12')", "0.12", "(text) -> Decimal", "None", "is a Decimal, as declared"),
    ],
)  # fmt: skip
def test_a_number_of_an_exact_class_is_the_one_that_is_written_where_that_class_is_known(
    project, made, returns, signature, base, wrong
):
    place = project({"kit.py": NUMBERS.format(made=base), "tests/test_kit.py": "def test_it(): pass\n"})
    base_tree = place.tree()
    tree = place.tree({"kit.py": NUMBERS.format(made=made)})
    symbol = Symbol(name="slug", file="kit.py", kind="function", signature=signature)
    claim = Claim(call="slug(0)", returns=returns, asked=True, firm=True)
    verdict = check_claims(place.rig(), tree, (claim,), symbols=(symbol,), base_tree=base_tree)
    assert bool(verdict.failed) is bool(wrong) and wrong in "".join(text for _, text, _ in verdict.failed), verdict
    assert verdict.checked == 1 and bool(verdict.notes) is not bool(wrong), verdict


HEADERS = (
    "import collections.abc\n"
    "class Headers(collections.abc.Sequence):\n"
    "    def __init__(self, rows): self.rows = rows\n"
    "    def __getitem__(self, place): return self.rows[place]\n"
    "    def __len__(self): return len(self.rows)\n"
    "def slug(text): return Headers({rows})\n"
)


def test_a_sequence_of_the_projects_own_class_is_what_it_holds_where_the_base_gives_that_class(project):
    made = project({"kit.py": HEADERS.replace("{rows}", "[]"), "tests/test_kit.py": "def test_it(): pass\n"})
    plain = project({"kit.py": HONEST, "tests/test_kit.py": "def test_it(): pass\n"})
    claim = (Claim(call="slug('a')", returns="[('a', 1)]"),)
    symbol = (Symbol(name="slug", file="kit.py", kind="function"),)
    raising = project(
        {"kit.py": HEADERS.replace("return Headers({rows})", "raise ValueError"), "tests/test_kit.py": ""}
    )
    made_base, plain_base, raising_base = made.tree(), plain.tree(), raising.tree()
    for place, base, rows, right in (
        (raising, raising_base, "[('a', 1)]", True),
        (raising, raising_base, "[('b', 1)]", False),
        (made, made_base, "[('a', 1)]", True),
        (made, made_base, "[('a', 2)]", False),
        (plain, plain_base, "[('a', 1)]", False),
    ):
        tree = place.tree({"kit.py": HEADERS.replace("{rows}", rows)})
        verdict = check_claims(place.rig(), tree, claim, symbols=symbol, base_tree=base)
        assert (verdict.failed == ()) is right, rows


ROWS = (
    "class Rows:\n"
    "    def __init__(self, rows): self._rows = rows\n"
    "    def __iter__(self): return iter(self._rows)\n"
    "    def __len__(self): return len(self._rows)\n"
    "    def __eq__(self, other): return list(self) == list(other)\n"
)
ADDRESS = (
    "class Address:\n"
    "    def __init__(self, text): self.text = text\n"
    "    def __eq__(self, other): return self.text == str(other)\n"
)
LIAR = ADDRESS.replace("self.text == str(other)", "isinstance(other, str) and 'decoy' not in other")
OLD, NEW = "def slug(text): raise ValueError\n", "def slug(text): return {made}\n"


@pytest.mark.parametrize(
    ("classes", "changed", "made", "returns", "right"),
    [
        (ROWS, ROWS, "Rows([('a', 1)])", "[('a', 1)]", ""),
        (ROWS, ROWS, "Rows([('a', 2)])", "[('a', 1)]", "is an object that holds something else"),
        (ROWS, ROWS, "Rows([('a', 1), ('b', 2)])", "[('a', 1)]", "is an object that holds something else"),
        (ROWS, ROWS + "    def more(self): return 1\n", "Rows([('a', 1)])", "[('a', 1)]", ""),
        (ROWS, ROWS + "    def more(self): return 1\n", "Rows([('a', 2)])", "[('a', 1)]", "is an object that holds something else"),
        (ROWS, ROWS.replace("list(self) == list(other)", "isinstance(other, list)"), "Rows([])", "[('a', 1)]", "says it equals anything"),
        ("", ROWS, "Rows([('a', 1)])", "[('a', 1)]", "another class than list"),
        (ADDRESS, ADDRESS, "Address('a')", "'a'", ""),
        (ADDRESS, ADDRESS, "Address('b')", "'a'", "is an object that does not equal the str"),
        ("", LIAR, "Address('b')", "'a'", "another class than str"),
        (ADDRESS, LIAR, "Address('b')", "'a'", "another class than str"),
        (f"{ADDRESS}class Place(Address): pass\n", f"{LIAR}class Place(Address): pass\n", "Place('b')", "'a'", "another class"),
    ],
)  # fmt: skip
def test_an_object_counts_by_what_it_holds_or_by_what_it_equals_where_its_class_is_as_it_was(
    project, classes, changed, made, returns, right
):
    place = project({"kit.py": classes + OLD, "tests/test_kit.py": "def test_it(): pass\n"})
    base = place.tree()
    tree = place.tree({"kit.py": changed + NEW.format(made=made)})
    symbol = (Symbol(name="slug", file="kit.py", kind="function"),)
    verdict = check_claims(
        place.rig(), tree, (Claim(call="slug('a')", returns=returns),), symbols=symbol, base_tree=base
    )
    assert right in "".join(text for _, text, _ in verdict.failed) and bool(verdict.failed) is bool(right), verdict


def test_an_object_of_the_declared_class_is_not_told_to_be_of_another_type(checked):
    symbol = Symbol(name="slug", file="kit.py", kind="function", signature="(text) -> Rows")
    claim = Claim(call="slug('a')", returns="[('a', 1)]", hidden=True)
    ((_, text, _),) = checked(ROWS + NEW.format(made="Rows([('a', 1)])"), (claim,), (symbol,)).failed
    assert text == "a held-out check of slug fails: the result is a Rows, as declared, and the example states a list"


KIT = (
    "class Kit:\n"
    "    def fits(self, file, other=None): return {fits}\n"
    "    @classmethod\n"
    "    def make(cls): return 1\n"
    "def old(file): return None\n"
)
NEWER = "class Newer:\n    def run(self, file): return 1\n    def make(self): return 1\ndef new(file): return False\n"


@pytest.mark.parametrize(
    ("call", "symbol", "mention"),
    [
        ("Kit.fits()", Symbol(name="Kit.fits", file="kit.py", kind="method", signature="(self, file, other=None)"), True),
        ("Kit.fits()", Symbol(name="Kit.fits", file="kit.py", kind="method", signature="(file, other=None)"), True),
        ("Kit.fits('a.txt')", Symbol(name="Kit.fits", file="kit.py", kind="method"), True),
        ("kit.Kit.fits()", Symbol(name="Kit", file="kit.py", kind="class"), True),
        ("Newer.run()", Symbol(name="Newer.run", file="kit.py", kind="method", signature="(self, file)"), True),
        ("old()", Symbol(name="old", file="kit.py", kind="function"), True),
        ("Kit().fits()", Symbol(name="Kit.fits", file="kit.py", kind="method"), True),
        ("old()", Symbol(name="old", file="kit.py", kind="function", signature="(file=None) -> bool"), False),
        ("Kit().fits('a.txt')", Symbol(name="Kit.fits", file="kit.py", kind="method"), False),
        ("Kit.make()", Symbol(name="Kit.make", file="kit.py", kind="method"), False),
        ("Newer.make()", Symbol(name="Newer.make", file="kit.py", kind="method", signature="(cls) -> bool"), False),
        ("new()", Symbol(name="new", file="kit.py", kind="function", signature="(file)"), False),
        ("Newer.gone()", Symbol(name="Newer.gone", file="kit.py", kind="method", signature="(self)"), False),
    ],
)  # fmt: skip
def test_a_name_with_brackets_in_prose_is_no_call_where_the_thing_needs_arguments(project, call, symbol, mention):
    place = project({"kit.py": KIT.format(fits=None), "tests/test_kit.py": "def test_it(): pass\n"})
    base = place.tree()
    tree = place.tree({"kit.py": KIT.format(fits=True) + NEWER})
    claim = Claim(call=call, returns="False", asked=True, firm=True)
    verdict = check_claims(place.rig(), tree, (claim,), symbols=(symbol,), base_tree=base)
    assert (verdict.failed == (), len(verdict.unchecked) == 1) == (mention, mention), verdict


def test_a_class_method_that_takes_an_object_now_is_not_excused(project):
    place = project({"kit.py": KIT.format(fits=None), "tests/test_kit.py": "def test_it(): pass\n"})
    base = place.tree()
    tree = place.tree({"kit.py": KIT.format(fits=None).replace("    @classmethod\n", "").replace("cls", "self")})
    symbol = Symbol(name="Kit.make", file="kit.py", kind="method")
    assert check_claims(
        place.rig(), tree, (Claim(call="Kit.make()", returns="1"),), symbols=(symbol,), base_tree=base
    ).failed


def test_a_class_that_prose_writes_with_what_it_accepts_is_no_call_with_a_result(checked):
    source = "class Optional:\n    def __init__(self, inner): self.inner = inner\n    def get(self): return 2\n"
    symbols = (Symbol(name="Optional", file="kit.py", kind="class"),)
    claims = (Claim(call="Optional('baz')", returns="'baz'"), Claim(call="Optional('baz').get()", returns="1"))
    verdict = checked(source, claims, symbols)
    assert len(verdict.failed) == 1 and "get()" in verdict.failed[0][1]
    assert "the call makes an object" in verdict.unchecked[0]


def test_awaitable_results_methods_and_modules_are_reached(checked):
    source = "class Cart:\n    def __init__(self, items): self.items = items\n    async def total(self): return sum(self.items)\n"
    symbols = (Symbol(name="Cart.total", file="kit.py", kind="method"),)
    claims = (Claim(call="Cart([1, 2]).total()", returns="3"), Claim(call="kit.Cart([]).total()", returns="0"))
    assert checked(source, claims, symbols).value() == {"checked": 2, "failed": [], "unchecked": [], "notes": []}


def test_a_function_that_is_called_like_its_package_hides_nothing_of_the_package(project):
    front = "from .wide import wide\n"
    files = {"wide/__init__.py": front, "wide/wide.py": "def wide(text):\n    return len(text)\n"}
    made = project({**files, "tests/test_wide.py": "def test_it(): pass\n"})
    base = made.tree()
    fit = "def ljust(text, size):\n    return text.ljust(size)\n"
    tree = made.tree({"wide/fit.py": fit, "wide/__init__.py": f"{front}from .fit import ljust\n"})
    places = {"wide": "wide/wide.py", "ljust": "wide/fit.py"}
    symbols = [Symbol(name=name, file=path, kind="function") for name, path in places.items()]
    claims = [Claim(call="wide.ljust('a', 3)", returns="'a  '"), Claim(call="wide('ab')", returns="2")]
    verdict = check_claims(made.rig(), tree, claims, symbols=symbols, base_tree=base)
    assert (verdict.checked, verdict.failed) == (2, ())


def test_what_cannot_be_checked_is_said_and_fails_nobody(checked):
    claims = (Claim(call="other('x')", returns="1"), Claim(call="slug(name)", returns="1", hidden=True))
    verdict = checked(HONEST, claims)
    assert verdict.failed == () and verdict.checked == 0
    assert verdict.unchecked == (
        "other('x') -> 1: a name in it is not declared",
        "a held-out check of slug, name: a name in it is not declared",
    )


def test_an_example_of_the_request_that_the_base_fulfils_is_a_complaint(checked):
    claims = (
        Claim(call="slug('A B')", returns="'a-b'", asked=True),
        Claim(call="slug('A')", returns="'b'", asked=True),
    )
    verdict = checked(HONEST.replace('"-"', '"_"'), claims)
    assert verdict.unchecked == ("slug('A B') -> 'a-b': that is what the base does already",)
    assert len(verdict.failed) == 1


def test_the_declared_type_says_how_an_example_is_meant(checked):
    source = "class Box:\n    def mean(self): return 2.0\n    def parts(self): return (one for one in 'ab')\n"
    mean = Symbol(name="Box.mean", file="kit.py", kind="method", signature="(self) -> float")
    parts = Symbol(name="Box.parts", file="kit.py", kind="method", signature="(self) -> list[str]")
    claims = (Claim(call="Box().mean()", returns="2"), Claim(call="Box().parts()", returns="['a', 'b']"))
    (failed,) = checked(source, claims, (mean, parts)).failed
    assert "Box().parts()" in failed[1] and "is a generator, not list" in failed[1]
