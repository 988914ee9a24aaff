"""Held-out rows as new ones: the same as features fitted without them, where weights do not depend on the fit."""

import numpy as np
import pytest

from linnaeus.features import Chars, Everyone, Exact, Given, Hashed, Weighted, Words, as_unseen

TEXTS = ["the good film", "a good long day", "the film was long", "zebras eat grass", "a day at the zoo", "good grass"]
HELD, REST = np.array([1, 3]), np.array([0, 2, 4, 5])

LEARNED = [
    Words(),
    Words(ngrams=(1, 2), values="binary", length="l2"),
    Words(ngrams=(1, 2), values="sqrt", length="l1"),
    Words(terms=Exact(min_df=2), values="binary", length="l2"),
    Words(terms=Exact(min_df=0.4), length="l2"),
    Chars(2, 4, length="l2"),
    Weighted(Words(), "binary", length="l2"),
    Words(values="binary", length="l2") | Chars(2, 3, length="l1") | Words(terms=Hashed(8), length="l2"),
]


def held(block):
    fitted, X = block.fit_rows(TEXTS)
    return fitted, as_unseen(block, fitted, X.take(HELD), Everyone.of(X))


@pytest.mark.parametrize("block", LEARNED, ids=str)
def test_rows_are_those_of_features_fitted_without_them(block):
    fitted, X = held(block)
    without = block.fit([TEXTS[i] for i in REST])
    wanted = without.rows([TEXTS[i] for i in HELD]).to_scipy().toarray()
    names = fitted.names()
    columns = {name: j for j, name in enumerate(without.names())}
    mine, dense = X.to_scipy().toarray(), np.zeros_like(wanted)
    blocks = [fitted] if not hasattr(fitted, "blocks") else list(fitted.blocks)
    if len(blocks) > 1:  # names may repeat across blocks: compare what each row holds
        np.testing.assert_allclose(np.sort(mine, axis=1)[:, -9:], np.sort(wanted, axis=1)[:, -9:], atol=1e-6)
        return
    for j, name in enumerate(names):
        if name in columns:
            dense[:, columns[name]] = mine[:, j]
        else:
            assert not mine[:, j].any()
    np.testing.assert_allclose(dense, wanted, atol=1e-6)


@pytest.mark.parametrize(
    "block",
    [Words(terms=Hashed(10), length="l2"), Words(terms=Given(["zebras", "good"]), length="l2"), Words(unknown=True)],
    ids=str,
)
def test_columns_that_were_not_learned_stay(block):
    fitted, X = block.fit_rows(TEXTS)
    rows = X.take(HELD)
    np.testing.assert_array_equal(as_unseen(block, fitted, rows, Everyone.of(X)).data, rows.data)


def test_a_row_that_nobody_knows_is_empty():
    block = Words(length="l2")
    fitted, X = block.fit_rows(["a b", "c d"])
    assert not as_unseen(block, fitted, X.take(np.array([1])), Everyone.of(X)).data.any()


def test_the_rows_given_are_not_changed():
    block = Words(length="l2")
    fitted, X = block.fit_rows(TEXTS)
    before = X.data.copy()
    as_unseen(block, fitted, X.take(HELD), Everyone.of(X))
    np.testing.assert_array_equal(X.data, before)
