"""Real projects, one small change of each, and what a scripted model answers to make it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RealChange:
    """A project as it is published, and a change that a user could ask for.

    Attributes:
        package: its source distribution, "" = it is made here.
        needs: what its tests import beside the project itself.
        file, old, new: the product file and the texts that are replaced in it.
        symbol: the changed function as the specification declares it.
        test, code: the path and the content of RED's file; all its tests are targets.
        tests: names of RED's tests.
        criteria: what the tests show, one for each.
        leave_out: tests of the project that cannot run here (no network, another locale), as pytest's options.
    """

    package: str
    needs: tuple[str, ...] = ("pytest<9",)
    file: str
    edits: tuple[tuple[str, str], ...]
    symbol: dict[str, str]
    test: str
    code: str
    tests: tuple[str, ...]
    criteria: tuple[str, ...]
    leave_out: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The distribution without its version."""
        return self.package.partition("==")[0]

    @property
    def request(self) -> str:
        """What the user asks for."""
        return f"Extend {self.symbol['name']} in {self.file}: {'; '.join(self.criteria)}"


def replies(change: RealChange) -> str:
    """The script of a model that does the change at once, as JSON (which is YAML)."""
    requirement = {
        "id": "REQ-001", "description": change.request, "priority": "must", "acceptance_criteria": list(change.criteria),
        "verification_method": "test",
    }  # fmt: skip
    symbol = {"file": change.file, "kind": "function", "change": "changed", **change.symbol}
    drafts: dict[str, dict[str, Any]] = {
        "intake": {
            "goal": change.request, "examples": [], "initial_complexity": "trivial", "identified_ambiguities": [],
            "extracted_intent": {"action": "modify", "target": change.symbol["name"], "scope": "module"},
        },
        "analyze": {
            "summary": "one function is extended", "impacted_files": [change.file], "symbols": [], "conventions": [],
            "modules": [{"path": change.file, "purpose": "the function"}], "risks": [], "constraints": [],
        },
        "spec": {
            "title": "Extend the function", "description": change.request, "requirements": [requirement],
            "symbols": [symbol], "files_to_modify": [change.file], "files_to_create": [], "trace_to_request": "all of it",
        },
        "red": {
            "test_files": [
                {
                    "path": change.test,
                    "tests": [
                        {
                            "name": name, "requirement_ref": "REQ-001", "kind": "target",
                            "acceptance_criterion": f"REQ-001.{number}",
                        }
                        for number, name in enumerate(change.tests, 1)
                    ],
                }
            ]
        },
        "green": {"files_modified": [{"path": change.file, "changes_summary": "as asked"}]},
    }  # fmt: skip
    calls: dict[str, list[dict[str, Any]]] = {
        "red": [{"name": "write_file", "args": {"path": change.test, "content": change.code}}],
        "green": [
            {"name": "edit", "args": {"path": change.file, "old_string": old, "new_string": new}}
            for old, new in change.edits
        ],
    }
    script = {
        stage: [{"text": "", "tool_calls": [*calls.get(stage, []), {"name": "submit_artifact", "args": {"artifact": draft}}]}]
        for stage, draft in drafts.items()
    }  # fmt: skip
    return json.dumps(script)


JINJA = RealChange(
    package="jinja2==3.1.6",
    needs=("pytest<9", "trio"),
    file="src/jinja2/utils.py",
    edits=(
        ("def url_quote(obj: t.Any, charset: str = \"utf-8\", for_qs: bool = False) -> str:",
         "def url_quote(\n    obj: t.Any, charset: str = \"utf-8\", for_qs: bool = False, safe: str = \"/\"\n) -> str:"),
        ('safe = b"" if for_qs else b"/"\n    rv = quote_from_bytes(obj, safe)',
         'kept = b"" if for_qs else safe.encode(charset)\n    rv = quote_from_bytes(obj, kept)'),
    ),
    symbol={"name": "url_quote", "signature": "(obj, charset='utf-8', for_qs=False, safe='/') -> str"},
    test="tests/test_url_quote_safe.py",
    code="""from jinja2.utils import url_quote


def test_safe_characters_are_kept():
    assert url_quote("a:b/c", safe=":") == "a:b%2Fc"
    assert url_quote("a:b/c") == "a%3Ab/c"


def test_a_query_keeps_none():
    assert url_quote("a:b c/", for_qs=True, safe=":/") == "a%3Ab+c%2F"
""",
    tests=("test_safe_characters_are_kept", "test_a_query_keeps_none"),
    criteria=("the parameter safe names the characters that are kept", "with for_qs it is ignored"),
)  # fmt: skip
ATTRS = RealChange(
    package="attrs==25.3.0",
    needs=("pytest<9", "hypothesis", "cloudpickle"),
    file="src/attr/_funcs.py",
    edits=(
        ("def has(cls):", "def has(cls, direct=False):"),
        ("        return True\n\n    # No attrs, maybe",
         "        return not direct or \"__attrs_attrs__\" in vars(cls)\n\n    # No attrs, maybe"),
    ),
    symbol={"name": "has", "signature": "(cls, direct=False)"},
    test="tests/test_has_direct.py",
    code="""import attr


@attr.s
class Base:
    x = attr.ib()


class Child(Base):
    pass


def test_an_inherited_decoration_is_not_direct():
    assert attr.has(Child, direct=True) is False
    assert attr.has(Child) is True


def test_a_decorated_class_is_direct():
    assert attr.has(Base, direct=True) is True
    assert attr.has(int, direct=True) is False
""",
    tests=("test_an_inherited_decoration_is_not_direct", "test_a_decorated_class_is_direct"),
    criteria=("has(cls, direct=True) tells whether the class itself was decorated", "a decorated class is direct"),
)  # fmt: skip
PYPARSING = RealChange(
    package="pyparsing==3.2.3",
    needs=("pytest<9", "railroad-diagrams", "jinja2"),
    file="pyparsing/util.py",
    edits=(
        ("def lineno(loc: int, strg: str) -> int:", "def lineno(loc: int, strg: str, first: int = 1) -> int:"),
        ('return strg.count("\\n", 0, loc) + 1', 'return strg.count("\\n", 0, loc) + first'),
    ),
    symbol={"name": "lineno", "signature": "(loc: int, strg: str, first: int = 1) -> int"},
    test="tests/test_lineno_first.py",
    code="""from pyparsing import lineno


def test_lines_count_from_the_first():
    assert lineno(3, "a\\nb\\nc", first=0) == 1
    assert lineno(3, "a\\nb\\nc") == 2


def test_the_first_may_be_any_number():
    assert lineno(0, "a", first=7) == 7
""",
    tests=("test_lines_count_from_the_first", "test_the_first_may_be_any_number"),
    criteria=("lineno(loc, text, first=0) counts lines from 0", "first may be any number"),
)
ARROW = RealChange(
    package="arrow==1.3.0",
    needs=("pytest<9", "pytest-cov", "pytest-mock", "pytz", "simplejson", "dateparser"),
    file="arrow/util.py",
    edits=(
        ("def is_timestamp(value: Any) -> bool:", "def is_timestamp(value: Any, text: bool = True) -> bool:"),
        ("    if not isinstance(value, (int, float, str)):",
         "    if not isinstance(value, (int, float, str) if text else (int, float)):"),
    ),
    symbol={"name": "is_timestamp", "signature": "(value: Any, text: bool = True) -> bool"},
    test="tests/test_is_timestamp_text.py",
    code="""from arrow.util import is_timestamp


def test_text_is_refused_on_demand():
    assert is_timestamp("12", text=False) is False
    assert is_timestamp("12") is True


def test_numbers_are_timestamps():
    assert is_timestamp(12, text=False) is True
    assert is_timestamp(1.5, text=False) is True
""",
    tests=("test_text_is_refused_on_demand", "test_numbers_are_timestamps"),
    criteria=("is_timestamp(value, text=False) refuses text", "numbers are timestamps"),
)  # fmt: skip
WERKZEUG = RealChange(
    package="werkzeug==3.1.3",
    needs=("pytest<9", "ephemeral-port-reserve", "watchdog", "cryptography", "cffi", "pytest-timeout"),
    file="src/werkzeug/utils.py",
    edits=(
        ("def secure_filename(filename: str) -> str:", 'def secure_filename(filename: str, empty: str = "") -> str:'),
        ('        filename = f"_{filename}"\n\n    return filename',
         '        filename = f"_{filename}"\n\n    return filename or empty'),
    ),
    symbol={"name": "secure_filename", "signature": "(filename: str, empty: str = '') -> str"},
    test="tests/test_secure_filename_empty.py",
    code="""from werkzeug.utils import secure_filename


def test_nothing_left_gives_the_other_name():
    assert secure_filename("../..", empty="file") == "file"
    assert secure_filename("../..") == ""


def test_what_is_left_is_kept():
    assert secure_filename("a/b.txt", empty="file") == "a_b.txt"
""",
    tests=("test_nothing_left_gives_the_other_name", "test_what_is_left_is_kept"),
    criteria=("secure_filename(name, empty='file') gives 'file' where nothing is left", "what is left is kept"),
    leave_out=("--ignore=tests/test_serving.py",),
)  # fmt: skip
ITSDANGEROUS = RealChange(
    package="itsdangerous==2.2.0",
    needs=("pytest<9", "freezegun"),
    file="src/itsdangerous/encoding.py",
    edits=(
        ("def base64_encode(string: str | bytes) -> bytes:",
         "def base64_encode(string: str | bytes, padded: bool = False) -> bytes:"),
        ('return base64.urlsafe_b64encode(string).rstrip(b"=")',
         'encoded = base64.urlsafe_b64encode(string)\n    return encoded if padded else encoded.rstrip(b"=")'),
    ),
    symbol={"name": "base64_encode", "signature": "(string: str | bytes, padded: bool = False) -> bytes"},
    test="tests/test_itsdangerous/test_padded.py",
    code="""from itsdangerous.encoding import base64_encode


def test_the_padding_is_kept_on_demand():
    assert base64_encode("a", padded=True) == b"YQ=="


def test_the_padding_goes_by_itself():
    assert base64_encode(b"a", padded=False) == b"YQ"
    assert base64_encode(b"a") == b"YQ"
""",
    tests=("test_the_padding_is_kept_on_demand", "test_the_padding_goes_by_itself"),
    criteria=("base64_encode(text, padded=True) keeps the padding", "without it the padding goes"),
)  # fmt: skip
PROJECTS = (ITSDANGEROUS, JINJA, ATTRS, PYPARSING, ARROW)
GENERATED = RealChange(
    package="generated",
    file="calc.py",
    edits=(("def add(a, b):\n    return a + b", "def add(a, b, c=0):\n    return a + b + c"),),
    symbol={"name": "add", "signature": "(a, b, c=0)"},
    test="tests/test_third.py",
    code="from calc import add\n\n\ndef test_a_third_is_added():\n    assert add(1, 2, c=3) == 6\n    assert add(1, 2, 4) == 7\n",
    tests=("test_a_third_is_added",),
    criteria=("add(1, 2, c=3) gives 6",),
)
