"""The only door to compiled code: array routines, arrays in and arrays out.

Each kernel stands twice: in `native/` (C++20, nanobind), and in `reference/` as a plain Python twin, which defines its
meaning and runs where no compiler was. The two give the same bits; `tests/kernels/` compares them.

To add a kernel: a `.cpp` file in `native/` and its registration in `module.cpp`, a twin in `reference/`, its name in
`NAMES`, its signature in `_native.pyi`, a property test against the twin.
"""

from __future__ import annotations

from types import ModuleType

from linnaeus.kernels import reference
from linnaeus.kernels.threads import thread_count, threads

_impl: ModuleType
try:
    from linnaeus.kernels import _native as _impl
except ImportError:
    _impl = reference

NATIVE: bool = _impl is not reference
"""Whether the compiled kernels run; otherwise it is their twins."""

__all__ = ["NATIVE", "reference", "thread_count", "threads"]
