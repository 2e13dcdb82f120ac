"""A command that greets."""

import argparse
import sys


def main(argv: list[str]) -> int:
    """Greet the person that the arguments name."""
    parser = argparse.ArgumentParser(prog="greet.py")
    parser.add_argument("name")
    options = parser.parse_args(argv)
    print(f"Hello {options.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
