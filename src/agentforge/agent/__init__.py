"""The one agent loop: decide what comes next (pure), perform it, record it. Serves pipeline steps and chat turns alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentforge.fronts import front

if TYPE_CHECKING:
    from agentforge.agent.decide import CallModel, Effect, FinishStep, RunTool, Stop, decide_turn
    from agentforge.agent.limits import STOP_AFTER, WARN_AFTER, exhausted, repetitions, time_left_s
    from agentforge.agent.loop import Log, drive
    from agentforge.agent.model_call import perform_call_model, shown_message
    from agentforge.agent.perform import perform_finish_step, perform_tool
    from agentforge.agent.pictures import BlobStore, kept_pictures
    from agentforge.agent.reply import last_artifact_in
    from agentforge.agent.spec import AgentSpec, Workspace
else:
    __getattr__ = front(
        __name__,
        {
            "decide": ("CallModel", "Effect", "FinishStep", "RunTool", "Stop", "decide_turn"),
            "limits": ("STOP_AFTER", "WARN_AFTER", "exhausted", "repetitions", "time_left_s"),
            "loop": ("Log", "drive"),
            "model_call": ("perform_call_model", "shown_message"),
            "perform": ("perform_finish_step", "perform_tool"),
            "pictures": ("BlobStore", "kept_pictures"),
            "reply": ("last_artifact_in",),
            "spec": ("AgentSpec", "Workspace"),
        },
    )

__all__ = [
    "STOP_AFTER",
    "WARN_AFTER",
    "AgentSpec",
    "BlobStore",
    "CallModel",
    "Effect",
    "FinishStep",
    "Log",
    "RunTool",
    "Stop",
    "Workspace",
    "decide_turn",
    "drive",
    "exhausted",
    "kept_pictures",
    "last_artifact_in",
    "perform_call_model",
    "perform_finish_step",
    "perform_tool",
    "repetitions",
    "shown_message",
    "time_left_s",
]
