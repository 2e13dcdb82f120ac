"""The 25 stimuli of `make bench-defects`: each is the same for both programs, and so is what is looked at afterwards."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from defects import DONE, Ground, Stimulus
from server import Asked, Refuse, Say  # type: ignore[import-not-found]
from strict import problems  # type: ignore[import-not-found]

Seen = tuple[bool, str]
_SLEEP = "77.731"
"""A length that no other process sleeps."""


def _approval(ground: Ground) -> Seen:
    ground.settings(approval="on-request")
    (ground.repository / "src").mkdir()
    for name in ("a.txt", "src/b.txt"):
        (ground.repository / name).write_text("1\n")
    lines = ("echo x > a.txt", "ls; rm -rf src", "cat a.txt | tee made.txt")
    ground.play(*([("shell", {"command": line})] for line in lines))
    changed = [
        line
        for line, happened in (
            (lines[0], (ground.repository / "a.txt").read_text() != "1\n"),
            (lines[1], not (ground.repository / "src").exists()),
            (lines[2], (ground.repository / "made.txt").exists()),
        )
        if happened
    ]
    return bool(changed), f"carried out without asking: {changed}" if changed else "none of three lines was carried out"


def _not_offered(ground: Ground) -> Seen:
    (ground.repository / "a.txt").write_text("1\n")
    ground.settings(top='allowed_tools = ["read_file"]')
    ground.play(
        [("apply_patch", {"patch": _PATCH, "intent": "x"})], [("write_file", {"path": "b.txt", "content": "x"})]
    )
    offered = _names(ground.asked(0))
    made = [name for name in ("made.txt", "b.txt") if (ground.repository / name).exists()]
    return bool(made), f"{len(offered)} tools offered, changed all the same: {made}" if made else "refused at dispatch"


_PATCH = "--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n+x\n"


def _paths(ground: Ground) -> Seen:
    ground.settings(approval="on-request")
    outside = ground.home / "outside"
    outside.mkdir()
    (ground.repository / "link").symlink_to(outside)
    ways = ("link/a.txt", "../b.txt")
    ground.play(*([("write_file", {"path": way, "content": "x"})] for way in ways))
    made = [str(one) for one in (outside / "a.txt", ground.repository.parent / "b.txt") if one.exists()]
    return bool(
        made
    ), f"written outside without asking: {len(made)} of {len(ways)}" if made else "nothing left the folder"


def _grep(ground: Ground) -> Seen:
    for number in range(1200):
        folder = ground.repository / f"d{number // 100:02d}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number:04d}.txt").write_text("the_needle\n" if number % 100 == 50 else "hay\n")
    ground.play([("grep", {"pattern": "the_needle"})])
    said = _results(ground.asked())[-1]
    found = len(set(re.findall(r"f\d{2}50\.txt", said)))
    return found < 12 and "stopped" not in said, f"{found} of 12 files that match"


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
        text="I wait.", calls=(("shell", json.dumps({"command": f"sleep {_SLEEP}"})),)
    )
    child = ground.start("run", "Wait")
    _until(lambda: _sleeping() or child.poll() is not None, seconds=60)
    os.kill(child.pid, signal.SIGINT)
    ended = ground.finish(child, seconds=20)
    left = _sleeping()
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
    _until(lambda: len(ground.provider.asked) > 1, seconds=60)
    os.killpg(child.pid, signal.SIGKILL)
    ground.finish(child)
    if "--continue" not in _help(ground, "run"):
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


_SOURCE = (
    "token_count: Callable[[str], int] = count_tokens\n"
    "password = prompt_for_password(username)\n"
    "max_tokens = settings.maximum_tokens\n"
)
_SECRETS = ("AKIA" + "IOSFODNN7Q4ZKXWA", "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx")


def _redaction(ground: Ground) -> Seen:
    (ground.repository / "code.py").write_text(_SOURCE)
    (ground.repository / "notes.txt").write_text("\n".join(_SECRETS) + "\n")
    ground.play([("read_file", {"path": "code.py"}), ("read_file", {"path": "notes.txt"})])
    code, notes = _results(ground.asked())[-2:]
    damaged = [line for line in _SOURCE.splitlines() if line not in code]
    through = [secret[:6] for secret in _SECRETS if secret in notes]
    told = [*([f"{len(damaged)} of 3 plain lines changed"] if damaged else [])]
    told += [f"keys sent to the model: {through}"] if through else []
    return bool(told), ", ".join(told) or "code is left alone, keys are taken out"


def _bytes(ground: Ground) -> Seen:
    (ground.repository / "win.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    (ground.repository / "latin.txt").write_bytes("Stra\xdfe one\n".encode("latin-1"))
    ground.play(
        [("read_file", {"path": "win.txt"}), ("read_file", {"path": "latin.txt"})],
        [("edit", {"path": "win.txt", "old_string": "two", "new_string": "2"})],
        [("edit", {"path": "latin.txt", "old_string": "one", "new_string": "1"})],
    )
    win, latin = ((ground.repository / name).read_bytes() for name in ("win.txt", "latin.txt"))
    wrong = [] if win == b"one\r\n2\r\nthree\r\n" else [f"line ends became {win!r}"]
    wrong += [] if latin == "Stra\xdfe 1\n".encode("latin-1") else [f"latin-1: {latin!r}"]
    return bool(wrong), ", ".join(wrong) or "one line changed, every other byte stays"


def _background(ground: Ground) -> Seen:
    command = f"sleep {_SLEEP} & echo begun"
    began: list[float] = []

    def answer(_asked: Asked) -> Say:
        began.append(time.monotonic())
        first = len(began) == 1
        return Say(
            text="" if first else DONE,
            calls=(("shell", json.dumps({"command": command, "timeout": 15})),) if first else (),
        )

    ground.provider.answer = answer
    ground.finish(ground.start("run", "Begin it"))
    took = began[1] - began[0]
    said, left = _results(ground.asked())[-1], _sleeping()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    wrong = ["hangs until its time limit"] if took > 10 or "begun" not in said else []
    wrong += ["the process stays"] if left else []
    return bool(wrong), ", ".join(wrong) or "returns at once, nothing stays"


def _hooks(ground: Ground) -> Seen:
    fired = ground.home / "fired"
    fired.touch()
    rows = [("stop", "before_tool", "exit 2"), ("tell", "on_error", f"echo x >> {fired}")]
    row = '[[hooks]]\nname = "{}"\ntrigger = "{}"\ncommand = "{}"\nwrites = ["' + str(fired) + '"]'
    tables = "\n".join(row.format(*one) for one in rows)
    ground.settings(top="hooks_enabled = true", tables=tables)
    ground.play([("write_file", {"path": "made.txt", "content": "x"})])
    wrong = ["exit code 2 stops nothing"] if (ground.repository / "made.txt").exists() else []
    ground.provider.answer = lambda _asked: Refuse(status=401)
    ground.finish(ground.start("run", "Fail"))
    wrong += [] if fired.stat().st_size else ["on_error does not fire"]
    return bool(wrong), ", ".join(wrong) or "the write was stopped, on_error fired"


_SERVER = """import json, sys
from pathlib import Path
SCHEMA = {"type": "object", "properties": {"at": {"$ref": "#/$defs/Place"}}, "$defs": {"Place": {"type": "string", "enum": ["here"]}}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "go", "description": "Go.", "inputSchema": SCHEMA}]}
    elif asked["method"] == "tools/call":
        sys.exit("the server has lost its mind")
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no such method"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def _mcp(ground: Ground) -> Seen:
    script = ground.home / "server.py"
    script.write_text(_SERVER)
    table = f'[mcp_servers.place]\ncommand = "{sys.executable}"\nargs = ["{script}"]\nread = ["{ground.home}"]\nstartup_timeout_sec = 30'
    ground.settings(
        tables=table if "harness" not in ground.argv[0] else table.replace(f'read = ["{ground.home}"]\n', "")
    )
    ground.play([("place__go", {"at": "here"})], [("place__go", {"at": "here"})], seconds=60)
    schemas = [tool for tool in ground.asked(0).body["tools"] if tool["function"]["name"] == "place__go"]
    text = json.dumps(schemas)
    wrong = ["its tool is not offered"] if not schemas else []
    wrong += ["the schema refers to what is not sent"] if "$ref" in text and "$defs" not in text else []
    said = _results(ground.asked())[-1] if len(ground.provider.asked) > 1 else "it never went on"
    wrong += [] if "lost its mind" in said else [f"why it died is not told: {said[-60:]!r}"]
    return bool(wrong), "; ".join(wrong) or "references resolved, its own last words are told"


def _subagents(ground: Ground) -> Seen:
    lock, now, most = threading.Lock(), 0, 0

    def answer(asked: Asked) -> Say:
        nonlocal now, most
        if len(ground.provider.asked) == 1:
            goals = [("subagent_explore", json.dumps({"goal": f"find {name}"})) for name in ("a", "b")]
            return Say(text="Both.", calls=tuple(goals))
        if "tool" in {one["role"] for one in asked.body["messages"]}:
            return Say(text=DONE)
        with lock:
            now, most = now + 1, max(most, now + 1)
        time.sleep(1.5)
        with lock:
            now -= 1
        return Say(text="It is in a.txt.")

    ground.provider.answer = answer
    ground.finish(ground.start("run", "Find both"))
    return most < 2, f"{most} of two at a time"


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


def _arguments(ground: Ground) -> Seen:
    skill = ground.repository / ".agentforge" / "skills" / "odd"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_bytes(b"---\nname: [\xff\n---\n")
    odd = ("[1, 2]", "null", "7", '"x"', '{"path": "a')
    ended = ground.play(*([("list_dir", one)] for one in odd))
    if not ground.provider.asked:
        (skill / "SKILL.md").unlink()
        ended = ground.play(*([("list_dir", one)] for one in odd))
        told = "a broken SKILL.md ends the program; "
    else:
        told = ""
    survived = (
        f"{told}{max(0, len(ground.provider.asked) - 1)} of {len(odd)} odd arguments survived, exit code {ended.code}"
    )
    guessed = any("raw_arg" in json.dumps(asked.body) for asked in ground.provider.asked[-1:])
    return (
        bool(told) or not ended.done or guessed,
        survived + (", broken JSON became an argument of its own" if guessed else ""),
    )


def _typo(ground: Ground) -> Seen:
    ground.settings(top='aproval = "never"')
    ended = ground.play()
    silent = [] if "aproval" in ended.said else ["an unknown key is not mentioned"]
    (ground.config / "config.toml").write_text("approval = [")
    broken = ground.finish(ground.start("run", "Look"))
    silent += ["broken TOML is ignored"] if "toml" not in broken.said.lower() or broken.code == 0 else []
    return bool(silent), ", ".join(silent) or "both are errors that name the place"


def _flags(ground: Ground) -> Seen:
    told = _help(ground, "run")
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
    drawn = _drawn(main, seconds=12)
    os.write(main, b"\x1b[200~first line\nsecond line\nthird line\x1b[201~")
    drawn += _drawn(main, seconds=3)
    os.write(main, b"\r")
    _drawn(main, seconds=10)
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


def _drawn(terminal: int, *, seconds: float) -> bytes:
    """What a program draws until it rests for a second and a half, or for so long."""
    end, out, rest = time.monotonic() + seconds, b"", time.monotonic() + seconds
    while time.monotonic() < min(end, rest):
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                out += os.read(terminal, 65536)
            except OSError:
                break
            rest = time.monotonic() + 2.5
    return out


def _names(asked: Asked) -> list[str]:
    return [tool["function"]["name"] for tool in asked.body.get("tools", ())]


def _results(asked: Asked) -> list[str]:
    return [_plain(one["content"]) for one in asked.body["messages"] if one["role"] == "tool"]


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content or ())


def _help(ground: Ground, command: str) -> str:
    done = subprocess.run(
        [*ground.argv, command, "--help"],
        env=ground.env(),
        cwd=ground.repository,
        capture_output=True,
        text=True,
        check=False,
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def _sleeping() -> list[int]:
    """The processes that sleep for our length of time."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:  # it has ended meanwhile
                continue
            if words[:2] == [b"sleep", _SLEEP.encode()]:
                found.append(int(place.name))
    return found


def _until(holds: Callable[[], object], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)


_ALL: tuple[tuple[str, Callable[[Ground], Seen]], ...] = (
    ("approval by the beginning of a line", _approval),
    ("what is not offered can be called", _not_offered),
    ("paths compared as text", _paths),
    ("grep stops silently", _grep),
    ("compaction breaks calls from results", _compaction),
    ("arguments not counted", _arguments_count),
    ("Anthropic not streamed, results apart", _anthropic),
    ("everything retried, exit code 0", _retries),
    ("Ctrl-C leaves the command running", _interrupt),
    ("a killed turn is lost", _killed),
    ("a write for each piece of text", _pieces),
    ("slow start", _slow),
    ("a large first request", _first_request),
    ("redaction damages code and misses keys", _redaction),
    ("bytes of files change by an edit", _bytes),
    ("background processes hang a call", _background),
    ("hooks cannot block, on_error never fires", _hooks),
    ("MCP without reasons and $defs", _mcp),
    ("subagents one after the other", _subagents),
    ("a project is trusted at sight", _trust),
    ("odd arguments and broken files", _arguments),
    ("unknown keys and bad TOML ignored", _typo),
    ("headless without flags", _flags),
    ("a loop goes on", _loop),
    ("a paste is several messages", _paste),
)
STIMULI = tuple(Stimulus(number=number, name=name, shows=shows) for number, (name, shows) in enumerate(_ALL, start=1))
