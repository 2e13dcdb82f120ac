"""The stimuli of `make bench-defects` that are about the calls of tools."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time

from bench.defects import DONE, Ground
from bench.looking import SLEEP, Seen, names, results, sleeping
from tests.support.loopback.provider import Asked, Refuse, Say


def approval(ground: Ground) -> Seen:
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


def not_offered(ground: Ground) -> Seen:
    (ground.repository / "a.txt").write_text("1\n")
    ground.settings(top='allowed_tools = ["read_file"]')
    ground.play(
        [("apply_patch", {"patch": _PATCH, "intent": "x"})], [("write_file", {"path": "b.txt", "content": "x"})]
    )
    offered = names(ground.asked(0))
    made = [name for name in ("made.txt", "b.txt") if (ground.repository / name).exists()]
    return bool(made), f"{len(offered)} tools offered, changed all the same: {made}" if made else "refused at dispatch"


_PATCH = "--- /dev/null\n+++ b/made.txt\n@@ -0,0 +1 @@\n+x\n"


def paths(ground: Ground) -> Seen:
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


def grep(ground: Ground) -> Seen:
    for number in range(1200):
        folder = ground.repository / f"d{number // 100:02d}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number:04d}.txt").write_text("the_needle\n" if number % 100 == 50 else "hay\n")
    ground.play([("grep", {"pattern": "the_needle"})])
    said = results(ground.asked())[-1]
    found = len(set(re.findall(r"f\d{2}50\.txt", said)))
    return found < 12 and "stopped" not in said, f"{found} of 12 files that match"


_SOURCE = (
    "token_count: Callable[[str], int] = count_tokens\n"
    "password = prompt_for_password(username)\n"
    "max_tokens = settings.maximum_tokens\n"
)


_SECRETS = ("AKIA" + "IOSFODNN7Q4ZKXWA", "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx")


def redaction(ground: Ground) -> Seen:
    (ground.repository / "code.py").write_text(_SOURCE)
    (ground.repository / "notes.txt").write_text("\n".join(_SECRETS) + "\n")
    ground.play([("read_file", {"path": "code.py"}), ("read_file", {"path": "notes.txt"})])
    code, notes = results(ground.asked())[-2:]
    damaged = [line for line in _SOURCE.splitlines() if line not in code]
    through = [secret[:6] for secret in _SECRETS if secret in notes]
    told = [*([f"{len(damaged)} of 3 plain lines changed"] if damaged else [])]
    told += [f"keys sent to the model: {through}"] if through else []
    return bool(told), ", ".join(told) or "code is left alone, keys are taken out"


def bytes_kept(ground: Ground) -> Seen:
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


def background(ground: Ground) -> Seen:
    command = f"sleep {SLEEP} & echo begun"
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
    said, left = results(ground.asked())[-1], sleeping()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    wrong = ["hangs until its time limit"] if took > 10 or "begun" not in said else []
    wrong += ["the process stays"] if left else []
    return bool(wrong), ", ".join(wrong) or "returns at once, nothing stays"


def hooks(ground: Ground) -> Seen:
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
PLACE = {"type": "string", "enum": ["here"]}
SCHEMA = {"type": "object", "properties": {"at": {"$ref": "#/$defs/Place"}}, "$defs": {"Place": PLACE}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}}
        result["serverInfo"] = {"name": "p", "version": "1"}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "go", "description": "Go.", "inputSchema": SCHEMA}]}
    elif asked["method"] == "tools/call":
        sys.exit("the server has lost its mind")
    else:
        error = {"code": -32601, "message": "no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def mcp(ground: Ground) -> Seen:
    script = ground.home / "server.py"
    script.write_text(_SERVER)
    rows = [f'command = "{sys.executable}"', f'args = ["{script}"]', "startup_timeout_sec = 30"]
    rows += [] if "harness" in ground.argv[0] else [f'read = ["{ground.home}"]']  # our sandbox hides a home
    ground.settings(tables="\n".join(["[mcp_servers.place]", *rows]))
    ground.play([("place__go", {"at": "here"})], [("place__go", {"at": "here"})], seconds=60)
    schemas = [tool for tool in ground.asked(0).body["tools"] if tool["function"]["name"] == "place__go"]
    text = json.dumps(schemas)
    wrong = ["its tool is not offered"] if not schemas else []
    wrong += ["the schema refers to what is not sent"] if "$ref" in text and "$defs" not in text else []
    said = results(ground.asked())[-1] if len(ground.provider.asked) > 1 else "it never went on"
    wrong += [] if "lost its mind" in said else [f"why it died is not told: {said[-60:]!r}"]
    return bool(wrong), "; ".join(wrong) or "references resolved, its own last words are told"


def subagents(ground: Ground) -> Seen:
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


def arguments(ground: Ground) -> Seen:
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
