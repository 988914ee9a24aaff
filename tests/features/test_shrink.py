"""Smaller features: what is left behaves as if the other terms had never been there, and nothing of them is saved."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.features import Chars, Exact, Given, Shape, Words, load, restore, save
from linnaeus.features.base import Narrowed

TEXTS = ["a good film", "a bad film", "good words are good", "extraordinarily bad words"]


def columns(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def test_rows_have_the_length_of_what_is_left() -> None:
    fitted = Words(values="tfidf", length="l2").fit(TEXTS)
    kept = columns(*(list(fitted.names()).index(name) for name in ("bad", "film", "good")))
    small = fitted.shrink(kept)
    left = fitted.keep(kept).rows(TEXTS).to_scipy().toarray()
    lengths = np.linalg.norm(left, axis=1, keepdims=True)
    assert list(small.names()) == ["bad", "film", "good"]
    assert np.allclose(small.rows(TEXTS).to_scipy().toarray(), left / lengths, atol=1e-6)


def test_values_that_do_not_depend_on_the_row_stay_the_same_bits() -> None:
    fitted = (Words(ngrams=(1, 2)) | Chars(2, 3, values="binary") | Shape()).fit(TEXTS)
    kept = np.arange(0, fitted.width, 3, dtype=np.int32)
    assert fitted.shrink(kept).rows(TEXTS).data.tolist() == fitted.keep(kept).rows(TEXTS).data.tolist()


@pytest.mark.parametrize("length", [None, "l1", "l2"])
def test_nothing_of_the_others_is_saved(tmp_path, length) -> None:
    fitted = (Words(ngrams=(1, 2), values="tfidf", length=length) | Chars(3, 3, length=length)).fit(TEXTS)
    kept = columns(*(i for i, name in enumerate(fitted.names()) if "x" not in name))
    small = fitted.shrink(kept)
    save(tmp_path / "small.lin", small)
    assert b"extraordinarily" not in (tmp_path / "small.lin").read_bytes()
    assert load(tmp_path / "small.lin").rows(TEXTS).data.tolist() == small.rows(TEXTS).data.tolist()
    assert list(small.names()) == [name for name in fitted.names() if "x" not in name]


def test_where_values_need_all_counts_they_are_still_counted() -> None:
    for block in (Words(values="bm25"), Words(terms=Given(("good", "bad")), unknown=True)):
        fitted = block.fit(TEXTS)
        small = fitted.shrink(columns(0))
        assert isinstance(small, Narrowed)
        whole = fitted.rows(TEXTS).to_scipy().toarray()[:, :1]
        assert np.array_equal(small.rows(TEXTS).to_scipy().toarray(), whole)


def test_shrinking_to_nothing_and_twice() -> None:
    fitted = Words(values="tfidf", length="l2", terms=Exact(min_df=1)).fit(TEXTS)
    assert fitted.shrink(columns()).rows(TEXTS).shape == (4, 0)
    twice = fitted.shrink(columns(0, 2, 4)).shrink(columns(1, 2))
    assert list(twice.names()) == [fitted.names()[2], fitted.names()[4]]
    assert list(restore(twice.state()).names()) == list(twice.names())
