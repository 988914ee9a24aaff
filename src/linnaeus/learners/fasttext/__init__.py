"""Classifiers of fastText (Joulin, Grave, Bojanowski and Mikolov 2017) that were read from its files.

    learner.py   `FastText`: the settings of such a model in a recipe; it does not learn here
    fitted.py    `FittedFastText`: the mean of input vectors, and the scores of labels by a head
    heads.py     from the mean to scores: softmax, one-vs-rest by a table of sigmoids, a Huffman tree

The numbers are those of fastText: sums in float32 in the order of the text, and its coarse table of sigmoids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.fasttext.fitted import FittedFastText as FittedFastText
    from linnaeus.learners.fasttext.learner import FastText as FastText


__getattr__, __dir__ = room(__name__)
