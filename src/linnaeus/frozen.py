"""`dataclass(frozen=True)` as the standard library has it, at a quarter of its price: a program loads two hundred.

The standard one writes six methods of each class as text and compiles them: half a millisecond a class, a fifth of the
time of a small training. Here only `__init__` comes from there, for the sake of its signature; the others are the same
for all classes but for the names of their fields. What comes out is a dataclass to `fields`, `replace`, `asdict`,
`match` and pickle, and to who checks types. Classes that are not frozen, or that inherit fields, are standard ones.
An object takes a microsecond more to make; what is made for every text (`Prediction`) is a standard one, too.

>>> @dataclass(frozen=True)
... class Place:
...     start: int
...     stop: int = 9
>>> Place(3), Place(3) == Place(3, 9), {Place(3): "a"}[Place(3)]
(Place(start=3, stop=9), True, 'a')
>>> Place(3).start = 4
Traceback (most recent call last):
dataclasses.FrozenInstanceError: cannot assign to field 'start'
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

Method = Callable[..., object]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, **options):
        """As `dataclasses.dataclass`, and quick where `frozen`."""

        def make(cls):
            if not frozen or any(map(dataclasses.is_dataclass, cls.__bases__)):
                return dataclasses.dataclass(frozen=frozen, **options)(cls)
            return _freeze(cls, **options)

        return make if cls is None else make(cls)


def _freeze(cls: type, eq: bool = True, repr: bool = True, **options: bool) -> type:  # noqa: A002 - its name
    """The class with fields and `__init__` of the standard library, and other methods from here where it has none."""
    own = {name for name, value in vars(cls).items() if value is not None}  # `__hash__` is None beside an `__eq__`
    cls = dataclasses.dataclass(eq=False, repr=False, **options)(cls)
    fields = dataclasses.fields(cls)
    methods = _guards(cls, {field.name for field in fields}, hasattr if options.get("slots") else _in_dictionary)
    if eq:
        methods |= _comparison(_values([field.name for field in fields if field.compare]))
    if repr:
        methods |= _writing([field.name for field in fields if field.repr])
    for name in methods.keys() - own:
        methods[name].__name__, methods[name].__qualname__ = name, f"{cls.__qualname__}.{name}"
        setattr(cls, name, methods[name])
    vars(cls)["__dataclass_params__"].frozen = True  # who inherits from it has to be frozen, too
    return cls


def _in_dictionary(record: object, name: str) -> bool:
    return name in record.__dict__


def _guards(cls: type[Any], names: set[str], held: Callable[[object, str], bool]) -> dict[str, Method]:
    """A field is written once, by `__init__` or by pickle; nothing else is written, and nothing deleted."""

    def assign(self: object, name: str, value: object) -> None:
        if name in names and not held(self, name):
            object.__setattr__(self, name, value)
        elif name in names or type(self) is cls:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        else:  # what a class below has beside the fields is its own affair
            super(cls, self).__setattr__(name, value)

    def remove(self: object, name: str) -> None:
        if name in names or type(self) is cls:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": remove}


def _values(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """What gives the fields of an object as a tuple."""
    return attrgetter(*names) if len(names) > 1 else lambda record: tuple(getattr(record, name) for name in names)


def _comparison(values: Callable[[object], tuple[object, ...]]) -> dict[str, Method]:
    """Objects of one class with equal fields are equal."""

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def digest(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": digest}


def _writing(names: list[str]) -> dict[str, Method]:
    """An object is shown as the call that makes it."""

    def write(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return {"__repr__": write}
