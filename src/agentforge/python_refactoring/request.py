"""One mechanical change, as somebody asks for it: what refactorings are carried out from."""

from __future__ import annotations

from typing import Literal

from agentforge.frozen import dataclass

What = Literal["delete", "move", "add", "rename", "drop", "order"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One mechanical change, as the request says it.

    Attributes:
        names: what it is done to; dotted names, or a path of a module.
        kind: the word of the request for it, "" none.
        place: where it stands, as the request says; "" it does not.
        target: module or file that it moves to; `fresh`: the request says that it is a new one.
        reexport: the old module goes on to offer what was moved.
        parameter, new: of a signature; the old and the new name.
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
