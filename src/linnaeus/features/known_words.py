"""How many of the words of a row the features know: part of how unlike the training rows it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.features.base import Fitted, as_stream
from linnaeus.features.composition import FittedUnion
from linnaeus.features.terms.exact import FittedTerms
from linnaeus.features.weighting import FittedWeighted
from linnaeus.types import Doubles, Source


def known_share(features: Fitted, source: Source) -> Doubles | None:
    """The share of the words of each text that have a column (n,); None where no single word has one by itself.

    A text without words has no unknown ones: 1.

    >>> from linnaeus.features import Words
    >>> known_share(Words().fit(["a good film"]), ["Good film", "good heavens!", "..."]).tolist()
    [1.0, 0.5, 1.0]
    """
    words = _words(features)
    return None if words is None else _share(_counts(words, source), words.vocabulary.width)


def known_share_held_out(features: Fitted, source: Source) -> Doubles | None:
    """The same of the texts that the features were learned from, each as if it were a new text.

    A word that stands in as few texts as any word with a column does would have none without the text at hand.

    >>> from linnaeus.features import Words
    >>> texts = ["good film", "good play", "bad film"]
    >>> known_share_held_out(Words().fit(texts), texts).tolist()
    [1.0, 0.5, 0.5]
    """
    words = _words(features)
    if words is None:
        return None
    X, width = _counts(words, source), words.vocabulary.width
    documents = np.bincount(X.indices[: X.nnz], minlength=X.width)
    there = documents[:width][documents[:width] > 0]
    rare = documents <= (there.min() if len(there) else 0)
    rare[width] = False
    return _share(CSR(X.indptr, np.where(rare[X.indices], np.int32(width), X.indices), X.data, X.width), width)


def _words(features: Fitted) -> FittedTerms | None:
    """The first part of the features that has columns for single words of the text."""
    if isinstance(features, FittedWeighted):
        return _words(features.counts)
    if isinstance(features, FittedUnion):
        return next((found for found in map(_words, features.blocks) if found is not None), None)
    fits = isinstance(features, FittedTerms) and features.grams.unit == "words" and features.grams.low == 1
    return features if fits else None  # type: ignore[return-value]


def _counts(words: FittedTerms, source: Source) -> CSR:
    """How often each word stands in each text; those without a column in the last one."""
    analysis = words.grams.analysis
    if analysis.tokenizer == "edges":  # the marks at both ends are no words
        analysis = replace(analysis, tokenizer="words")
    single = FittedTerms(replace(words.grams, analysis=analysis, high=1), words.vocabulary, unknown=True)
    return single.rows(as_stream(source))


def _share(X: CSR, unknown: int) -> Doubles:
    """The share of the counts of each row that is in other columns than this one."""
    rows = np.repeat(np.arange(len(X)), np.diff(X.indptr))
    values = X.data[: X.nnz].astype(np.float64)
    total = np.bincount(rows, values, minlength=len(X))
    lost = np.bincount(rows, values * (X.indices[: X.nnz] == unknown), minlength=len(X))
    return 1.0 - lost / np.maximum(total, 1.0)
