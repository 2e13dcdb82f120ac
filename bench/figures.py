"""The measurements: each function gives the figures of one scene for one program."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.processes import Sample, cpu_of, ended, launch, own_cpu_s, sample
from bench.provider import INTAKE, Provider, serve
from bench.scenes import REQUEST, environment, make_repository, peer_settings, script

_SKIPPED = 5
"""Steps at the beginning that import what they need: not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program under test: how it is started with a request, and asked for its version."""

    name: str
    start: Callable[[Path], Sequence[str]]
    version: Sequence[str] = ()


def ours() -> Program:
    """AgentForge as it is installed beside this interpreter."""
    program = str(Path(sys.executable).with_name("agentforge"))
    return Program(
        name="AgentForge",
        start=lambda _home: (program, "start", REQUEST, "--model", "custom/bench"),
        version=(program, "--version"),
    )


def headless() -> Program:
    """AgentForge with one prompt and nobody at the terminal."""
    program = str(Path(sys.executable).with_name("agentforge"))
    return Program(name="AgentForge", start=lambda _home: (program, "run", REQUEST, "--model", "custom/bench"))


def bare() -> Program:
    """The interpreter itself."""
    return Program(name="bare Python", start=lambda _home: (), version=(sys.executable, "-c", "pass"))


def stdlib_loop() -> Program:
    """The floor; started through a wrapper that knows the provider's address."""
    loop = str(Path(__file__).with_name("stdlib_loop.py"))
    return Program(
        name="stdlib loop",
        start=lambda home: (sys.executable, loop, (home / "url").read_text(), str(home / "log.jsonl")),
    )


def peer(folder: Path) -> Program:
    """agentforge-harness out of a virtual environment."""
    program = str(folder / "bin" / "agentforge")
    return Program(
        name="agentforge-harness 0.1.3", start=lambda _home: (program, "run", REQUEST), version=(program, "--version")
    )


class Bench:
    """A folder with one repository and a home for each program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = make_repository(folder / "repository")
        self.provider = Provider()

    def close(self) -> None:
        """Stop the provider."""
        self.provider.close()

    def home(self, program: Program) -> Path:
        """The home of a program, made on first use."""
        home = self.folder / program.name.replace(" ", "-")
        environment(home)
        (home / "url").write_text(self.provider.url)
        if program.name.startswith("agentforge-harness"):
            peer_settings(home, url=self.provider.url)
        return home

    def versions_s(self, programs: Sequence[Program], *, runs: int) -> dict[str, float]:
        """Median CPU seconds of asking for the version; the programs take turns, so that noise meets all of them."""
        homes = {one.name: self.home(one) for one in programs}
        found: dict[str, list[float]] = {one.name: [] for one in programs}
        for _ in range(runs):
            for one in programs:
                home = homes[one.name]
                found[one.name].append(cpu_of(one.version, env=environment(home), cwd=home))
        return {name: statistics.median(values) for name, values in found.items()}

    def first_request(self, program: Program, *, runs: int, settings: bool = False) -> dict[str, float]:
        """CPU until the first request has arrived: in all, of the children, memory and size of the request.

        Args:
            settings: leave the repository's settings file in place; reading one has its price.
        """
        file = self.repository / ".agentforge" / "config.toml"
        content = file.read_bytes()
        if not settings:
            file.unlink()
        try:
            found = [self._first_request(program) for _ in range(runs)]
        finally:
            file.write_bytes(content)
        return {name: statistics.median(one[name] for one in found) for name in found[0]}

    def _first_request(self, program: Program) -> dict[str, float]:
        from agentforge.tokens import count_tokens

        child = self._launched(program)
        try:
            with self.provider.client() as client:
                body = client.request()
                own, memory = own_cpu_s(child.pid), sample(child.pid).rss_mib
        except (TimeoutError, EOFError) as exc:
            raise RuntimeError(f"{program.name} asked nothing: {self._said(program)}") from exc
        finally:
            os.kill(child.pid, signal.SIGKILL)
            total = ended(child)
        tokens = count_tokens(body.decode("utf-8", "replace"))
        return {"cpu_s": total, "children_s": max(0.0, total - own), "rss_mib": memory, "tokens": tokens}

    def http_steps(self, program: Program, *, steps: int) -> dict[str, float]:
        """CPU of a step that reads a file, asked over HTTP."""
        child = self._launched(program)
        samples: dict[int, Sample] = {}
        try:
            serve(self.provider, steps, lambda number: samples.update({number: sample(child.pid)}))
        except TimeoutError as exc:
            raise RuntimeError(f"{program.name} stopped after {len(samples)} steps: {self._said(program)}") from exc
        finally:
            os.kill(child.pid, signal.SIGKILL)
            ended(child)
        return _per_step(samples)

    def scripted_steps(self, kind: str, *, steps: int) -> dict[str, float]:
        """CPU, memory and prompt of steps that the scripted model asks for."""
        program = ours()
        home = self.home(program)
        path = home / f"{kind}.yaml"
        path.write_text(script(kind, steps + 1, intake=INTAKE))
        argv = [*program.start(home)[:3], "--model", f"scripted/{path}", "--output-format", "stream-json"]
        child = subprocess.Popen(
            argv, env=environment(home), cwd=self.repository, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        samples: dict[int, Sample] = {}
        prompts: list[int] = []
        assert child.stdout is not None
        for line in child.stdout:
            if b'"ModelCalled"' in line:
                event = json.loads(line)
                prompts += [int(_field(event, "context_tokens"))] if _field(event, "stage") == "analyze" else []
            elif b'"StepFinished"' in line and prompts:
                samples[len(samples) + 1] = sample(child.pid)
        ended(child)
        child.stdout.close()
        if len(samples) <= steps:
            raise RuntimeError(f"the scripted run stopped after {len(samples)} steps of {steps}")
        return {**_per_step(samples), "prompt_first": prompts[min(_SKIPPED, steps)], "prompt_max": max(prompts)}

    def _launched(self, program: Program) -> subprocess.Popen[bytes]:
        home = self.home(program)
        env = environment(home, url=self.provider.url)
        return launch(program.start(home), env=env, cwd=self.repository, log=home / "said")

    def _said(self, program: Program) -> str:
        return (self.home(program) / "said").read_text(errors="replace")[-400:]


def _field(event: dict[str, object], name: str) -> str:
    """A field of an event line, wherever the line keeps its data."""
    data = event.get("data")
    return str((data if isinstance(data, dict) else event).get(name))


def _per_step(samples: dict[int, Sample]) -> dict[str, float]:
    """Milliseconds a step after the first few, the last tenth against the first, memory at both ends."""
    last = max(samples)
    first = min(_SKIPPED, last - 1)
    part = max(1, (last - first) // 10)

    def own_ms(begin: int, end: int) -> float:
        return (samples[end].own_s - samples[begin].own_s) * 1000 / (end - begin)

    children_ms = (samples[last].children_s - samples[first].children_s) * 1000 / (last - first)
    begin_ms = own_ms(first, first + part)
    return {
        "own_ms": own_ms(first, last),
        "children_ms": children_ms,
        "growth": own_ms(last - part, last) / begin_ms if begin_ms else 0.0,
        "rss_begin_mib": samples[first + part].rss_mib,
        "rss_end_mib": samples[last].rss_mib,
    }
