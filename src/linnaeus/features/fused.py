"""Fitted features as a fused kernel takes them, so that texts are scored without making rows.

Blocks of terms (words, characters, subwords, skip-grams; exact, given or hashed), valued and of a length, side by side,
perhaps with only some columns kept: these can be fused. All other features (columns, lexicons, functions,
conjunctions, user-defined values) make rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linnaeus.features.base import Fitted, Narrowed
from linnaeus.features.composition import FittedUnion
from linnaeus.features.terms.exact import FittedTerms
from linnaeus.features.terms.hashed import FittedHashed
from linnaeus.features.weighting import BM25, LARGEST_TABLE, LENGTHS, NONE, Count, FittedWeighted, Values
from linnaeus.frozen import dataclass
from linnaeus.text import Analysis
from linnaeus.types import Floats

if TYPE_CHECKING:
    from linnaeus.kernels.reference.score import Group, Part


Saturation: TypeAlias = tuple[float, float, float] | None


ALL = np.zeros(0, np.int32)
"""Every column is kept."""


@dataclass(frozen=True, eq=False)
class Fused:
    """Groups of counted parts, and how texts are prepared for each source that the parts read."""

    groups: list[Group]
    analyses: tuple[Analysis, ...]

    @property
    def wanted(self) -> int:
        """Flags of texts that have to be prepared before a kernel reads them."""
        flags = 0
        for analysis in self.analyses:
            flags |= analysis.normalize.wanted
        return flags


class NotFusedError(Exception):
    """Inside this file: these features have rows only."""


def fuse(features: Fitted) -> Fused | None:
    """The features for a fused kernel, or None where they have to make rows.

    >>> from linnaeus.features import Shape, Words
    >>> fuse(Words().fit(["so good"])) is None, fuse(Shape().fit(["so good"])) is None
    (False, True)
    """
    analyses: list[Analysis] = []
    try:
        groups = [_group(block, analyses) for block in _blocks(features)]
    except NotFusedError:
        return None
    return Fused(groups, tuple(analyses))


def _blocks(features: Fitted) -> Iterator[Fitted]:
    if isinstance(features, FittedUnion):
        for block in features.blocks:
            yield from _blocks(block)
    else:
        yield features


def _group(features: Fitted, analyses: list[Analysis]) -> Group:
    kept = ALL
    if isinstance(features, Narrowed):
        kept, features = features.renumbering(), features.features
    if isinstance(features, FittedWeighted):
        table, saturation = _values(features.values, features.mean_length)
        weights, length = features.weights, LENGTHS[features.length]
        features = features.counts
    else:
        (table, saturation), weights, length = _values(Count(), 1.0), NONE, 0
    parts = [_part(block, analyses) for block in _blocks(features)]
    return parts, table, weights, kept, length, saturation


def _values(values: Values, mean_length: float) -> tuple[Floats, Saturation]:
    """What each count is worth, or how counts saturate."""
    if isinstance(values, BM25) and type(values).value is BM25.value:
        return NONE, (values.k1, values.b, mean_length)
    if type(values).value is not Values.value:
        raise NotFusedError
    formula = values.formula()
    if formula is None:
        return NONE, None
    return formula(np.arange(LARGEST_TABLE, dtype=np.float64)).astype(np.float32), None


def _part(features: Fitted, analyses: list[Analysis]) -> Part:
    if isinstance(features, FittedTerms):
        layout = features.vocabulary.layout(features.unknown)
        return _source(features.grams.analysis, analyses), features.grams.plan, features.vocabulary.arrays, layout
    if isinstance(features, FittedHashed):
        layout = features.bits, int(features.signed)
        return _source(features.grams.analysis, analyses), features.grams.plan, None, layout
    raise NotFusedError


def _source(analysis: Analysis, analyses: list[Analysis]) -> int:
    """The number of the texts prepared this way; parts that read the same texts share them."""
    for number, other in enumerate(analyses):
        if other.prepares_as(analysis):
            return number
    analyses.append(analysis)
    return len(analyses) - 1
