"""Weights learned again on a part of the rows, from counts that are there already: no text is read twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from linnaeus.arrays.csr import CSR, hstack
from linnaeus.features.common.seen import Seen
from linnaeus.features.union import FittedUnion, Union
from linnaeus.features.values import Count, Values, resolve
from linnaeus.features.weighting import Length, Weighted, learn_weights, weigh_rows
from linnaeus.features.words import TermBlock
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.features.base import Block, Fitted
    from linnaeus.protocols import Stream
    from linnaeus.types import Longs


@dataclass(frozen=True, eq=False)
class Counted:
    """Blocks that count, with the counts of all rows, and how each is to be valued.

    >>> import numpy as np
    >>> from linnaeus import read
    >>> from linnaeus.features import Words, count_rows
    >>> corpus = read([("good film", "pos"), ("bad film", "neg")])
    >>> features, X = count_rows(Words(values="tfidf"), corpus).learn(corpus, np.arange(2))
    >>> X.shape
    (2, 3)
    """

    parts: tuple[tuple[Fitted, CSR, Values, Length], ...]

    def learn(self, stream: Stream, rows: Longs) -> tuple[Fitted, CSR]:
        """Weights of the stream, which has these rows, and the valued rows themselves."""
        fitted, valued = [], []
        for counts, X, values, length in self.parts:
            taken = X.take(rows)
            features = learn_weights(Seen(counts, stream, rows=taken), values, length)
            fitted.append(features)
            valued.append(weigh_rows(features, taken))
        return (fitted[0] if len(fitted) == 1 else FittedUnion(tuple(fitted))), hstack(valued)

    def rows(self, features: Fitted, rows: Longs) -> CSR:
        """Other rows, valued by what was learned."""
        fitted = features.blocks if isinstance(features, FittedUnion) and len(self.parts) > 1 else (features,)
        pairs = zip(self.parts, fitted, strict=True)
        return hstack([weigh_rows(piece, X.take(rows)) for (_, X, _, _), piece in pairs])


def count_rows(block: Block, stream: Stream) -> Counted | None:
    """The counts behind an extractor, in one walk for each of its blocks; None where it does more than value counts.

    >>> import numpy as np
    >>> from linnaeus import read
    >>> from linnaeus.features import Contrast, Words
    >>> corpus = read([("good film", "pos"), ("bad film", "neg"), ("bad", "neg")])
    >>> counted = count_rows(Words(values=Contrast()), corpus)
    >>> features, X = counted.learn(corpus, np.arange(3))
    >>> X.data.tolist() == Words(values=Contrast()).fit_rows(corpus)[1].data.tolist()
    True
    """
    blocks = block.blocks if isinstance(block, Union) else (block,)
    plain = [_plain(part) for part in blocks]
    if any(found is None for found in plain):
        return None
    return Counted(tuple((*part.learn_rows(stream), values, length) for part, values, length in filter(None, plain)))


def _plain(block: Block) -> tuple[Block, Values, Length] | None:
    """A block that counts, and how its counts are valued; None where it does something else."""
    if isinstance(block, Weighted):
        inner = _plain(block.block)
        if inner is None or inner[1:] != (Count(), None):
            return None
        return inner[0], resolve(block.values), block.length
    if isinstance(block, TermBlock):
        return replace(block, values="count", length=None), resolve(block.values), block.length
    return None
