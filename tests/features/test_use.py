"""Fitted features in the hands of their users: copied, pickled, saved, given all sorts of columns."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import polars as pl
import pytest

from linnaeus import features
from linnaeus.errors import InputTypeError
from linnaeus.features import Function, Lexicon, Shape, Skips, Words


@pytest.mark.parametrize("recipe", [Words(ngrams=(1, 2)), Skips(), Lexicon(["a"]), Words() | Shape()], ids=repr)
def test_fitted_pieces_can_be_copied_and_pickled_also_after_use(recipe) -> None:
    fitted = recipe.fit(["a b c", "b d"])
    fitted.places(["a b"])
    for twin in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert twin.rows(["a b c"]).data.tolist() == fitted.rows(["a b c"]).data.tolist()


def test_columns_of_categories_are_texts() -> None:
    for column in (pl.Series(["a b", "c"], dtype=pl.Categorical), pl.Series(["a b", "c"], dtype=pl.Enum(["c", "a b"]))):
        assert Words().fit(column).names() == ["a", "b", "c"]


def test_only_fitted_features_are_saved(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match=r"not Words; call fit"):
        features.save(tmp_path / "a.lin", Words())
    features.save(tmp_path / "a.lin", Function(len, name="length").fit(["a"]))
    with pytest.raises(InputTypeError, match=r"functions\['length'\] is of type int"):
        features.load(tmp_path / "a.lin", functions={"length": 3})
