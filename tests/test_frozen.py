"""Records made lazily behave as the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from agentforge.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Animal:
    """A base."""

    name: str
    legs: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Dog(Animal):
    """A subclass that redefines a default and adds a factory and a secret."""

    legs: int = 3
    tricks: dict[str, int] = dataclasses.field(default_factory=dict)
    chip: str = dataclasses.field(default="", repr=False)

    @property
    def loud(self) -> str:
        """Shout."""
        return self.name.upper()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """The same fields, made the standard way."""

    name: str
    legs: int = 3
    tricks: dict[str, int] = dataclasses.field(default_factory=dict)
    chip: str = dataclasses.field(default="", repr=False)


@pytest.mark.parametrize("again", range(3))
def test_a_record_is_made_of_its_fields_and_their_defaults(again: int) -> None:
    del again  # the second record of a class is made another way than the first
    dog = Dog(name="Rex")
    assert (dog.name, dog.legs, dog.tricks, dog.chip, dog.loud) == ("Rex", 3, {}, "", "REX")
    assert Animal(name="Cow").legs == 4
    assert Dog(name="Rex").tricks is not dog.tricks


@pytest.mark.parametrize("values", [{}, {"name": "Rex", "wings": 2}])
def test_a_missing_or_unknown_field_is_a_type_error_each_time(values: dict[str, object]) -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match=r"name|wings"):
            Dog(**values)  # type: ignore[arg-type]


def test_fields_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        Animal("Rex")  # type: ignore[misc]


def test_a_record_cannot_be_changed() -> None:
    dog = Dog(name="Rex")
    with pytest.raises(dataclasses.FrozenInstanceError):
        dog.name = "Max"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del dog.name
    with pytest.raises(dataclasses.FrozenInstanceError):
        dog.other = 1  # type: ignore[attr-defined]
    assert not hasattr(dog, "__dict__")


def test_records_are_equal_when_class_and_values_are() -> None:
    assert Dog(name="Rex") == Dog(name="Rex")
    assert Dog(name="Rex") != Dog(name="Max")
    assert Animal(name="Rex", legs=3) != Dog(name="Rex")
    assert hash(Animal(name="Rex")) == hash(Animal(name="Rex"))


def test_the_standard_library_finds_what_it_looks_for() -> None:
    dog, twin = Dog(name="Rex", tricks={"sit": 1}), Twin(name="Rex", tricks={"sit": 1})
    assert dataclasses.is_dataclass(Dog)
    assert [field.name for field in dataclasses.fields(Dog)] == [field.name for field in dataclasses.fields(Twin)]
    assert dataclasses.asdict(dog) == dataclasses.asdict(twin)
    assert dataclasses.replace(dog, name="Max") == Dog(name="Max", tricks={"sit": 1})
    assert repr(dog) == repr(twin).replace("Twin", "Dog")
    assert "chip" not in repr(dog)


def test_a_record_can_be_copied_and_pickled() -> None:
    dog = Dog(name="Rex", tricks={"sit": 1})
    assert copy.deepcopy(dog) == pickle.loads(pickle.dumps(dog)) == dog


def test_other_kinds_of_dataclass_are_refused() -> None:
    with pytest.raises(TypeError):
        dataclass(frozen=False, slots=True, kw_only=True)
