"""A small agent of the Agent Client Protocol, written from its specification with nothing but the standard library.

    python guest_agent.py MODE

MODE says how it behaves: honest, analyst, cheat, hang, chatty, login, old, broken, spy, curious,
asker.
"""

import itertools
import json
import os
import socket
import sys
import time
from pathlib import Path

MODE = sys.argv[1]
SLUGIFY = '''

def slugify(text: str) -> str:
    """Lower the text and join its words by hyphens."""
    return "-".join(text.lower().split())
'''
NUMBERS = itertools.count(1001)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session, **values):
    send({"method": "session/update", "params": {"sessionId": session, "update": values}})


def say(session, text):
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def may(session, title, kind, *paths):
    """Ask for permission and wait for the answer."""
    counter = next(NUMBERS)
    call = {
        "toolCallId": f"call-{counter}",
        "title": title,
        "kind": kind,
        "locations": [{"path": path} for path in paths],
    }
    update(session, sessionUpdate="tool_call", status="pending", **call)
    options = [
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    params = {"sessionId": session, "toolCall": call, "options": options}
    send({"id": counter, "method": "session/request_permission", "params": params})
    while True:
        message = json.loads(sys.stdin.readline())
        if message.get("id") == counter:
            return f"call-{counter}" if message["result"]["outcome"].get("optionId") == "yes" else ""


def attempt(act):
    try:
        act()
    except OSError as error:
        return f"refused: {error}"
    return "done"


def append(path, text):
    with Path(path).open("a") as file:
        file.write(text)


def honest(session):
    path = str(Path.cwd() / "textkit.py")
    update(
        session, sessionUpdate="plan", entries=[{"content": "write slugify", "priority": "high", "status": "pending"}]
    )
    call = may(session, "Edit textkit.py", "edit", path)
    assert call
    append(path, SLUGIFY)
    diff = {"type": "diff", "path": path, "oldText": None, "newText": SLUGIFY}
    update(session, sessionUpdate="tool_call_update", toolCallId=call, status="completed", content=[diff])
    cost = {"amount": 0.01, "currency": "USD"}
    update(session, sessionUpdate="usage_update", used=1200, size=200000, cost=cost)
    say(session, "slugify is ")
    say(session, "there.")


def asker(session):
    """Ask for what it should not get."""
    told = {
        "frozen test": may(session, "Edit the test", "edit", str(Path.cwd() / "tests" / "test_slugify.py")),
        "outside": may(session, "Edit a file elsewhere", "edit", "/etc/hosts"),
        "fetch": may(session, "Fetch", "fetch"),
    }
    say(session, json.dumps(told) + "\n")


def cheat(session):
    """Make the tests pass without the work, and look for a way out."""
    asker(session)
    Path("tests/test_slugify.py").write_text("def test_slugify_lowers_and_hyphenates():\n    assert True\n")
    append("conftest.py", "collect_ignore = ['tests']\n")
    append("other.py", "x = 1\n")
    outcomes = {
        "home": attempt(lambda: append(Path("~/left.txt").expanduser(), "x")),
        "git": attempt(lambda: append(".git/hooks/post-commit", "x")),
        "network": attempt(lambda: socket.create_connection(("1.1.1.1", 80), timeout=2)),
    }
    say(session, json.dumps(outcomes))


def analyst(session):
    """Look and write nothing; the artifact is the last message."""
    assert attempt(lambda: append("textkit.py", "x")).startswith("refused")
    artifact = {
        "summary": "textkit holds small text functions",
        "impacted_files": ["textkit.py"],
        "modules": [{"path": "textkit.py", "purpose": "text functions"}],
        "symbols": [{"name": "shout", "file": "textkit.py", "line": 4, "role": "neighbour"}],
        "conventions": ["type hints and docstrings"],
        "risks": [],
        "constraints": [],
    }
    say(session, f"I looked around.\n\n```json\n{json.dumps(artifact)}\n```\n")


def curious(session):
    """Ask for what is not offered."""
    send({"id": 77, "method": "fs/read_text_file", "params": {"sessionId": session, "path": "/etc/passwd"}})
    answer = json.loads(sys.stdin.readline())
    say(session, json.dumps(answer["error"]))


def work(session):
    if MODE in ("honest", "login"):
        honest(session)
    elif MODE == "analyst":
        analyst(session)
    elif MODE == "curious":
        curious(session)
    elif MODE == "asker":
        asker(session)
    elif MODE == "cheat":
        cheat(session)
    elif MODE == "spy":
        say(session, json.dumps({"key": os.environ.get("GUEST_KEY"), "secret": os.environ.get("OPENAI_API_KEY")}))
        honest(session)
    elif MODE == "hang":
        append("textkit.py", SLUGIFY)
        while True:
            time.sleep(60)
    elif MODE == "chatty":
        append("textkit.py", SLUGIFY)
        for number in range(100000):
            update(session, sessionUpdate="tool_call", toolCallId=f"c{number}", title="look", kind="read")
    elif MODE == "broken":
        sys.stderr.write("something went wrong in here\n")
        sys.exit(3)


def main():
    print("hello, people")
    session = "s1"
    logged_in = MODE != "login"
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            info = {"name": "scripted-agent", "version": "1.0"}
            send({"id": number, "result": {"protocolVersion": 2 if MODE == "old" else 1, "agentInfo": info}})
        elif method == "authenticate":
            logged_in = message["params"]["methodId"] == "key"
            send({"id": number, "result": {}})
        elif method == "session/new" and not logged_in:
            send({"id": number, "error": {"code": -32000, "message": "Authentication required"}})
        elif method == "session/new":
            send({"id": number, "result": {"sessionId": session}})
        elif method == "session/prompt":
            work(session)
            usage = {"inputTokens": 1000, "outputTokens": 200, "totalTokens": 1200}
            send({"id": number, "result": {"stopReason": "end_turn", "usage": usage}})
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "no such method"}})


main()
