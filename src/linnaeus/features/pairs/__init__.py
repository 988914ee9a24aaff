"""Joint features f(x, y) of an example and each of its candidates; candidates share the weights.

    base.py      PairBlock, FittedPairs, Joined, View          crossed.py  Described, Crossed: extractors of text
    measured.py  Measured: measures as features; PairFunction  reading.py  Passage: questions about a story
    measures.py  Match, Nothing, Context, Company, Numbers, Proposed, Known

A block has `fit(groups)`; what comes of it has `rows`, `learning_rows`, `scores`, `names` and `state`. To add a
measure: a file with a frozen dataclass that is a `Plain` measure (or a `Measure` and its `FittedMeasure`), a row in
`MEASURES` here and one in `features.restore.RESTORERS`, an example in tests/features/test_pairs.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.features.pairs.base import FittedPairs as FittedPairs
    from linnaeus.features.pairs.base import Joined as Joined
    from linnaeus.features.pairs.base import PairBlock as PairBlock
    from linnaeus.features.pairs.crossed import Crossed as Crossed
    from linnaeus.features.pairs.crossed import Described as Described
    from linnaeus.features.pairs.measured import Measured as Measured
    from linnaeus.features.pairs.measured import PairFunction as PairFunction
    from linnaeus.features.pairs.measures import Company as Company
    from linnaeus.features.pairs.measures import Context as Context
    from linnaeus.features.pairs.measures import Known as Known
    from linnaeus.features.pairs.measures import Match as Match
    from linnaeus.features.pairs.measures import Nothing as Nothing
    from linnaeus.features.pairs.measures import Numbers as Numbers
    from linnaeus.features.pairs.measures import Proposed as Proposed
    from linnaeus.features.pairs.reading import Passage as Passage
    from linnaeus.features.restore import restore_pairs as restore_pairs


PAIR_BLOCKS = Table(
    "linnaeus.features.pairs",
    {
        "joined": "base.Joined",
        "measured": "measured.Measured",
        "described": "crossed.Described",
        "crossed": "crossed.Crossed",
    },
)
"""Pair feature extractors by name."""

MEASURES = Table(
    "linnaeus.features.pairs",
    {
        "match": "measures.Match",
        "nothing": "measures.Nothing",
        "numbers": "measures.Numbers",
        "proposed": "measures.Proposed",
        "known": "measures.Known",
        "context": "measures.Context",
        "company": "measures.Company",
        "passage": "reading.Passage",
        "pair_function": "measured.PairFunction",
    },
)
"""Measures by name."""


__getattr__, __dir__ = room(__name__)
