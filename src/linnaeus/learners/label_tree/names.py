"""`LabelNames`: the names of very many labels, which stay bytes until one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.store.blocks import Guard
from linnaeus.store.states import pack_labels, tensor, unpack_labels
from linnaeus.types import AnyInts, Array, Arrays, Bytes, Ints, Label, Longs

if TYPE_CHECKING:
    import pyarrow as pa


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
    guards: tuple[Guard, ...] = ()
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
        if self.others is not None:
            return self.others[at].item()
        self._check(1, 8 * at, 8 * at + 16)
        start, stop = int(self.offsets[at]), int(self.offsets[at + 1])
        self._check(0, start, stop)
        if not 0 <= start <= stop <= len(self.data):
            raise damaged("the name of a label is outside its bytes")
        try:
            return self.data[start:stop].tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise damaged("the name of a label is not UTF-8") from error

    def _check(self, which: int, start: int, stop: int) -> None:
        if which < len(self.guards):
            self.guards[which].check_bytes(start, stop)

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
        """Where a label is, by halving; numbers may be given as strings."""
        low, high = 0, len(self)
        label = label if self.others is None else _as_number(label)
        if label is None:
            return -1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self[middle] < label else (low, middle)
        return low if low < len(self) and self[low] == label else -1

    def containing(self, part: str) -> list[str]:
        """A name with this part, if there is one."""
        if self.others is not None:
            return [str(name) for name in self.others.tolist() if part in str(name)][:1]
        at = self.data.tobytes().find(part.encode())
        return [] if at < 0 else [self[int(np.searchsorted(self.offsets, at, side="right")) - 1]]

    def array(self) -> Array:
        """All names as an array."""
        if self.others is not None:
            return self.others
        return np.array([self[at] for at in range(len(self))], dtype=str)

    def tensors(self) -> Arrays:
        """The names as a file has them."""
        if self.others is not None:
            return pack_labels("names", self.others)
        return {"names.bytes": self.data, "names.offsets": self.offsets}

    @classmethod
    def restored(cls, tensors: Mapping[str, Array], guards: Mapping[str, Guard]) -> LabelNames:
        """The names of a file; each is checked when it is read."""
        if "names.offsets" not in tensors:
            others = unpack_labels("names", {name: a for name, a in tensors.items() if name.startswith("names.")})
            if others is None or others.ndim != 1:
                raise damaged("the names of its labels are missing")
            return cls(np.zeros(0, np.uint8), np.zeros(1, np.int64), others)
        held = tuple(guards[name] for name in ("names.bytes", "names.offsets") if name in guards)
        data, offsets = tensor(tensors, "names.bytes", np.uint8), tensor(tensors, "names.offsets", np.int64)
        if not len(offsets):
            raise damaged("the names of its labels are missing")
        return cls(data, offsets, None, held if len(held) == 2 else ())


def _as_number(label: Label) -> float | int | None:
    """A label as a number, as which training data had all of them; None where it is no number."""
    try:
        return float(label) if isinstance(label, str) else label
    except ValueError:
        return None
