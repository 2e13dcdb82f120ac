"""A model that answers from a YAML file: for demonstrations, tests and dry runs. No server, no key.

The file maps stage names to lists of replies (one list alone serves every stage, each from its beginning):

    repeat_last: true            # optional: the last reply of a list is given for ever
    green:
      - text: I write the function.
        thinking: The test wants a sum.
        tool_calls:
          - {name: write_file, args: {path: calc.py, content: "..."}}
          - {name: shell, raw: '{"command": '}      # arguments word for word, here malformed
        finish: tool_calls       # stop | tool_calls | length | content_filter; found by itself where missing
        usage: {prompt_tokens: 900, completion_tokens: 40, cached_tokens: 0}
      - samples: ["def f(): ...", "def f(): ..."]     # instead of text; as many are given as were asked for
      - error: {status: 503, message: overloaded}

`green@2:` holds what the second of several independent attempts says, `green@api:` what is said in the task of the part
`api` of a plan; else all of them say the same.

Which reply is given depends on nothing but the request's labels `stage` and `stage_step` (the number of the model call
within the stage, from 1), so a run that is resumed goes on at the right reply.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from agentforge.errors import ConfigError, ModelRequestRejected
from agentforge.messages import FinishReason, ModelReply, ModelRequest, ToolCall, Usage
from agentforge.models.api.model import think_aloud
from agentforge.models.api.prices import estimate_usage
from agentforge.models.dialects.refusals import error_for_status

_REPLY_KEYS = frozenset({"text", "samples", "thinking", "tool_calls", "finish", "usage", "error"})
_CALL_KEYS = frozenset({"name", "args", "raw"})
_USAGE_KEYS = frozenset({"prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens"})
_ERROR_KEYS = frozenset({"status", "message"})
_OPTION = "repeat_last"
_ANY_STAGE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptLine:
    """One reply of a script. `error_status` None = it is an answer."""

    text: str
    thinking: str
    calls: tuple[tuple[str, str], ...]
    finish: FinishReason
    usage: Usage | None
    error_status: int | None
    error_message: str
    others: tuple[str, ...]


class ScriptedModel:
    """Replies that a file prescribes.

    Args:
        path: of the YAML file.
    Raises:
        ConfigError: the file is missing, is not YAML, or holds something that is not in the format.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self.name = f"scripted/{path}"
        self._stages, self._repeat_last = _load(self._path)

    @property
    def stages(self) -> frozenset[str]:
        """The stages that it names."""
        return frozenset(self._stages) - {_ANY_STAGE}

    def complete(self, request: ModelRequest, *, on_delta: Callable[[str], None] | None = None) -> ModelReply:
        """Give the reply that stands at the request's place.

        Raises:
            ModelRequestRejected: the script has no reply there.
            ModelError: the script prescribes an error.
        """
        stage, number = place_of(request)
        line = self._line(self._own(stage, request), number)
        if line.error_status is not None:
            raise error_for_status(line.error_status, line.error_message, model=self.name)
        think_aloud(line.thinking)
        if on_delta is not None and line.text:
            on_delta(line.text)
        return reply_of(line, request, model=self.name)

    def close(self) -> None:
        """Nothing is open."""

    def _own(self, stage: str, request: ModelRequest) -> str:
        """The entry of one of several attempts, or of one part of a plan, where the script has one."""
        names = [f"{stage}@{request.labels.get(label)}" for label in ("candidate", "part")]
        return next((name for name in names if name.lower() in self._stages), stage)

    def _line(self, stage: str, number: int) -> ScriptLine:
        lines = self._stages.get(stage.lower(), self._stages.get(_ANY_STAGE, ()))
        if number <= len(lines):
            return lines[number - 1]
        if self._repeat_last and lines:
            return lines[-1]
        raise ModelRequestRejected(
            f"script {self._path} has no reply {number} for stage {stage}",
            hint=f"it has {len(lines)}; stages: {', '.join(sorted(name for name in self._stages if name)) or 'any'}",
        )


def reply_of(line: ScriptLine, request: ModelRequest, *, model: str) -> ModelReply:
    """Make the reply that a line stands for.

    Args:
        model: the name of the one that answers.
    """
    stage, number = place_of(request)
    calls = tuple(
        ToolCall(call_id=f"call_{stage}_{number}_{index}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(line.calls)
    )
    return ModelReply(
        text=line.text,
        tool_calls=calls,
        finish=line.finish,
        usage=line.usage or estimate_usage(request, line.text, line.thinking, calls),
        model=model,
        thinking=line.thinking,
        usage_reported=line.usage is not None,
        others=line.others[: request.samples - 1],
    )


def place_of(request: ModelRequest) -> tuple[str, int]:
    """Where in a script or recording a request stands: its labels `stage` and `stage_step`.

    Raises:
        ModelRequestRejected: a label is missing.
    """
    stage, number = request.labels.get("stage"), request.labels.get("stage_step")
    if not isinstance(stage, str) or not isinstance(number, int) or number < 1:
        raise ModelRequestRejected(
            f"the request carries no place: stage {stage!r}, stage_step {number!r}",
            hint="scripted and recorded models answer requests of a run only",
        )
    return stage, number


def _load(path: Path) -> tuple[dict[str, tuple[ScriptLine, ...]], bool]:
    value = _parse(path)
    if isinstance(value, list):
        return {_ANY_STAGE: _lines(value, at=f"{path}: ")}, False
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: a script is a mapping from stage to replies, or a list of replies")
    repeat_last = value.pop(_OPTION, False)
    if not isinstance(repeat_last, bool):
        raise ConfigError(f"{path}: {_OPTION}: expected true or false, not {repeat_last!r}")
    return {str(stage).lower(): _lines(replies, at=f"{path}: {stage}") for stage, replies in value.items()}, repeat_last


def _parse(path: Path) -> object:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=loader)
        for node in _mappings(root, yaml.MappingNode):
            _refuse_duplicates(node, path)
        return yaml.load(text, Loader=loader)
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"script {path} cannot be read: {exc}") from exc
    except yaml.YAMLError as exc:
        raise ConfigError(f"script {path} is not YAML: {exc}") from exc


def _mappings(node: Any, kind: type[Any]) -> list[Any]:
    """All mapping nodes at and below a YAML node."""
    if node is None or isinstance(node.value, str):
        return []
    if isinstance(node, kind):
        return [node, *(found for _, value in node.value for found in _mappings(value, kind))]
    return [found for child in node.value for found in _mappings(child, kind)]


def _refuse_duplicates(node: Any, path: Path) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if str(key.value) in seen:
            raise ConfigError(f"{path}: line {key.start_mark.line + 1}: key {key.value!r} appears twice")
        seen.add(str(key.value))


def _lines(value: object, *, at: str) -> tuple[ScriptLine, ...]:
    if not isinstance(value, list):
        raise ConfigError(f"{at}: expected a list of replies, not {type(value).__name__}")
    return tuple(line_of(item, at=f"{at}[{index}]") for index, item in enumerate(value))


def line_of(value: object, *, at: str) -> ScriptLine:
    """Read one reply as a script writes it.

    Args:
        at: where it stands, for errors.
    Raises:
        ConfigError: something in it is not in the format.
    """
    reply = _mapping(value, _REPLY_KEYS, at=at)
    calls = reply.get("tool_calls") or []
    if not isinstance(calls, list):
        raise ConfigError(f"{at}.tool_calls: expected a list, not {type(calls).__name__}")
    usage = _mapping(reply.get("usage") or {}, _USAGE_KEYS, at=f"{at}.usage")
    error = _mapping(reply.get("error") or {}, _ERROR_KEYS, at=f"{at}.error")
    samples = _samples(reply, at=at)
    return ScriptLine(
        text=samples[0],
        thinking=_text(reply, "thinking", at=at),
        calls=tuple(_call(call, at=f"{at}.tool_calls[{index}]") for index, call in enumerate(calls)),
        finish=_finish(reply.get("finish") or ("tool_calls" if calls else "stop"), at=at),
        usage=Usage(**{key: _number(usage, key, at=f"{at}.usage") for key in usage}) if usage else None,
        error_status=_number(error, "status", at=f"{at}.error") if error else None,
        error_message=_text(error, "message", at=f"{at}.error"),
        others=samples[1:],
    )


def _samples(reply: Mapping[str, object], *, at: str) -> tuple[str, ...]:
    """The reply's text, or its samples: at least one."""
    if "samples" not in reply:
        return (_text(reply, "text", at=at),)
    samples = reply["samples"]
    if "text" in reply or not isinstance(samples, list) or not samples:
        raise ConfigError(f"{at}.samples: expected a list of texts, without `text` beside it")
    return tuple(_text({"text": sample}, "text", at=f"{at}.samples[{index}]") for index, sample in enumerate(samples))


def _call(value: object, *, at: str) -> tuple[str, str]:
    call = _mapping(value, _CALL_KEYS, at=at)
    name = _text(call, "name", at=at)
    if not name:
        raise ConfigError(f"{at}: a tool call needs a name")
    if "raw" in call:
        if "args" in call:
            raise ConfigError(f"{at}: args and raw cannot be used together")
        return name, _text(call, "raw", at=at)
    args = call.get("args") or {}
    if not isinstance(args, Mapping):
        raise ConfigError(f"{at}.args: expected a mapping, not {type(args).__name__}")
    try:
        return name, json.dumps(args, ensure_ascii=False)
    except TypeError as exc:  # YAML knows dates, JSON does not
        raise ConfigError(f"{at}.args: {exc}", hint="put the value in quotes") from exc


def _mapping(value: object, known: frozenset[str], *, at: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{at}: expected a mapping, not {type(value).__name__}")
    unknown = sorted(str(key) for key in value if key not in known)
    if unknown:
        raise ConfigError(f"{at}: unknown key {unknown[0]!r}", hint=f"known are {', '.join(sorted(known))}")
    return value


def _text(value: Mapping[str, object], key: str, *, at: str) -> str:
    text = value.get(key, "")
    if not isinstance(text, str):
        raise ConfigError(f"{at}.{key}: expected text, not {type(text).__name__}")
    return text


def _number(value: Mapping[str, object], key: str, *, at: str) -> int:
    number = value.get(key)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ConfigError(f"{at}.{key}: expected a whole number, not {number!r}")
    return number


def _finish(value: object, *, at: str) -> FinishReason:
    for reason in get_args(FinishReason):
        if value == reason:
            return reason  # type: ignore[no-any-return]  # get_args forgets the literal's type
    raise ConfigError(f"{at}.finish: {value!r} is none of {', '.join(get_args(FinishReason))}")
