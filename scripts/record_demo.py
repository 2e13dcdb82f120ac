"""Turn a finished run into a recording that `recorded/FILE` replays: python scripts/record_demo.py RUN_FOLDER FILE."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from agentforge.events import kinds
from agentforge.store.log.reader import read


def main(folder: str, target: str) -> int:
    """Write one line for each reply, keyed by stage and by its number within the stage."""
    numbers: Counter[str] = Counter()
    called: kinds.ModelCalled | None = None
    lines = []
    for record in read(Path(folder)):
        event = record.event
        if isinstance(event, kinds.ModelCalled):
            called = event
        if isinstance(event, kinds.ModelReplied) and called is not None:
            numbers[called.stage] += 1
            reply = {
                "text": event.text,
                "thinking": event.thinking,
                "tool_calls": list(event.tool_calls),
                "finish": event.finish,
                "usage": {key: value for key, value in event.usage.items() if key != "reported"},
                "model": event.model,
            }
            key = {"stage": called.stage, "stage_step": numbers[called.stage]}
            lines.append(json.dumps({"key": key, "request": called.request, "reply": reply}, ensure_ascii=False))
    Path(target).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} replies -> {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
