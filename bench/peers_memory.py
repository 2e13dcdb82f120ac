"""What other agents still know of a conversation, beside AgentForge: the same hundred turns, the same facts, one scripted model.

    python -m bench.peers_memory [--turns 100] [--window 32000] [--budget 45000] [--only llm,pi,codex] [--place DIR] [--json]

Every turn is a process of its own that goes on with the last session (`run --continue` and what the others call it). The first
turn plants facts in its message, in files that are read and in what a command prints; the others read a file of 60 functions. A
request holds a fact or it does not: that is counted 5, 20 and 100 turns later. Who asks for a summary gets one with every fact
that stands in that request, as by a model that keeps what it is told to keep.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.conversation import Sent
from bench.dialects import Asked, Desk, Say, open_desk
from bench.memory import AFTER, EACH, needle, table
from bench.peers import DONE, cache
from bench.rivals import WINDOW, Rival, ours, rivals
from bench.scenes import make_repository

KINDS = ("first message", "tool result", "output of a command")
_NEEDLE = re.compile(r"needle-[a-z]+-\d-[0-9a-f]{8}")
_ASKED_FOR_A_SUMMARY = re.compile(r"write the summary that|CONTEXT CHECKPOINT COMPACTION")
_TAIL = 4_000
_PATIENCE_S = 300


@dataclass(slots=True)
class Kept:
    """What came of a conversation.

    Attributes:
        found: facts in the first request of a turn, by kind and turns since they were planted.
        turns: how far it came; `ended`: why no further, "" = it came to its end.
    """

    found: dict[tuple[str, int], int] = field(default_factory=dict)
    sent: Sent = field(default_factory=Sent)
    requests: int = 0
    summaries: int = 0
    turns: int = 0
    ended: str = ""


class Talk:
    """One program that is talked to, turn by turn."""

    def __init__(self, rival: Rival, desk: Desk, folder: Path) -> None:
        self._rival = rival
        self._desk = desk
        self._home = folder / "home"
        self._home.mkdir()
        self._repository = make_repository(folder / "repository")
        _plant(self._repository)
        rival.prepare(self._home, desk.url)
        self.kept = Kept()

    def hold(self, turns: int, *, settings: str = "") -> Kept:
        """Hold the conversation.

        Args:
            settings: of AgentForge for the repository, TOML.
        """
        with (self._repository / ".agentforge" / "config.toml").open("a") as file:
            file.write(settings)
        names = [needle(KINDS[0], number) for number in range(EACH)]
        self._turn("\n".join(["Remember these names:", *names]), number=0)
        for number in range(1, turns + 1):
            if self.kept.ended:
                break
            self._turn(f"question {number}: what does the next module do?", number=number)
        return self.kept

    def _turn(self, words: str, *, number: int) -> None:
        self._desk.play(lambda asked: self._answer(asked, number))
        way = self._rival.again if number and self._rival.again else self._rival.ask
        done = subprocess.run(
            way(self._home, words), env=self._rival.env(self._home, self._desk.url), cwd=self._repository,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_PATIENCE_S,
        )  # fmt: skip
        self._begun = False
        if done.returncode or DONE not in done.stdout + done.stderr:
            self.kept.ended = f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-200:]}"
        else:
            self.kept.turns = number

    _begun = False

    def _answer(self, asked: Asked, number: int) -> Say:
        kept = self.kept
        kept.requests += 1
        kept.sent.take_text(asked.text)
        if not asked.tools or _ASKED_FOR_A_SUMMARY.search(asked.text[-_TAIL:]):
            kept.summaries += 1
            return Say(text=f"Names that matter: {'; '.join(sorted(set(_NEEDLE.findall(asked.text))))}.")
        if self._begun:
            return Say(text=DONE)
        self._begun = True
        if number in AFTER:
            for kind in KINDS:
                kept.found[kind, number] = sum(needle(kind, each) in asked.text for each in range(EACH))
        if number:
            return Say(text="I look.", calls=(asked.read(f"parts/part_{number:03d}.py", limit=200),))
        reads = (asked.read(f"notes-{each}.txt", limit=200) for each in range(EACH))
        return Say(text="I look.", calls=(*reads, asked.run("cat printed.txt")))


def _plant(repository: Path) -> None:
    for number in range(EACH):
        lines = [f"note {line} of file {number}" for line in range(150)]
        lines[75] = f"the name of note {number} is {needle(KINDS[1], number)}"
        (repository / f"notes-{number}.txt").write_text("\n".join(lines) + "\n")
    printed = [f"line {number} of many others" for number in range(100)]
    for number in range(EACH):
        printed[25 * number + 12] = f"built {needle(KINDS[2], number)}"
    (repository / "printed.txt").write_text("\n".join(printed) + "\n")
    (repository / "parts").mkdir()
    for number in range(1, max(AFTER) + 1):
        functions = (f"def part_{number}_{index}(value):\n    return value + {index}\n" for index in range(60))
        (repository / "parts" / f"part_{number:03d}.py").write_text("\n\n".join(functions))


def row_of(title: str, got: Kept) -> dict[str, object]:
    """The figures of one conversation."""
    recall = {f"{kind}, after {after}": round(100 * found / EACH) for (kind, after), found in got.found.items()}
    return {
        "setting": title,
        "recall": round(100 * sum(got.found.values()) / max(1, EACH * len(got.found)), 1),
        **{
            f"{kind}, after {after}": recall[f"{kind}, after {after}"]
            for kind in KINDS
            for after in AFTER
            if (kind, after) in got.found
        },
        "turns": got.turns,
        "requests": got.requests,
        "summaries": got.summaries,
        "largest": got.sent.most,
        "tokens": got.sent.raw,
        "tokens_cached_at_a_tenth": round(got.sent.weighted),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, hold the conversations, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=max(AFTER))
    parser.add_argument("--window", type=int, default=WINDOW, help="Tokens; told to every program that can be told.")
    parser.add_argument("--budget", type=int, help="AgentForge's `context.budget_tokens`; else by its defaults.")
    parser.add_argument("--only", default="llm,pi,codex", help="These peers, by comma; empty = none.")
    parser.add_argument("--place", type=Path, default=cache(), help="Where they are installed.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    settings = "" if options.window == WINDOW else f"[model]\ncontext_window = {options.window}\n"
    settings += f"[context]\nbudget_tokens = {options.budget}\n" if options.budget else ""
    rows: list[dict[str, object]] = []
    names = [name for name in options.only.split(",") if name]
    for rival in (ours(), *rivals(options.place, names, window=options.window)):
        title = f"{rival.name} {rival.version}".strip()
        if rival.missing:
            sys.stderr.write(f"{title}: {rival.missing}\n")
            continue
        with open_desk() as desk, tempfile.TemporaryDirectory(prefix="agentforge-peers-") as folder:
            got = Talk(rival, desk, Path(folder)).hold(options.turns, settings=settings)
        sys.stderr.write(f"{title}: {got.turns} turns{', ' + got.ended if got.ended else ''}\n")
        rows.append(row_of(title, got))
    sys.stdout.write(json.dumps(rows, indent=2) + "\n" if options.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
