"""Packages whose names are imported when they are first asked for, so that a program loads only what it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `homes` has the module below it that holds each name; "" is the module itself.

    >>> find = lazily("linnaeus", {"DataError": "errors", "errors": ""})
    >>> find("DataError") is find("errors").DataError
    True
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name] or name}")
        return getattr(module, name) if homes[name] else module

    return find


class Table(Mapping[str, Any]):
    """Pieces by their plain names, each imported when it is first asked for: `homes` has module and name of each.

    >>> table = Table("linnaeus", {"data": "errors.DataError", "usage": "errors.UsageError"})
    >>> list(table), table["data"].__name__, table.place("usage")
    (['data', 'usage'], 'DataError', ('linnaeus.errors', 'UsageError'))
    """

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        self._package, self._homes = package, homes

    def __getitem__(self, name: str) -> Any:
        self._homes[name]  # what is not there is a KeyError, as in any table
        module, piece = self.place(name)
        return getattr(import_module(module), piece)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def place(self, name: str) -> tuple[str, str]:
        """The module of a piece, and its name there: what a class says of itself, without importing it."""
        module, _, piece = self._homes[name].rpartition(".")
        return f"{self._package}.{module}", piece


def joined(*tables: Table) -> Table:
    """One table of all pieces.

    >>> list(joined(Table("linnaeus", {"data": "errors.DataError"}), Table("linnaeus", {"usage": "errors.UsageError"})))
    ['data', 'usage']
    """
    homes = {name: ".".join(table.place(name)).removeprefix("linnaeus.") for table in tables for name in table}
    return Table("linnaeus", homes)


def places(table: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """The plain name of each piece of a table, by its module and its name there.

    >>> places({"none": type(None)})
    {('builtins', 'NoneType'): 'none'}
    """
    if isinstance(table, Table):
        return {table.place(name): name for name in table}
    return {(piece.__module__, piece.__qualname__): name for name, piece in table.items()}
