"""Packages whose names are imported when they are first asked for, so that a program loads only what it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any


def room(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package, from its own lines `from module import Name as Name`.

    So each name is written once. Type checkers read the lines under `if TYPE_CHECKING:`, and the name is imported when
    it is first used. The public names are these and the tables, which are in capitals.

    >>> find, names = room("linnaeus.losses")
    >>> find("Hinge").__name__, "LOSSES" in names()
    ('Hinge', True)
    """

    def find(name: str) -> Any:
        if name == "__all__":
            return names()
        if _public(package).get(name) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = _public(package)[name]
        return import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)

    def names() -> list[str]:
        return sorted(_public(package))

    return find, names


@cache
def _public(package: str) -> dict[str, str]:
    """The public names of a package and the module that each is imported from; "" for its own tables."""
    import ast  # here, because `import linnaeus` does not need it

    lines = ast.parse(import_module(package).__loader__.get_source(package)).body  # type: ignore[union-attr]
    guarded = [line for block in lines if isinstance(block, ast.If) for line in block.body]
    imports = [line for line in [*lines, *guarded] if isinstance(line, ast.ImportFrom)]
    named = {item.name: str(line.module) for line in imports for item in line.names if item.asname == item.name}
    own = {name for name in vars(import_module(package)) if name.isupper() and name[0] != "_"} - {"TYPE_CHECKING"}
    return {**dict.fromkeys(own, ""), **named}


class Table(Mapping[str, Any]):
    """Pieces by their plain names, each imported when it is first used; `homes` has the module and the name of each.

    >>> table = Table("linnaeus", {"data": "errors.DataError", "usage": "errors.UsageError"})
    >>> list(table), table["data"].__name__, table.place("usage")
    (['data', 'usage'], 'DataError', ('linnaeus.errors', 'UsageError'))
    """

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        self._package, self._homes = package, homes

    def __getitem__(self, name: str) -> Any:
        self._homes[name]  # raises a KeyError for an unknown name
        module, piece = self.place(name)
        return getattr(import_module(module), piece)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def place(self, name: str) -> tuple[str, str]:
        """The `__module__` and `__qualname__` of a piece, without importing it."""
        module, _, piece = self._homes[name].rpartition(".")
        return f"{self._package}.{module}", piece


def joined(*tables: Table) -> Table:
    """One table with the pieces of all.

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
