"""Results that are objects of the project's own classes: whether they hold what an example expects."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from agentforge.suite.test_environment import Rig
from agentforge.verification.examples.claims import Claim, literal
from agentforge.verification.examples.plain_answers import Answer
from agentforge.verification.examples.typed_comparison import difference


def makes_an_object(claim: Claim, answer: Answer) -> bool:
    """Whether a call of a class gave an object of that class, where a built-in value is expected: prose wrote a validator
    with what it accepts, not a call with its result."""
    called = re.match(r"(?:\w+\.)*(\w+)\(", claim.call)
    made = answer.value is not None and answer.value[0] == "object" and called and called[1] == answer.value[1]
    return bool(made) and not claim.raises and claim.call.endswith(")")


def holds_in_a_class_of_the_base(claim: Claim, answer: Answer, rig: Rig, *, base_tree: str, tree: str) -> bool:
    """Whether a result holds what is expected, as an object of a class that the change left as it was at the base."""
    if answer.value is None or answer.value[0] != "object" or claim.raises:
        return False
    if not holds(answer.value[3], literal(claim.returns)):
        return False
    name = str(answer.value[1])
    for path in rig.git.list_files(base_tree):
        if path.endswith(".py") and (source := _class_source(rig.git.show(base_tree, path), name)):
            return source == _class_source(rig.git.show(tree, path), name)
    return False


def _class_source(data: bytes | None, name: str) -> str:
    """The source of a class of a module, "" where it defines none of that name."""
    text = (data or b"").decode("utf-8", "replace")
    if not re.search(rf"^class {re.escape(name)}\b", text, re.MULTILINE):
        return ""
    try:
        found = [one for one in ast.parse(text).body if isinstance(one, ast.ClassDef) and one.name == name]
    except (SyntaxError, ValueError):
        return ""
    return ast.unparse(found[-1]) if found else ""


def holds(items: Sequence[Any] | None, expected: object) -> bool:
    """Whether what an object holds is what is expected, whatever sequence that is written as."""
    if items is None or not isinstance(expected, (list, tuple, set, frozenset, dict)):
        return False
    written = list(expected) if isinstance(expected, tuple) else expected
    if isinstance(written, (set, frozenset)):
        return not difference(["set", items[1]], set(written), how="equal")
    return not difference(items, written, streams=False, how="equal")
