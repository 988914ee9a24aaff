"""`dataclass(frozen=True)` of the standard library, but created in a quarter of the time: a program has two hundred.

The standard library writes six methods of each class as text and compiles them. That takes half a millisecond for each
class, a fifth of the time of a small training. Here only `__init__` is made that way, because of its signature; the
other methods are closures over the names of the fields. The result is a dataclass for `fields`, `replace`, `asdict`,
`match`, pickle and type checkers. Classes that are not frozen, or that inherit fields, are standard dataclasses. It
takes a microsecond longer to create an object, so `Prediction`, of which each text needs one, is a standard dataclass.

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
        """The same as `dataclasses.dataclass`, but faster if `frozen`."""

        def make(cls):
            if not frozen or any(map(dataclasses.is_dataclass, cls.__bases__)):
                return dataclasses.dataclass(frozen=frozen, **options)(cls)
            return _freeze(cls, **options)

        return make if cls is None else make(cls)


def _freeze(cls: type, eq: bool = True, repr: bool = True, **options: bool) -> type:  # noqa: A002 - its name
    """Add the fields and `__init__` of the standard library, and the other methods, unless the class defines them."""
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
    vars(cls)["__dataclass_params__"].frozen = True  # subclasses have to be frozen, too
    return cls


def _in_dictionary(record: object, name: str) -> bool:
    return name in record.__dict__


def _guards(cls: type[Any], names: set[str], held: Callable[[object, str], bool]) -> dict[str, Method]:
    """A field can be assigned once, by `__init__` or by pickle; nothing else can be assigned or deleted."""

    def assign(self: object, name: str, value: object) -> None:
        if name in names and not held(self, name):
            object.__setattr__(self, name, value)
        elif name in names or type(self) is cls:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        else:  # a subclass may have other attributes
            super(cls, self).__setattr__(name, value)

    def remove(self: object, name: str) -> None:
        if name in names or type(self) is cls:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": remove}


def _values(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """A function that returns these fields of an object as a tuple."""
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
