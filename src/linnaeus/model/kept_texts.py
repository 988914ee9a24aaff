"""Training texts that a model keeps, with their labels: what `search` finds, and what answers are shown beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.store.states import pack_arrow, pack_strings, unpack_arrow, unpack_strings
from linnaeus.types import Ints, LabelSets, Source, State

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.explain import Neighbor
    from linnaeus.learners.neighbors.exact import ExactIndex
    from linnaeus.learners.neighbors.learner import FittedNeighbors
    from linnaeus.model.model import Model
    from linnaeus.tasks.examples import Examples


@dataclass(frozen=True, eq=False)
class Kept:
    """The texts of the training rows in their order, and what each was labeled: `names[codes[i]]`."""

    texts: pa.Array
    codes: Ints
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def neighbor(self, row: int, similarity: float) -> Neighbor:
        """One of the rows, as a neighbor that is so similar."""
        from linnaeus.explain import Neighbor

        return Neighbor(self.texts[row].as_py(), self.names[self.codes[row]], similarity, row)

    def state(self) -> State:
        """Texts and labels as tensors."""
        tensors = {**pack_arrow("texts", self.texts), **pack_strings("names", self.names), "codes": self.codes}
        return State({"rows": len(self)}, tensors)

    @classmethod
    def from_state(cls, state: State) -> Kept:
        """They again; labels that are not there are refused."""
        texts, names = unpack_arrow("texts", state.tensors), tuple(unpack_strings("names", state.tensors))
        codes = state.tensors["codes"]
        if codes.dtype != np.int32 or codes.shape != (len(texts),) or state.manifest["rows"] != len(texts):
            raise damaged("its texts do not fit their labels")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(names):
            raise damaged("a label of its texts is not known")
        return cls(texts, codes, names)


def keep(examples: Examples) -> Kept:
    """The texts and labels of the examples."""
    import pyarrow as pa

    columns = [batch.text for batch in examples.stream.batches() if batch.text is not None]
    if sum(map(len, columns)) != len(examples):
        raise UsageError("keep='texts' needs a column of texts, and these data have none; keep nothing.")
    texts = pa.concat_arrays([column.cast(pa.large_string()) for column in columns])
    names, codes = np.unique(np.array(_said(examples), object).astype(str), return_inverse=True)
    return Kept(texts, codes.astype(np.int32), tuple(names.tolist()))


def _said(examples: Examples) -> list[str]:
    """What each row was labeled, as it is shown."""
    if examples.numbers is not None:
        return [f"{value:g}" for value in np.atleast_2d(examples.numbers.T)[0].tolist()]
    assert examples.labels is not None
    y, names = examples.labels.y, [str(name) for name in examples.labels.classes.tolist()]
    if not isinstance(y, LabelSets):
        return [names[code] for code in y.tolist()]
    bounds = zip(y.offsets[:-1].tolist(), y.offsets[1:].tolist(), strict=True)
    return [", ".join(names[code] for code in y.labels[a:b].tolist()) for a, b in bounds]


def index_of(model: Model) -> ExactIndex | FittedNeighbors:
    """What finds the kept rows: the model itself where it votes by neighbors, else the cosine of its features."""
    from linnaeus.learners.neighbors import Exact
    from linnaeus.learners.neighbors.learner import FittedNeighbors

    if isinstance(model.body, FittedNeighbors):
        return model.body
    assert model.kept is not None
    return Exact().index(model.features.rows(model.ready(model.kept.texts)), "cosine", model.recipe.seed)


def nearest(model: Model, source: Callable[[], Source], count: int) -> list[list[Neighbor]]:
    """For each row of a source the `count` kept rows that are nearest to it, the nearest first."""
    if model.many is not None:
        raise UsageError("A model of many labels keeps no texts to search.")
    if model.kept is None:
        raise UsageError("The model keeps no texts to search; train it with keep='texts' (--set keep=texts).")
    if count < 1:
        raise UsageError(f"count is a number of neighbors from 1 up, not {count}.")
    rows, similarities = model.index.near(model.features.rows(source()), min(count, len(model.kept)))
    return [
        [model.kept.neighbor(int(row), float(alike)) for row, alike in zip(*found, strict=True)]
        for found in zip(rows, similarities, strict=True)
    ]
