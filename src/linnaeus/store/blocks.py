"""Digests of the blocks of large files, and arrays whose blocks are checked when they are first used.

A file that is mapped is not read when it is opened. Its tensor `block_digests` holds XXH64 of every 16 kB of the other
tensors, in the order of the file. Most tensors are checked by it when the file is opened, since whoever builds a model
of them reads them anyway. Of the weights of a linear model a text needs a few rows: they have a `Guard`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from mmap import mmap
from typing import Any

import numpy as np

from linnaeus import kernels
from linnaeus.errors import ModelFileError
from linnaeus.types import Array, Bytes, Words64

BLOCKS = "block_digests"
"""The name of the tensor."""

BLOCK = 1 << 14
"""Bytes of a block; the last one of a tensor may have fewer."""


def digest_blocks(tensors: Mapping[str, Array], order: list[str]) -> Words64:
    """The digests of all blocks of these tensors, in this order."""
    found = [kernels.block_digests(as_bytes(tensors[name]), kernels.thread_count()) for name in order]
    return np.concatenate([np.zeros(0, np.uint64), *found])


def as_bytes(array: Array) -> Bytes:
    """The bytes of an array, where they lie."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class Guard:
    """One tensor of a mapped file, whose blocks are checked when they are first used."""

    def __init__(self, array: Array, digests: Words64 | None, said: str, mapped: mmap | None) -> None:
        """The array, the digests of its blocks (none: they are not checked), how errors call it, and its file."""
        self.array, self._said, self._mapped = array, said, mapped
        self.kernel = None if digests is None else kernels.BlockGuard(as_bytes(array), digests)
        self._size = mapped.size() if mapped is not None else 0

    def ready(self) -> None:
        """Refuse a file that has been truncated since it was opened: its end can no longer be read."""
        if self._mapped is not None and self._mapped.size() < self._size:
            raise ModelFileError(f"{self._said} was truncated while in use; load the model again from a copy.")

    def check(self) -> None:
        """Check all blocks that have not been checked."""
        self.ready()
        if self.kernel is not None and not self.kernel.check(0, self.array.nbytes, kernels.thread_count()):
            raise self.damaged()

    def check_bytes(self, start: int, stop: int) -> None:
        """Check the blocks that hold these bytes, if they have not been checked."""
        self.ready()
        inside = 0 <= start <= stop <= self.array.nbytes
        if not inside or (self.kernel is not None and not self.kernel.check(start, stop, 1)):
            raise self.damaged()

    def damaged(self) -> ModelFileError:
        """The error for a block that does not match its digest."""
        return ModelFileError(f"{self._said} is damaged: a block does not match its digest; restore it from a copy.")


class Guarded(Mapping[str, "Array"]):
    """Arrays by name; one with a guard is checked as a whole before anyone gets it.

    `raw` gives it unchecked, to those who check the blocks themselves.
    """

    def __init__(self, arrays: Mapping[str, Array], guards: Mapping[str, Guard]) -> None:
        """Arrays, and the guards of some of them."""
        self._arrays, self.guards = arrays, guards

    def __getitem__(self, name: str) -> Array:
        if name in self.guards:
            self.guards[name].check()
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def raw(self, name: str) -> Array:
        """The array as it lies in the file."""
        return self._arrays[name]

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)  # a copy for another process is checked, and lies in memory


def raw(arrays: Mapping[str, Array], name: str) -> Any:
    """An array of a mapping, unchecked where it is guarded; None where there is none."""
    if name not in arrays:
        return None
    return arrays.raw(name) if isinstance(arrays, Guarded) else arrays[name]
