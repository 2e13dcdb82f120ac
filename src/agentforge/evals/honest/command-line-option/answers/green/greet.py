"""A command that greets."""

import argparse
import sys


def main(argv: list[str]) -> int:
    """Greet the person that the arguments name."""
    parser = argparse.ArgumentParser(prog="greet.py")
    parser.add_argument("name")
    parser.add_argument("-u", "--upper", action="store_true", help="greet in upper case")
    options = parser.parse_args(argv)
    greeting = f"Hello {options.name}"
    print(greeting.upper() if options.upper else greeting)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
