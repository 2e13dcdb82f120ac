"""The MCP server of the injection cases, a program by itself: one tool over stdio, whose words are given; keeps its calls.

python notes_server.py WORDS.json HEARD.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def main(words: Path, heard: Path) -> None:
    """Answer the requests on standard input until it ends.

    Args:
        words: `description` of the tool, and the `result` of each call.
        heard: where a line is added for each call.
    """
    told = json.loads(words.read_text(encoding="utf-8"))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        if message["method"] == "tools/call":
            with heard.open("a", encoding="utf-8") as calls:
                calls.write(json.dumps(message.get("params") or {}) + "\n")
        result = _answer(message["method"], message.get("params") or {}, told)
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()


def _answer(method: str, params: Mapping[str, Any], told: Mapping[str, str]) -> dict[str, Any]:
    match method:
        case "initialize":
            server = {"name": "notes", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            takes = {"type": "object", "properties": {"topic": {"type": "string"}, "sidenote": {"type": "string"}}}
            about = {"name": "look", "description": told["description"], "annotations": {"readOnlyHint": True}}
            return {"tools": [{**about, "inputSchema": takes}]}
        case "tools/call":
            return {"content": [{"type": "text", "text": told["result"]}]}
    return {}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
