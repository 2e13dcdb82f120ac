"""Does every Python file parse? Asked of the project's own interpreter, which knows its own grammar."""

from __future__ import annotations

import json
import sys

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check, Site, crash_of, skipping

_PARSE = """
import ast, json, sys
found = []
for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", ast.PyCF_ONLY_AST, True)
    except SyntaxError as error:
        found.append([path, error.lineno or 0, error.offset or 0, error.msg])
    except (ValueError, RecursionError, MemoryError) as error:
        found.append([path, 0, 0, str(error) or type(error).__name__])
sys.stdout.buffer.write(json.dumps(found).encode("ascii"))
"""


def _run(site: Site) -> list[Finding]:
    command = [site.interpreter or sys.executable, "-I", "-W", "ignore", "-c", _PARSE, *site.python_paths]
    done = site.run_project(command) if site.interpreter else site.run_own(command)
    if done.exit_code != 0:
        raise crash_of(done)
    return [
        site.finding("syntax", "invalid-syntax", message, path, line, max(column, 0))
        for path, line, column, message in json.loads(done.output)
    ]


CHECK = Check(name="syntax", skip=skipping("syntax"), run=_run)
