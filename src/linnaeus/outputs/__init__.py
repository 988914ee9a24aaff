"""Output spaces: the kinds of predictions, and the four functions of scores that define every loss.

`gold`, `best`, `soft` and `cost` take scores S (n, w) and the true outputs y. They return one value per example and
parts shaped like S (`protocols.OutputSpace`). Spaces that are products of binaries share `product.py`.

In the spaces of `STRUCTURES` an example has several rows of scores: its candidates, or the tokens of a sequence.

To add a space: one file with a frozen dataclass, a row in `OUTPUTS`; the contract tests then run every loss over it.
"""

from linnaeus.outputs.binary import Binary
from linnaeus.outputs.candidates import Candidates
from linnaeus.outputs.multiclass import Multiclass
from linnaeus.outputs.multilabel import MultiLabel
from linnaeus.outputs.onevsone import OneVsOne
from linnaeus.outputs.onevsrest import OneVsRest
from linnaeus.outputs.product import Product
from linnaeus.outputs.real import Real
from linnaeus.outputs.sequence import Sequence

OUTPUTS = {
    "binary": Binary,
    "multiclass": Multiclass,
    "onevsrest": OneVsRest,
    "onevsone": OneVsOne,
    "multilabel": MultiLabel,
    "real": Real,
}
"""Every output space by name."""

STRUCTURES = {"candidates": Candidates, "sequence": Sequence}
"""Spaces whose examples have several rows of scores; the true outputs are a record with offsets."""

__all__ = [
    "OUTPUTS",
    "STRUCTURES",
    "Binary",
    "Candidates",
    "MultiLabel",
    "Multiclass",
    "OneVsOne",
    "OneVsRest",
    "Product",
    "Real",
    "Sequence",
]
