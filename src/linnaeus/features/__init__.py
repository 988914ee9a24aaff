"""Features: extractors that turn rows of text into rows of numbers, and compose: `Shape() | Affixes()`, `a * b`.

An extractor is a frozen dataclass of hyper-parameters (a `Block`). `fit(source)` learns what has to be learned and
gives a `Fitted` piece, which is frozen: `rows(source)` are the features, `names()` their names, `places(source)` the
characters they came from, `state()` manifest and tensors; `save` and `load` go through a file.

What extractors share is in `base.py` and `common/`; how terms find their columns, in `indexing/`.

To add an extractor: a file with the recipe (`learn`) and the fitted piece (`extract`, `locate`, `names`, `width`,
`state`, `from_state`), a row in `EXTRACTORS`, one in `restore.RESTORERS`, an example in the
table of `tests/contracts/test_extractors.py`.
"""

from linnaeus.features.affixes import Affixes
from linnaeus.features.base import Block, Fitted, as_stream
from linnaeus.features.chars import Chars, Subwords
from linnaeus.features.columns import Columns
from linnaeus.features.conjunction import Conjunction
from linnaeus.features.function import Function
from linnaeus.features.indexing.exact import Exact, Given
from linnaeus.features.indexing.hashed import Hashed
from linnaeus.features.lexicon import Lexicon
from linnaeus.features.narrow import narrow, shrink
from linnaeus.features.ready import Ready
from linnaeus.features.refit import Counted, count_rows
from linnaeus.features.restore import load, restore, save
from linnaeus.features.selection import SCORES, Chi2, DocumentFrequency, MutualInformation, Selected
from linnaeus.features.shape import Shape
from linnaeus.features.union import Union
from linnaeus.features.values import BM25, VALUES, Binary, Contrast, Count, Log, NaiveBayes, Sqrt, TfIdf
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

__all__ = [
    "BM25",
    "EXTRACTORS",
    "SCORES",
    "VALUES",
    "Affixes",
    "Binary",
    "Block",
    "Chars",
    "Chi2",
    "Columns",
    "Conjunction",
    "Contrast",
    "Count",
    "Counted",
    "DocumentFrequency",
    "Exact",
    "Fitted",
    "Function",
    "Given",
    "Hashed",
    "Lexicon",
    "Log",
    "MutualInformation",
    "NaiveBayes",
    "Ready",
    "Selected",
    "Shape",
    "Skips",
    "Sqrt",
    "Subwords",
    "TfIdf",
    "Union",
    "Weighted",
    "Words",
    "as_stream",
    "count_rows",
    "load",
    "narrow",
    "restore",
    "save",
    "shrink",
]
