"""From settings and a session's state to a SessionRuntime: every part of a conversation is made here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentforge.agent import AgentSpec, shown_message
from agentforge.app.composition import assembly as wiring
from agentforge.app.sessions.approvals import judged, policy_of, rules_of
from agentforge.app.sessions.chat_limits import Sizing
from agentforge.app.sessions.checkpoints import Checkpoints
from agentforge.app.sessions.commands import LeftRunning, added_variables, situation_of, visible_environment
from agentforge.app.sessions.person import Desk, Question
from agentforge.app.sessions.project_context import ProjectContext
from agentforge.app.tools.catalogue import ToolShed, built_in, seldom_described
from agentforge.config.paths import data_dir
from agentforge.config.settings import Settings, load
from agentforge.events.kinds import Event, HistoryCompacted
from agentforge.events.state.run_state import RunState
from agentforge.messages import Message
from agentforge.models import Model
from agentforge.safety.policy.modes import Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.permission import Rule
from agentforge.safety.text.redaction import known_secrets, redact
from agentforge.session import SessionRuntime, bare_prompt, compacted, offered, system_prompt, tool_context
from agentforge.store.log.run_log import RunLog
from agentforge.tools.base import Tool, ToolContext
from agentforge.tools.dispatch.deferral import searchable, sent
from agentforge.tools.dispatch.invocation import InvocationPolicy, Refusal
from agentforge.workspace.git.private_repository import snapshot_repository
from agentforge.workspace.git.repository import Git
from agentforge.workspace.protection.change_detector import Watch
from agentforge.workspace.sandbox.box import Sandbox

if TYPE_CHECKING:
    from agentforge.app.sessions.chat import ChatOptions


_FROM_SETTINGS = ("all_tools", "hooks", "instructions", "permission_rules", "sandbox", "shed")


class Workshop:
    """The parts of one session, each made when it is first needed; what a person switches is read from the state anew."""

    def __init__(
        self, log: RunLog, desk: Desk, options: ChatOptions, *, settings: Settings, environ: Mapping[str, str]
    ) -> None:
        self.log = log
        self.desk = desk
        self.options = options
        self.settings = self._overridden(settings, environ)
        self.environ = environ
        self.root = Path(log.state.identity.repo)
        self.nonce = os.urandom(4).hex()
        self.secrets = known_secrets(environ)
        self._models: dict[str, wiring.Models] = {}
        self.arrived: Callable[[], Iterable[Event]] = tuple
        self.put_plan: Callable[[str], str | None] | None = None
        self.around = ProjectContext(self)

    def _overridden(self, settings: Settings, environ: Mapping[str, str]) -> Settings:
        """The settings with what the person changed for this session on top."""
        overrides = self.log.state.talk.settings.get("overrides")
        if not overrides:
            return settings

        return load(Path(self.log.state.identity.repo), environ, flags=cast("Mapping[str, object]", overrides))

    def reload(self) -> None:
        """Read the settings from disk again; everything that depends on them is made anew."""
        self.settings = self._overridden(load(self.root, self.environ), self.environ)
        self.disconnect()
        self._models.clear()
        self.around = ProjectContext(self)
        for name in _FROM_SETTINGS:
            self.__dict__.pop(name, None)

    def runtime(self) -> SessionRuntime:
        """Everything that the next turn works with."""
        return SessionRuntime(
            root=self.root,
            model=self.model,
            tools=self.tools,
            tool_context=self.tool_context,
            system=self.system,
            situation=self.situation,
            approve=self.judge,
            blobs=self.log.blobs,
            price=wiring.price,
            secrets=self.secrets,
            nonce=self.nonce if self.settings.flag("prompt_injection_protection_enabled") else "",
            redacts=self.settings.flag("redaction_enabled"),
            cleans=self.settings.flag("output_hygiene_enabled"),
            rules=self.sizing.rules,
            budget=self.sizing.budget,
            max_output_tokens=self.sizing.output_tokens(),
            result_tokens=self.sizing.result_tokens,
            temperature=cast("float | None", self.settings.get("model.temperature")),
            confirm=self.confirm,
            hooks=self.hooks,
            guard=self.guard,
            snapshot=self.snapshot,
            on_delta=self.desk.delta,
            on_thought=getattr(self.desk.person, "thought", None),
            before_call=self.checkpoints.before_call,
            together=self.together,
            compact=self.compact,
            answered=self.desk.taken,
            ended=self.ended,
            arrived=self.arrived,
        )

    # -- the model and what it is sent

    def model(self) -> Model:
        """The model of the session as it is set now, with the fallback chain behind it."""
        flag = self.setting("model") or self.options.model or ""
        if flag not in self._models:
            self._models[flag] = wiring.Models(settings=self.settings, environ=self.environ, flag=flag or None)
        return self._models[flag].of_stage("")

    def setting(self, name: str) -> str:
        """A switch of the session: what the person changed, "" when nothing."""
        value = self.log.state.talk.settings.get(name, "")
        return value if isinstance(value, str) else ""

    @property
    def work_mode(self) -> str:
        """One of session.modes.WORK_MODES."""
        return self.setting("work_mode") or self.options.work_mode or "build"

    @cached_property
    def sizing(self) -> Sizing:
        """How much may be sent, answered and gone on."""
        return Sizing(
            settings=lambda: self.settings,
            options=self.options,
            talk=lambda: self.log.state.talk,
            system=self.system,
            tools=self.tools,
        )

    def system(self) -> str:
        """The instructions; the same text as long as nothing is switched."""
        more = self.options.more_system
        if self.options.bare:
            return bare_prompt(work_mode=self.work_mode, workspace=str(self.root)) + (f"{more}\n" if more else "")
        return system_prompt(work_mode=self.work_mode, workspace=str(self.root), parts=(*self.instructions, more))

    @cached_property
    def instructions(self) -> tuple[str, ...]:
        """What user and project add to the instructions."""
        return self.around.guidance.parts()

    def situation(self, state: RunState) -> str:
        """What the model should know now and would else forget: todos, and what runs in the background."""
        todos = [_todo_line(name, item) for name, item in state.talk.todos.items()]
        parts = ["\n".join(["Todos:", *todos])] if todos else []
        if state.talk.background:
            parts.append(situation_of(state.talk.background, self.unread()))
        return "\n\n".join(part for part in parts if part)

    def compact(self, state: RunState, reason: str) -> HistoryCompacted:
        """Summarise the oldest part of the history."""
        return compacted(
            state,
            self.model(),
            budget=self.sizing.budget(),
            system=self.system(),
            tools=sent(self.tools()),
            fixed=self.sizing.fixed(),
            reason=reason,
            shown=self._shown,
            price=wiring.price,
        )

    def _shown(self, message: Message) -> Message:
        """A message as it leaves the machine: clean, without secrets."""
        policy = InvocationPolicy(
            secrets=self.secrets,
            redacts=self.settings.flag("redaction_enabled"),
            cleans=self.settings.flag("output_hygiene_enabled"),
        )
        return shown_message(message, policy)

    # -- tools

    def tools(self) -> dict[str, Tool]:
        """What may be called now."""
        tools = offered(self.shed.with_others(self.all_tools), work_mode=self.work_mode)
        return searchable(self.around.offered(tools), found=self.log.state.talk.settings.get("found_tools"))

    @cached_property
    def all_tools(self) -> dict[str, Tool]:
        """All tools of the session, whatever the mode."""
        allowed = self.options.allowed_tools or cast("list[str] | None", self.settings.get("allowed_tools"))
        return seldom_described({**built_in(self, allowed), **self.around.delegating(allowed)})

    def tool_context(self, state: RunState) -> ToolContext:
        """The reach of the tools."""
        context = tool_context(
            state,
            root=self.root,
            sandbox=self.sandbox,
            watch=self.guard,
            writable=self.work_mode in ("build", "swarm-build"),
            ask=self.desk.person.ask,
            repository=self.shed.repository,
            browser=lambda: self.shed.browser,
            output=self.shed.output,
            variables=self.variables(),
            background=self.left_running.commands,
            loopback=self.left_running.loopback,
            follow=self.left_running.followed if self.left_running.asked_for else None,
        )
        put_plan = self.put_plan if self.work_mode == "plan" else None
        return replace(self.around.reaching(context), put_plan=put_plan)

    def variables(self) -> Mapping[str, str]:
        """What commands see beside the allow-list."""
        return added_variables(os.environ, self.settings, self.around.project)

    @cached_property
    def left_running(self) -> LeftRunning:
        """The commands that go on beside the conversation."""
        return LeftRunning(self)

    def running(self) -> tuple[str, ...]:
        """The names of the background commands that run."""
        return self.left_running.commands.running() if "left_running" in self.__dict__ else ()

    def unread(self) -> Mapping[str, int]:
        """What the background commands wrote and the model has not read: name -> bytes."""
        return self.left_running.unread() if "left_running" in self.__dict__ else {}

    def has_news(self) -> bool:
        """Whether `ended` has something to record; any thread may ask."""
        return "left_running" in self.__dict__ and self.left_running.commands.has_news()

    def ended(self) -> Iterable[Event]:
        """What is to be recorded of background commands that have ended."""
        return self.left_running.ended() if "left_running" in self.__dict__ else ()

    @cached_property
    def shed(self) -> ToolShed:
        """The tools that are not built in, and what tools hold open."""
        return ToolShed(self)

    @cached_property
    def sandbox(self) -> Sandbox:
        """What stands around every command."""
        return wiring.sandbox_of(self.settings, hidden=(), environ=visible_environment(os.environ, self.settings))

    @cached_property
    def git(self) -> Git | None:
        """Where the folder's snapshots are kept: its own repository, else a private one; None = it has too many files."""
        return snapshot_repository(self.root, data=data_dir(self.environ))

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """Where conversation and workspace can be brought back to."""
        return Checkpoints(self.log, git=lambda: self.git, guard=self.guard, effect_of=self.effect_of)

    def effect_of(self, name: str) -> str:
        """What calling a tool can do; "" when there is no such tool now."""
        tool = self.tools().get(name)
        if self.around.subagents.may_write(name):
            return "execute"
        return tool.effect if tool is not None else ""

    @cached_property
    def guard(self) -> Watch:
        """Remembers the folder before a command."""
        return Watch(lambda: self.git, index=self.log.folder / "index")

    def snapshot(self, state: RunState) -> tuple[str, bytes] | None:
        """Tree of the workspace after a step and the patch since the one before."""
        if self.git is None:
            return None
        before, now = state.work.trees.get("work", ""), self.guard.tree()
        if now == before:
            return None
        patch = self.git.diff(before, now) if before else ""
        return now, patch.encode("utf-8", "surrogateescape")

    def together(self, indices: tuple[int, ...], state: RunState, spec: AgentSpec) -> Iterable[Event]:
        """Carry out several subagent calls side by side."""
        return self.around.subagents.together(indices, state, spec)

    def scrubbed(self, text: str) -> str:
        """A text without secrets."""
        return redact(text, secrets=self.secrets).text

    # -- safety

    def policy(self) -> Policy:
        """What holds for tool calls now."""
        return policy_of(self)

    @cached_property
    def permission_rules(self) -> tuple[Rule, ...]:
        """The rules of all settings files."""
        return rules_of(self.settings)

    def judge(self, tool: Tool, arguments: Mapping[str, object]) -> Refusal | None:
        """Judge a call: None lets it pass."""
        return judged(self, tool, arguments)

    def confirm(self, reason: str) -> bool:
        """Ask the person about what a hook wants decided; the mode `yolo` asks nothing."""
        if self.policy().mode is Mode.YOLO:
            return True
        return self.desk.asks(Question(tool="", text=reason, reason="a hook asks for a decision"))

    @cached_property
    def hooks(self):  # type: ignore[no-untyped-def]  # HookEngine | None, loaded only where there are hooks
        """The user's hooks, None when there are none."""
        return wiring.hooks_of(
            self.log.state, self.sandbox, settings=self.settings, environ=self.environ, secrets=self.secrets
        )

    def close(self) -> tuple[Event, ...]:
        """End what was left running and let go of connections; what is to be recorded of it."""
        ended = self.left_running.close() if "left_running" in self.__dict__ else ()
        self.disconnect()
        return ended

    def disconnect(self) -> None:
        """Let go of connections, browsers and servers."""
        if "shed" in self.__dict__:
            self.shed.close()
        for models in self._models.values():
            models.close()


def _todo_line(name: str, item: object) -> str:
    """A todo as the model reads it: its id, whether it is done, what it is."""
    if not isinstance(item, Mapping):
        return f"- {name}: {item}"
    return f"- [{'x' if item.get('done') else ' '}] {name}: {item.get('text', '')}"
