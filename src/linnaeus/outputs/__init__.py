"""Output spaces: the kinds of predictions, and the four functions of scores that define every loss.

`gold`, `best`, `soft` and `cost` take scores S (n, w) and the true outputs y. They return one value per example and
parts shaped like S (`protocols.OutputSpace`). Spaces that are products of binaries share `product.py`.

In the spaces of `STRUCTURES` an example has several rows of scores: its candidates, the tokens of a sequence, or the
arcs of a tree.

To add a space: one file with a frozen dataclass, a row in `OUTPUTS`; the contract tests then run every loss over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room
from linnaeus.outputs.candidates import Candidates as Candidates
from linnaeus.outputs.huffman import Huffman as Huffman
from linnaeus.outputs.multiclass import Multiclass as Multiclass
from linnaeus.outputs.product import Binary as Binary
from linnaeus.outputs.product import MultiLabel as MultiLabel
from linnaeus.outputs.product import OneVsOne as OneVsOne
from linnaeus.outputs.product import OneVsRest as OneVsRest
from linnaeus.outputs.real import Real as Real
from linnaeus.outputs.sequence import Sequence as Sequence
from linnaeus.outputs.trees import ProjectiveTree as ProjectiveTree
from linnaeus.outputs.trees import SpanningTree as SpanningTree

if TYPE_CHECKING:
    from linnaeus.outputs.product import Product as Product


OUTPUTS = {
    "binary": Binary,
    "multiclass": Multiclass,
    "onevsrest": OneVsRest,
    "onevsone": OneVsOne,
    "multilabel": MultiLabel,
    "huffman": Huffman,
    "real": Real,
}
"""Every output space by name."""

STRUCTURES = {
    "candidates": Candidates,
    "sequence": Sequence,
    "projective_tree": ProjectiveTree,
    "spanning_tree": SpanningTree,
}
"""Spaces whose examples have several rows of scores; the true outputs are a record with offsets."""


__getattr__, __dir__ = room(__name__)
