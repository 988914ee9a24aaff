"""Packages whose names are imported when they are first asked for, so that a program loads only what it uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
