"""The `agentforge` command. `--version` is answered here, before anything else is imported."""

from __future__ import annotations

import sys

_NEW_OBJECTS = 100_000
"""Before garbage is looked for: what starting makes is there to stay, and looking through it costs a tenth of the start."""


def main() -> int:
    """Run the command line of this process.

    Returns:
        The exit code, see errors.py.
    """
    arguments = sys.argv[1:]
    if arguments not in (["--version"], ["-V"]) or sys.stdout is None:
        return _run(arguments)
    from agentforge import __version__

    try:
        sys.stdout.write(f"agentforge {__version__}\n")
        sys.stdout.flush()
    except OSError:
        return _run(arguments)  # which knows how to tell it
    return 0


def _run(arguments: list[str]) -> int:
    import gc

    gc.set_threshold(_NEW_OBJECTS)
    from agentforge.cli.startup.later import load_later

    load_later()
    from agentforge.cli.startup.entry import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
