"""Features of tokens: templates over a window of words, for taggers.

    templates.py   the forms of a word; Window, Pair, Templates: which forms at which places are features
    fitted.py      FittedTemplates: rows, scores, names, state; fit: the features that sentences have
    sources.py     columns made from files: Clusters, Gazetteer
    clustering.py  word clusters learned from unlabeled text

`Templates(items).fit(sentences)` gives a `FittedTemplates` with `width`, `rows(sentences)`, `scores(sentences, W)`,
`names()` and `state()`. To add a form: its kind in `kernels/reference/forms.py` and `kernels/native/forms.hpp`, and a
row in `templates.FORMS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.features.tokens.clustering import Grouping as Grouping
    from linnaeus.features.tokens.clustering import cut as cut
    from linnaeus.features.tokens.fitted import FittedTemplates as FittedTemplates
    from linnaeus.features.tokens.sources import SOURCES as SOURCES
    from linnaeus.features.tokens.sources import Clusters as Clusters
    from linnaeus.features.tokens.sources import Gazetteer as Gazetteer
    from linnaeus.features.tokens.templates import FORMS as FORMS
    from linnaeus.features.tokens.templates import ITEMS as ITEMS
    from linnaeus.features.tokens.templates import Pair as Pair
    from linnaeus.features.tokens.templates import Part as Part
    from linnaeus.features.tokens.templates import Templates as Templates
    from linnaeus.features.tokens.templates import Window as Window

TEMPLATES = Table(
    __name__,
    {
        "templates": "templates.Templates",
        "window": "templates.Window",
        "pair": "templates.Pair",
        "part": "templates.Part",
        "clusters": "sources.Clusters",
        "gazetteer": "sources.Gazetteer",
    },
)
"""The pieces of templates, and of the columns they look at."""

__getattr__, __dir__ = room(__name__)
