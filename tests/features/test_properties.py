"""Any Unicode text: a row alone is the row among many, places lie inside, a state brings everything back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.features import Affixes, Lexicon, Selected, Shape, Weighted, restore

TEXTS = st.lists(st.text(max_size=30), min_size=1, max_size=6)
RECIPES = [
    Shape() | Affixes(),
    Lexicon({"a": 1.0, "b c": 2.0}) * Affixes((1,), (1,)),
    Weighted(Affixes(), "bm25", "l2"),
    Selected(Weighted(Affixes(), "tfidf", "l1"), "df", k=4),
]


def same(A, B) -> bool:
    return A.shape == B.shape and all(
        getattr(A, name).tobytes() == getattr(B, name).tobytes() for name in ("indptr", "indices", "data")
    )


@pytest.mark.parametrize("recipe", RECIPES, ids=["shape", "pairs", "bm25", "selected"])
@given(train=TEXTS, test=TEXTS)
def test_every_text_has_its_row(recipe, train, test):
    fitted, X = recipe.fit_rows(train)
    assert same(fitted.rows(train), X)
    Y = fitted.rows(test)
    for i, text in enumerate(test):
        assert same(fitted.rows([text]), Y.take(np.array([i])))
    for text, row in zip(test, fitted.places(test), strict=True):
        assert all(0 <= place.start < place.end <= len(text) for place in row)
    assert same(restore(fitted.state()).rows(test), Y)
