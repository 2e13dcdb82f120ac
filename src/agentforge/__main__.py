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
    if arguments in (["--version"], ["-V"]) and sys.stdout is not None:
        from agentforge import __version__

        try:
            sys.stdout.write(f"agentforge {__version__}\n")
            sys.stdout.flush()
            return 0
        except OSError:  # told by the general way, which knows how
            pass
    import gc

    gc.set_threshold(_NEW_OBJECTS)
    from agentforge.cli.later import load_later

    load_later()
    from agentforge.cli.entry import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
