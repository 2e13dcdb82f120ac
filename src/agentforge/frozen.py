"""Frozen records that cost nothing until they are used: `dataclass(frozen=True, slots=True, kw_only=True)`, made lazily.

The standard decorator compiles six methods for each class while its module is imported; for the vocabulary of this
program that was a third of the CPU between `start` and the first request. Here a class compiles its `__init__` when its
second record is made, and shares the other methods. `fields`, `replace`, `asdict` and `is_dataclass` work as ever.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
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
_KIND = dataclasses.fields(_Sample)[0]._field_type  # type: ignore[attr-defined] # a field, and no ClassVar


def _record(cls: type) -> type:
    own = [_field(cls, name, kind) for name, kind in cls.__annotations__.items()]
    known: dict[str, dataclasses.Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        known |= getattr(base, "__dataclass_fields__", {})
    inherited = frozenset(known)
    known |= {field.name: field for field in own}
    names = tuple(field.name for field in own if field.name not in inherited)
    namespace = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__", *known)}
    namespace |= _shared() | {
        "__slots__": names,
        "__match_args__": (),
        "__dataclass_fields__": known,
        "__dataclass_params__": _PARAMETERS,
        **{name: method for name, method in vars(cls).items() if name in ("__repr__", "__eq__", "__hash__")},
    }
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    made.__init__ = _first_init(made)  # type: ignore[misc] # replaced by itself on its first call
    return made


def _field(cls: type, name: str, kind: str) -> dataclasses.Field[Any]:
    given = vars(cls).get(name, dataclasses.MISSING)
    made: Any = given if isinstance(given, dataclasses.Field) else dataclasses.field(default=given)
    made.name, made.type, made.kw_only, made._field_type = name, kind, True, _KIND
    field: dataclasses.Field[Any] = made
    return field


def _first_init(cls: type) -> Any:
    """An `__init__` that makes one record by itself; for the next, or for an error, it compiles the real one."""
    known: dict[str, dataclasses.Field[Any]] = cls.__dataclass_fields__  # type: ignore[attr-defined]
    made_one = False

    def __init__(self: Any, **values: Any) -> None:  # noqa: N807 # it stands in for that method
        nonlocal made_one
        if made_one or not _fit(values, known):
            compiled = _compiled_init(cls)
            cls.__init__ = compiled  # type: ignore[misc]
            compiled(self, **values)
            return
        made_one = True
        for name, field in known.items():
            object.__setattr__(self, name, values[name] if name in values else _default(field))

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _fit(values: dict[str, Any], known: dict[str, dataclasses.Field[Any]]) -> bool:
    return values.keys() <= known.keys() and all(
        name in values or _default(field) is not dataclasses.MISSING for name, field in known.items()
    )


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


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


def _shared() -> dict[str, Any]:
    return {
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__setattr__": _refuse_change,
        "__delattr__": _refuse_change,
        "__getstate__": _values,
        "__setstate__": _restore,
    }


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
