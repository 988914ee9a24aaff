"""Frozen dataclasses from here behave as those of the standard library, whose own are made beside them."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any

import pytest

from linnaeus.frozen import dataclass

KINDS = [{}, {"eq": False}, {"repr": False}, {"slots": True}, {"kw_only": True}]


def point(make: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A class with every kind of field."""

    class Point:
        """A point."""

        x: float
        name: str = "here"
        tags: list[str] = field(default_factory=list)
        note: str = field(default="", kw_only=True)
        hidden: int = field(default=3, repr=False, compare=False)
        fixed: float = field(default=0.5, init=False)
        made: list[int] = field(default_factory=lambda: [1], init=False)
        norm: float = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "norm", abs(self.x))

    return make(frozen=True, **options)(Point)


@pytest.fixture(params=KINDS, ids=lambda options: "".join(options) or "plain")
def both(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """The class from here and the standard one."""
    return point(dataclass, request.param), point(dataclasses.dataclass, request.param)


def test_signature_fields_and_patterns(both: tuple[Any, Any]) -> None:
    ours, theirs = both
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert [(f.name, f.type, f.init) for f in fields(ours)] == [(f.name, f.type, f.init) for f in fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__init__.__qualname__ == theirs.__init__.__qualname__


def test_objects_are_made_written_copied_and_replaced_alike(both: tuple[Any, Any]) -> None:
    for given in ({"x": -1.0}, {"x": 2.0, "name": "b", "tags": ["t"], "note": "n", "hidden": 4}):
        ours, theirs = (cls(**given) for cls in both)
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        assert dataclasses.asdict(replace(ours, x=9.0)) == dataclasses.asdict(replace(theirs, x=9.0))
        assert dataclasses.asdict(copy.deepcopy(ours)) == dataclasses.asdict(ours)
        if "object at" not in repr(theirs):
            assert repr(ours) == repr(theirs)


def test_equality(both: tuple[Any, Any]) -> None:
    ours, theirs = both
    for cls in both:
        assert cls(x=1.0) != cls(x=2.0)
        assert cls(x=1.0) != (1.0,)
    assert (ours(x=1.0) == ours(x=1.0, hidden=8)) == (theirs(x=1.0) == theirs(x=1.0, hidden=8))
    assert ours(x=1.0) != theirs(x=1.0)


@pytest.mark.parametrize("wrong", [{}, {"x": 1.0, "y": 2}, {"x": 1.0, "norm": 2.0}])
def test_wrong_arguments_are_refused_in_the_same_words(both: tuple[Any, Any], wrong: dict[str, Any]) -> None:
    said = []
    for cls in both:
        with pytest.raises(TypeError) as error:
            cls(**wrong)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_nothing_is_set_or_deleted(both: tuple[Any, Any]) -> None:
    said = []
    for cls in both:
        with pytest.raises(FrozenInstanceError) as one:
            cls(x=1.0).x = 2.0
        with pytest.raises(FrozenInstanceError) as two:
            del cls(x=1.0).x
        said.append((str(one.value), str(two.value)))
    assert said[0] == said[1]
    with pytest.raises(FrozenInstanceError, match="other"):
        both[0](x=1.0).other = 2.0


@dataclass(frozen=True)
class One:
    """A single field, as a tuple to who hashes it."""

    x: float


@dataclass(frozen=True, slots=True)
class Slotted:
    """Nothing but its slots."""

    x: float
    y: int = 2


@dataclass(frozen=True)
class Below(One):
    """Inherits a field."""

    z: int = 3


@dataclasses.dataclass(frozen=True)
class Standard(One):
    """A class of somebody else's that inherits a field."""

    z: int = 3


def test_hashes_are_those_of_tuples() -> None:
    assert hash(One(2.0)) == hash((2.0,))
    assert hash(Slotted(2.0)) == hash((2.0, 2))
    assert hash(dataclass(frozen=True)(type("None_", (), {"__doc__": "No field."}))()) == hash(())
    with pytest.raises(TypeError, match="unhashable"):
        hash(One([1]))  # type: ignore[arg-type]


def test_not_a_number_is_itself() -> None:
    nan = float("nan")
    assert One(nan) == One(nan)
    assert One(nan) != One(float("nan"))


@pytest.mark.parametrize("record", [One(1.0), Slotted(1.0, 5), Below(1.0, 5), Standard(1.0, 5)])
def test_pickle_and_copy(record: Any) -> None:
    assert pickle.loads(pickle.dumps(record)) == record
    assert copy.copy(record) == record


def test_a_class_with_slots_has_no_dictionary() -> None:
    assert not hasattr(Slotted(1.0), "__dict__")


def test_who_inherits_is_frozen_too() -> None:
    for record in (Below(1.0), Standard(1.0)):
        with pytest.raises(FrozenInstanceError):
            record.x = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError, match="frozen"):

        @dataclasses.dataclass
        class Open(One):  # type: ignore[misc]
            """Not frozen."""

    class Plain(One):
        """No dataclass of its own."""

    plain = Plain(1.0)
    plain.other = 3  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        plain.x = 2.0  # type: ignore[misc]


def test_methods_of_the_class_stay() -> None:
    @dataclass(frozen=True)
    class Own:
        """Equal to all."""

        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    assert Own(1) == Own(2)
    assert repr(Own(1)) == "own"
    assert hash(Own(1)) == hash((1,))


def test_classes_that_are_not_frozen_are_the_standard_ones() -> None:
    @dataclass
    class Open:
        """Not frozen."""

        x: int

    opened = Open(1)
    opened.x = 2
    assert opened == Open(2)
