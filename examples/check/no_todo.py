"""A check of a project's own: a TODO without a ticket. It runs inside AgentForge, so only with --trust-project-checks."""

import re

from agentforge.conformance.engine.finding import Finding
from agentforge.conformance.engine.site import Check

_TODO = re.compile(r"#\s*TODO(?!\([A-Z]+-\d+\))")


def skip(site):
    """Say why there is nothing to do, or None."""
    return None if site.python_paths else "there are no Python files"


def run(site):
    """Look at every Python file that is asked about."""
    return [
        Finding(
            check="no_todo",
            rule_id="no-ticket",
            level="error",
            path=path,
            line=number,
            message="a TODO without a ticket",
        )
        for path in site.python_paths
        for number, line in enumerate((site.checkout / path).read_text("utf-8", errors="replace").splitlines(), start=1)
        if _TODO.search(line)
    ]


CHECK = Check(name="no_todo", skip=skip, run=run)
