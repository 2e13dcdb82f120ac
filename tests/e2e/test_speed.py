"""A request for speed: a measurement is asked for once, made on base and change, and told with its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.world import edit, good_script, intake, reply, specification, submit, write

if TYPE_CHECKING:
    from tests.support.world import Script, World

_PAIRS = '"""Lists."""\n\n\ndef common(left, right):\n    """Words in both."""\n    return [word for word in left if word in right]\n'
_GUARD = "from pairs import common\n\n\ndef test_common():\n    assert common(['b', 'a', 'b'], ['b']) == ['b', 'b']\n"
_SETUP = "from pairs import common\nleft = [f'w{n}' for n in range(900)]\nright = left[::2]"
_MEASURED = {"requirement": "REQ-001", "setup": _SETUP, "statement": "common(left, right)", "ratio": 2}


def _script(world: World, *specs: dict[str, Any], body: str) -> Script:
    (world.repo / "pairs.py").write_text(_PAIRS)
    world.commit_all("pairs")
    asked = intake("refactor", examples=[])
    asked["extracted_intent"]["performance"] = True
    guard = {
        "path": "tests/test_pairs.py",
        "tests": [
            {"name": "test_common", "kind": "guard", "requirement_ref": "REQ-001", "acceptance_criterion": "REQ-001.1"}
        ],
    }
    changed = edit("    return [word for word in left if word in right]", body, path="pairs.py")
    return good_script(
        intake=[reply(submit(asked))],
        spec=[reply(submit(one)) for one in specs],
        red=[reply(write("tests/test_pairs.py", _GUARD), submit({"test_files": [guard]}))],
        green=[reply(changed, submit({"files_modified": []}))],
    )


def _spec(*measurements: dict[str, Any]) -> dict[str, Any]:
    symbol = {
        "name": "common",
        "file": "pairs.py",
        "kind": "function",
        "signature": "(left, right)",
        "change": "changed",
    }
    draft = specification(
        ["common(['b', 'a', 'b'], ['b']) == ['b', 'b']"], title="Faster common words", symbols=[symbol]
    )
    return {**draft, "files_to_modify": ["pairs.py"], "files_to_create": [], "measurements": list(measurements)}


_SET = "    known = set(right)\n    return [word for word in left if word in known]"


def test_the_figures_stand_in_the_report_and_the_trail_verifies(world: World) -> None:
    done = world.start(
        _script(world, _spec(), _spec(_MEASURED), body=_SET), request="Make common faster for long lists"
    )
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    first, second = [one["data"] for one in world.events("StageVerified") if one["data"]["stage"] == "spec"]
    assert [row["rule"] for row in first["results"] if not row["passed"]] == ["speed-specified"]
    assert second["passed"]
    report: dict[str, Any] = world.view("artifacts/phases/deliver/delivery_report.yaml")
    (line,) = [one for one in report["measured"] if "before" in one]
    assert line.startswith("REQ-001 `common(left, right)`: before ")
    assert " rounds," in line
    for command in (["verify", "--rerun"], ["replay"]):
        checked = world.run(command[0], world.task, *command[1:])
        assert checked.code == 0, checked.out + checked.err


def test_a_request_for_speed_without_a_measurement_is_told_as_not_measured(world: World) -> None:
    done = world.start(_script(world, _spec(), _spec(), body=_SET), request="Make common faster for long lists")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    report: dict[str, Any] = world.view("artifacts/phases/deliver/delivery_report.yaml")
    assert any(one.startswith("the request asks for speed, and no time was measured") for one in report["limits"])


def test_a_change_that_is_not_faster_comes_back_with_its_figures(world: World) -> None:
    body = "    return [term for term in left if term in right]"
    script = _script(world, _spec(_MEASURED), body=body)
    script["green"].append(reply(edit(body, _SET, path="pairs.py"), submit({"files_modified": []})))
    done = world.start(script, request="Make common faster for long lists")
    assert (done.code, done.json["outcome"]) == (0, "delivered"), done.out + done.err
    (told, _) = [one["data"] for one in world.events("StageVerified") if one["data"]["stage"] == "green"]
    (message,) = [row["message"] for row in told["results"] if row["rule"] == "faster"]
    assert "REQ-001 `common(left, right)`: before" in message
    assert "not faster beyond what differs from round to round" in message
