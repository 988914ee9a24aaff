"""Models of fastText as their files hold them: `.bin`, and quantized `.ftz` (versions 11 and 12 of the format).

A file has, in little-endian bytes: a magic number and a version; the settings; the dictionary (words, then labels, each
with its count), with the buckets that a pruned model kept; the table of input vectors, and the table of output vectors.
A table is plain (float32 row by row) or quantized: each row as a code for each of its pieces, the centroids of the
pieces, and, where norms are apart, a code of the norm of each row and the norms.

Whatever a file says of sizes is compared with the bytes that it has before memory is taken for them.
"""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

import numpy as np

from linnaeus.errors import ModelFileError
from linnaeus.store.file import length, opened, view
from linnaeus.store.vector_tables import CENTROIDS, PlainTable, QuantizedTable, VectorTable
from linnaeus.types import Array, Floats, Ints, Longs, Texts, offsets_of

MAGIC = 793712314
VERSIONS = (11, 12)
LOSSES = {1: "hs", 2: "ns", 3: "softmax", 4: "ova"}
SUPERVISED = 3
LONGEST_GRAM = 64
"""The most words, or characters, of an n-gram."""


class Settings(NamedTuple):
    """The settings of a training, in the order of the file, with fastText's names."""

    dim: int
    ws: int
    epoch: int
    minCount: int  # noqa: N815
    neg: int
    wordNgrams: int  # noqa: N815
    loss: int
    model: int
    bucket: int
    minn: int
    maxn: int
    lrUpdateRate: int  # noqa: N815
    t: float


class FastTextFile(NamedTuple):
    """What a file of a classifier holds.

    `words` and `labels` are in the order of their numbers, `counts` how often each label occurred. `pruned` has the
    buckets that were kept (ascending), and the row of each behind those of the words; None: all of them.
    """

    settings: Settings
    words: Texts
    labels: tuple[bytes, ...]
    counts: Longs
    pruned: tuple[Ints, Ints] | None
    inputs: VectorTable
    outputs: VectorTable


def is_fasttext(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as models of fastText do."""
    with opened(path) as file:
        return file.read(4) == MAGIC.to_bytes(4, "little")


def read_fasttext(path: str | os.PathLike[str]) -> FastTextFile:
    """Read a classifier of fastText; a large table stays in the file, and is mapped."""
    with opened(path) as file:
        return _Reader(view(file, 0, length(file)), os.fspath(path)).model()


class _Reader:
    """Takes what a file holds from its bytes, in order, and never more than there is."""

    def __init__(self, data: memoryview, where: str) -> None:
        self.data, self.where, self.at = data, where, 0

    def damaged(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.where} is damaged: {what}; copy it again, or save it again with fastText.")

    def take(self, count: int) -> memoryview:
        if not 0 <= count <= len(self.data) - self.at:
            raise self.damaged("its end is missing")
        self.at += count
        return self.data[self.at - count : self.at]

    def numbers(self, form: str) -> tuple[int, ...]:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))

    def array(self, dtype: str, count: int) -> Array:
        found = np.frombuffer(self.take(count * np.dtype(dtype).itemsize), dtype)
        if found.dtype.kind == "f" and len(found) and not (np.isfinite(found.min()) and np.isfinite(found.max())):
            raise self.damaged("some of its weights are not finite numbers")
        return found

    def flag(self) -> bool:
        (found,) = self.numbers("B")
        if found > 1:
            raise self.damaged("a flag is neither 0 nor 1")
        return bool(found)

    def model(self) -> FastTextFile:
        settings = self.settings()
        words, labels, counts, pruned = self.dictionary()
        quantized = self.flag()
        inputs = self.table(quantized, settings.dim)
        outputs = self.table(self.flag() and quantized, settings.dim)
        if self.at != len(self.data):
            raise self.damaged("it has extra bytes at its end")
        found = FastTextFile(settings, words, labels, counts, pruned, inputs, outputs)
        self.check(found)
        return found

    def settings(self) -> Settings:
        if len(self.data) < 8 or self.numbers("i") != (MAGIC,):
            raise ModelFileError(f"{self.where} is not a model of fastText; give a .bin or .ftz file that it saved.")
        (version,) = self.numbers("i")
        if version not in VERSIONS:
            raise ModelFileError(
                f"{self.where} is of version {version} of fastText's format, and versions 11 and 12 can be read; "
                "load it with a newer fastText, and save it again."
            )
        found = Settings(*self.numbers("12id"))
        if found.model != SUPERVISED:
            raise ModelFileError(
                f"{self.where} holds word vectors, not a classifier; take their .vec file, which "
                "`linnaeus vectors convert` reads."
            )
        # Classifiers of version 11 had no n-grams of characters, whatever their settings say.
        found = found._replace(maxn=0) if version == VERSIONS[0] else found
        grams = found.wordNgrams > 1 or found.maxn > 0
        if found.dim < 1 or found.loss not in LOSSES or found.bucket < (1 if grams else 0):
            raise self.damaged("its settings cannot be used")
        if not (0 <= found.maxn <= LONGEST_GRAM and found.minn >= 0 and found.wordNgrams <= LONGEST_GRAM):
            raise self.damaged(f"its n-grams have not between 0 and {LONGEST_GRAM} parts")
        return found

    def dictionary(self) -> tuple[Texts, tuple[bytes, ...], Longs, tuple[Ints, Ints] | None]:
        size, words, labels, _, kept = self.numbers("iiiqq")
        if not (words >= 0 and labels >= 1 and size == words + labels and kept >= -1):
            raise self.damaged("the sizes of its dictionary do not fit each other")
        entries = [self.entry(int(number >= words)) for number in range(size)]
        joined = b"".join(word for word, _ in entries[:words])
        offsets = offsets_of([len(word) for word, _ in entries[:words]])
        pruned = None
        if kept >= 0:
            pairs = self.array("<i4", 2 * kept).reshape(-1, 2)
            order = np.argsort(pairs[:, 0], kind="stable")
            pruned = pairs[order, 0], pairs[order, 1]
        counts = np.array([count for _, count in entries[words:]], np.int64)
        return Texts(np.frombuffer(joined, np.uint8), offsets), tuple(w for w, _ in entries[words:]), counts, pruned

    def entry(self, kind: int) -> tuple[bytes, int]:
        """A word or a label, which ends with a zero byte, and its count."""
        stop = self.end_of_word()
        word = bytes(self.take(stop - self.at))
        _, count, found = self.numbers("Bqb")
        if found != kind:
            raise self.damaged("its dictionary has not first the words and then the labels")
        return word, count

    def end_of_word(self) -> int:
        step = 64
        while True:
            found = bytes(self.data[self.at : self.at + step]).find(b"\0")
            if found >= 0:
                return self.at + found
            if self.at + step >= len(self.data):
                raise self.damaged("its end is missing")
            step *= 4

    def table(self, quantized: bool, width: int) -> VectorTable:
        apart = self.flag() if quantized else False
        rows, columns = self.numbers("qq")
        if rows < 0 or columns != width:
            raise self.damaged(f"a table has not the {width} columns that its settings say")
        if not quantized:
            return PlainTable(self.array("<f4", rows * columns).reshape(rows, columns))
        (size,) = self.numbers("i")
        codes = self.array("u1", size)
        piece, centroids = self.pieces(columns)
        count = -(-columns // piece)
        if size != rows * count:
            raise self.damaged("the codes of a table are not as many as its rows")
        found = QuantizedTable(columns, piece, codes.reshape(rows, count), centroids)
        if not apart:
            return found
        norm_codes = self.array("u1", rows)
        _, norms = self.pieces(1)
        return QuantizedTable(columns, piece, found.codes, centroids, norm_codes, norms)

    def pieces(self, width: int) -> tuple[int, Floats]:
        """The size of the pieces that rows are cut into, and their centroids."""
        columns, count, size, last = self.numbers("iiii")
        if columns != width or size < 1 or count != -(-width // size) or last != width - (count - 1) * size:
            raise self.damaged("the pieces of a quantized table do not fit its columns")
        return min(size, width), self.array("<f4", width * CENTROIDS)

    def check(self, found: FastTextFile) -> None:
        """The parts fit each other."""
        words, rows = len(found.words), len(found.inputs)
        buckets = found.settings.bucket if uses_buckets(found.settings) else 0
        if found.pruned is not None:
            kept, targets = found.pruned
            if len(kept) and (kept.min() < 0 or (np.diff(kept) <= 0).any() or targets.min() < 0):
                raise self.damaged("the buckets that it kept are not in order")
            buckets = int(targets.max(initial=-1)) + 1
        if words + buckets > rows:
            raise self.damaged("its table of input vectors has too few rows")
        if len(found.outputs) != len(found.labels):
            raise self.damaged("its table of output vectors has not one row for each label")
        if len(found.counts) and not 0 <= found.counts.min() <= found.counts.max() < 10**15:
            raise self.damaged("the counts of its labels cannot be used")


def uses_buckets(settings: Settings) -> bool:
    """Whether there are n-grams of words or of characters."""
    return settings.wordNgrams > 1 or settings.maxn > 0
