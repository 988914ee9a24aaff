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

from linnaeus.explain.explain import Near, as_row, explain
from linnaeus.explain.fragment import explanation_html
from linnaeus.explain.local import Local, local
from linnaeus.explain.model import Linear
from linnaeus.explain.page import explanation_page, top_page
from linnaeus.explain.records import Explanation, Flip, Neighbor, Part, Reason, Spot, Table
from linnaeus.explain.trial import Decide, Search
from linnaeus.explain.weights import TopFeatures, Weight, top_features

__all__ = [
    "Decide",
    "Explanation",
    "Flip",
    "Linear",
    "Local",
    "Near",
    "Neighbor",
    "Part",
    "Reason",
    "Search",
    "Spot",
    "Table",
    "TopFeatures",
    "Weight",
    "as_row",
    "explain",
    "explanation_html",
    "explanation_page",
    "local",
    "top_features",
    "top_page",
]
