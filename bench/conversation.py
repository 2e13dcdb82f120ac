"""A conversation of many steps that read 200 lines of a file and print 300 lines: what is sent, what it costs, what it holds.

Few tokens are no goal by themselves: they were had by forgetting. What is remembered is measured by memory.py.

python -m bench.conversation [--steps 100] [--no-peer]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.counting import count, read
from bench.figures import Bench, Program, ours
from bench.processes import Sample, ended, launch, sample
from bench.scenes import MODULES, REQUEST, environment

WINDOWS = (32_000, 16_000, 8_192)
_CALLS = 2
"""Tool calls in a step, each with its approval, its durable records and its result."""
_CACHED = 0.1
"""What a token that the provider has cached costs, beside one that it has not."""


@dataclass(slots=True)
class Sent:
    """The requests of one conversation.

    Attributes:
        raw: tokens of all requests.
        weighted: the same, what stood at the same place in the request before counted a tenth.
        fresh: tokens that did not stand at the same place in the request before: what a prefix cache has not seen.
        most: tokens of the largest.
    """

    raw: int = 0
    weighted: float = 0.0
    fresh: int = 0
    most: int = 0
    _before: str = ""
    samples: dict[int, Sample] = field(default_factory=dict)

    def take(self, body: dict[str, Any]) -> int:
        """Count a request: its tools first, as providers read them, then its messages.

        Returns:
            What a provider would report: a token for every 4 characters.
        """
        return self.take_text(read(body))

    def take_text(self, text: str) -> int:
        """The same for what was read already."""
        total = count(text)
        cached = count(text[: _same(self._before, text)])
        self.raw += total
        self.weighted += total - (1 - _CACHED) * cached
        self.fresh += total - cached
        self.most = max(self.most, total)
        self._before = text
        return len(text) // 4


def conversation(bench: Bench, program: Program, *, steps: int, window: int = 0) -> dict[str, float]:
    """Drive a program through a conversation.

    Args:
        window: of the model; 0 = by its settings.
    Returns:
        Tokens, CPU a step and memory; `steps` is how far it came.
    """
    home = bench.home(program)
    settings = bench.repository / ".agentforge" / "config.toml"
    before = settings.read_text()
    if window:
        settings.write_text(f"[model]\ncontext_window = {window}\n")
    env = environment(home, url=bench.provider.url)
    child = launch(program.start(home), env=env, cwd=bench.repository, log=home / "said")
    sent = Sent()
    try:
        _serve(bench, child.pid, sent, steps)
    except (TimeoutError, EOFError):  # it stopped on its way: how far it came is a figure, too
        pass
    finally:
        os.kill(child.pid, signal.SIGKILL)
        ended(child)
        settings.write_text(before)
    return _figures(sent)


def _serve(bench: Bench, pid: int, sent: Sent, steps: int) -> None:
    number = 0
    while True:
        with bench.provider.client() as client:
            try:
                while True:
                    body = json.loads(client.request())
                    if not body.get("tools"):  # a summary is asked for
                        sent.take(body)
                        client.say("The modules add numbers; go on with the next one.")
                        continue
                    number += 1
                    size = sent.take(body)
                    sent.samples[number] = sample(pid)
                    if number > steps:
                        return
                    client.call(_calls(number), number=number, prompt_tokens=size)
            except EOFError:
                continue  # a client that opens a connection for each request


def _calls(number: int) -> list[tuple[str, dict[str, Any]]]:
    file = f"src/mod_{number % MODULES:02d}.py"
    first, last = number * 1000, number * 1000 + 299
    printed = f"for i in $(seq {first} {last}); do echo line $i of the output; done"
    return [("read_file", {"path": file, "limit": 200}), ("shell", {"command": printed})]


def _figures(sent: Sent) -> dict[str, float]:
    last = max(sent.samples, default=0)
    if last < 12:
        return {"steps": float(last)}
    tenth = max(1, last // 10)
    own = {number: one.own_s for number, one in sent.samples.items()}
    first = min(5, last - 1)
    begin = (own[first + tenth] - own[first]) / tenth
    end = (own[last] - own[last - tenth]) / tenth
    return {
        "steps": float(last - 1),
        "raw": sent.raw / 1e6,
        "weighted": sent.weighted / 1e6,
        "most": float(sent.most),
        "own_ms": (own[last] - own[first]) * 1000 / (last - first) / _CALLS,
        "growth": end / begin if begin else 0.0,
        "rss_mib": sent.samples[last].rss_mib,
    }


def talking(*flags: str) -> Program:
    """`agentforge run` on the bench's provider."""
    program = str(Path(sys.executable).with_name("agentforge"))
    argv = (program, "run", REQUEST, "--model", "custom/bench", "--approval", "yolo", "--max-turns", "100000", *flags)
    return Program(name=ours().name, start=lambda _home: argv)


def conversation_rows(
    bench: Bench, other: Program | None, *, steps: int, windows: Sequence[int] = WINDOWS
) -> list[tuple[str, str, dict[str, float | str]]]:
    """The rows of the table of `make bench`; without windows only the usual one."""
    mine = ours().name
    found = {"": {mine: conversation(bench, talking(), steps=steps)}}
    if other is not None:
        found[""][other.name] = conversation(bench, other, steps=steps)
    if windows:
        found[" --bare"] = {mine: conversation(bench, talking("--bare"), steps=steps)}
    for window in windows:
        found[f", {window // 1000}K window"] = {mine: conversation(bench, talking(), steps=steps, window=window)}
    scale = 100 / steps
    rows: list[tuple[str, str, dict[str, float | str]]] = []
    for name, by in found.items():
        column = {what: {one: values.get(what, "-") for one, values in by.items()} for what in _WHAT}
        rows.append((f"conversation of {steps} steps{name}, steps done", "", dict(column["steps"])))
        for what, (label, limit) in _WHAT.items():
            if what != "steps":
                factor = scale if what in ("raw", "weighted") else 1.0
                rows.append(
                    (label, limit, {k: v * factor if isinstance(v, float) else v for k, v in column[what].items()})
                )
    return rows


_WHAT = {
    "steps": ("", ""),
    "raw": ("  prompt tokens a 100 steps, M", ""),
    "weighted": ("  cached ones at a tenth, M", "1.20"),
    "most": ("  largest request, tokens", "128000"),
    "own_ms": ("  own CPU a call, two a step, ms", "15"),
    "growth": ("  last tenth / first tenth", "1.1"),
    "rss_mib": ("  memory at the end, MiB", "60"),
}


def _same(before: str, text: str) -> int:
    low, high = 0, min(len(before), len(text))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before[:middle] == text[:middle] else (low, middle - 1)
    return low


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    from bench.run import installed_peer, table

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args(arguments)
    other = None if options.no_peer else installed_peer()
    with tempfile.TemporaryDirectory(prefix="agentforge-bench-") as folder:
        bench = Bench(Path(folder))
        try:
            rows = conversation_rows(bench, other, steps=options.steps)
        finally:
            bench.close()
    sys.stdout.write(table(rows, absent="" if other else "not measured"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
