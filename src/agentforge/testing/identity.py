"""What a test id says: `path::name`, and behind a bracket the parameters of one case. Titles may hold any character."""

from __future__ import annotations

import re

_PLACES = re.compile(r"%[a-zA-Z#$%]|\$[A-Za-z_#][\w.]*")


def file_of(nodeid: str) -> str:
    """The repository path that an id begins with."""
    return nodeid.partition("::")[0]


def name_of(nodeid: str) -> str:
    """What follows the path: classes, modules or titles and the test's own name, with parameters."""
    return nodeid.partition("::")[2]


def without_parameters(nodeid: str) -> str:
    """The id of the test function that a parametrised case belongs to; a bracket in the path is no parameter."""
    path, mark, name = nodeid.partition("::")
    return path + mark + name.partition("[")[0]


def means(nodeid: str, *, path: str, name: str) -> bool:
    """Whether an id is a test that somebody declared by its path and by its name.

    The name may be the whole id, the function, `Class::function`, `Class.function`, or the title or titles that a
    JavaScript test has (`group > title`); parameters may be left out. The title of `it.each` as it is written, with its places to
    be filled (`adds %i to $b`), means every case of it.
    """
    if file_of(nodeid) != path:
        return False
    own, said = name_of(nodeid), name.removeprefix(f"{path}::")
    if _ends(own, said) or _ends(own, said.replace(".", "::")):
        return True
    if fills(said, own) or fills(said, own.rpartition(" > ")[2]):
        return True
    bare = name_of(without_parameters(nodeid))
    return _ends(bare, said) or _ends(bare, said.partition("[")[0].replace(".", "::"))


def fills(template: str, title: str) -> bool:
    """Whether a title is one case of another that has places to be filled: `adds 1 to 2` of `adds %i to $b`."""
    parts = _PLACES.split(template)
    if len(parts) == 1 or "".join(parts).strip(" >") == "":
        return False
    return re.fullmatch(".*".join(re.escape(part) for part in parts), title, re.DOTALL) is not None


def _ends(name: str, said: str) -> bool:
    return bool(said) and (name == said or name.endswith((f"::{said}", f" > {said}")))
