"""The 25 stimuli of `make bench-defects`: each is the same for both programs, and so is what is looked at afterwards."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable

from bench.defects import DONE, Ground, Stimulus
from bench.looking import SLEEP, Seen, drawn, help_of, sleeping, until
from bench.stimuli_of_calls import (
    approval,
    arguments,
    background,
    bytes_kept,
    grep,
    hooks,
    mcp,
    not_offered,
    paths,
    redaction,
    subagents,
)
from tests.support.loopback.provider import Asked, Refuse, Say
from tests.support.loopback.strict import problems


def _compaction(ground: Ground) -> Seen:
    ground.settings(model="context_window = 60000")
    (ground.repository / "a.txt").write_text("".join(f"line {number} of the file\n" for number in range(1500)))
    number = 0

    def answer(asked: Asked) -> Say:
        nonlocal number
        if not asked.body.get("tools"):
            return Say(text="The lines were read in order.", streamed=bool(asked.body.get("stream")))
        number += 1
        read = ("read_file", json.dumps({"path": "a.txt", "offset": number * 10, "limit": 1000}))
        count = ("shell", json.dumps({"command": f"seq {number} {number + 3000}"}))
        return Say(text=DONE) if number > 12 else Say(text=f"Part {number}.", calls=(read, ("list_dir", "{}"), count))

    ground.provider.answer = answer
    ground.finish(ground.start("run", "Read it all"), seconds=300)
    bodies = [asked.body for asked in ground.provider.asked if asked.body.get("tools")]
    wrong = [one for body in bodies for one in problems(body, "openai") if "stands twice" not in one]  # ids are ours
    return bool(
        wrong
    ), f"{len(wrong)} things that a strict provider refuses: {wrong[0]}" if wrong else "every request is valid"


def _arguments_count(ground: Ground) -> Seen:
    ground.settings(model="context_window = 60000")
    content = "word and another word\n" * 1000
    ground.play(*([("write_file", {"path": f"f{number}.txt", "content": content})] for number in range(20)))
    most = max(len(json.dumps(asked.body)) // 4 for asked in ground.provider.asked)
    return most > 60_000, f"largest request about {most:,} tokens for a window of 60,000"


def _anthropic(ground: Ground) -> Seen:
    ground.settings(provider="anthropic")
    (ground.repository / "a.txt").write_text("1\n")

    def answer(asked: Asked) -> Say:
        first = len(ground.provider.asked) == 1
        calls = (("read_file", '{"path": "a.txt"}'), ("list_dir", "{}")) if first else ()
        return Say(text="I look." if first else DONE, calls=calls, streamed=bool(asked.body.get("stream")))

    ground.provider.answer = answer
    ground.finish(ground.start("run", "Look"))
    if not ground.provider.asked:
        said = (ground.home / "said").read_text(errors="replace")
        error = next((line for line in said.splitlines() if "error" in line.lower()), said[-100:])
        return True, f"with the SDK that it installs no request is sent: {error.strip(' []')[:120]}"
    body = ground.asked(1).body
    wrong = [] if body.get("stream") else ["not streamed"]
    wrong += [] if "cache_control" in json.dumps(body) else ["no cache markers"]
    users = [one for one in body["messages"] if one["role"] == "user" and "tool_result" in json.dumps(one)]
    wrong += [] if len(users) == 1 else [f"{len(users)} messages for the results of one reply"]
    return bool(wrong), ", ".join(wrong) or "streamed, with markers, results together"


def _retries(ground: Ground) -> Seen:
    ground.provider.default = Refuse(status=401, message="wrong key")
    ended = ground.finish(ground.start("run", "Look"))
    count = len(ground.provider.asked)
    return count > 1 or ended.code == 0, f"{count} requests for a wrong key, exit code {ended.code}"


def _interrupt(ground: Ground) -> Seen:
    ground.provider.answer = lambda _asked: Say(
        text="I wait.", calls=(("shell", json.dumps({"command": f"sleep {SLEEP}"})),)
    )
    child = ground.start("run", "Wait")
    until(lambda: sleeping() or child.poll() is not None, seconds=60)
    os.kill(child.pid, signal.SIGINT)
    ended = ground.finish(child, seconds=20)
    left = sleeping()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    saved = list((ground.home / "data").rglob("sessions/*.json"))
    wrong = [*(["the command goes on"] if left else []), *([] if saved else ["no session is kept"])]
    wrong += ["a traceback"] if "Traceback" in ended.said else []
    return bool(wrong), ", ".join(wrong) or "the command has ended, the session is kept"


def _killed(ground: Ground) -> Seen:
    (ground.repository / "a.txt").write_text("what_was_read_first\n")
    first = Say(text="I read.", calls=(("read_file", '{"path": "a.txt"}'),))
    second = Say(text="I wait.", calls=(("shell", json.dumps({"command": "sleep 30"})),))
    ground.provider.answer = lambda _asked: first if len(ground.provider.asked) == 1 else second
    child = ground.start("run", "Read")
    until(lambda: len(ground.provider.asked) > 1, seconds=60)
    os.killpg(child.pid, signal.SIGKILL)
    ground.finish(child)
    if "--continue" not in help_of(ground, "run"):
        stored = [file for file in (ground.home / "data").rglob("*") if file.is_file() and file.stat().st_size]
        kept = any(b"what_was_read_first" in file.read_bytes() for file in stored)
        return True, f"no way to go on from the command line; what was read is {'' if kept else 'not '}on disk"
    ground.provider.asked.clear()
    ground.provider.answer = lambda _asked: Say(text=DONE)
    ended = ground.finish(ground.start("run", "Go on", "--continue"))
    knows = "what_was_read_first" in json.dumps(ground.asked(0).body)
    return not (knows and ended.done), "goes on and knows what it had read" if knows else "begins anew"


def _pieces(ground: Ground) -> Seen:
    text = "word " * 2000
    ground.provider.answer = lambda _asked: Say(text=text + DONE, pieces=5)
    ground.finish(ground.start("run", "Talk"))
    files = [file for file in (ground.home / "data").rglob("*.jsonl") if file.is_file()]
    lines = max((file.read_bytes().count(b"\n") for file in files), default=0)
    return lines > 500, f"{lines:,} lines in its log for one reply of 2,000 pieces"


def _slow(ground: Ground) -> Seen:
    child = ground.start("--version")
    cpu = ground.finish(child).cpu_s
    return cpu > 0.1, f"--version takes {cpu:.2f} s CPU"


def _first_request(ground: Ground) -> Seen:
    from agentforge.tokens import count_tokens

    ground.provider.answer = lambda _asked: Say(text=DONE)
    ground.finish(ground.start("run", "Look"))
    body = ground.asked(0).body
    tokens = count_tokens(json.dumps(body["tools"])) + count_tokens(json.dumps(body["messages"]))
    return tokens > 3000, f"{tokens:,} tokens before anything was said, {len(body['tools'])} tools"


def _trust(ground: Ground) -> Seen:
    tools = ground.repository / ".agentforge" / "tools"
    tools.mkdir(parents=True)
    ran, read = ground.home / "tool-ran", "instructions_of_a_stranger"
    (tools / "evil.py").write_text(f"from pathlib import Path\nPath({str(ran)!r}).touch()\n")
    (ground.repository / "AGENTS.md").write_text(read)
    ground.play()
    wrong = ["a tool of the project ran"] if ran.exists() else []
    wrong += ["its instructions were obeyed"] if read in json.dumps(ground.asked(0).body) else []
    return bool(wrong), ", ".join(wrong) or "nothing of an unknown project ran or steered"


def _typo(ground: Ground) -> Seen:
    ground.settings(top='aproval = "never"')
    ended = ground.play()
    silent = [] if "aproval" in ended.said else ["an unknown key is not mentioned"]
    (ground.config / "config.toml").write_text("approval = [")
    broken = ground.finish(ground.start("run", "Look"))
    silent += ["broken TOML is ignored"] if "toml" not in broken.said.lower() or broken.code == 0 else []
    return bool(silent), ", ".join(silent) or "both are errors that name the place"


def _flags(ground: Ground) -> Seen:
    told = help_of(ground, "run")
    wanted = ("--model", "--approval", "--resume", "--output-format")
    missing = [one for one in wanted if one not in told]
    return bool(missing), f"`run` has no {', '.join(missing)}" if missing else "`run` has all of them"


def _loop(ground: Ground) -> Seen:
    (ground.repository / "a.txt").write_text("1\n")
    ground.play(*[[("read_file", {"path": "a.txt"})]] * 40)
    count = len(ground.provider.asked)
    return count > 20, f"{count} requests for a model that repeats one call 40 times"


def _paste(ground: Ground) -> Seen:
    ground.provider.answer = lambda _asked: Say(text=DONE)
    main, side = pty.openpty()
    child = subprocess.Popen(
        list(ground.argv), env=ground.env(), cwd=ground.repository, stdin=side, stdout=side, stderr=side, start_new_session=True
    )  # fmt: skip
    os.close(side)
    drawn(main, seconds=40)
    os.write(main, b"\x1b[200~first line\nsecond line\nthird line\x1b[201~")
    drawn(main, seconds=3)
    os.write(main, b"\r")
    until(lambda: ground.provider.asked, seconds=30)
    drawn(main, seconds=10)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    os.close(main)
    said = [
        one["content"] for asked in ground.provider.asked for one in asked.body["messages"] if one["role"] == "user"
    ]
    whole = any("first line" in str(one) and "third line" in str(one) for one in said)
    count = len(ground.provider.asked)
    return (
        not whole,
        "a paste of three lines is one message" if whole else f"a paste of three lines became {count} messages",
    )


_ALL: tuple[tuple[str, Callable[[Ground], Seen]], ...] = (
    ("approval by the beginning of a line", approval),
    ("what is not offered can be called", not_offered),
    ("paths compared as text", paths),
    ("grep stops silently", grep),
    ("compaction breaks calls from results", _compaction),
    ("arguments not counted", _arguments_count),
    ("Anthropic not streamed, results apart", _anthropic),
    ("everything retried, exit code 0", _retries),
    ("Ctrl-C leaves the command running", _interrupt),
    ("a killed turn is lost", _killed),
    ("a write for each piece of text", _pieces),
    ("slow start", _slow),
    ("a large first request", _first_request),
    ("redaction damages code and misses keys", redaction),
    ("bytes of files change by an edit", bytes_kept),
    ("background processes hang a call", background),
    ("hooks cannot block, on_error never fires", hooks),
    ("MCP without reasons and $defs", mcp),
    ("subagents one after the other", subagents),
    ("a project is trusted at sight", _trust),
    ("odd arguments and broken files", arguments),
    ("unknown keys and bad TOML ignored", _typo),
    ("headless without flags", _flags),
    ("a loop goes on", _loop),
    ("a paste is several messages", _paste),
)


STIMULI = tuple(Stimulus(number=number, name=name, shows=shows) for number, (name, shows) in enumerate(_ALL, start=1))
