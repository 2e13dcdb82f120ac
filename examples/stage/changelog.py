"""A stage that writes one file: a line for CHANGELOG.md. Its contract stands in it, so that one file is all there is.

Put it into `stages/` of your configuration folder, and it takes part in all of your tasks; or into `.agentforge/stages/`.
"""

from __future__ import annotations

from typing import Any

from agentforge.pipeline.model.stage import Stage

CONTRACT = """
contract: changelog_entry
version: "1.0"
description: The line of the changelog that tells of the change
schema:
  line: {type: string, required: true, min_length: 10, max_length: 200}
  changed:
    type: array
    required: true
    description: Files that this stage changed, as measured
    min_items: 1
    items: {const: CHANGELOG.md}
"""


def complete(_state: Any, draft: Any, facts: Any) -> dict[str, object]:
    """What the model wrote, and what was measured of it: the model does not fill in `changed`."""
    return {"line": draft.get("line"), "changed": [row["path"] for row in facts.get("changed", ())]}


STAGE = Stage(
    name="changelog",
    after="green",
    consumes=("spec", "green"),
    produces="changelog_entry",
    contract=CONTRACT,
    purpose="tell users of the change in one line of CHANGELOG.md",
    criteria=("the newest section of CHANGELOG.md has one more line, and no other line changed",),
    tools=("read_file", "edit", "write_file", "submit_artifact"),
    writes="product",
    files=("CHANGELOG.md",),
    omit=("changed",),
    complete=complete,
    prompt=(
        "You are the stage CHANGELOG. Add one line to the newest section of CHANGELOG.md that tells users what changed,\n"
        "in the words of the file; make the file with a section `## Unreleased` where there is none. Then hand in that line."
    ),
)
