"""The surface that custom tools of agentforge-harness 0.1 were written for; importable only while such a file is loaded."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from enum import StrEnum
from pathlib import Path
from types import ModuleType
from typing import Any

_PACKAGES = ("agentforge_harness", "agentforge_harness.tools", "agentforge_harness.config")
_MODULES = ("agentforge_harness.tools.base", "agentforge_harness.config.config")


class ToolKind(StrEnum):
    """What a tool does."""

    READ = "read"
    WRITE = "write"
    SHELL = "shell"
    NETWORK = "network"
    MEMORY = "memory"
    MCP = "mcp"


@dataclasses.dataclass
class Config:
    """What a tool is made with."""

    cwd: Path


@dataclasses.dataclass
class ToolInvocation:
    """One call."""

    params: dict[str, Any]
    cwd: Path


@dataclasses.dataclass
class FileDiff:
    """A file before and after."""

    path: Path
    old_content: str
    new_content: str
    is_new_file: bool = False
    is_deletion: bool = False

    def to_diff(self) -> str:
        """The difference as a unified diff."""
        old = "/dev/null" if self.is_new_file else str(self.path)
        new = "/dev/null" if self.is_deletion else str(self.path)
        before, after = (text.splitlines(keepends=True) for text in (self.old_content, self.new_content))
        return "".join(unified_diff(before, after, old, new))


@dataclasses.dataclass
class ToolResult:
    """What a call gave."""

    success: bool
    output: str = ""
    status: str = "success"
    error: str | None = None
    truncated: bool = False
    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)
    summary: str | None = None
    artifacts: list[str] = dataclasses.field(default_factory=list)
    next_actions: list[str] = dataclasses.field(default_factory=list)
    recovery_hint: str | None = None
    diff_text: str | None = None
    exit_code: int | None = None

    @classmethod
    def success_result(cls, output: str, **more: Any) -> ToolResult:
        """A call that worked."""
        return cls(success=True, output=output, **more)

    @classmethod
    def error_result(cls, error: str, output: str = "", **more: Any) -> ToolResult:
        """A call that did not."""
        return cls(success=False, output=output, status="error", error=error, **more)


@dataclasses.dataclass
class ToolConfirmation:
    """What a person is asked about a call."""

    tool_name: str
    params: dict[str, Any]
    description: str
    diff: FileDiff | None = None
    diff_text: str | None = None
    affected_paths: list[Path] = dataclasses.field(default_factory=list)
    command: str | None = None
    is_dangerous: bool = False

    def get_diff_text(self) -> str | None:
        """The difference, if there is one."""
        return self.diff.to_diff() if self.diff is not None else self.diff_text


class Tool:
    """The base of a custom tool."""

    name: str = ""
    description: str = ""
    kind: ToolKind = ToolKind.READ
    schema: Any = None

    def __init__(self, config: Config) -> None:
        self.config = config

    async def execute(self, invocation: ToolInvocation) -> ToolResult:
        """Carry out a call."""
        raise NotImplementedError(f"{type(self).__name__} has no execute")

    def validate_params(self, params: dict[str, Any]) -> list[str]:
        """What is wrong with the parameters beyond their schema; a pydantic class judges by its own rules."""
        if not hasattr(self.schema, "model_validate"):
            return []
        try:
            self.schema.model_validate(params)
        except ValueError as exc:
            return str(exc).splitlines()
        return []

    def is_mutating(self, params: dict[str, Any]) -> bool:
        """Whether a call changes something."""
        del params
        return self.kind in (ToolKind.WRITE, ToolKind.SHELL, ToolKind.NETWORK, ToolKind.MEMORY)

    async def get_confirmation(self, invocation: ToolInvocation) -> ToolConfirmation | None:
        """What a person is asked; None = nothing beyond what its kind is asked about."""
        del invocation
        return None


_SURFACE = (Config, FileDiff, Tool, ToolConfirmation, ToolInvocation, ToolKind, ToolResult)


@contextmanager
def importable() -> Iterator[None]:
    """Let `from agentforge_harness.tools.base import Tool` find this module; whatever was there before comes back."""
    names = (*_PACKAGES, *_MODULES)
    before = {name: sys.modules[name] for name in names if name in sys.modules}
    for name in names:
        module = ModuleType(name)
        if name in _PACKAGES:
            module.__path__ = []
        else:
            vars(module).update({one.__name__: one for one in _SURFACE})
        sys.modules[name] = module
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
        sys.modules.update(before)
