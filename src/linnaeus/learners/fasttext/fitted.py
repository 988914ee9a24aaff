"""`FittedFastText`: the mean of the input vectors of a text's words and n-grams, and the scores of labels."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel
from linnaeus.learners.fasttext.heads import HEADS, MOST_COUNTED, Outputs
from linnaeus.protocols import ModelChances, Rows
from linnaeus.store.states import field, nest, nested, tensor
from linnaeus.store.vector_tables import VectorTable, vector_table
from linnaeus.types import Doubles, Floats, Ints, Longs, State

PIECE = 1 << 14
"""Vectors that are summed at a time."""
ROOM = 1 << 22
"""Scores that are computed at a time."""
LAST_WINS = 2.0**-44
"""Added to a score for each label before it: of equal scores fastText predicts the last label."""


@dataclass(frozen=True, eq=False)
class FittedFastText(FittedModel):
    """Tables of input and output vectors, the loss whose head scores labels, and how often each label occurred.

    >>> from linnaeus.arrays import CSR
    >>> from linnaeus.store.vector_tables import PlainTable
    >>> inputs, outputs = (PlainTable(np.array(rows, np.float32)) for rows in ([[2, 0], [0, 4]], [[1, 0], [0, 1]]))
    >>> model = FittedFastText("softmax", inputs, outputs, np.array([3, 1]))
    >>> row = CSR(np.array([0, 3]), np.array([1, 0, 1], np.int32), np.ones(3, np.float32), 2)
    >>> model.chances(model.scores(row)).round(3).tolist()
    [[0.119, 0.881]]
    """

    provides: ClassVar[tuple[type, ...]] = (ModelChances,)

    loss: str
    inputs: VectorTable
    outputs: VectorTable
    counts: Longs

    @cached_property
    def _outputs(self) -> Outputs:
        return Outputs.of(self.outputs, self.counts)

    def scores(self, X: Rows) -> Doubles:
        """log(p + 0.00001) of each label (n, k), not above 0; a text without words has the same for all of them."""
        X = X.to_csr()
        found, k = np.empty((len(X), len(self.counts))), len(self.counts)
        for start in range(0, len(X), step := max(1, ROOM // (self.inputs.width + 2 * k))):
            rows = X.rows_slice(start, min(start + step, len(X)))
            S = HEADS[self.loss](self.means(rows.indptr, rows.indices), self._outputs)
            known = np.diff(rows.indptr) > 0
            found[start : start + step] = np.minimum(S, 0.0) + np.outer(known, np.arange(k) * LAST_WINS)
        return found

    def means(self, offsets: Longs, columns: Ints) -> Floats:
        """The mean vector of each row (n, width), summed in the order of its columns; of an empty row zeros."""
        found = np.zeros((len(offsets) - 1, self.inputs.width), np.float32)
        for row, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
            for at in range(start, end, PIECE):
                block = self.inputs.take(columns[at : min(at + PIECE, end)])
                block[0] += found[row]
                found[row] = np.add.accumulate(block, axis=0)[-1] if block.shape[1] == 1 else block.sum(axis=0)
            if end > start:
                found[row] *= np.float32(1.0 / (end - start))
        return found

    def chances(self, S: Doubles) -> Doubles:
        """Probabilities as fastText gives them (n, k)."""
        return np.minimum(np.exp(S), 1.0)

    def state(self) -> State:
        """The loss, both tables as they are, and the counts."""
        return nest({"kind": "fasttext", "loss": self.loss}, (self.inputs, self.outputs), {"counts": self.counts})

    @classmethod
    def from_state(cls, state: State) -> FittedFastText:
        """Restore from the stored state."""
        loss, parts = field(state.manifest, "loss", str), nested(state)
        counts = tensor(state.tensors, "counts", np.int64)
        if loss not in HEADS or len(parts) != 2:
            raise damaged("its loss is unknown, or a table of vectors is missing")
        inputs, outputs = map(vector_table, parts)
        if inputs.width != outputs.width or len(outputs) != len(counts) or not len(counts):
            raise damaged("its tables of vectors do not fit each other")
        if not 0 <= counts.min() <= counts.max() < MOST_COUNTED:
            raise damaged("the counts of its labels cannot be used")
        return cls(loss, inputs, outputs, counts)
