"""Feature extractors: they turn texts into rows of numbers, and can be combined: `Shape() | Affixes()`, `a * b`.

An extractor is a frozen dataclass of hyper-parameters (a `Block`). `fit(source)` returns a `Fitted` object, which is
frozen: `rows(source)` are the features, `names()` their names, `places(source)` their positions in the text, `state()`
manifest and tensors; `save` and `load` use a file. Shared code is in `base.py` and `common/`; `indexing/` maps terms to
columns.

To add an extractor: a file with the recipe (`learn`) and the fitted piece (`extract`, `locate`, `names`, `width`,
`state`, `from_state`), a row in `EXTRACTORS` (`table.py`), an import below and a row in `restore.RESTORERS`, an example
in the table of `tests/contracts/test_extractors.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.features.narrow import narrow as narrow
from linnaeus.features.restore import restore as restore
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.features.affixes import Affixes as Affixes
    from linnaeus.features.base import Block as Block
    from linnaeus.features.base import Fitted as Fitted
    from linnaeus.features.base import as_stream as as_stream
    from linnaeus.features.chars import Chars as Chars
    from linnaeus.features.chars import Subwords as Subwords
    from linnaeus.features.columns import Columns as Columns
    from linnaeus.features.conjunction import Conjunction as Conjunction
    from linnaeus.features.field import Field as Field
    from linnaeus.features.fourier import Fourier as Fourier
    from linnaeus.features.function import Function as Function
    from linnaeus.features.indexing.exact import Exact as Exact
    from linnaeus.features.indexing.exact import Given as Given
    from linnaeus.features.indexing.hashed import Hashed as Hashed
    from linnaeus.features.indexing.terse import terse as terse
    from linnaeus.features.letters import Letters as Letters
    from linnaeus.features.lexicon import Lexicon as Lexicon
    from linnaeus.features.narrow import shrink as shrink
    from linnaeus.features.nystrom import Nystrom as Nystrom
    from linnaeus.features.ready import Ready as Ready
    from linnaeus.features.reduced import Reduced as Reduced
    from linnaeus.features.refit import Counted as Counted
    from linnaeus.features.refit import count_rows as count_rows
    from linnaeus.features.restore import load as load
    from linnaeus.features.restore import save as save
    from linnaeus.features.selection import Chi2 as Chi2
    from linnaeus.features.selection import DocumentFrequency as DocumentFrequency
    from linnaeus.features.selection import MutualInformation as MutualInformation
    from linnaeus.features.selection import Selected as Selected
    from linnaeus.features.shape import Shape as Shape
    from linnaeus.features.table import EXTRACTORS as EXTRACTORS
    from linnaeus.features.table import SCORES as SCORES
    from linnaeus.features.union import Union as Union
    from linnaeus.features.unseen import Everyone as Everyone
    from linnaeus.features.unseen import as_unseen as as_unseen
    from linnaeus.features.values import BM25 as BM25
    from linnaeus.features.values import VALUES as VALUES
    from linnaeus.features.values import Binary as Binary
    from linnaeus.features.values import Contrast as Contrast
    from linnaeus.features.values import Count as Count
    from linnaeus.features.values import Log as Log
    from linnaeus.features.values import NaiveBayes as NaiveBayes
    from linnaeus.features.values import Sqrt as Sqrt
    from linnaeus.features.values import TfIdf as TfIdf
    from linnaeus.features.weighting import Weighted as Weighted
    from linnaeus.features.words import Skips as Skips
    from linnaeus.features.words import Words as Words


__getattr__, __dir__ = room(__name__)
