"""`start --attempts N`: independent attempts in worktrees of their own, the best by verification goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.world import ADD_SLUGIFY, IMPLEMENTED, REQUEST, edit, good_script, reply

if TYPE_CHECKING:
    from tests.support.world import World


def test_the_attempt_that_passes_is_delivered_and_the_loser_stands_in_the_trail(world: World) -> None:
    wrong = edit(
        "    return text.lower()\n", "    return text.lower()\n\n\ndef slugify(text: str) -> str:\n    return text\n"
    )
    script = good_script(**{"green@1": [reply(wrong, IMPLEMENTED)], "green": [reply(ADD_SLUGIFY, IMPLEMENTED)]})
    done = world.run(
        "start", REQUEST, "--model", world.model(script), "--json", "--attempts", "2", "--stage-attempts", "1"
    )
    assert done.code == 0, done.err
    first, second = done.json["attempts"]["rows"]
    assert (first["passed"], first["chosen"]) == (False, False)
    assert "green failed verification" in first["reason"]
    assert (second["passed"], second["chosen"], second["lines"]) == (True, True, 5)
    task = done.json["task_id"]
    assert [first["child"], second["child"]] == [f"{task}-a1", f"{task}-a2"]
    assert "none of" not in done.json["attempts"]["reason"] and "only one of 2" in done.json["attempts"]["reason"]
    assert done.json["llm_calls"] == 6  # four stages, and GREEN of each attempt
    assert json.loads(world.run("cost", task, "--json").out)["total"]["calls"] == 6
    assert f"{task}-a2  attempt 2, over" in world.run("status").out
    assert world.git("branch", "--list", "agentforge/*") == done.json["branch"]
    assert "slugify" in world.git("show", f"{done.json['branch']}:textkit.py")
    for name in (task, f"{task}-a1", f"{task}-a2"):
        assert world.run("verify", name).code == 0, name
        assert "the same" in world.run("replay", name).out, name
    report = (
        world.repo / ".agentforge" / "tasks" / task / "artifacts" / "phases" / "deliver" / "delivery_report.md"
    ).read_text()
    assert f"attempt 1 ({task}-a1): stage green failed verification" in report
    assert json.loads(world.run("audit", task, "--format", "json").out)["attempts"]["rows"][1]["chosen"] is True
