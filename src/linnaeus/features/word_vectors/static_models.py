"""Static embedding models: a folder with model.safetensors and tokenizer.json, as Model2Vec writes them.

A word has the mean of the rows of the pieces that the tokenizer cuts it into. Only this file imports `tokenizers`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnaeus.arrays.word_table import WordTable
from linnaeus.errors import DataError, MachineError, said
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.types import Array, Floats

Tokenizer: TypeAlias = Any
"""A `tokenizers.Tokenizer`; the package has no types."""

HEADER_LIMIT = 1 << 24
NUMBERS = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}
NAMES = ("embeddings", "embedding.weight")
"""What the table is called in the file."""
MODEL, TOKENIZER = "model.safetensors", "tokenizer.json"


@dataclass(frozen=True, eq=False)
class Pieces:
    """Vectors of words that have no row of their own: the mean of the rows of their pieces."""

    tokenizer: Tokenizer
    vectors: Floats
    unknown: int | None = None

    def mean(self, words: Sequence[str]) -> tuple[Array, Floats]:
        """Which words have a known piece (n,), and the mean of the rows of these pieces (n, width)."""
        known = np.zeros(len(words), bool)
        found = np.zeros((len(words), self.vectors.shape[1]), np.float32)
        for i, encoding in enumerate(self.tokenizer.encode_batch(list(words), add_special_tokens=False)):
            ids = [piece for piece in encoding.ids if piece != self.unknown and piece < len(self.vectors)]
            if ids:
                known[i], found[i] = True, self.vectors[ids].astype(np.float64).mean(axis=0)
        return known, found


def is_static_model(path: Path) -> bool:
    """Whether a folder has both files."""
    return (path / MODEL).is_file() and (path / TOKENIZER).is_file()


def read_static_model(path: Path) -> WordTable:
    """The table of a static model; its words are the pieces of its tokenizer."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MachineError(
            f"{path} needs the package tokenizers; install it: pip install 'linnaeus[tokenizers]'."
        ) from error
    vectors = _table(path / MODEL)
    try:
        tokenizer = Tokenizer.from_file(str(path / TOKENIZER))
    except Exception as error:  # the package raises nothing narrower
        raise DataError(f"{path / TOKENIZER} is not a tokenizer: {said(error)[:200]}.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    if len(pieces) != len(vectors) or [number for _, number in pieces] != list(range(len(vectors))):
        raise DataError(f"{path}: the tokenizer has {len(pieces):,} pieces and the table {len(vectors):,} rows.")
    words = [piece for piece, _ in pieces]
    unknown = next((i for i, piece in enumerate(words) if piece in ("[UNK]", "<unk>")), None)
    lowercase = [token.ids for token in tokenizer.encode_batch(["Aa", "aa"], add_special_tokens=False)]
    return WordTable(words, vectors, Pieces(tokenizer, vectors, unknown), lowercase[0] == lowercase[1])


def _table(path: Path) -> Floats:
    """The one table of a safetensors file, mapped; a file that does not fit together is refused."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = int.from_bytes(file.read(8), "little")
        if not 2 <= head <= min(HEADER_LIMIT, size - 8):
            raise DataError(f"{path} is not a safetensors file.")
        try:
            entries = json.loads(file.read(head))
            entry = next(entries[name] for name in NAMES if name in entries)
            dtype, (rows, width), (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        except (ValueError, KeyError, TypeError, StopIteration, RecursionError) as error:
            raise DataError(f"{path} has no table of two axes named {' or '.join(NAMES)}.") from error
    if dtype not in NUMBERS or not all(type(n) is int and n >= 0 for n in (rows, width, begin, end)):
        raise DataError(f"{path}: the table is not of float16, float32 or float64.")
    kind = np.dtype(NUMBERS[dtype])
    if end - begin != rows * width * kind.itemsize or 8 + head + end > size or not rows or not width:
        raise DataError(f"{path}: the table does not fit the file.")
    found = np.memmap(path, kind, "r", 8 + head + begin, (rows, width)).astype(np.float32, copy=False)
    if not np.isfinite(found).all():
        bad = int(np.argmin(np.isfinite(found).all(axis=1)))
        raise DataError(f"{path}: row {bad} of the table has a number that is not finite.")
    return found
