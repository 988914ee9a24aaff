"""Explanations of predictions, and of what a model has learned.

    explain        value times weight of every feature, on the characters it came from; the second class; the flip
    top_features   the features with the largest weights for each class
    Linear         what is explained: features, weights, bias, output space, class names
    Local          a nonlinear model around one row: how the scores change without each word
    records        the results: Explanation, Reason, Part, Spot, Flip; as page, HTML and JSON

Exact for every linear model: contributions and bias add up to the score. Others are explained word by word, and the
explanation is marked as approximate. This package knows no particular feature extractor:
places, values and names come from the `Fitted` object, and class scores from the output space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.explain.explain import explain as explain
from linnaeus.explain.local import local as local
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.explain.explain import Near as Near
    from linnaeus.explain.explain import as_row as as_row
    from linnaeus.explain.fragment import explanation_html as explanation_html
    from linnaeus.explain.local import Local as Local
    from linnaeus.explain.model import Linear as Linear
    from linnaeus.explain.page import explanation_page as explanation_page
    from linnaeus.explain.page import top_page as top_page
    from linnaeus.explain.records import Explanation as Explanation
    from linnaeus.explain.records import Flip as Flip
    from linnaeus.explain.records import Neighbor as Neighbor
    from linnaeus.explain.records import Part as Part
    from linnaeus.explain.records import Reason as Reason
    from linnaeus.explain.records import Spot as Spot
    from linnaeus.explain.records import Table as Table
    from linnaeus.explain.trial import Decide as Decide
    from linnaeus.explain.trial import Search as Search
    from linnaeus.explain.weights import TopFeatures as TopFeatures
    from linnaeus.explain.weights import Weight as Weight
    from linnaeus.explain.weights import top_features as top_features


__getattr__, __dir__ = room(__name__)
