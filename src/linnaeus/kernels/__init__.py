"""The only door to compiled code: array routines, arrays in and arrays out.

Each kernel stands twice: in `native/` (C++20, nanobind), and in `reference/` as a plain Python twin, which defines its
meaning and its types and runs where no compiler was. They give the same bits, or numbers as near as
`reference.TOLERANCES` says; `tests/kernels/` compares them.

To add a kernel: a `.cpp` file in `native/` and its row in `module.cpp`, a twin in `reference/` and its import in
`reference/__init__.py`, a property test against the twin.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from linnaeus.kernels.plan import CASES, TOKENIZERS, UNITS, Plan
from linnaeus.kernels.threads import thread_count, threads

if TYPE_CHECKING:
    from linnaeus.kernels import reference as reference
    from linnaeus.kernels.reference import *  # noqa: F403 - the twins say the types

_kernels: ModuleType
try:
    _kernels = import_module("linnaeus.kernels._native")
except ImportError:
    _kernels = import_module("linnaeus.kernels.reference")
NATIVE = _kernels.__name__.endswith("_native")

for _name, _kernel in vars(_kernels).items():
    if not _name.startswith("_") and callable(_kernel):
        globals()[_name] = _kernel


def __getattr__(name: str) -> ModuleType:
    """The twins, loaded when they are asked for: where the kernels are compiled, few programs need them."""
    if name == "reference":
        return import_module("linnaeus.kernels.reference")
    raise AttributeError(f"module 'linnaeus.kernels' has no attribute {name!r}")


__all__ = ["CASES", "NATIVE", "TOKENIZERS", "UNITS", "Plan", "reference", "thread_count", "threads"]
