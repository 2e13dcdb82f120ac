"""The road of small models through the real command line: examples decide, samples are tried, a person is asked else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.world import World

SMALL = '[model]\nprofile = "small"\n'
REQUEST = "Add slugify(text) to textkit: slugify('Hello World') -> 'hello-world', slugify('') -> ''"
GOOD = '```python\ndef slugify(text: str) -> str:\n    """Join by hyphens."""\n    return "-".join(text.lower().split())\n```'
ALSO = "def slugify(text):\n    words = text.lower().split()\n    return '-'.join(words)"
WRONG = "def slugify(text):\n    return text.replace(' ', '-')"


def tried(world: World) -> list[str]:
    """The summaries of the steps in which samples were tried."""
    return [row["data"]["summary"] for row in world.events("ToolFinished") if row["data"]["name"] == "write_definition"]


def test_a_request_with_examples_is_delivered_by_one_call_for_code(world: World) -> None:
    world.settings(SMALL)
    script: dict[str, Any] = {"green": [{"samples": [WRONG, GOOD, ALSO, "no idea", "def other(): return 1"]}]}
    done = world.start(script, request=REQUEST)
    assert done.code == 0, done.err
    assert done.json["llm_calls"] == 1
    assert tried(world) == ["2 of 5 samples of slugify pass, 2 of 2 agree on 14 further calls; written"]
    diff = world.git("diff", "main", done.json["branch"])
    assert "assert slugify('Hello World') == 'hello-world'" in diff and '"""Join by hyphens."""' in diff
    assert [row["data"]["stage"] for row in world.events("ArtifactSubmitted") if row["data"]["by"] == "model"] == [
        "green"
    ]
    assert "the same" in world.run("replay", world.task).out
    assert world.run("verify", world.task).code == 0


def test_without_an_example_a_person_is_asked_and_nothing_is_written(world: World) -> None:
    world.settings(SMALL)
    examples = [
        {"call": "initials('a b c')", "returns": "'abc'"},
        {"call": "initials('x')", "returns": "'y'"},
        {"call": "other(1)", "returns": "2"},
        {"call": "initials(", "returns": "'x'"},
    ]
    script: dict[str, Any] = {"spec": [{"text": json.dumps({"examples": examples})}]}
    asked = world.start(script, request="initials should look at every word, not only at the first two")
    assert asked.code == 3
    (question,) = asked.json["escalations"]
    assert "1. initials('a b c') -> 'abc'\n  2. initials('x') -> 'y'\nAnswer" in question["question"]
    world.run("resolve", f"{world.task}.E1", "--answer", "I do not know")
    again = world.run("resume", world.task, "--json")
    assert again.code == 3, again.out
    assert "held no example" in again.json["escalations"][1]["question"]
    world.run("resolve", f"{world.task}.E2", "--answer", "1")
    assert world.run("resume", world.task, "--json").code == 5  # the script says nothing for GREEN
    spec = [row["data"]["artifact"] for row in world.events("StageVerified") if row["data"]["stage"] == "spec"][-1]
    assert spec["requirements"][0]["acceptance_criteria"] == ["initials('a b c') -> 'abc'"]
    assert "examples" not in spec


def test_a_renaming_asks_no_model(world: World) -> None:
    world.settings(SMALL)
    done = world.start({"green": []}, request="Rename shout to yell in textkit")
    assert done.code == 0, done.err
    assert done.json["llm_calls"] == 0
    diff = world.git("diff", "main", done.json["branch"])
    assert "+def yell(text: str) -> str:" in diff
    assert "-from textkit import initials, shout\n+from textkit import initials, yell" in diff
    assert "the same" in world.run("replay", world.task).out


def test_an_example_that_calls_a_method_of_nothing_is_asked_about(world: World) -> None:
    world.settings(SMALL)
    (world.repo / "ledger.py").write_text("class Ledger:\n    def balance(self) -> int:\n        return 0\n")
    world.commit_all("a ledger")
    done = world.start({}, request="Fix the balance of a Ledger: balance() -> 750")
    assert done.code == 3, done.err
    assert "Ledger(...).balance(...)" in done.json["escalations"][0]["reason"]


def test_an_example_that_any_constant_satisfies_is_tested_beside_another_one(world: World) -> None:
    world.settings(SMALL)
    good = "def is_long(text: str) -> bool:\n    return len(text) > 3"
    also = "def is_long(text):\n    return len(text) >= 4"
    script: dict[str, Any] = {"green": [{"samples": [good, also, good, also, "no"]}]}
    request = "Add is_long(text) to textkit: is_long('ab') is False, is_long('abcd') is True, is_long('abc') is False"
    done = world.start(script, request=request)
    assert done.code == 0, done.err


def test_an_example_with_steps_is_tested_on_an_object_and_no_sample_may_know_its_number(world: World) -> None:
    """The examples of a method: what only knows the number is refused, a branch that nobody asked for is left out."""
    world.settings(SMALL)
    source = "class Till:\n    def __init__(self):\n        self.rows = []\n\n    def add(self, cents):\n        self.rows.append(cents)\n"
    (world.repo / "till.py").write_text(source)
    world.commit_all("A till")
    known = "def total(self):\n    return 750 if self.rows else 0"
    good = "def total(self):\n    if len(self.rows) == 1:\n        only = self.rows[0]\n        return only\n    return sum(self.rows)"
    also = "def total(self):\n    if len(self.rows) == 1:\n        (one,) = self.rows\n        return one\n    return sum(one for one in self.rows)"
    request = "Give Till in till.py a method total(). An empty Till has total() == 0; after add(1000) and add(-250) total() is 750."
    done = world.start({"green": [{"samples": [known, known]}, {"samples": [good, also]}]}, request=request)
    assert done.code == 0, done.err
    assert tried(world)[0] == "none of 2 samples of Till.total passes"
    assert tried(world)[1].endswith("written, without lines that no example reaches")
    diff = world.git("diff", "main", done.json["branch"])
    assert "till.add(-250)" in diff and "assert till.total() == 750" in diff and "len(self.rows)" not in diff


def test_a_sample_that_passes_alone_is_not_shown_to_those_that_are_to_agree_with_it(world: World) -> None:
    world.settings(SMALL)
    alone = (
        "def slugify(text):\n    parts_of_the_first = text.split(' ')\n    return '-'.join(parts_of_the_first).lower()"
    )
    script: dict[str, Any] = {"green": [{"samples": [WRONG, alone, "no idea"]}, {"samples": [GOOD, ALSO, ALSO]}]}
    done = world.start(script, request=REQUEST)
    assert done.code == 0, done.err
    first, second = tried(world)
    assert first == "1 of 3 samples of slugify pass; more are drawn to compare"
    assert second == "3 of 3 samples of slugify pass, 3 of 4 agree on 14 further calls; written"
    asked = world.run(
        "inspect", world.task, "--step", str(world.events("ModelCalled")[1]["data"]["step"]), "--show", "context"
    ).out
    assert "slugify('Hello World')" in asked and "parts_of_the_first" not in asked
    assert "parts_of_the_first" not in world.git("show", f"{done.json['branch']}:textkit.py")


def test_a_report_says_what_the_syntax_trees_say_and_asks_no_model(world: World) -> None:
    world.settings(SMALL)
    done = world.start({}, request="Which functions call shout? Report only.")
    assert done.code == 0, done.err
    assert done.json["llm_calls"] == 0
    report = (world.folder / "artifacts/phases/analyze/analysis.md").read_text()
    assert "shout is used in tests at tests/test_textkit.py" in report
    assert "the same" in world.run("replay", world.task).out


def test_a_report_that_no_tree_can_give_is_left_to_a_person(world: World) -> None:
    world.settings(SMALL)
    asked = world.start({}, request="Explain why the sounds are so loud, do not change anything.")
    assert asked.code == 3, asked.err
    (question,) = asked.json["escalations"]
    assert "textkit.py::shout" in question["options"]
    world.run("resolve", f"{world.task}.E1", "--answer", "textkit.py::shout")
    again = world.run("resume", world.task, "--json")
    assert again.code == 3, again.out
    assert "Is this the answer?" in again.json["escalations"][1]["question"]
    world.run("resolve", f"{world.task}.E2", "--answer", "what is measured is enough")
    done = world.run("resume", world.task, "--json")
    assert done.code == 0, done.err


def test_what_no_example_checks_is_left_out_only_when_a_person_says_so(world: World) -> None:
    world.settings(SMALL)
    request = (
        "Extract the joining of initials into a function joined(words) that initials calls: joined(['a', 'b']) == 'ab'"
    )
    script: dict[str, Any] = {
        "green": [
            {
                "samples": [
                    "def joined(words):\n    return ''.join(words)",
                    "def joined(words):\n    return ''.join(list(words))",
                ]
            }
        ]
    }
    asked = world.start(script, request=request)
    assert asked.code == 3, asked.err
    assert "also wants something of initials" in asked.json["escalations"][0]["question"]
    world.run("resolve", f"{world.task}.E1", "--answer", "only what the examples say")
    done = world.run("resume", world.task, "--json")
    assert done.code == 0, done.err


def test_a_fix_that_gives_another_answer_at_an_edge_is_asked_about(world: World) -> None:
    world.settings(SMALL)
    broken = (
        "def best(values: list[int]) -> int:\n    found = here = 0\n    for value in values:\n        here += value\n"
    )
    (world.repo / "runs.py").write_text(f"{broken}        found = max(found, here)\n    return found\n")
    world.commit_all("runs")
    never_empty = "def best(values):\n    here = found = values[0]\n    for value in values[1:]:\n        here = max(value, here + value)\n        found = max(found, here)\n    return found"
    maybe_empty = "def best(values):\n    here = found = 0\n    for value in values:\n        here = max(0, here + value)\n        found = max(found, here)\n    return found"
    script: dict[str, Any] = {
        "green": [{"samples": [never_empty, never_empty]}, {"samples": [maybe_empty, maybe_empty]}]
    }
    request = "Fix best in runs.py, the largest sum of neighbours: best([4, -5, 2, 1, -1, 3]) should be 5, and best([-1, 3]) is 3"
    asked = world.start(script, request=request)
    assert asked.code == 3, asked.err
    (question,) = asked.json["escalations"]
    assert "best([-4, -5, -2, -1, -1, -3]) gives 0 today and would give -1" in question["question"]
    assert question["options"] == ["0", "-1"]
    world.run("resolve", f"{world.task}.E1", "--answer", "0")
    done = world.run("resume", world.task, "--json")
    assert done.code == 0, done.err
    assert "max(0, here + value)" in world.git("show", f"{done.json['branch']}:runs.py")


def test_examples_that_hold_already_are_told_with_their_values_and_one_that_fails_is_asked_for(world: World) -> None:
    world.settings(SMALL)
    asked = world.start({"green": []}, request="Fix initials: initials('ab cd') gives 'ac'")
    assert asked.code == 3
    question = asked.json["escalations"][0]["question"]
    assert "`initials('ab cd')` gives 'ac'" in question and "initials(...) -> ..." in question
    world.run("resolve", f"{world.task}.E1", "--answer", "initials('a b c') -> 'abc'")
    assert world.run("resume", world.task, "--json").code == 5  # RED has passed; the script says nothing for GREEN
    suite = [row["data"] for row in world.events("StageVerified") if row["data"]["stage"] == "red"][-1]
    assert suite["passed"] and [test["kind"] for test in suite["artifact"]["test_files"][0]["tests"]] == [
        "target",
        "guard",
    ]


def test_a_sample_that_nothing_agrees_with_needs_the_word_of_a_person(world: World) -> None:
    world.settings(SMALL)
    rounds = [{"samples": [GOOD, WRONG]}, *[{"samples": [WRONG]}] * 5]
    asked = world.start({"green": rounds}, request=REQUEST)
    assert asked.code == 3, asked.err
    (question,) = asked.json["escalations"]
    assert "One sample of slugify passes, none agrees with it" in question["question"]
    (answer,) = question["options"]
    world.run("resolve", f"{world.task}.E1", "--answer", answer)
    done = world.run("resume", world.task, "--json")
    assert done.code == 0, done.err
    assert "text.lower().split()" in world.git("show", f"{done.json['branch']}:textkit.py")


def test_the_last_round_asks_about_a_sample_that_passes_alone(world: World) -> None:
    world.settings(SMALL + "[limits]\nstage_steps = 2\n")
    asked = world.start({"green": [{"samples": [WRONG]}, {"samples": [GOOD, WRONG]}]}, request=REQUEST)
    assert asked.code == 3, asked.err
    assert "One sample of slugify passes, none agrees with it" in asked.json["escalations"][0]["question"]


def test_what_the_request_names_and_every_sample_forgets_is_asked_about(world: World) -> None:
    world.settings(SMALL)
    forgets = 'def asks(text):\n    """Count."""\n    return text.count("I")'
    counts = (
        "def asks(text):\n    ends = text.replace('?', '.').replace('!', '.')\n"
        "    return sum(one.strip().startswith('I ') for one in ends.split('.'))"
    )
    request = (
        "Add asks(text) to textkit: the sentences that begin with the word \"I\"; one ends with '.', '?' or '!'. "
        "asks('It is. I am. I go') -> 2, asks('No') -> 0"
    )
    forgets_it = 'def asks(text):\n    """Count."""\n    return text.count("I ")'
    script: dict[str, Any] = {"green": [{"samples": [forgets, forgets_it, forgets_it]}, {"samples": [counts, counts]}]}
    asked = world.start(script, request=request)
    assert asked.code == 3, asked.err
    (question,) = asked.json["escalations"]
    assert "The request names '?'; no example of asks shows it" in question["question"]
    assert "What must asks('It is? I am? I go') give? The sample gives 2" in question["question"]
    world.run("resolve", f"{world.task}.E1", "--answer", "asks('Am I? I am! So I go') -> 1")
    done = world.run("resume", world.task, "--json")
    assert done.code == 0, done.err + done.out
    assert "replace('?', '.')" in world.git("show", f"{done.json['branch']}:textkit.py")


def test_a_sample_that_leans_on_the_order_of_all_examples_is_asked_about(world: World) -> None:
    world.settings(SMALL)
    last = 'def is_right(a, b, c):\n    """Whether it has a right angle."""\n    return a * a + b * b == c * c'
    any_order = "def is_right(a, b, c):\n    x, y, z = sorted((a, b, c))\n    return x * x + y * y == z * z"
    script: dict[str, Any] = {"green": [{"samples": [last, last]}, {"samples": [any_order, any_order]}]}
    request = "Add is_right(a, b, c) to textkit, for three sides: is_right(3, 4, 5) -> True, is_right(1, 2, 3) -> False"
    asked = world.start(script, request=request)
    assert asked.code == 3, asked.err
    (question,) = asked.json["escalations"]
    assert "is_right(5, 4, 3) would give False, where is_right(3, 4, 5) gives True" in question["question"]
    assert question["options"] == ["False", "True"]
    world.run("resolve", f"{world.task}.E1", "--answer", "True")
    done = world.run("resume", world.task, "--json")
    assert done.code == 0, done.err + done.out
    assert "sorted((a, b, c))" in world.git("show", f"{done.json['branch']}:textkit.py")


def test_a_result_out_of_the_order_of_all_examples_is_asked_about(world: World) -> None:
    world.settings(SMALL)
    as_found = 'def ends(values):\n    """The first and the last."""\n    return (values[0], values[-1])'
    script: dict[str, Any] = {"green": [{"samples": [as_found, as_found]}]}
    request = "Add ends(values) to textkit: ends([1, 5, 3]) -> (1, 3), ends([2, 4]) -> (2, 4)"
    asked = world.start(script, request=request)
    assert asked.code == 3, asked.err
    (question,) = asked.json["escalations"]
    assert "gives its numbers in ascending order. ends([3, 5, 1]) would give (3, 1)" in question["question"]


def test_it_after_steps_is_the_one_call_that_the_request_began_with(world: World) -> None:
    world.settings(SMALL)
    cart = (
        "class Cart:\n    def __init__(self):\n        self.rows = []\n\n    def add(self, name):\n        self.rows.append(name)\n\n"
        "    def show(self):\n        return list(self.rows)\n"
    )
    (world.repo / "cart.py").write_text(cart)
    world.commit_all("a cart")
    numbered = "def show(self):\n    return [f'{n} {name}' for n, name in enumerate(self.rows, 1)]"
    looped = "def show(self):\n    out = []\n    for n, name in enumerate(self.rows):\n        out.append(f'{n + 1} {name}')\n    return out"
    request = "Let show() of Cart number its lines. After add('pen') and add('ink') it is ['1 pen', '2 ink']."
    asked = world.start({"green": [{"samples": [numbered, looped]}] * 4}, request=request)
    assert asked.code == 3, asked.out + asked.err
    (question,) = asked.json["escalations"]
    assert (
        question["stage"] == "green" and "cart.add(''), cart.add('ink'), cart.show())[-1] gives" in question["question"]
    )
    (red,) = [row["data"]["artifact"] for row in world.events("StageVerified") if row["data"]["stage"] == "red"]
    assert [one["kind"] for one in red["test_files"][0]["tests"]] == ["target"]
    assert world.run("resolve", f"{world.task}.E1", "--answer", "2", "--resume").code == 3
    done = world.run("resolve", f"{world.task}.E2", "--answer", "2", "--resume", "--json")
    assert (done.code, len(world.events("EscalationRaised"))) == (0, 2), "two edges at most are asked about"
