"""Documents and types need no test, and it is measured that nothing runs otherwise; what runs otherwise needs one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.world import ADD_SLUGIFY, IMPLEMENTED, edit, good_script, intake, reply, specification, submit, write

if TYPE_CHECKING:
    from tests.support.world import Script, World

_TYPED = '''def count(text, marks=1):
    """Count the words, and the marks once each."""
    return len(text.split()) + marks
'''


def _inspected(*files: str, new: bool = False, **changed: Any) -> dict[str, Any]:
    draft = specification(["it can be read in the files"], title="Say it in the files", **changed)
    draft["requirements"][0]["verification_method"] = "inspection"
    return {**draft, "files_to_create" if new else "files_to_modify": list(files)} | (
        {"files_to_modify": []} if new else {}
    )


def _script(spec: dict[str, Any], *changes: Any) -> Script:
    script = good_script(
        intake=[reply(submit(intake("modify", examples=[])))],
        spec=[reply(submit(spec))],
        green=[reply(*changes, submit({"files_modified": []}))],
    )
    del script["red"]
    return script


def _delivered(world: World, script: Script, request: str) -> dict[str, Any]:
    done = world.start(script, request=request)
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert {row["name"]: row["steps"] for row in done.json["stages"]}["red"] == 0
    report: dict[str, Any] = world.view("artifacts/phases/deliver/delivery_report.yaml")
    for command in ("verify", "replay"):
        checked = world.run(command, world.task)
        assert checked.code == 0, checked.out + checked.err
    return report


def test_a_document_is_delivered_without_a_test_and_the_report_says_what_was_measured(world: World) -> None:
    script = _script(_inspected("README.md", new=True), write("README.md", "# textkit\n\nSmall text functions.\n"))
    report = _delivered(world, script, "Write a README for textkit")
    assert any("documentation only: nothing that runs was changed (measured)" in line for line in report["limits"])
    assert not [row for row in report.get("notes", []) if row["rule"] == "requirements-traced"]
    assert report["verification"]["tests_run"] == 2
    assert report["changes"][0]["kind"] == "documentation"


def test_links_and_examples_of_a_document_are_measured_and_told(world: World) -> None:
    text = "# textkit\n\n## Use\n\nSee [above](#textkit).\n\n```\n>>> from textkit import shout\n>>> shout('a')\n'A!'\n```\n"
    report = _delivered(world, _script(_inspected("README.md", new=True), write("README.md", text)), "Write a README")
    assert report["measured"] == [
        "documentation only: nothing that runs was changed",
        "all relative links of the changed documents lead somewhere (1)",
        "all examples of changed documents and docstrings give what they say (2)",
        "the 2 tests of the suite are collected and pass as before",
    ]


def test_a_document_whose_example_is_wrong_comes_back_with_its_line(world: World) -> None:
    text = "# textkit\n\n>>> from textkit import shout\n>>> shout('a')\n'A'\n"
    script = _script(_inspected("README.md", new=True), write("README.md", text))
    script["green"].append(reply(write("README.md", text.replace("'A'", "'A!'")), submit({"files_modified": []})))
    done = world.start(script, request="Write a README for textkit")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    (first, _) = [one["data"] for one in world.events("StageVerified") if one["data"]["stage"] == "green"]
    (told,) = [one["message"] for one in first["results"] if not one["passed"]]
    assert "README.md:4 `shout('a')` gives 'A!', and 'A' is shown" in told


def test_types_are_delivered_without_a_test(world: World) -> None:
    (world.repo / "counting.py").write_text(_TYPED)
    world.commit_all("counting")
    typed = edit("count(text, marks=1)", "count(text: str, marks: int = 1) -> int", path="counting.py")
    symbol = {"name": "count", "file": "counting.py", "signature": "(text: str, marks: int = 1) -> int"}
    spec = _inspected("counting.py", symbols=[{**symbol, "kind": "function", "change": "changed"}])
    report = _delivered(world, _script(spec, typed), "Add type hints to counting")
    assert any("types only: nothing that runs was changed (measured)" in line for line in report["limits"])


def test_what_runs_otherwise_goes_back_to_the_specification_and_gets_its_tests(world: World) -> None:
    tested = good_script()
    spec = _inspected("textkit.py")
    script = {**tested, "spec": [reply(submit(spec)), *tested["spec"]], "intake": _script(spec)["intake"]}
    script["green"] = [reply(ADD_SLUGIFY, IMPLEMENTED), reply(IMPLEMENTED)]
    done = world.start(script, request="Add slugify to textkit")
    (reopened,) = world.events("StageReopened")
    assert (reopened["data"]["stage"], reopened["data"]["by"]) == ("spec", "green")
    (finding,) = reopened["data"]["findings"]
    assert finding["message"].startswith("textkit.py:19 runs otherwise: def slugify")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    assert "tests/test_slugify.py" in world.git("ls-tree", "-r", "--name-only", done.json["branch"]).split()


def test_behaviour_behind_an_inspection_is_never_delivered(world: World) -> None:
    spec = _inspected("textkit.py")
    trick = edit('text.upper() + "!"', 'text.upper() + "?!"[1:]')
    script = _script(spec, trick)
    script["spec"] *= 2
    script["green"] *= 4
    done = world.start(script, "--stage-attempts", "2", request="Correct the documentation of shout")
    assert done.json["outcome"] == "escalated", done.out
    (asked,) = done.json["escalations"]
    assert "textkit.py:6 runs otherwise" in asked["question"]
