"""One mechanical change, as somebody asks for it: what refactorings are carried out from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from agentforge.frozen import dataclass

What = Literal["delete", "move", "add", "rename", "drop", "order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefactoringRequest:
    """One mechanical change, as the request says it.

    Attributes:
        names: what it is done to; dotted names, or a path of a module.
        kind: the word of the request for it, "" none.
        place: where it stands, as the request says; "" it does not.
        target: module or file that it moves to; `fresh`: the request says that it is a new one.
        reexport: the old module goes on to offer what was moved.
        parameter: of a signature; "" = the definition itself is meant.
        new: the new name of the parameter or of the definition.
        annotation, default: of an added parameter, as source; "" none told.
        order: of keyword-only parameters; () = by name.
        rest: a sentence of the request that may want something besides; "" there is none.
    """

    what: What
    names: tuple[str, ...]
    kind: str = ""
    place: str = ""
    target: str = ""
    fresh: bool = False
    reexport: bool = False
    parameter: str = ""
    new: str = ""
    annotation: str = ""
    default: str = ""
    keyword_only: bool = False
    order: tuple[str, ...] = ()
    rest: str = ""

    def value(self) -> dict[str, object]:
        """As the first record of a run holds it."""
        named = {name: getattr(self, name) for name in _FIELDS}
        return {name: list(one) if isinstance(one, tuple) else one for name, one in named.items() if one}

    @property
    def sentence(self) -> str:
        """The change as a request of a person."""
        names = ", ".join(self.names)
        if self.what == "rename" and not self.parameter:
            return f"Rename {names} to {self.new}"
        return {
            "delete": f"Delete {names}",
            "move": f"Move {names} to {self.target}",
            "add": f"Add the parameter {self.parameter} to {names}",
            "rename": f"Rename the parameter {self.parameter} of {names} to {self.new}",
            "drop": f"Drop the parameter {self.parameter} of {names}",
            "order": f"Sort the keyword-only parameters of {names}",
        }[self.what]


def wanted_from(value: Mapping[str, object]) -> RefactoringRequest:
    """The change that a record holds.

    Raises:
        ValueError: it holds none.
    """
    if value.get("what") not in get_args(What):
        raise ValueError(f"{value.get('what')!r} is no refactoring")
    known = {name: value[name] for name in _FIELDS if name in value}
    lists = {name: tuple(map(str, one)) for name, one in known.items() if isinstance(one, (list, tuple))}
    return RefactoringRequest(**{**known, **lists})  # type: ignore[arg-type]  # the names are those of its own fields


_FIELDS = tuple(RefactoringRequest.__annotations__)
