"""`LabelNames`: the names of very many labels, which stay bytes until one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.store.blocks import Guard
from linnaeus.store.states import ROOM, pack_labels, tensor, unpack_labels, unpack_strings
from linnaeus.types import AnyInts, Array, Arrays, Bytes, Ints, Label, Longs

if TYPE_CHECKING:
    import pyarrow as pa


NUMBERS = "iuf"
"""Kinds of arrays that hold numbers."""


@dataclass(frozen=True, eq=False)
class LabelNames:
    """The names of k labels, sorted: strings as UTF-8 bytes and offsets, or an array of others, such as numbers.

    >>> names = LabelNames.of(np.array(["apple", "fig", "pear"]))
    >>> len(names), names[1], names.find(["pear", "plum"]).tolist()
    (3, 'fig', [2, -1])
    """

    data: Bytes
    offsets: Longs
    others: Array | None = None
    guards: Mapping[str, Guard] = field(default_factory=dict)
    """Of a mapped file: what checks the blocks of the bytes and of the offsets when they are first used."""

    @classmethod
    def of(cls, labels: Array) -> LabelNames:
        """These labels, sorted as NumPy does."""
        packed = pack_labels("names", labels)
        if "names.offsets" in packed:
            return cls(packed["names.bytes"], packed["names.offsets"])
        return cls(np.zeros(0, np.uint8), np.zeros(1, np.int64), labels)

    def __len__(self) -> int:
        return len(self.offsets) - 1 if self.others is None else len(self.others)

    def __getitem__(self, at: int) -> Label:
        """The name of a label, as the training data had it."""
        if not 0 <= at < len(self):
            raise damaged("a label has no name")
        if self.others is not None:
            return self.others[at].item()
        self._check("names.offsets", 8 * at, 8 * at + 16)
        start, stop = int(self.offsets[at]), int(self.offsets[at + 1])
        self._check("names.bytes", start, stop)
        if not 0 <= start <= stop <= len(self.data):
            raise damaged("the name of a label is outside its bytes")
        try:
            return self.data[start:stop].tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise damaged("the name of a label is not UTF-8") from error

    def _check(self, name: str, start: int, stop: int) -> None:
        if (guard := self.guards.get(name)) is not None:
            guard.check_bytes(start, stop)

    def listed(self, labels: AnyInts) -> list[Label]:
        """The names of these labels."""
        known = {int(label): self[int(label)] for label in np.unique(labels)}
        return [known[label] for label in labels.tolist()]

    def column(self, labels: AnyInts, given: Array | None = None) -> pa.Array:
        """The names of these labels as a column of strings; null where none is given."""
        import pyarrow as pa

        some = labels if given is None else labels[given]
        said = iter(map(str, self.listed(some)))
        there = np.ones(len(labels), bool) if given is None else given
        return pa.array([next(said) if one else None for one in there.tolist()], pa.string())

    def find(self, labels: Iterable[Label]) -> Ints:
        """The number of each label, -1 for one that is not known."""
        given = list(labels)
        known = {label: self._place(label) for label in set(given)}
        return np.array([known[label] for label in given], np.int32)

    def _place(self, label: Label) -> int:
        """Where a label is, by halving; numbers may be given as strings, and strings as numbers."""
        if self.others is not None and self.others.dtype.kind not in NUMBERS:
            return self._spelled.get(str(label), -1)
        wanted = _as_number(label) if self.others is not None else None if label is None else str(label)
        if wanted is None:
            return -1
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self[middle] < wanted else (low, middle)
        return low if low < len(self) and self[low] == wanted else -1

    @cached_property
    def _spelled(self) -> dict[str, int]:
        """The place of each label that is neither a string nor a number, by how it is written."""
        return {str(self[at]): at for at in range(len(self))}

    def alike(self, labels: Iterable[Label]) -> list[Label]:
        """Labels to be added, of the kind of these names: strings, or numbers; refused where they cannot be."""
        return [self._alike(label) for label in labels]

    def _alike(self, label: Label) -> Label:
        if self.others is None:
            return str(label)
        found = _as_number(label) if self.others.dtype.kind in NUMBERS else label
        if self.others.dtype.kind in "iu" and isinstance(found, float) and found.is_integer():
            found = int(found)
        if not isinstance(found, type(self[0])) and self.find([label])[0] < 0:
            raise UsageError(f"The labels of the model are of another kind than {label!r}: {self[0]!r} is one of them.")
        return found

    def joined(self, fresh: list[Label]) -> tuple[LabelNames, Longs]:
        """These names and others, sorted anew; and the place of each of both."""
        kind = np.dtype(object) if self.others is None else self.others.dtype
        names = np.concatenate([self.array().astype(kind), np.array(fresh, kind)])
        order = np.argsort(names, kind="stable")
        places = np.empty(len(names), np.int64)
        places[order] = np.arange(len(names))
        return LabelNames.of(names[order]), places

    def containing(self, part: str) -> list[str]:
        """A name with this part, if there is one."""
        if self.others is not None:
            return [str(name) for name in self.others.tolist() if part in str(name)][:1]
        self.verify()
        held, wanted = self.data.tobytes(), part.encode("utf-8", "surrogatepass")
        at = held.find(wanted)
        while at >= 0:
            owner = int(np.searchsorted(self.offsets, at, side="right")) - 1
            if owner < len(self) and at + len(wanted) <= self.offsets[owner + 1]:
                return [str(self[owner])]
            at = held.find(wanted, at + 1)  # it lies across two names
        return []

    def array(self) -> Array:
        """All names as an array; as one of objects where a long name would make one of strings too large."""
        if self.others is not None:
            return self.others
        names = unpack_strings("names", self.tensors())
        small = 4 * len(names) * max(map(len, names), default=0) <= ROOM
        return np.array(names, dtype=str if small else object)

    def tensors(self) -> Arrays:
        """The names as a file has them."""
        if self.others is not None:
            return pack_labels("names", self.others)
        self.verify()
        return {"names.bytes": self.data, "names.offsets": self.offsets}

    def verify(self) -> None:
        """Check everything that else is checked when a name is read."""
        for guard in self.guards.values():
            guard.check()
        self._check_offsets()

    def _check_offsets(self) -> None:
        """Of labels that are no strings there are none: the offsets are then those of no bytes."""
        offsets = self.offsets
        if offsets[0] != 0 or offsets[-1] != len(self.data) or (np.diff(offsets) < 0).any():
            raise damaged("the names of its labels do not fit their bytes")

    def __getstate__(self) -> dict[str, object]:
        """Its fields for another process, checked, and without a mapped file."""
        self.verify()
        return {"data": np.array(self.data), "offsets": np.array(self.offsets), "others": self.others, "guards": {}}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    @classmethod
    def restored(cls, tensors: Mapping[str, Array], guards: Mapping[str, Guard]) -> LabelNames:
        """The names of a file; each is checked when it is read."""
        if "names.offsets" not in tensors:
            others = unpack_labels("names", {name: a for name, a in tensors.items() if name.startswith("names.")})
            if others is None or others.ndim != 1 or not len(others):
                raise damaged("the names of its labels are missing")
            return cls(np.zeros(0, np.uint8), np.zeros(1, np.int64), others)
        held = {name: guards[name] for name in ("names.bytes", "names.offsets") if name in guards}
        data, offsets = tensor(tensors, "names.bytes", np.uint8), tensor(tensors, "names.offsets", np.int64)
        if len(offsets) < 2:
            raise damaged("the names of its labels are missing")
        found = cls(data, offsets, None, held)
        if "names.offsets" not in held:
            found._check_offsets()
        return found


def _as_number(label: Label) -> Label:
    """A label as a number, as which training data had all of them; None where it is no number."""
    if isinstance(label, Real):
        return label
    for kind in (int, float) if isinstance(label, str) else ():
        with suppress(ValueError):
            return kind(label)
    return None
