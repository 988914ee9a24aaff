"""Side by side and in pairs: Union, Conjunction, and fewer columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from linnaeus.data.batch import Batch
from linnaeus.errors import InputTypeError, UsageError
from linnaeus.features import Affixes, Columns, Conjunction, Function, Lexicon, Selected, Shape, Union, Weighted
from linnaeus.features import composition as conjunctions
from linnaeus.features.base import Narrowed
from linnaeus.types import Place


def test_unions_are_flat():
    a, b, c = Shape(), Affixes(), Lexicon(["x"])
    assert (a | b) | c == a | (b | c) == Union((a, b, c))
    assert (a | b | c).blocks == (a, b, c)


def test_a_union_is_its_blocks_side_by_side():
    texts = ["Good film", "bad", ""]
    a, b = Shape().fit(texts), Affixes().fit(texts)
    both = (Shape() | Affixes()).fit(texts)
    dense = [features.rows(texts).to_scipy().toarray() for features in (a, b, both)]
    assert np.array_equal(np.hstack(dense[:2]), dense[2])
    assert both.names() == [*a.names(), *b.names()]
    moved = [Place(p.column + a.width, p.start, p.end) for p in b.places(texts)[0]]
    assert both.places(texts)[0] == a.places(texts)[0] + moved


@pytest.mark.parametrize("make", [lambda: Union(()), lambda: Conjunction(Shape(), Shape(), min_df=0)])
def test_compositions_that_cannot_be_meant(make):
    with pytest.raises(UsageError):
        make()


@pytest.mark.parametrize("make", [lambda: Union((Shape(), 3)), lambda: Conjunction(Shape(), "x")])
def test_only_extractors_compose(make):
    with pytest.raises(InputTypeError):
        make()


@pytest.mark.parametrize("make", [lambda: Shape() | 3, lambda: Shape() * 2.5])
def test_operators_leave_other_types_alone(make):
    with pytest.raises(TypeError, match="unsupported operand"):
        make()


def test_too_many_columns_are_refused():
    class Wide:
        width = 2**31

    with pytest.raises(UsageError, match="columns"):
        type((Shape() | Shape()).fit(["x"]))((Wide(),))


def test_conjunction_is_the_product_of_all_pairs():
    rng = np.random.default_rng(0)
    words = ["ab", "cd", "ef", "gh"]
    texts = [" ".join(rng.choice(words, rng.integers(0, 6))) for _ in range(40)]
    a, b = Affixes((1,), ()), Affixes((), (1,))
    pairs, X = (a * b).fit_rows(texts)
    A, B = (block.fit_rows(texts)[1].to_scipy().toarray() for block in (a, b))
    full = np.einsum("ni,nj->nij", A, B).reshape(len(texts), -1)
    seen = full.any(axis=0)
    assert np.array_equal(X.to_scipy().toarray(), full[:, seen])
    left, right = a.fit(texts).names(), b.fit(texts).names()
    names = np.array([f"{i} & {j}" for i in left for j in right])
    assert pairs.names() == names[seen].tolist()


def test_conjunction_in_small_pieces_is_the_same(monkeypatch):
    texts = ["one two three", "", "four five", "six one", "two"] * 3
    block = Affixes() * Affixes()
    whole = block.fit_rows(texts)[1].to_scipy().toarray()
    monkeypatch.setattr(conjunctions, "PAIRS_AT_ONCE", 5)
    assert np.array_equal(block.fit_rows(texts)[1].to_scipy().toarray(), whole)


def test_pairs_counted_in_pieces_are_all_counted_and_few_counts_wait():
    rng = np.random.default_rng(0)
    pieces = [rng.integers(0, 10_000, rng.integers(0, 200)) for _ in range(300)]
    counted: list = []
    for piece in pieces:
        conjunctions._count(counted, piece)
        sizes = [len(keys) for keys, _ in counted]
        assert all(later * 2 < earlier for earlier, later in pairwise(sizes))
    keys, counts = np.unique(np.concatenate(pieces), return_counts=True)
    assert all(np.array_equal(a, b) for a, b in zip(conjunctions._sum(counted), (keys, counts), strict=True))


def test_conjunction_keeps_frequent_pairs_and_ignores_new_ones():
    block = Conjunction(Lexicon({"a": ["x"], "b": ["y"]}), Lexicon({"c": ["z"], "d": ["w"]}), min_df=2)
    fitted = block.fit(["x z", "x z", "y z", "x w"])
    assert fitted.names() == ["a & c"]
    assert fitted.rows(["y w", "y z", "x x z"]).to_scipy().toarray().tolist() == [[0], [0], [2]]


def test_places_of_a_pair_are_those_of_both():
    fitted = (Lexicon(["not"]) * Lexicon(["good"])).fit(["not good"])
    assert fitted.places(["is not very good", "good"]) == [[Place(0, 3, 6, 0.5), Place(0, 12, 16, 0.5)], []]


def xor_rows() -> Batch:
    """The four points of the plane's corners, and whether exactly one coordinate is 1."""
    points = {"x1": pa.array([0.0, 0.0, 1.0, 1.0]), "x2": pa.array([0.0, 1.0, 0.0, 1.0])}
    return Batch(labels=pa.array(["no", "yes", "yes", "no"]), columns=points)


def test_the_conjunction_makes_xor_separable():
    x1 = Function(lambda row: row["x1"], name="x1", of="row")
    x2 = Function(lambda row: row["x2"], name="x2", of="row")
    fitted, X = (x1 | x2 | x1 * x2).fit_rows(xor_rows())
    assert fitted.names() == ["x1", "x2", "x1 & x2"]
    truth = np.array([-1, 1, 1, -1])
    w, bias = np.array([1.0, 1.0, -2.0]), -0.5
    assert (truth * (X.dot(w) + bias) > 0).all()
    # Without the product no line does it: the two points of each class have the same midpoint.
    plain = X.to_scipy().toarray()[:, :2]
    assert np.array_equal(plain[truth > 0].mean(axis=0), plain[truth < 0].mean(axis=0))


def test_xor_with_standardized_columns():
    block = Columns(numeric=("x1", "x2")) | Columns(numeric=("x1",)) * Columns(numeric=("x2",))
    fitted, X = block.fit_rows(xor_rows())
    product = fitted.names().index("x1 & x2")
    assert X.to_scipy().toarray()[:, product].tolist() == [1, -1, -1, 1]


def test_nothing_learned_is_no_columns():
    empty = ["", "?"]
    rows = Batch(pa.array(empty), pa.array(["a", "b"]))
    for block in (Affixes(), Affixes() * Shape(), Weighted(Affixes(), "nb"), Selected(Affixes(), "mi", k=3)):
        fitted, X = block.fit_rows(rows)
        assert (fitted.width, list(fitted.names()), X.shape) == (0, [], (2, 0))
        assert fitted.places(["films"]) == [[]]


def test_fewer_columns_by_keeping_or_wrapping():
    texts = ["Good films", "bad FILMS 3", "x"]
    for block in (Shape(), Affixes(), Shape() | Affixes(), Affixes() * Shape(), Lexicon({"a": ["bad"], "b": ["x"]})):
        fitted = block.fit(texts)
        columns = np.arange(0, fitted.width, 2, dtype=np.int32)
        kept = fitted.keep(columns)
        full, part = (features.rows(texts).to_scipy().toarray() for features in (fitted, kept))
        assert np.array_equal(full[:, columns], part)
        assert list(kept.names()) == [fitted.names()[column] for column in columns]
        wrapped = Narrowed(fitted, columns)
        assert np.array_equal(wrapped.rows(texts).to_scipy().toarray(), part)
        assert wrapped.places(texts) == kept.places(texts)
        assert wrapped.keep(np.array([1], np.int32)).names() == [kept.names()[1]] if fitted.width > 2 else True
