"""The table of extractors: recipes, documentation and contract tests read it."""

from linnaeus.features.affixes import Affixes
from linnaeus.features.base import Block
from linnaeus.features.chars import Chars, Subwords
from linnaeus.features.columns import Columns
from linnaeus.features.conjunction import Conjunction
from linnaeus.features.function import Function
from linnaeus.features.lexicon import Lexicon
from linnaeus.features.ready import Ready
from linnaeus.features.selection import Selected
from linnaeus.features.shape import Shape
from linnaeus.features.union import Union
from linnaeus.features.weighting import Weighted
from linnaeus.features.words import Skips, Words

EXTRACTORS: dict[str, type[Block]] = {
    "affixes": Affixes,
    "chars": Chars,
    "columns": Columns,
    "conjunction": Conjunction,
    "function": Function,
    "lexicon": Lexicon,
    "ready": Ready,
    "selected": Selected,
    "shape": Shape,
    "skips": Skips,
    "subwords": Subwords,
    "union": Union,
    "weighted": Weighted,
    "words": Words,
}
"""Every extractor by name."""
