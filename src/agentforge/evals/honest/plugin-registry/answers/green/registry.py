"""Commands by name."""

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

_COMMANDS: dict[str, Callable[..., object]] = {}


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a command."""
    return text.isidentifier()


def command(name: str) -> Callable[[F], F]:
    """Register a function under a name; raises ValueError when the name is taken."""

    def register(function: F) -> F:
        if name in _COMMANDS:
            raise ValueError(f"there is a command {name!r} already")
        _COMMANDS[name] = function
        return function

    return register


def run(name: str, *args: object) -> object:
    """Call a command; raises LookupError when there is none of that name."""
    if name not in _COMMANDS:
        raise LookupError(f"no command {name!r}; there are {', '.join(sorted(_COMMANDS))}")
    return _COMMANDS[name](*args)
