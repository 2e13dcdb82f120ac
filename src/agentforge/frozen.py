"""Frozen records that cost nothing until they are used: `dataclass(frozen=True, slots=True, kw_only=True)`, made lazily.

The standard decorator compiles six methods for each class while its module is imported; for the vocabulary of this
program that was a third of the CPU between `start` and the first request. Here a class compiles its `__init__` when some
records of it were made, describes its fields when somebody asks, and shares the other methods. `fields`, `replace`,
`asdict` and `is_dataclass` work as ever.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from collections.abc import Sequence
    from dataclasses import dataclass  # what type checkers see: the decorator that ours stands in for
else:

    def dataclass(*, frozen: bool, slots: bool, kw_only: bool) -> Any:
        """Make records of classes, as `dataclasses.dataclass` does.

        Raises:
            TypeError: anything else than frozen, slotted and keyword-only.
        """
        if not (frozen and slots and kw_only):
            raise TypeError("a record is frozen, slotted and keyword-only; for another use dataclasses.dataclass")
        return _record


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """One record made the standard way: it lends what the standard library wants to find on all of them."""

    only: int = 0


_PARAMETERS = _Sample.__dataclass_params__  # type: ignore[attr-defined] # set by every dataclass
_MISSING = dataclasses.MISSING
_MADE_BY_HAND = 6
"""Records of a class that are made field by field, before compiling its `__init__` pays."""
_KIND = dataclasses.fields(_Sample)[0]._field_type  # type: ignore[attr-defined] # a field, and no ClassVar


def _record(cls: type) -> type:
    fields = _Fields(cls)
    inherited = frozenset(_given(cls.__mro__[1:]))
    left_out = {"__dict__", "__weakref__", *inherited, *fields.kinds}
    namespace = {name: value for name, value in vars(cls).items() if name not in left_out}
    own = {name: namespace[name] for name in ("__repr__", "__eq__", "__hash__") if name in namespace}
    namespace |= _SHARED | own
    namespace["__slots__"] = tuple(name for name in fields.kinds if name not in inherited)
    namespace["__dataclass_fields__"] = fields
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    made.__init__ = _first_init(made)  # type: ignore[misc] # replaced by itself when it has been called often enough
    fields.owner = made
    return made


class _Fields:
    """What `dataclasses.fields` and its kin read of a record: made when one of them first asks.

    Attributes:
        kinds: annotations by name, of the record's own fields.
        given: their defaults, where they have one: a value, or what `field` gave.
    """

    __slots__ = ("given", "kinds", "owner")

    def __init__(self, cls: type) -> None:
        values = vars(cls)
        self.kinds: dict[str, str] = values.get("__annotations__", {})
        self.given = {name: values[name] for name in self.kinds if name in values}
        self.owner = cls

    def __get__(self, record: object, cls: type | None = None) -> dict[str, dataclasses.Field[Any]]:
        known: dict[str, dataclasses.Field[Any]] = {}
        for base in reversed(self.owner.__mro__[1:]):
            known |= getattr(base, "__dataclass_fields__", {})
        known |= {name: _field(name, kind, self.given.get(name, _MISSING)) for name, kind in self.kinds.items()}
        self.owner.__dataclass_fields__ = known  # type: ignore[attr-defined] # in the place of this
        return known


def _given(classes: Sequence[type]) -> dict[str, Any]:
    """The fields of a class and of what it inherits from, each with its default or MISSING, in order."""
    found: dict[str, Any] = {}
    for cls in reversed(classes):
        fields = vars(cls).get("__dataclass_fields__")
        if isinstance(fields, _Fields):
            found |= {name: fields.given.get(name, _MISSING) for name in fields.kinds}
        elif fields is not None:  # asked for before, or made by the standard decorator
            found |= fields
    return found


def _field(name: str, kind: str, given: Any) -> dataclasses.Field[Any]:
    made: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
    made.name, made.type, made.kw_only, made._field_type = name, kind, True, _KIND
    field: dataclasses.Field[Any] = made
    return field


def _first_init(cls: type) -> Any:
    """An `__init__` that makes a few records by itself; for more, or for an error, it compiles the real one."""
    known: dict[str, Any] = {}
    left = _MADE_BY_HAND

    def __init__(self: Any, **values: Any) -> None:  # noqa: N807 # it stands in for that method
        nonlocal known, left
        known = known or _given(cls.__mro__)
        left -= 1
        if left < 0 or not _fit(values, known):
            compiled = _compiled_init(cls)
            cls.__init__ = compiled  # type: ignore[misc]
            compiled(self, **values)
            return
        for name, given in known.items():
            object.__setattr__(self, name, values[name] if name in values else _default(given))

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _fit(values: dict[str, Any], known: dict[str, Any]) -> bool:
    return values.keys() <= known.keys() and all(name in values or _has_default(given) for name, given in known.items())


def _has_default(given: Any) -> bool:
    if isinstance(given, dataclasses.Field):
        return given.default is not _MISSING or given.default_factory is not _MISSING
    return given is not _MISSING


def _default(given: Any) -> Any:
    if not isinstance(given, dataclasses.Field):
        return given
    return given.default if given.default_factory is _MISSING else given.default_factory()


def _compiled_init(cls: type) -> Any:
    """Assign every field through its slot, which is faster than any `setattr`."""
    known: dict[str, dataclasses.Field[Any]] = cls.__dataclass_fields__  # type: ignore[attr-defined]
    scope: dict[str, Any] = {"_absent": dataclasses.MISSING}
    parameters, lines = [], []
    for name, field in known.items():
        scope[f"_set_{name}"] = getattr(cls, name).__set__
        value, parameter = name, name
        if field.default is not dataclasses.MISSING:
            scope[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"_make_{name}"] = field.default_factory
            parameter, value = f"{name}=_absent", f"_make_{name}() if {name} is _absent else {name}"
        parameters.append(parameter)
        lines.append(f"    _set_{name}(self, {value})")
    signature = f"self, *, {', '.join(parameters)}" if parameters else "self"
    exec(f"def __init__({signature}):\n" + ("\n".join(lines) or "    return"), scope)
    compiled = scope["__init__"]
    compiled.__qualname__ = f"{cls.__qualname__}.__init__"
    return compiled


def _values(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _restore(self: Any, values: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, values, strict=True):
        object.__setattr__(self, name, value)


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, field in self.__dataclass_fields__.items() if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(tuple(_values(self)))


def _refuse_change(self: Any, name: str, *_value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to or delete field {name!r}")


_SHARED: dict[str, Any] = {
    "__match_args__": (),
    "__dataclass_params__": _PARAMETERS,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _refuse_change,
    "__delattr__": _refuse_change,
    "__getstate__": _values,
    "__setstate__": _restore,
}
