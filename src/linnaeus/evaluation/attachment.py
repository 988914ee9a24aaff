"""The facts of dependency trees: how many heads and relations of each sentence are right.

    unlabeled attachment = tokens with the right head / tokens
    labeled attachment   = tokens with the right head and the right relation / tokens

Punctuation counts, and so do subtypes of relations. Rows are sentences, since the bootstrap draws sentences: the tokens
of one are not independent. (Buchholz and Marsi, "CoNLL-X shared task on multilingual dependency parsing", 2006.)
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from linnaeus.errors import DataError
from linnaeus.evaluation.facts import Facts
from linnaeus.evaluation.outcome import refuse_no_rows
from linnaeus.evaluation.tagging import label_tokens, numbered_together, sums
from linnaeus.frozen import dataclass
from linnaeus.types import Arrays, Ints, Longs

DISTANCES = {"root": (0, 0), "1": (1, 1), "2": (2, 2), "3_to_6": (3, 6), "7_up": (7, 1 << 31)}
"""True arcs by their length in tokens, from the least to the largest; an arc from the root has the length 0."""


@dataclass(frozen=True, eq=False)
class Attachments:
    """Heads (m,) of all tokens, 0 for the root, j for token j of the sentence, -1 for none; and their relations.

    >>> Attachments(np.array([2, 0], np.int32), pa.array(["det", "root"])).heads.tolist()
    [2, 0]
    """

    heads: Ints
    relations: pa.Array


def observe_arcs(offsets: Longs, truth: Attachments, predicted: Attachments) -> Facts:
    """The facts of predicted trees; if all true relations are null, heads alone are judged.

    >>> from linnaeus.evaluation import evaluate
    >>> gold = Attachments(np.array([2, 0], np.int32), pa.array(["det", "root"]))
    >>> guess = Attachments(np.array([2, 0], np.int32), pa.array(["amod", "root"]))
    >>> found = evaluate(observe_arcs(np.array([0, 2]), gold, guess), rounds=0)
    >>> found.value("uas"), found.value("las"), found.headline
    (1.0, 0.5, 'las')
    """
    m = int(offsets[-1] - offsets[0])
    if len(truth.heads) != m or len(predicted.heads) != m:
        raise DataError(f"there are {len(truth.heads)} and {len(predicted.heads)} heads for {m} tokens; give one each.")
    refuse_no_rows(len(offsets) - 1)
    bounds = offsets - offsets[0]
    codes, names = numbered_together(truth.relations, predicted.relations)
    counted = np.ones(m, bool)
    attached = truth.heads == predicted.heads
    right = attached & (codes[0] == codes[1])
    values: Arrays = {"tokens": sums(counted, bounds), "right_heads": sums(attached, bounds)}
    if (codes[0] >= 0).any():
        values["right_arcs"] = sums(right, bounds)
    values["answered_tokens"] = sums(predicted.heads >= 0, bounds)
    whole = values.get("right_arcs", values["right_heads"])
    values["whole"] = (values["tokens"] == whole).astype(np.uint8)
    long = _lengths(truth.heads, bounds)
    for name, (least, most) in DISTANCES.items():
        among = (least <= long) & (long <= most)
        values |= {f"arcs_{name}": sums(among, bounds), f"right_{name}": sums(attached & among, bounds)}
    classes, sets = label_tokens(codes, names, (codes[0] >= 0, right), bounds)
    return Facts("trees", classes, np.ones(len(bounds) - 1), sets[0], sets[1], values, right=sets[2])


def _lengths(heads: Ints, bounds: Longs) -> Longs:
    """The length of the arc to each token; 0 from the root."""
    own = np.arange(len(heads)) - np.repeat(bounds[:-1], np.diff(bounds)) + 1
    return np.where(heads == 0, 0, np.abs(own - heads))
