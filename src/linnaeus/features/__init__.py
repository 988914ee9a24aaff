"""Feature extractors: they turn texts into rows of numbers, and can be combined: `Shape() | Affixes()`, `a * b`.

An extractor is a frozen dataclass of hyper-parameters (a `Block`). `fit(source)` returns a `Fitted` object, which is
frozen: `rows(source)` are the features, `names()` their names, `places(source)` their positions in the text, `state()`
manifest and tensors; `save` and `load` use a file. What extractors share is in `base.py`, `batches.py` (reading),
`statistics.py` (of columns) and `names.py`; `terms/` maps terms to columns, `tokens/` has the features of tokens,
`arcs/` those of the arcs of dependency trees, `pairs/` those of an example and its candidates.

To add an extractor: a file with the recipe (`learn`) and the fitted piece (`extract`, `locate`, `names`, `width`,
`state`, `from_state`), an import and a row in `EXTRACTORS` below, a row in `restore.RESTORERS`, an example in the table
of `tests/contracts/test_extractors.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.features.restore import restore as restore
from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.features.base import Block as Block
    from linnaeus.features.base import Fitted as Fitted
    from linnaeus.features.base import as_stream as as_stream
    from linnaeus.features.columns import Columns as Columns
    from linnaeus.features.columns import Field as Field
    from linnaeus.features.composition import Conjunction as Conjunction
    from linnaeus.features.composition import Union as Union
    from linnaeus.features.cross_validation import Counted as Counted
    from linnaeus.features.cross_validation import Everyone as Everyone
    from linnaeus.features.cross_validation import as_unseen as as_unseen
    from linnaeus.features.cross_validation import count_rows as count_rows
    from linnaeus.features.fasttext import FastTextTerms as FastTextTerms
    from linnaeus.features.function import Function as Function
    from linnaeus.features.fused import fuse as fuse
    from linnaeus.features.lexicon import Lexicon as Lexicon
    from linnaeus.features.ngrams import Chars as Chars
    from linnaeus.features.ngrams import Skips as Skips
    from linnaeus.features.ngrams import Subwords as Subwords
    from linnaeus.features.ngrams import Words as Words
    from linnaeus.features.precomputed import Ready as Ready
    from linnaeus.features.precomputed import Vectors as Vectors
    from linnaeus.features.projections import Fourier as Fourier
    from linnaeus.features.projections import Nystrom as Nystrom
    from linnaeus.features.projections import Reduced as Reduced
    from linnaeus.features.restore import load as load
    from linnaeus.features.restore import save as save
    from linnaeus.features.selection import Chi2 as Chi2
    from linnaeus.features.selection import DocumentFrequency as DocumentFrequency
    from linnaeus.features.selection import MutualInformation as MutualInformation
    from linnaeus.features.selection import Selected as Selected
    from linnaeus.features.surface import Affixes as Affixes
    from linnaeus.features.surface import Letters as Letters
    from linnaeus.features.surface import Shape as Shape
    from linnaeus.features.terms.exact import Exact as Exact
    from linnaeus.features.terms.exact import Given as Given
    from linnaeus.features.terms.hashed import Hashed as Hashed
    from linnaeus.features.terms.vocabulary import terse as terse
    from linnaeus.features.transformer_vectors import TransformerVectors as TransformerVectors
    from linnaeus.features.weighting import BM25 as BM25
    from linnaeus.features.weighting import VALUES as VALUES
    from linnaeus.features.weighting import Binary as Binary
    from linnaeus.features.weighting import Contrast as Contrast
    from linnaeus.features.weighting import Count as Count
    from linnaeus.features.weighting import Log as Log
    from linnaeus.features.weighting import NaiveBayes as NaiveBayes
    from linnaeus.features.weighting import Sqrt as Sqrt
    from linnaeus.features.weighting import TfIdf as TfIdf
    from linnaeus.features.weighting import Weighted as Weighted
    from linnaeus.features.word_sequence import WordSequence as WordSequence
    from linnaeus.features.word_vectors.extractor import WordVectors as WordVectors
    from linnaeus.features.word_vectors.files import read_vectors as read_vectors
    from linnaeus.features.word_vectors.files import write_vectors as write_vectors


EXTRACTORS = Table(
    __name__,
    {
        "affixes": "surface.Affixes",
        "chars": "ngrams.Chars",
        "columns": "columns.Columns",
        "conjunction": "composition.Conjunction",
        "field": "columns.Field",
        "fourier": "projections.Fourier",
        "function": "function.Function",
        "letters": "surface.Letters",
        "lexicon": "lexicon.Lexicon",
        "nystrom": "projections.Nystrom",
        "ready": "precomputed.Ready",
        "reduced": "projections.Reduced",
        "selected": "selection.Selected",
        "shape": "surface.Shape",
        "skips": "ngrams.Skips",
        "subwords": "ngrams.Subwords",
        "transformer_vectors": "transformer_vectors.TransformerVectors",
        "union": "composition.Union",
        "vectors": "precomputed.Vectors",
        "weighted": "weighting.Weighted",
        "words": "ngrams.Words",
        "word_sequence": "word_sequence.WordSequence",
        "word_vectors": "word_vectors.extractor.WordVectors",
    },
)
"""Every extractor by name."""

SCORES = Table(
    __name__, {"df": "selection.DocumentFrequency", "chi2": "selection.Chi2", "mi": "selection.MutualInformation"}
)
"""What `by=...` of `Selected` may name."""

IMPORTED = Table(__name__, {"fasttext": "fasttext.FastTextTerms"})
"""Extractors that come from a file of another program, and are not learned."""


__getattr__, __dir__ = room(__name__)
