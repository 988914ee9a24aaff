"""`FittedNetwork`: a trained network as plain arrays; its scores need no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from linnaeus.arrays.numerics import single_blas
from linnaeus.errors import UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.learners.base import FittedModel
from linnaeus.learners.networks.architecture import Architecture, RowLayer
from linnaeus.learners.networks.batches import MAX_NUMBERS, of_one_length, row_batch, word_batch
from linnaeus.learners.networks.operations import NUMPY
from linnaeus.protocols import FittedRanker, Rows, SpaceScores
from linnaeus.types import Doubles, Floats, Json, State

PIECE = 1024
"""Rows of features that are scored at a time."""


@dataclass(frozen=True, eq=False)
class FittedNetwork(FittedModel):
    """A trained network: its form, its weights in float32, and facts of its training.

    Texts of equally many words are computed together, so the scores of a text have the same bits beside any others.

    >>> form = Architecture(RowLayer(1), (), "relu", columns=2, outputs=1)
    >>> weights = {"rows.W": [[1.0], [-1.0]], "rows.b": [0.0], "out.W": [[2.0]], "out.b": [0.5]}
    >>> model = FittedNetwork(form, {name: np.array(part, np.float32) for name, part in weights.items()}, {})
    >>> from linnaeus.arrays import Dense
    >>> model.scores(Dense(np.array([[3.0, 1.0], [0.0, 1.0]]))).tolist()
    [[4.5], [0.5]]
    """

    provides: ClassVar[tuple[type, ...]] = (SpaceScores, FittedRanker)

    form: Architecture
    weights: Mapping[str, Floats]
    facts: Mapping[str, Json]

    def ranks(self, width: int) -> bool:
        """Whether it reads so many features, and gives one score."""
        return (self.form.columns, self.form.outputs) == (width, 1)

    def scores(self, X: Rows) -> Doubles:
        """The scores of the output space (n, w)."""
        rows = X.to_csr()
        if rows.width != self.form.columns:
            raise UsageError(f"The network has {self.form.columns} columns, and the rows have {rows.width}.")
        S = np.empty((len(rows), self.form.outputs))
        with single_blas():
            if isinstance(self.form.encoder, RowLayer):
                for at in range(0, len(rows), PIECE):
                    some = np.arange(at, min(at + PIECE, len(rows)))
                    S[some] = self.form.forward(NUMPY, self.weights, row_batch(rows, some))
            else:
                room = MAX_NUMBERS // (16 * self.form.encoder.entries)
                for some in of_one_length(rows, room):
                    S[some] = self.form.forward(NUMPY, self.weights, word_batch(rows, some))
        return S

    def state(self) -> State:
        """The form, the facts, and the weights by name."""
        manifest = {"kind": "network", "form": self.form.manifest(), "trained": dict(self.facts)}
        return State(manifest, dict(self.weights))

    @classmethod
    def from_state(cls, state: State) -> FittedNetwork:
        """Restore from the stored state; shapes and numbers are checked."""
        form = Architecture.from_manifest(state.manifest["form"])
        return cls(form, checked_weights(form.shapes(), state), dict(state.manifest["trained"]))


def checked_weights(shapes: Mapping[str, tuple[int, ...]], state: State) -> dict[str, Floats]:
    """The weights of a state: each there, float32, finite and of the shape that the network has."""
    if set(state.tensors) != set(shapes):
        raise damaged("the weights of its network are not those of its layers")
    found = {name: state.tensors[name] for name in shapes}
    if any(found[name].shape != shape for name, shape in shapes.items()):
        raise damaged("the weights of its network do not fit its layers")
    if any(part.dtype != np.float32 or not np.isfinite(part).all() for part in found.values()):
        raise damaged("the weights of its network are not finite numbers")
    return {name: np.ascontiguousarray(part) for name, part in found.items()}
