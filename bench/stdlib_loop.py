"""The floor: an agent loop of the standard library alone. One tool, an append-only log, no checks, no sandbox, no views.

python stdlib_loop.py BASE_URL LOG
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read lines of a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}},
        },
    },
}


def main(url: str, log_path: str) -> None:
    """Ask, read the file that the model names, log, and ask again, for as long as somebody answers."""
    target = urlsplit(url)
    connection = http.client.HTTPConnection(target.hostname or "", target.port)
    descriptor = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    result = "Begin."
    while True:
        messages = [{"role": "system", "content": "Read the modules."}, {"role": "user", "content": result}]
        body = json.dumps({"model": "bench", "stream": True, "messages": messages, "tools": [TOOL]})
        connection.request("POST", f"{target.path}/chat/completions", body, {"Content-Type": "application/json"})
        reply = called(connection.getresponse())
        text = Path(reply["path"]).read_text(encoding="utf-8")
        lines = text.split("\n")[reply["offset"] - 1 :][: reply["limit"]]
        result = "\n".join(lines)
        os.write(descriptor, json.dumps({"request": body, "reply": reply, "result": result}).encode() + b"\n")
        os.fdatasync(descriptor)


def called(response: http.client.HTTPResponse) -> dict[str, Any]:
    """The arguments of the call in a streamed reply."""
    arguments = ""
    for line in response:
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                for call in choice["delta"].get("tool_calls", ()):
                    arguments += call["function"]["arguments"]
    return json.loads(arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
