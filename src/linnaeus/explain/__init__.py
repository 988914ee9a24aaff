"""Explanations: why a row is predicted as it is, and what a model has learned.

    explain        value times weight of every feature, on the characters it came from; the runner-up; what would flip
    top_features   the features with the largest weights for each class
    Linear         what is explained: features, weights, bias, output space, class names
    Local          a model that is not linear, as it looks from one row: what scores lose without each word
    records        what comes out: Explanation, Reason, Part, Spot, Flip; as page, HTML and JSON

Exact for every linear model: contributions and bias add up to the score. Others are explained word by word, and the
explanation says that it is approximate. Nothing here knows a family of extractors:
places, amounts and names are what a `Fitted` piece says of itself, and class scores what the output space says.
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
