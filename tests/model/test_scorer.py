"""Compiled scorers: the bits of rows, product and sum, for any features that can be fused and any text."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.errors import DataError, InputTypeError
from linnaeus.features import Affixes, Chars, Exact, Hashed, Selected, Shape, Skips, Subwords, Weighted, Words
from linnaeus.features.weighting import BM25, TfIdf, Values
from linnaeus.model.scorer import compile_scorer
from linnaeus.text import Normalize

SUBLINEAR = {"values": TfIdf("log"), "length": "l2"}
RECIPES = {
    "counts": Words(),
    "words": Words(ngrams=(1, 2), values="tfidf", length="l2"),
    "default": Words(ngrams=(1, 2), **SUBLINEAR) | Chars(2, 5, **SUBLINEAR),
    "pairs only": Words(ngrams=(2, 3), values="binary"),
    "unknown": Words(ngrams=(1, 2), unknown=True, terms=Exact(max_terms=3), length="l1"),
    "skips": Skips(2, values="log"),
    "across": Chars(1, 3, within="text", values="sqrt", length="l2"),
    "subwords": Subwords(3, 4, values=BM25(), length="l2"),
    "hashed": Words(ngrams=(1, 3), terms=Hashed(6), values=BM25()) | Chars(2, 3, terms=Hashed(5, signed=False)),
    "selected": Selected(Words(values="tfidf", length="l2") | Chars(3, 3), by="df", k=4),
    "weighted": Weighted(Words() | Subwords(3, 4, terms=Hashed(6)), "tfidf", "l2"),
    "stems": Words(stem="english", ngrams=(1, 2)) | Words(),
    "entities": Words(normalize=Normalize(html=True, accents=False)) | Words(normalize=Normalize(case=None)),
    "compatible": Chars(1, 2, normalize=Normalize(form="nfkc", case="lower")),
    "scikit": Words(tokenizer="scikit") | Words(tokenizer="characters") | Words(tokenizer="bytes", ngrams=(1, 2)),
}
TRAIN = ["Good films, isn't it? so so good &amp; more", "the Straße é 3.14", "中文字 ภาษาไทย \U0001f600 a", "a b a b"]
TEXTS = st.lists(st.one_of(st.text(max_size=40), st.text("ab Gé\u0301&;'中ßΣ1.,", max_size=40)), max_size=5)


def compiled(recipe, k: int = 3):
    features = recipe.fit(TRAIN)
    rng = np.random.default_rng(k)
    W, b = rng.normal(size=(features.width, k)).astype(np.float32), rng.normal(size=k)
    return features, W, b, compile_scorer(features, {"W": W, "b": b})


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@given(texts=TEXTS)
def test_scores_have_the_bits_of_rows_and_product(recipe, texts) -> None:
    features, W, b, quick = compiled(recipe)
    wanted = features.rows(texts).dot(W) + b
    assert quick.scores(texts).tobytes() == wanted.tobytes()
    assert b"".join(quick.score(text).tobytes() for text in texts) == wanted.tobytes()


@pytest.mark.native
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 8, 16, 24, 32, 33, 77])
def test_any_number_of_classes_and_threads(k: int) -> None:
    features, W, b, quick = compiled(RECIPES["default"], k)
    rng = np.random.default_rng(0)
    words = [text for train in TRAIN for text in train.split()] + ["unseen", "", "\x00"]
    texts = [" ".join(rng.choice(words, rng.integers(0, 40))) for _ in range(600)]
    wanted = features.rows(texts).dot(W) + b
    for threads in (1, 2, 3, 8):
        with kernels.threads(threads):
            assert quick.scores(texts).tobytes() == wanted.tobytes()


@pytest.mark.native
@pytest.mark.parametrize("recipe", [RECIPES["default"], RECIPES["hashed"], RECIPES["across"]])
def test_a_megabyte_of_text(recipe) -> None:
    features, W, b, quick = compiled(recipe)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["good", "films", "isn't", "Straße", "中文"], 200_000)), "a" * 1_000_000, "good"]
    wanted = features.rows(texts).dot(W) + b
    assert np.array_equal(quick.scores(texts), wanted)
    assert np.array_equal([quick.score(text) for text in texts], wanted)


@pytest.mark.native
def test_terms_more_frequent_than_tables_reach() -> None:
    features, W, b, quick = compiled(Words(values=TfIdf("log")))
    texts = ["good " * 70_000, "good films"]
    wanted = features.rows(texts).dot(W) + b
    assert np.array_equal(quick.scores(texts), wanted)
    assert np.array_equal(quick.score(texts[0]), wanted[0])


def test_eight_threads_at_once() -> None:
    features, W, b, quick = compiled(RECIPES["default"])
    texts = [f"good films {i % 7} so so Straße the a b" * (1 + i % 3) for i in range(400)]
    wanted = features.rows(texts).dot(W) + b
    with ThreadPoolExecutor(8) as pool:
        assert np.array_equal(list(pool.map(quick.score, texts)), wanted)
        for found in pool.map(quick.scores, [texts[:30]] * 16):
            assert np.array_equal(found, wanted[:30])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_scores_the_same() -> None:
    _, _, _, quick = compiled(RECIPES["default"])
    before = quick.score(TRAIN[0]).tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if quick.score(TRAIN[0]).tobytes() == before else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert quick.score(TRAIN[0]).tobytes() == before


def test_a_pickled_scorer_scores_the_same() -> None:
    _, _, _, quick = compiled(RECIPES["default"])
    before = quick.scores(TRAIN).tobytes()
    assert pickle.loads(pickle.dumps(quick)).scores(TRAIN).tobytes() == before


class Own(Values):
    """Values nobody else knows."""

    def value(self, X, mean_length):
        del mean_length
        return X.data * 2, np.zeros(0, np.float32)


@pytest.mark.parametrize("recipe", [Shape(), Words() | Affixes(), Words() * Chars(), Words(values=Own())])
def test_other_features_have_rows(recipe) -> None:
    assert compile_scorer(recipe.fit(TRAIN), {"W": np.zeros((1, 1))}) is None


def test_without_bias() -> None:
    features = Words().fit(TRAIN)
    quick = compile_scorer(features, {"W": np.ones((features.width, 1))})
    assert quick.score("good films") == [2.0]


def test_what_is_no_text_is_said() -> None:
    _, _, _, quick = compiled(Words())
    with pytest.raises(InputTypeError, match="int was given where one text is wanted"):
        quick.score(3)
    with pytest.raises(DataError, match="half of a surrogate pair"):
        quick.score("good \ud800")
    with pytest.raises(InputTypeError, match="single string"):
        quick.scores("good")
    assert quick.scores([]).shape == (0, 3)
