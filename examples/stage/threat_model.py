"""A stage that only reads: what could an attacker do with the change? GREEN is shown the answer.

Put it into `.agentforge/stages/` of a project, and its contract into `.agentforge/contracts/`.
"""

from agentforge.pipeline.model.stage import Stage

STAGE = Stage(
    name="threat_model",
    after="spec",
    consumes=("spec",),
    produces="threat_model",
    shown_to=("green",),
    purpose="name what an attacker could do with the change, before it is written",
    criteria=("every threat names the input it comes by, and what stops it",),
    tools=("read_file", "grep", "submit_artifact"),
    prompt=(
        "You are the stage THREAT MODEL. Read the specification and the code that it names.\n"
        "List what somebody could do who chooses the inputs: by which input, with which effect, and what the\n"
        "implementation must do against it. No threat is an answer, too: say why. Hand it in with submit_artifact."
    ),
)
