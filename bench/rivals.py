"""Other agents, installed by name into scratch folders, each with a home of its own that knows our provider and nobody else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.scenes import environment, peer_settings

WINDOW = 256_000
"""Tokens of the model's window, as the programs that can be told are told."""
_NOWHERE = "http://127.0.0.1:9"
_TOOLS = """import subprocess


def shell(command: str) -> str:
    "Run a command line."
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


def read_file(path: str, limit: int = 2000) -> str:
    "Read the first lines of a file."
    with open(path) as file:
        return "".join(file.readlines()[:limit])
"""


@dataclass(frozen=True, kw_only=True)
class Rival:
    """A program that takes a prompt and works on it to its end.

    Attributes:
        ask, again: the command line for a prompt, and to go on with the last session; None = there is no way.
        prepare: writes its settings into a home.
        extra: variables of its environment, by the home.
        missing: why it cannot be measured; "" = it can.
    """

    name: str
    version: str = ""
    ask: Callable[[Path, str], Sequence[str]] = lambda _home, _prompt: ()
    again: Callable[[Path, str], Sequence[str]] | None = None
    prepare: Callable[[Path, str], None] = lambda _home, _url: None
    extra: Callable[[Path], Mapping[str, str]] = field(default=lambda _home: {})
    missing: str = ""

    def env(self, home: Path, url: str) -> dict[str, str]:
        """Its environment: no outside name can be reached but over a proxy that is not there."""
        outside = {"HTTPS_PROXY": _NOWHERE, "HTTP_PROXY": _NOWHERE, "NO_PROXY": "127.0.0.1,localhost"}
        return {**environment(home, url=url), **outside, "OPENAI_API_KEY": "bench", **self.extra(home)}


def ours(*more: str) -> Rival:
    """AgentForge as it is installed beside this interpreter, headless.

    Args:
        more: flags of `run`.
    """
    program = str(Path(sys.executable).with_name("agentforge"))
    flags = ("--model", "custom/bench", "--approval", "yolo", "--max-turns", "100000", *more)
    return Rival(
        name=" ".join(("AgentForge", *more)),
        version=_said([program, "--version"]).removeprefix("agentforge "),
        ask=lambda _home, prompt: (program, "run", prompt, *flags),
        again=lambda _home, prompt: (program, "run", prompt, "--continue", *flags),
    )


def rivals(place: Path, names: Sequence[str], *, window: int = WINDOW) -> list[Rival]:
    """Install what is not there yet.

    Args:
        place: a folder of ours; each program gets one in it.
        window: of the model, in tokens; llm and the predecessor have no way to be told.
    """
    known: dict[str, Callable[[Path], Rival]] = {
        "harness": _harness, "llm": _llm, "pi": partial(_pi, window=window), "codex": partial(_codex, window=window),
    }  # fmt: skip
    return [known[name](place / name) for name in names]


def _harness(folder: Path) -> Rival:
    name, wanted = "agentforge-harness", "agentforge-harness==0.1.3"
    if missing := _from_pypi(folder, wanted):
        return Rival(name=name, missing=missing)
    program = str(folder / "bin" / "agentforge")
    return Rival(
        name=name,
        version="0.1.3",
        ask=lambda _home, prompt: (program, "run", prompt),
        prepare=lambda home, url: peer_settings(home, url=url),
    )


def _llm(folder: Path) -> Rival:
    if missing := _from_pypi(folder, "llm"):
        return Rival(name="llm", missing=missing)
    program = str(folder / "bin" / "llm")

    def prepare(home: Path, url: str) -> None:
        own = home / "llm"
        own.mkdir(parents=True, exist_ok=True)
        told = {"model_id": "bench", "model_name": "bench", "api_base": url, "supports_tools": True}
        (own / "extra-openai-models.yaml").write_text(json.dumps([told]))
        (own / "tools.py").write_text(_TOOLS)

    def flags(home: Path) -> tuple[str, ...]:
        return ("-m", "bench", "--functions", str(home / "llm" / "tools.py"), "--chain-limit", "0")

    return Rival(
        name="llm",
        version=_said([program, "--version"]).rpartition(" ")[2],
        ask=lambda home, prompt: (program, prompt, *flags(home)),
        again=lambda home, prompt: (program, prompt, "--continue", *flags(home)),
        prepare=prepare,
        extra=lambda home: {"LLM_USER_PATH": str(home / "llm")},
    )


def _pi(folder: Path, *, window: int) -> Rival:
    if missing := _from_npm(folder, "@earendil-works/pi-coding-agent"):
        return Rival(name="pi", missing=missing)
    program = str(folder / "node_modules" / ".bin" / "pi")
    flags = ("-p", "--provider", "bench", "--model", "bench")

    def prepare(home: Path, url: str) -> None:
        own = home / "pi"
        own.mkdir(parents=True, exist_ok=True)
        price = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        model = {"id": "bench", "name": "bench", "reasoning": False, "input": ["text"], "cost": price}
        model |= {"contextWindow": window, "maxTokens": 4096}
        told = {"baseUrl": url, "api": "openai-completions", "apiKey": "bench", "models": [model]}
        (own / "models.json").write_text(json.dumps({"providers": {"bench": told}}))

    return Rival(
        name="pi",
        version=_npm_version(folder, "@earendil-works/pi-coding-agent"),
        ask=lambda _home, prompt: (program, *flags, prompt),
        again=lambda _home, prompt: (program, "--continue", *flags, prompt),
        prepare=prepare,
        extra=lambda home: {"PI_CODING_AGENT_DIR": str(home / "pi"), "PI_OFFLINE": "1"},
    )


def _codex(folder: Path, *, window: int) -> Rival:
    """The native program, without the launcher in JavaScript."""
    if missing := _from_npm(folder, "@openai/codex"):
        return Rival(name="codex", missing=missing)
    found = sorted(folder.glob("node_modules/@openai/codex-*/vendor/*/bin/codex")) or sorted(
        folder.glob("node_modules/@openai/codex/vendor/*/codex/codex")
    )
    if not found:
        return Rival(name="codex", missing="its package holds no program for this machine")
    program = str(found[0])
    told = "" if window == WINDOW else f"model_context_window = {window}\n"
    flags = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")

    def prepare(home: Path, url: str) -> None:
        own = home / "codex"
        own.mkdir(parents=True, exist_ok=True)
        (own / "config.toml").write_text(
            f'{told}model = "bench"\nmodel_provider = "bench"\ncheck_for_update_on_startup = false\n'
            "[analytics]\nenabled = false\n[model_providers.bench]\n"
            f'name = "bench"\nbase_url = "{url}"\nenv_key = "API_KEY"\nwire_api = "responses"\n'
        )

    return Rival(
        name="codex",
        version=_npm_version(folder, "@openai/codex"),
        ask=lambda _home, prompt: (program, "exec", *flags, prompt),
        again=lambda _home, prompt: (program, "exec", "resume", "--last", *flags, prompt),
        prepare=prepare,
        extra=lambda home: {"CODEX_HOME": str(home / "codex")},
    )


def _from_pypi(folder: Path, wanted: str) -> str:
    """Install into an environment of its own; returns why it is not there, "" when it is."""
    python = str(folder / "bin" / "python")
    return _installed(
        folder,
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [python, "-m", "pip", "install", "--quiet", wanted],
    )


def _from_npm(folder: Path, wanted: str) -> str:
    if shutil.which("npm") is None:
        return "npm is not installed"
    return _installed(
        folder, ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), wanted]
    )


def _installed(folder: Path, *steps: Sequence[str]) -> str:
    if (folder / "ready").exists():
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    for argv in steps:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            return f"could not be installed: {said[-1][:120] if said else argv[0]}"
    (folder / "ready").touch()
    return ""


def _npm_version(folder: Path, name: str) -> str:
    return str(json.loads((folder / "node_modules" / name / "package.json").read_text())["version"])


def _said(argv: Sequence[str]) -> str:
    env = {"PATH": os.environ["PATH"]}
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env).stdout.strip()
