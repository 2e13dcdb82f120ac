"""A person as the model: prompts and answers are files of a folder, or stand in the terminal.

Each request is written to `RUN/STAGE-STEP.prompt.md`; the answer is what stands beside it in `RUN/STAGE-STEP.answer.md` (or
`.yaml`): plain text, or a reply as the scripted provider writes it (`text`, `tool_calls`, `samples`). A request that was asked
before and has its answer is never asked again, so that Ctrl-C, a crash and `resume` lose nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from agentforge.cancellation import check, pause
from agentforge.canonical import digest_bytes
from agentforge.errors import ConfigError, ModelReplyBroken, ModelUnavailable, StorageError
from agentforge.messages import ModelReply, ModelRequest, request_bytes
from agentforge.models.stand_ins.scripted import ScriptLine, line_of, reply_of

TERMINAL = "terminal"
"""The name under which the person is asked in the terminal."""
_KEYS = frozenset({"text", "thinking", "tool_calls", "samples", "finish"})
_ANSWERS = (".answer.yaml", ".answer.json", ".answer.md")
_PROMPT = ".prompt.md"
_LOOKS_EVERY_S = 0.3
_END = "."
_TTY = Path("/dev/tty")


class ManualModel:
    """Asks a person.

    Args:
        name: as in settings, `manual/NAME`.
        folder: where prompts and answers are.
        wait_s: how long an answer is waited for while nobody is at a terminal; then the run stops and can be resumed.
    """

    def __init__(self, name: str, folder: Path, *, wait_s: float) -> None:
        self.name = f"manual/{name}"
        self._in_terminal = name == TERMINAL
        self._folder = folder
        self._wait_s = wait_s

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Write the prompt, and give the answer as soon as it is there.

        Raises:
            ModelUnavailable: nobody answered in time; the prompt stays, `resume` takes the answer.
            ModelReplyBroken: the answer cannot be read.
            StorageError: the prompt cannot be written.
        """
        place = self._place(request)
        asked = _write_prompt(place, request)
        answer = _found(place) or (self._ask(place, asked) if self._in_terminal else self._await(place))
        line = _read(answer)
        _replace(_taken(place), str(request.labels.get("step") or 0))
        if on_delta is not None and line.text:
            on_delta(line.text)
        return reply_of(line, request, model=self.name)

    def close(self) -> None:
        """Nothing is open."""

    def _place(self, request: ModelRequest) -> Path:
        """The files of a request, without their endings: the same when it is asked again after a crash."""
        labels = request.labels
        stage, step = str(labels.get("stage") or "turn"), labels.get("step")
        folder = self._folder / str(labels.get("run") or "no-run")
        place = folder / f"{stage}-{int(step or 0):04d}"
        if not _prompt(place).is_file():  # nobody answered in time before: the step has another number now
            same = (one.with_name(one.name.removesuffix(_PROMPT)) for one in sorted(folder.glob(f"*{_PROMPT}")))
            mark = f"<!-- prompt {_digest(request)};"
            waiting = [one for one in same if not _taken(one).is_file() and _text(_prompt(one)).startswith(mark)]
            return waiting[0] if waiting else place
        return place

    def _await(self, place: Path) -> Path:
        told = f"write the answer into {place}.answer.md; the prompt is {place.name}.prompt.md beside it"
        person = _say(f"\n{told}\n")
        end = time.monotonic() + self._wait_s
        while (answer := _found(place)) is None:
            check()
            if not person and time.monotonic() >= end:
                raise ModelUnavailable(
                    f"{self.name}: no answer after {self._wait_s:.0f} s", hint=f"{told}, then resume"
                )
            pause(_LOOKS_EVERY_S)
        return answer

    def _ask(self, place: Path, prompt: str) -> Path:
        """Read lines from the terminal up to a single dot, and keep them like any other answer."""
        try:
            with _TTY.open(encoding="utf-8") as reading, _TTY.open("w", encoding="utf-8") as writing:
                text = _typed(reading, writing, prompt)
        except OSError as exc:
            raise ModelUnavailable(
                f"{self.name}: there is no terminal to ask in", hint="use --model manual/FOLDER and answer by files"
            ) from exc
        if not text.strip():
            raise ModelReplyBroken(f"{self.name}: nothing was answered", hint="resume asks again")
        answer = place.with_name(f"{place.name}.answer.md")
        _replace(answer, text)
        return answer


def _typed(reading: TextIO, writing: TextIO, prompt: str) -> str:
    writing.write(f"\n{prompt}\n--- your answer; end it with a line that holds a single dot ---\n")
    writing.flush()
    lines: list[str] = []
    for line in reading:
        if line.rstrip("\n") == _END:
            break
        lines.append(line)
    return "".join(lines)


def _say(text: str) -> bool:
    """Tell whoever reads standard error; returns whether a person sits at the terminal."""
    if sys.stderr is None:
        return False
    sys.stderr.write(text)
    sys.stderr.flush()
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _write_prompt(place: Path, request: ModelRequest) -> str:
    """Write the prompt down; an answer to another question of the same name is put aside."""
    prompt = _prompt(place)
    text = _prompt_text(request, place, _digest(request))
    known = _text(prompt)
    if known and _first(known) != _first(text):
        for suffix in _ANSWERS:
            old = place.with_name(place.name + suffix)
            if old.is_file():
                old.rename(old.with_name(f"{old.name}.old"))
    if known != text:
        _replace(prompt, text)
    return text


def _prompt(place: Path) -> Path:
    return place.with_name(place.name + _PROMPT)


def _taken(place: Path) -> Path:
    """Says which step took the answer: an equal question of a later step is asked anew."""
    return place.with_name(f"{place.name}.taken")


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


def _digest(request: ModelRequest) -> str:
    return digest_bytes(request_bytes(request))[:16]


def _first(text: str) -> str:
    return text.partition("\n")[0]


def _replace(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as exc:
        raise StorageError(
            f"{path} cannot be written: {exc.strerror}", hint="choose another folder: manual/FOLDER"
        ) from exc


def _found(place: Path) -> Path | None:
    """The answer, once it holds something and was not touched for a moment."""
    for suffix in _ANSWERS:
        path = place.with_name(place.name + suffix)
        try:
            known = path.stat()
        except OSError:
            continue
        if known.st_size and time.time() - known.st_mtime >= _LOOKS_EVERY_S:
            return path
    return None


def _read(answer: Path) -> ScriptLine:
    """The reply that an answer is: a mapping with known keys is taken as one, everything else is text."""
    try:
        text = answer.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ModelReplyBroken(f"{answer} cannot be read: {exc}", hint="save it as UTF-8 and resume") from exc
    structured = answer.suffix != ".md"
    value = _mapping(text)
    if value is None or (not structured and not {str(key) for key in value} <= _KEYS):
        if structured:
            raise ModelReplyBroken(
                f"{answer} holds no mapping", hint=f"its keys are {', '.join(sorted(_KEYS))}; then resume"
            )
        value = {"text": text.strip("\n")}
    try:
        return line_of(value, at=str(answer))
    except ConfigError as exc:
        raise ModelReplyBroken(str(exc), hint="correct the file and resume") from exc


def _mapping(text: str) -> Mapping[str, object] | None:
    import yaml

    body = text.strip()
    if body.startswith("```"):
        body = body.partition("\n")[2].rpartition("```")[0]
    try:
        value = yaml.safe_load(body)
    except yaml.YAMLError:
        return None
    return value if isinstance(value, dict) and value else None


def _prompt_text(request: ModelRequest, place: Path, digest: str) -> str:
    """The request as a person reads it, with how to answer."""
    wishes = [f"The answer goes on from: {request.prefill!r}"] if request.prefill else []
    if request.samples > 1:
        wishes.append(f"Up to {request.samples} different answers are wanted: `samples: [..., ...]`; one is enough.")
    if request.json_schema is not None:
        wishes.append(f"The text is JSON of this schema: {json.dumps(request.json_schema, ensure_ascii=False)}")
    tools = [
        f"## {tool.name}\n{tool.description}\n{json.dumps(tool.parameters, ensure_ascii=False)}"
        for tool in request.tools
    ]
    parts = [
        f"<!-- prompt {digest}; answer in {place.name}.answer.md -->",
        _HOW if request.tools else "Answer with text.",
        *wishes,
        *(["# Tools", *tools] if tools else []),
        *(f"# {message.role}\n{message.text}" + _calls(message.tool_calls) for message in request.messages),
    ]
    return "\n\n".join(parts) + "\n"


def _calls(calls: tuple[object, ...]) -> str:
    return "".join(f"\n[called {getattr(call, 'name', '')} {getattr(call, 'arguments', '')}]" for call in calls)


_HOW = """Answer with text, or with tool calls as YAML:

    text: what I do
    tool_calls:
      - {name: read_file, args: {path: README.md}}"""
