"""Explanations of predictions, and of what a model has learned.

    explain        value times weight of every feature, on the characters it came from; the second class; the flip
    weights        the features with the largest weights for each class
    models         what is explained: Linear (features, weights, bias, output space, class names), Local: a
                   nonlinear model around one row, how the scores change without each word; and RowSum, whose weights
                   depend on the row
    found          the features of one row, and where they stand in the text
    flip           the smallest set of words whose removal changes the prediction
    words          a text as words, and contributions word by word
    explanation    the result for every task: Explanation, Reason, Part, Spot, Flip, and its JSON form
    pages          the same for people: a page, and HTML

Exact for every linear model and for sums over a row: contributions and bias add up to the score. Others are explained
word by word, and the explanation is marked as approximate. This package knows no particular feature extractor: places,
values and names come from the `Fitted` object, and class scores from the output space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.explain.explain import explain as explain
from linnaeus.explain.models import local as local
from linnaeus.explain.models import row_sum as row_sum
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.explain.explain import Near as Near
    from linnaeus.explain.explain import as_row as as_row
    from linnaeus.explain.explanation import Explanation as Explanation
    from linnaeus.explain.explanation import Flip as Flip
    from linnaeus.explain.explanation import Neighbor as Neighbor
    from linnaeus.explain.explanation import Part as Part
    from linnaeus.explain.explanation import Reason as Reason
    from linnaeus.explain.explanation import Spot as Spot
    from linnaeus.explain.flip import Decide as Decide
    from linnaeus.explain.flip import Search as Search
    from linnaeus.explain.models import Linear as Linear
    from linnaeus.explain.models import Local as Local
    from linnaeus.explain.models import RowSum as RowSum
    from linnaeus.explain.pages import explanation_html as explanation_html
    from linnaeus.explain.pages import explanation_page as explanation_page
    from linnaeus.explain.pages import top_page as top_page
    from linnaeus.explain.weights import TopFeatures as TopFeatures
    from linnaeus.explain.weights import Weight as Weight
    from linnaeus.explain.weights import top_features as top_features


__getattr__, __dir__ = room(__name__)
