"""`make bench-defects`: what the older harness does wrong, shown on the program itself, and the same stimulus given to us.

    python -m bench.defects [--only 1,4,12] [--json | --markdown] [--no-peer]

Both programs get the same settings file, the same repository, the same words and the same answers of a provider on loopback; one
judgement (stimuli.py) says of each whether the defect shows. Nobody is there to be asked, nothing but loopback can be reached.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.loopback.provider import Asked, LoopbackProvider, Say

DONE = "all-of-it-is-done"
_PATIENCE_S = 120.0
_SETTINGS = """max_turns = 60
approval = "{approval}"
{top}
[model]
provider = "{provider}"
name = "bench"
base_url = "{url}"
{model}
{tables}
"""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a program ended; `code` None = it was ended by us."""

    code: int | None
    said: str
    seconds: float
    cpu_s: float

    @property
    def done(self) -> bool:
        """It said the last word that it was told, and called that a success."""
        return self.code == 0 and DONE in self.said


class Ground:
    """One program with a home and a repository of its own, for one stimulus.

    Attributes:
        argv: the program's command line up to its flags.
        provider: what it asks.
    """

    def __init__(self, argv: Sequence[str], folder: Path) -> None:
        self.argv = tuple(argv)
        self.home = folder / "home"
        self.repository = folder / "repository"
        self.repository.mkdir(parents=True)
        self.home.mkdir()
        self.provider = LoopbackProvider()
        for line in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
            identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
            subprocess.run(["git", *identity, *line], cwd=self.repository, check=True)
        self.settings()

    @property
    def config(self) -> Path:
        """The folder of the user's settings."""
        return self.home / "config" / "agentforge"

    def settings(
        self, *, approval: str = "yolo", provider: str = "custom", top: str = "", model: str = "", tables: str = ""
    ) -> None:
        """Write the user's settings: what both programs read.

        Args:
            top: more keys of the top; model: of `[model]`; tables: more tables.
        """
        self.config.mkdir(parents=True, exist_ok=True)
        url = self.provider.url + ("" if provider == "anthropic" else "/v1")
        text = _SETTINGS.format(approval=approval, provider=provider, url=url, top=top, model=model, tables=tables)
        (self.config / "config.toml").write_text(text)

    def env(self) -> dict[str, str]:
        """Its environment: no key but ours, no way out."""
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        places = {f"XDG_{name}_HOME": str(self.home / name.lower()) for name in ("DATA", "CONFIG", "CACHE", "STATE")}
        nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
        own = {"HOME": str(self.home), "LANG": "C.UTF-8", "API_KEY": "bench", "ANTHROPIC_API_KEY": "bench"}
        return {**kept, **places, **nowhere, **own, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Begin; what it says goes to `home/said`."""
        with (self.home / "said").open("wb") as sink:
            return subprocess.Popen(
                [*self.argv, *arguments], env=self.env(), cwd=self.repository, stdin=subprocess.DEVNULL,
                stdout=sink, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def finish(self, child: subprocess.Popen[bytes], *, seconds: float = _PATIENCE_S) -> Ended:
        """Wait for its end; after so many seconds it is killed."""
        began, killed = time.monotonic(), False
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > seconds and not killed:
                os.killpg(child.pid, signal.SIGKILL)
                killed = True
            time.sleep(0.02)
        child.returncode = os.waitstatus_to_exitcode(status)
        code = None if killed else child.returncode
        said = (self.home / "said").read_text(errors="replace")
        took = time.monotonic() - began
        return Ended(code=code, said=said, seconds=took, cpu_s=usage.ru_utime + usage.ru_stime)

    def play(self, *steps: Sequence[tuple[str, object]], seconds: float = _PATIENCE_S) -> Ended:
        """Run one prompt; the model makes these calls step by step, then says that it is done.

        Args:
            steps: of each the calls: a tool and its arguments, as a value or as the text that stands in the stream.
        """
        replies = [Say(text="I try.", calls=tuple(_call(*call) for call in step)) for step in steps]
        taken = iter(replies)
        self.provider.answer = lambda _asked: next(taken, Say(text=DONE))
        return self.finish(self.start("run", "Do what is to be done"), seconds=seconds)

    def asked(self, number: int = -1) -> Asked:
        """A request; the last one when none is named.

        Raises:
            IndexError: it did not come so far.
        """
        return self.provider.asked[number]

    def close(self) -> None:
        """Stop the provider."""
        self.provider.close()


def _call(name: str, arguments: object) -> tuple[str, str]:
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments)


@dataclass(frozen=True, kw_only=True)
class Stimulus:
    """One defect: what it is, what is done, and whether it shows.

    Attributes:
        shows: plays it; (the defect shows, what was seen).
    """

    number: int
    name: str
    shows: Callable[[Ground], tuple[bool, str]]


def shown(stimulus: Stimulus, argv: Sequence[str]) -> tuple[bool | None, str]:
    """Play a stimulus on a program; None = it could not be played."""
    folder = Path(tempfile.mkdtemp(prefix="agentforge-defect-"))
    ground = Ground(argv, folder)
    try:
        return stimulus.shows(ground)
    except (IndexError, KeyError, OSError, ValueError) as exc:
        said = (ground.home / "said").read_text(errors="replace")[-300:] if (ground.home / "said").exists() else ""
        return None, f"{type(exc).__name__}: {exc} {said!r}"
    finally:
        ground.close()
        shutil.rmtree(folder, ignore_errors=True)


def table(
    rows: Mapping[int, Mapping[str, tuple[bool | None, str]]], names: Mapping[int, str], *, markdown: bool
) -> str:
    """The rows, for a terminal or for docs/defects.md."""
    words = {True: "shows", False: "does not show", None: "?"}
    lines = []
    for number, columns in rows.items():
        cells = [f"{words[shows]}: {told}" for shows, told in columns.values()]
        if markdown:
            lines.append("| " + " | ".join([f"{number} {names[number]}", *cells]).replace("\n", " ") + " |")
        else:
            lines += [
                f"{number:>2} {names[number]}",
                *(f"     {who}: {cell}" for who, cell in zip(columns, cells, strict=True)),
            ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and print; 1 when a defect shows with us."""
    from bench.run import installed_peer
    from bench.stimuli import STIMULI

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="Numbers, by comma.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--no-peer", action="store_true", help="Play them with us alone.")
    options = parser.parse_args(arguments)
    wanted = {int(one) for one in options.only.split(",") if one}
    programs = {"AgentForge": (str(Path(sys.executable).with_name("agentforge")),)}
    peer = None if options.no_peer else installed_peer()
    if peer is not None:
        programs = {peer.name: tuple(peer.version[:1]), **programs}
    rows: dict[int, dict[str, tuple[bool | None, str]]] = {}
    chosen = [one for one in STIMULI if not wanted or one.number in wanted]
    for one in chosen:
        rows[one.number] = {who: shown(one, argv) for who, argv in programs.items()}
        sys.stderr.write(table({one.number: rows[one.number]}, {one.number: one.name}, markdown=False))
    names = {one.number: one.name for one in chosen}
    sys.stdout.write(
        json.dumps(rows, indent=1) + "\n" if options.json else table(rows, names, markdown=options.markdown)
    )
    return int(any(columns["AgentForge"][0] is not False for columns in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
