"""Features of tokens: templates over a window of words, for taggers.

    forms.py      the forms of a word: itself, lowered, its shape, its affixes ...
    templates.py  Window, Pair, Templates: which forms at which places make features
    coding.py     sentences as numbers of distinct words
    learning.py   which features there are: fit
    fitted.py     FittedTemplates: rows, scores, names
    stored.py     its state
    sources.py    columns made from files: clusters.py (Clusters), gazetteer.py (Gazetteer); words.py, a list of words
    grouping.py   word clusters learned from unlabeled text

`Templates(items).fit(sentences)` gives a `FittedTemplates` with `width`, `rows(sentences)`, `scores(sentences, W)`,
`names()` and `state()`. To add a form: its kind in `kernels/reference/forms.py` and `kernels/native/forms.hpp`, and a
row in `forms.FORMS`.
"""

from __future__ import annotations

from linnaeus.features.tokens.clusters import Clusters
from linnaeus.features.tokens.fitted import FittedTemplates
from linnaeus.features.tokens.forms import FORMS
from linnaeus.features.tokens.gazetteer import Gazetteer
from linnaeus.features.tokens.sources import SOURCES
from linnaeus.features.tokens.templates import ITEMS, Pair, Part, Templates, Window

__all__ = [
    "FORMS",
    "ITEMS",
    "SOURCES",
    "Clusters",
    "FittedTemplates",
    "Gazetteer",
    "Pair",
    "Part",
    "Templates",
    "Window",
]
