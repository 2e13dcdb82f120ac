"""What a conversation remembers: needles in the first message, a piped diff, an attachment, results of tools and answers of
subagents, looked for in the requests that go to the model 5, 20 and 100 turns later.

python -m bench.memory [--turns 100] [--only NAME] [--json]

The program is the real one, the model a server on loopback that answers by a script. Where it is asked for a summary it names the
needles that stand in the request, as a model would that keeps what it is told to keep; `no summariser` refuses that request.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from bench.conversation import Sent
from bench.counting import read
from bench.scenes import environment, make_repository

KINDS = ("first message", "piped diff", "attachment", "tool result", "subagent's answer")
AFTER = (5, 20, 100)
EACH = 4
_NEEDLE = re.compile(r"needle-[a-z]+-\d-[0-9a-f]{8}")
_SUMMARY = "write the summary that"
_SUBAGENT = "You are a subagent of AgentForge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a conversation is held.

    Attributes:
        settings: of the repository, TOML.
        summarises: the model answers where it is asked for a summary.
    """

    name: str
    settings: str = ""
    summarises: bool = True


SETTINGS = (
    Setting(name="no compaction", settings="[model]\ncontext_window = 1000000\n[context]\nbudget_tokens = 900000\n"),
    Setting(name="as it comes"),
    Setting(name="32K window", settings="[model]\ncontext_window = 32000\n"),
    Setting(name="32K, no summariser", settings="[model]\ncontext_window = 32000\n", summarises=False),
)


@dataclass(slots=True)
class Remembered:
    """What came of a conversation.

    Attributes:
        found: needles in the first request of a turn, by kind and turns since they were planted.
        requests, compactions: how many there were.
        sent: tokens of the conversation's requests.
    """

    found: dict[tuple[str, int], int] = field(default_factory=dict)
    requests: int = 0
    compactions: int = 0
    sent: Sent = field(default_factory=Sent)


def needle(kind: str, number: int) -> str:
    """A word that stands nowhere else."""
    mark = f"{kind.split(maxsplit=1)[0].replace(chr(39), '')}-{number}"
    return f"needle-{mark}-{sha256(mark.encode()).hexdigest()[:8]}"


class Scripted:
    """The model: it does what the last message asks for, and looks for the needles in every request."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.remembered = Remembered()
        self._lock = Lock()

    def answer(self, body: Mapping[str, Any]) -> tuple[str, list[tuple[str, dict[str, Any]]]] | None:
        """Text and calls; None = the request is refused."""
        text = read(body)
        last = body["messages"][-1]
        if _SUBAGENT in str(body["messages"][0]["content"]):
            number = int(str(re.findall(r"part (\d)", str(body["messages"][1]["content"]))[0]))
            return f"Part {number} is called {needle(KINDS[4], number)}.", []
        with self._lock:
            self.remembered.requests += 1
            self.remembered.sent.take_text(text)
            if _SUMMARY in str(last["content"]):
                self.remembered.compactions += 1
                kept = "; ".join(sorted(set(_NEEDLE.findall(text))))
                return (f"The modules add numbers. Names that matter: {kept}.", []) if self.setting.summarises else None
            if last["role"] != "user":
                return "That is done.", []
            return self._begun(str(last["content"]), text)

    def _begun(self, said: str, text: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        """The first request of a turn."""
        if "read the notes" in said:
            return "I read them.", [("read_file", {"path": f"notes-{number}.txt"}) for number in range(EACH)]
        if "ask the subagents" in said:
            return "I ask them.", [("subagent_explore", {"goal": f"name part {number}"}) for number in range(EACH)]
        question = re.search(r"question (\d+)", said)
        if question is None:
            return "Well.", []
        number = int(question[1])
        if number in AFTER:
            for kind in KINDS:
                found = sum(needle(kind, each) in text for each in range(EACH))
                self.remembered.found[kind, number] = found
        return "I look.", [("read_file", {"path": f"parts/part_{number:03d}.py"})]


def hold(setting: Setting, *, turns: int, folder: Path) -> Remembered:
    """Hold a conversation of so many turns behind the one in which the last needles are planted."""
    repository = make_repository(folder / "repository")
    _plant(repository)
    with (repository / ".agentforge" / "config.toml").open("a") as file:
        file.write(setting.settings)
    model = Scripted(setting)
    with _served(model) as url:
        env = environment(folder / "home", url=url)
        first = "\n".join(["Remember these names:", *(needle(KINDS[0], number) for number in range(EACH))])
        _run(["run", first], env=env, cwd=repository, given=_lines("+changed line", KINDS[1], 400))
        said = ["look at @attached.txt", "read the notes", "ask the subagents"]
        said += [f"question {number}: what does the next module do?" for number in range(1, turns + 1)]
        _run(["--continue"], env=env, cwd=repository, given="\n".join(said) + "\n")
    return model.remembered


def _run(arguments: list[str], *, env: Mapping[str, str], cwd: Path, given: str) -> None:
    program = str(Path(sys.executable).with_name("agentforge"))
    argv = [program, *arguments, "--model", "custom/bench", "--approval", "yolo"]
    done = subprocess.run(argv, env=env, cwd=cwd, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-500:]}")


def _plant(repository: Path) -> None:
    (repository / "attached.txt").write_text(_lines("row", KINDS[2], 400))
    for number in range(EACH):
        lines = [f"note {line} of file {number}" for line in range(150)]
        lines[75] = f"the name of note {number} is {needle(KINDS[3], number)}"
        (repository / f"notes-{number}.txt").write_text("\n".join(lines) + "\n")
    (repository / "parts").mkdir()
    for number in range(1, max(AFTER) + 1):
        functions = (f"def part_{number}_{index}(value):\n    return value + {index}\n" for index in range(60))
        (repository / "parts" / f"part_{number:03d}.py").write_text("\n\n".join(functions))


def _lines(word: str, kind: str, count: int) -> str:
    """Lines with the needles of a kind spread over them."""
    lines = [f"{word} {number} of many others" for number in range(count)]
    for number in range(EACH):
        lines[(2 * number + 1) * count // (2 * EACH)] = f"{word}: {needle(kind, number)}"
    return "\n".join(lines) + "\n"


class _served:  # noqa: N801 - a context manager, used like a function
    """A model on loopback that speaks streamed chat completions."""

    def __init__(self, model: Scripted) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answered = model.answer(body)
                data = b'{"error": {"message": "no"}}' if answered is None else b"".join(_streamed(*answered))
                self.send_response(400 if answered is None else 200)
                self.send_header("Content-Type", "application/json" if answered is None else "text/event-stream")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_arguments: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _streamed(text: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[bytes]:
    made = [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": text},
        *([{"tool_calls": made}] if made else []),
        {},
    ]
    for delta in deltas:
        finish = None if delta else "tool_calls" if made else "stop"
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        yield b"data: " + json.dumps({**chunk, "choices": [choice]}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def row_of(setting: Setting, got: Remembered) -> dict[str, Any]:
    """The figures of one conversation."""
    recall = {
        f"{kind}, after {after}": round(100 * got.found[kind, after] / EACH)
        for kind in KINDS
        for after in AFTER
        if (kind, after) in got.found
    }
    whole = sum(got.found.values()) / max(1, EACH * len(got.found))
    return {
        "setting": setting.name,
        "recall": round(100 * whole, 1),
        **recall,
        "requests": got.requests,
        "compactions": got.compactions,
        "largest": got.sent.most,
        "tokens": got.sent.raw,
        "tokens_not_cached": round(got.sent.fresh),
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as Markdown."""
    names = [row["setting"] for row in rows]
    keys = list(dict.fromkeys(key for row in rows for key in row if key != "setting"))
    lines = [f"| | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    for key in keys:
        unit = " %" if "after" in key or key == "recall" else ""
        shown = (f"{row[key]:,}{unit}" if key in row else "-" for row in rows)
        lines.append(f"| {key.replace('_', ' ')} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold the conversations and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=max(AFTER))
    parser.add_argument("--only", action="append", choices=[one.name for one in SETTINGS])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = []
    for setting in SETTINGS:
        if not options.only or setting.name in options.only:
            with tempfile.TemporaryDirectory(prefix="agentforge-memory-") as folder:
                rows.append(row_of(setting, hold(setting, turns=options.turns, folder=Path(folder))))
    sys.stdout.write(json.dumps(rows, indent=2) + "\n" if options.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
