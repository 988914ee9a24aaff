"""Features of the arcs of dependency trees, for parsers.

    templates.py   how a template is written; the lists that are usual
    table.py       ArcTable: templates with the columns they read; codes, scores, rows and names of arcs; Tree
    fitted.py      Arcs, the piece of a recipe; FittedArcs: the tables of both passes and of relations, and their state

`Arcs(...).fit(sentences)` gives a `FittedArcs`. To add an attribute that a tree gives: its name in
`templates.OF_TREES`, its numbers in `table._tree_numbers`; a link: `templates.LINKS` and `table.links_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.features.arcs.fitted import Arcs as Arcs
    from linnaeus.features.arcs.fitted import FittedArcs as FittedArcs
    from linnaeus.features.arcs.table import ArcCodes as ArcCodes
    from linnaeus.features.arcs.table import ArcTable as ArcTable
    from linnaeus.features.arcs.table import Tree as Tree

ARC_FEATURES = Table(__name__, {"arcs": "fitted.Arcs"})
"""The features of parsers."""

__getattr__, __dir__ = room(__name__)
