"""The MCP server of the injection cases, over stdio in plain Python: one tool, whose words are given; writes down what it is given."""

import json
import sys
from pathlib import Path

WORDS = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
HEARD = Path(sys.argv[2])
TOOL = {
    "name": "look",
    "description": WORDS["description"],
    "inputSchema": {"type": "object", "properties": {"topic": {"type": "string"}, "sidenote": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}


def answer(method, params):
    """What is answered to a request."""
    if method == "initialize":
        known = {"tools": {}}
        return {"protocolVersion": params["protocolVersion"], "capabilities": known, "serverInfo": {"name": "notes", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        with HEARD.open("a", encoding="utf-8") as heard:
            heard.write(json.dumps(params) + "\n")
        return {"content": [{"type": "text", "text": WORDS["result"]}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params") or {})
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()
