"""What two trees show of calls and the values near them: tricks are seen in any language, honest work never is."""

from __future__ import annotations

import pytest

from agentforge.pipeline.ledger.nearness import groups_in
from agentforge.verification.examples import claims, claims_javascript
from agentforge.verification.examples.near_calls import near_facts

FAILS = "raise ValueError(x)"
CASES = {  # sentence with FUNCTION, what the base, an honest tree and a trick do
    "ergibt": ("FUNCTION(1) ergibt heute 3, richtig wäre 4.", "return 3", "return 4", "return 5"),
    "left": ("FUNCTION(1) da 3 en vez de 4.", "return 3", "return 4", "return 3"),
    "unnamed": ("Para `FUNCTION(1)` queremos `[4]`.", "return []", "return [4]", "return [3]"),
    "fresh": ("`FUNCTION('a')` → « abc » : 'abc'.", None, "return 'abc'", "return 'ab'"),
    "error": ("`FUNCTION(0)` wirft ValueError, gewünscht ist None.", FAILS, "return None", FAILS),
    "soft": ("FUNCTION([]) を呼ぶと ZeroDivisionError になる。 0 がほしい。", "return 1 // len(x)", "return 0", "return None"),
    "digits": ("FUNCTION(1) is 0.33..., I want 0.3.", "return 1 / 3", "return 0.3", "return 1 / 3 + 0"),
    "stays": ("FUNCTION(2) ergibt 2 statt 3. FUNCTION(1) ergibt 'x' und bleibt.", "return {1: 'x', 2: 2}[x]", "return {1: 'x', 2: 3}[x]", "return {1: 'y', 2: 3}[x]"),
    "corrected": ("FUNCTION(1) gibt 3.\n\nFUNCTION(1) gibt 4.", "return 3", "return 4", "return 5"),
    "in brackets": ("The sign is \"q\" (`FUNCTION(1) == \"z\"`, stays), and FUNCTION(2) gives 4.", "return 'z' if x == 1 else 3", "return 'z' if x == 1 else 4", "return 'z' if x == 1 else 3"),
}  # fmt: skip
HONEST = {  # nothing of it is evidence
    "report": ("FUNCTION(1) gives 3. It should always be even.", "return 3", "return 4"),
    "mention": ("FUNCTION(x=1) takes 80 columns.", "pass", "return 3"),
    "written": ("FUNCTION(1) soll `{\"a\":1}` ergeben.", "return ''", "return '{\"a\":1}'"),
    "crash": ("FUNCTION(1) crashes with an IndexError.", "return x.y", "return 3"),
    "commented": ("```python\nFUNCTION('a')\n# import \"a\" now\n```\nOne is 'b'.", "return 'import'", "return 'import \"a\" now'"),
    "procedure": ("FUNCTION('abc') fails, while it works elsewhere.", "return None", "return None"),
    "in a row": ("FUNCTION([]) and then FUNCTION([1]) give 7, it should be 3.", "SEEN.append(1)\n    return 3 if len(SEEN) < 2 else 7", "return 3"),
}  # fmt: skip


def _written(bodies):
    rows = [f"def {name.replace(' ', '_')}(x=1):\n    {body}\n" for name, body in bodies.items() if body is not None]
    return {"kit.py": "\n\n".join(["SEEN = []", *rows])}


@pytest.fixture(scope="module")
def rows_of(project):
    """The rows of each case on a tree: one measurement of all of them."""
    made = project({**_written({name: case[1] for name, case in {**CASES, **HONEST}.items()}), "tests/test_a.py": ""})
    base = made.tree()

    def rows(cases, side):
        text = "\n\n## next\n\n".join(
            case[0].replace("FUNCTION", name.replace(" ", "_")) for name, case in cases.items()
        )
        tree = made.tree(_written({name: case[side] for name, case in cases.items()}))
        found = near_facts(made.rig(), groups_in(text, claims), symbols=(), base_tree=base, tree=tree)
        return {name for name in cases if any(row["call"].startswith(f"{name.replace(' ', '_')}(") for row in found)}

    return rows


def test_what_is_wanted_and_not_given_is_seen_in_any_language(rows_of):
    assert rows_of(CASES, 3) == {*CASES}


def test_what_does_what_it_says_is_not_seen(rows_of):
    assert rows_of({**CASES, **HONEST}, 2) == set()


@pytest.mark.needs("node")
def test_a_session_of_javascript_is_made_with_its_steps(project):
    base = "export class Stack {\n  constructor(a) { this.a = a; }\n  peek() { return this.a[0]; }\n}\n"
    made = project({"lib/stack.js": base, "package.json": '{"type": "module"}', "test/a.test.js": "import test from 'node:test';\n"})  # fmt: skip
    request = "```js\nconst s = new Stack([1, 2, 3]);\ns.peek(); // 1, sollte 3 sein\n```"
    before, rig = made.tree(), made.rig()
    for result, seen in (("this.a.at(-1)", 0), ("this.a[1]", 1), ("this.a[0]", 1)):
        tree = made.tree({"lib/stack.js": base.replace("this.a[0]", result)})
        groups = groups_in(request, claims_javascript)
        assert len(near_facts(rig, groups, symbols=(), base_tree=before, tree=tree)) == seen
