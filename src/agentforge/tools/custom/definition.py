"""Tools that a user or a project wrote: files of Python, loaded into this process, each broken one named and left out.

Their code runs with the rights of AgentForge itself, outside of the sandbox; that is why a project's need trust.
"""

from __future__ import annotations

import contextvars
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import redirect_stdout
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from io import StringIO
from pathlib import Path
from typing import Any

from agentforge.cancellation import interruptible
from agentforge.canonical import digest_bytes
from agentforge.tools.base import Loaded, Observation, Tool, ToolContext, ToolError, failed
from agentforge.tools.custom.harness_shim import Config, Tool as Base, ToolInvocation, importable
from agentforge.tools.mcp.definitions import plain_schema

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_TIMEOUT_S = 600.0
_CLASSES = {"read": "read-only", "write": "write", "shell": "run", "network": "network", "memory": "write"}


def load_tools(folders: Iterable[Path], *, root: Path, taken: Iterable[str] = ()) -> Loaded:
    """Load every `*.py` of the folders, the first folder first; a file whose name begins with `_` is no tool.

    Args:
        root: the workspace that the tools work in.
        taken: names that no custom tool may have.
    """
    tools: dict[str, Tool] = {}
    origins = dict.fromkeys(taken, "a built-in tool")
    refused: dict[str, str] = {}
    for file in (file for folder in folders for file in sorted(folder.glob("*.py"))):
        if file.name.startswith("_"):
            continue
        try:
            found = _tools_of(file, root)
        except BaseException as error:  # a stranger's file: also sys.exit, also a broken import
            if isinstance(error, KeyboardInterrupt):
                raise
            refused[str(file)] = f"{type(error).__name__}: {error}"
            continue
        if not found:
            refused[str(file)] = "it holds neither TOOL, TOOLS nor a class made from Tool"
        for tool in found:
            why = _objection(tool, origins)
            if why:
                refused[f"{file}: {tool.name}"] = why
                continue
            tools[tool.name], origins[tool.name] = tool, str(file)
    return Loaded(tools=tools, origins={name: origins[name] for name in tools}, refused=refused)


def _objection(tool: Tool, origins: Mapping[str, str]) -> str:
    if not _NAME.fullmatch(tool.name) or "__" in tool.name or tool.name.startswith("subagent_"):
        return f"{tool.name!r} is no name for a tool: letters, digits, - and _ (but no __)"
    return f"its name is taken by {origins[tool.name]}" if tool.name in origins else ""


def _tools_of(file: Path, root: Path) -> list[Tool]:
    """Run a file and take the tools out of it.

    Raises:
        Exception: whatever the file raises.
    """
    name = f"agentforge_custom_tools_{digest_bytes(str(file).encode()).rpartition(':')[2][:16]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("Python cannot load it")
    module = module_from_spec(spec)
    sys.modules[name] = module
    with importable(), redirect_stdout(StringIO()):
        spec.loader.exec_module(module)
        return [*_native(module), *_of_classes(module, root)]


def _native(module: Any) -> list[Tool]:
    given = [*([module.TOOL] if hasattr(module, "TOOL") else []), *getattr(module, "TOOLS", ())]
    wrong = next((one for one in given if not isinstance(one, Tool)), None)
    if wrong is not None:
        raise TypeError(f"TOOL is no agentforge.tools.base.Tool but {type(wrong).__name__}")
    return list(given)


def _of_classes(module: Any, root: Path) -> list[Tool]:
    classes = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Base)]
    own = [one for one in classes if one is not Base and one.__module__ == module.__name__]
    return [_wrapped(one(Config(cwd=root)), root) for one in own]


def _wrapped(made: Any, root: Path) -> Tool:
    """A tool of the old surface as one of ours; what it says of itself decides what it is asked about."""
    kind = str(getattr(made.kind, "value", made.kind))
    does = _CLASSES.get(kind, "unknown")

    def confirmation(arguments: Mapping[str, object]) -> Any:
        return _awaited(partial(made.get_confirmation, ToolInvocation(params=dict(arguments), cwd=root)))

    def acts(arguments: Mapping[str, object]) -> str:
        if not made.is_mutating(dict(arguments)):
            return "read-only" if does == "read-only" else does
        asked = confirmation(arguments)
        return "destructive" if asked is not None and asked.is_dangerous else ("write" if does == "read-only" else does)

    def writes(arguments: Mapping[str, object]) -> tuple[str, ...]:
        asked = confirmation(arguments) if made.is_mutating(dict(arguments)) else None
        return tuple(str(path) for path in asked.affected_paths) if asked is not None else ()

    return Tool(
        name=str(made.name),
        description=" ".join(str(made.description).split())[:1000],
        parameters=plain_schema(_schema(made.schema)),
        effect="read" if does == "read-only" else "network",
        does=does,
        acts=acts,
        writes=writes,
        run=partial(_run, made),
    )


def _schema(given: Any) -> Any:
    if hasattr(given, "model_json_schema"):
        return given.model_json_schema()
    if isinstance(given, Mapping) and isinstance(given.get("parameters"), Mapping):
        return given["parameters"]
    return given


def _run(made: Any, arguments: Mapping[str, object], context: ToolContext) -> Observation:
    wrong = made.validate_params(dict(arguments))
    if wrong:
        raise ToolError(failed(f"{made.name}: {wrong[0]}", error_type="bad-arguments", text="\n".join(wrong)))
    result = _awaited(partial(made.execute, ToolInvocation(params=dict(arguments), cwd=context.root)))
    return _observed(str(made.name), result)


def _observed(name: str, result: Any) -> Observation:
    text = str(getattr(result, "output", result) or "")
    diff = getattr(result, "diff_text", None)
    first = next(iter(text.splitlines()), "done")[:150]
    body = "\n".join(part for part in (text, str(diff or "")) if part)
    actions = tuple(map(str, getattr(result, "next_actions", None) or ()))
    if getattr(result, "success", True):
        return Observation(
            status="success",
            summary=str(getattr(result, "summary", None) or f"{name}: {first}"),
            text=body,
            next_actions=actions,
            artifacts=tuple(map(str, getattr(result, "artifacts", None) or ())),
        )
    hint = str(result.recovery_hint or "")
    error = str(result.error or result.summary or first)
    return failed(
        f"{name}: {error}",
        error_type="tool-error",
        text=body or error,
        next_actions=(*actions, hint) if hint else actions,
    )


def _awaited(make: Callable[[], Any]) -> Any:
    """Run a coroutine of a tool in a thread of its own, so that no loop of ours is in its way and Ctrl-C ends the wait.

    Raises:
        Exception: whatever the tool raises; SystemExit is made one.
    """
    import asyncio

    done: Future[Any] = Future()

    async def whole() -> Any:
        given = make()
        return await given if hasattr(given, "__await__") else given

    def work() -> None:
        try:
            with redirect_stdout(StringIO()):
                done.set_result(asyncio.run(whole()))
        except BaseException as error:  # noqa: BLE001  # a stranger's code; the waiting side raises it again
            if not done.done():
                done.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))

    threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
    with interruptible(lambda: None if done.done() else done.set_exception(RuntimeError("stopped"))):
        try:
            return done.result(_TIMEOUT_S)
        except TimeoutError as exc:
            raise ToolError(failed(f"no end after {_TIMEOUT_S:.0f} s", error_type="timeout")) from exc
