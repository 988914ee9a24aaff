"""`TransformerVectors`: the vectors that an encoder from a local folder gives a text's tokens, pooled to one row."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from linnaeus.arrays.dense import Dense
from linnaeus.errors import DataError, LinnaeusWarning, UsageError, damaged, expect
from linnaeus.features.base import LARGEST, Block, Fitted, empty_rows
from linnaeus.features.batches import texts
from linnaeus.features.names import Names
from linnaeus.frozen import dataclass
from linnaeus.store import states
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.arrays.csr import CSR
    from linnaeus.data.batch import Batch
    from linnaeus.neural.pretrained import Encoder
    from linnaeus.protocols import Stream

Pooling: TypeAlias = Literal["mean", "first", "max"]
POOLINGS = ("mean", "first", "max")
MAX_COLUMNS = 1 << 20
"""Numbers that the vector of a token may have."""
MAX_LENGTH = 1 << 24


@dataclass(frozen=True)
class TransformerVectors(Block):
    """The vectors that a pretrained encoder gives the tokens of a text, pooled: dense features, not trained further.

    `folder` has an encoder in the Hugging Face form: `config.json`, its tokenizer and `model.safetensors`. Nothing is
    downloaded. `pool` is the "mean" of all tokens' vectors, the "first" one, or their "max". Of a longer text the first
    `length` tokens are read, those that the tokenizer adds included, or fewer if the encoder reads fewer. It needs
    `pip install 'linnaeus[transformers]'`.

    A model file holds the name of the folder and a digest of what is in it, not the weights: to predict, the folder
    must be there with the same encoder.

    >>> TransformerVectors("minilm", pool="first")
    TransformerVectors(folder='minilm', pool='first', length=128)
    """

    folder: str = ""
    pool: Pooling = "mean"
    length: int = 128

    def __post_init__(self) -> None:
        expect("TransformerVectors(folder=...)", self.folder, os.PathLike)
        object.__setattr__(self, "folder", os.fspath(self.folder))
        if self.folder and not is_local(self.folder):
            raise UsageError(f"TransformerVectors(folder=...) takes a local folder, not {self.folder!r}; copy it here.")
        if self.pool not in POOLINGS:
            names = ", ".join(POOLINGS)
            raise UsageError(f"TransformerVectors(pool=...) must be one of {names}, not {self.pool!r}.")
        expect("TransformerVectors(length=...)", self.length, int, 1, MAX_LENGTH)

    def learn(self, stream: Stream) -> FittedTransformerVectors:
        """One pass that looks for texts that are too long; nothing is learned from them."""
        from linnaeus.neural.pretrained import read_encoder

        if not self.folder:
            raise DataError("TransformerVectors has no encoder; give the folder of one with folder=...")
        digest, encoder = read_encoder(self.folder)
        length = encoder.room(self.length)
        self._warn(stream, encoder, length)
        width = len(encoder.pooled(["a"], self.pool, length)[0])
        if not 0 < width <= MAX_COLUMNS:
            raise DataError(f"The encoder in {self.folder!r} gives no usable vectors; use another one.")
        return FittedTransformerVectors(self.folder, digest, width, self.pool, length)

    def _warn(self, stream: Stream, encoder: Encoder, length: int) -> None:
        """Say how many texts are cut."""
        n = long = 0
        for batch in stream.batches():
            n += len(batch)
            long += sum(len(row) > length for row in encoder.tokens(texts(batch, "TransformerVectors")))
        if long:
            more = "raise length to read more" if length == self.length else "the encoder reads no more"
            warnings.warn(
                f"{long:,} of {n:,} texts have more than {length:,} tokens; only these are read ({more}).",
                LinnaeusWarning,
                stacklevel=3,
            )


def is_local(folder: str) -> bool:
    """Whether it may be a folder of this machine; a name of another one, which a model file must not reach, has `//`.

    >>> is_local("models/minilm"), is_local("//server/minilm")
    (True, False)
    """
    return bool(folder) and "\0" not in folder and not folder.replace("\\", "/").startswith("//")


@dataclass(frozen=True, eq=False)
class FittedTransformerVectors(Fitted):
    """The folder of an encoder, the digest of what was there, and how the vectors of a text's tokens are pooled."""

    full: ClassVar[bool] = True
    """Rows have a number in every column."""
    opaque: ClassVar[bool] = True
    """Every number comes from the whole text."""

    folder: str
    digest: str
    size: int
    pool: str
    length: int

    @property
    def width(self) -> int:
        """The numbers of a token's vector."""
        return self.size

    def extract(self, batch: Batch) -> CSR:
        """The pooled vectors; zeros are not stored."""
        from linnaeus.neural.pretrained import same_encoder

        if not len(batch):
            return empty_rows(0, self.width)
        encoder = same_encoder(self.folder, self.digest)
        rows = encoder.pooled(texts(batch, "TransformerVectors"), self.pool, self.length)
        values = np.zeros((len(rows), self.width))
        for number, row in enumerate(rows):
            if len(row) not in (0, self.width):
                raise damaged(f"it says {self.width} numbers for each vector, and the encoder gives {len(row)}")
            if not np.isfinite(row).all():
                raise DataError(f"The encoder gives no finite numbers for row {batch.start + number + 1}.")
            values[number, : len(row)] = row
        return Dense(np.clip(values, -LARGEST, LARGEST).astype(np.float32)).to_csr()

    def names(self) -> Names:
        """The place in the vector."""
        return Names(self.width, lambda start, end: [f"encoder[{place}]" for place in range(start, end)])

    def state(self) -> State:
        """The folder's name, the digest and the pooling; never the weights."""
        manifest = {"kind": "transformer_vectors", "folder": self.folder, "digest": self.digest}
        return State({**manifest, "width": self.size, "pool": self.pool, "length": self.length}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedTransformerVectors:
        """Restore from the stored state; the folder is looked at when rows are first wanted."""
        folder, digest, pool = (states.field(state.manifest, name, str) for name in ("folder", "digest", "pool"))
        width, length = (states.field(state.manifest, name, int) for name in ("width", "length"))
        if not is_local(folder) or not re.fullmatch("[0-9a-f]{64}", digest) or pool not in POOLINGS:
            raise damaged("its vectors of an encoder have no usable folder, digest or pooling")
        if not (1 <= width <= MAX_COLUMNS and 1 <= length <= MAX_LENGTH):
            raise damaged("its vectors of an encoder have no usable size")
        return cls(folder, digest, width, pool, length)
