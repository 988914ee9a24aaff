"""The smallest set of words whose removal flips the answer: found, pruned, proven."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.explain.models import random_model

from linnaeus.errors import UsageError
from linnaeus.explain import Linear, Search, explain
from linnaeus.explain.flip import without
from linnaeus.explain.words import words
from linnaeus.features import Chars, Words
from linnaeus.outputs import Binary, Multiclass

WORDS = [f"w{i}" for i in range(60)]


def weighted(weights: dict[str, float], bias: float = 0.0) -> Linear:
    features = Words().fit([" ".join(weights)])
    W = np.array([[weights[name]] for name in features.names()])
    return Linear(features, W, np.array([bias]), Binary(), ("no", "yes"))


def brute(text: str, model: Linear) -> int | None:
    """The size of the smallest set, by trying all."""
    spans, before = words(text), model.space.decode(model.scores([text]))[0]
    for size in range(1, len(spans) + 1):
        variants = [without(text, chosen) for chosen in combinations(spans, size)]
        if (model.space.decode(model.scores(variants)) != before).any():
            return size
    return None


@pytest.mark.parametrize("seed", range(12))
def test_few_words_are_proven_minimal(seed):
    rng = np.random.default_rng(seed)
    text = " ".join(rng.choice(WORDS[:12], 8))
    block = Words(ngrams=(1, 2), values="tfidf", length="l2") if seed % 2 else Chars(2, 3, length="l1")
    model = random_model(block.fit([" ".join(WORDS[:12]), text]), seed=seed)
    flip, size = explain(text, model).flip, brute(text, model)
    if size is None:
        assert flip is None
        return
    assert len(flip.words) == size
    assert flip.minimal
    assert flip.text == without(text, flip.words)
    assert flip.predicted == (model.classes[model.scores([flip.text])[0].argmax()],)


def test_the_word_that_decides():
    flip = explain("good and bad", weighted({"good": 2.0, "bad": -1.0})).flip
    assert flip.words == ((0, 4),)
    assert (flip.predicted, flip.minimal, flip.text) == (("no",), True, " and bad")


def test_removing_some_flips_though_removing_all_does_not():
    model = weighted({"good": 3.0, "bad": -2.0}, bias=0.5)
    flip = explain("good bad", model).flip
    assert flip.words == ((0, 4),)
    assert explain("", model).predicted == ("yes",)


def test_none_where_nothing_flips():
    assert explain("good fine", weighted({"good": 2.0, "fine": 1.0}, bias=1.0)).flip is None
    assert explain("", weighted({"good": 2.0})).flip is None


def test_greedy_sets_are_pruned_and_verified():
    rng = np.random.default_rng(1)
    weights = {word: float(rng.normal() + 0.4) for word in WORDS}
    model = weighted(weights)
    text = " ".join(WORDS)
    flip = explain(text, model, search=Search(most=2500)).flip
    values = sorted(weights.values(), reverse=True)
    total = sum(values)
    needed = next(i for i in range(len(values)) if total - sum(values[: i + 1]) <= 0) + 1
    assert len(flip.words) == needed  # of single words, greedy is optimal
    assert model.scores([flip.text])[0, 0] <= 0
    assert flip.scored <= 2500


def test_three_of_many_words_are_proven_by_all_pairs():
    weights = dict.fromkeys(WORDS, 0.0) | {"w0": 1.0, "w1": 1.0, "w2": 1.0, "w3": -0.5}
    flip = explain(" ".join(WORDS), weighted(weights)).flip
    assert (len(flip.words), flip.minimal) == (3, True)


@pytest.mark.parametrize("most", [1, 2, 3, 10, 100])
def test_work_is_bounded(most):
    text = " ".join(WORDS)
    model = weighted(dict.fromkeys(WORDS, 0.1))
    calls = []
    counted = Linear(model.features, model.W, model.b, model.space, model.classes)
    scores = counted.scores
    object.__setattr__(counted, "scores", lambda rows: calls.append(len(rows)) or scores(rows))
    flip = explain(text, counted, search=Search(most=most)).flip
    assert sum(calls) <= most + 1 + 60  # the row itself, and one last batch of pruning at most
    assert flip is None or not flip.minimal


def test_long_texts_are_searched_where_it_matters():
    text = " ".join(f"x{i}" for i in range(3000)) + " good"
    flip = explain(text, weighted({"good": 2.0}, bias=-1.0), search=Search(characters=1 << 20)).flip
    assert flip.words == ((len(text) - 4, len(text)),)


def test_texts_without_words_are_cut_at_white_space():
    features = Words(tokenizer="whitespace").fit(["!!! ???"])
    W = np.array([[2.0], [-1.0]])[np.argsort(np.argsort(list(features.names())))]
    model = Linear(features, W, np.zeros(1), Binary(), ("no", "yes"))
    why = explain("!!! ???", model)
    assert why.flip is not None


@pytest.mark.parametrize(
    ("text", "spans", "kept"),
    [
        ("a b c", [(2, 3)], "a c"),
        ("abc天def", [(3, 4)], "abc def"),
        ("天气好", [(1, 2)], "天 好"),
        ("a", [(0, 1)], ""),
        ("a, b", [(0, 1), (3, 4)], ", "),
        ("a b c", [(0, 1), (2, 3), (4, 5)], " "),
    ],
)
def test_texts_without_words(text, spans, kept):
    assert without(text, spans) == kept


def test_a_search_does_something():
    with pytest.raises(UsageError):
        Search(most=0)


def test_further_columns_stay_when_words_go():
    import pyarrow as pa

    from linnaeus.data.batch import Batch
    from linnaeus.features import Columns

    columns = {"country": pa.array(["se"])}
    row = Batch(pa.array(["good film"]), columns=columns)
    features = (Words() | Columns(categorical=("country",))).fit(row)
    W = np.zeros((features.width, 3))
    W[list(features.names()).index("good"), 0] = 2.0
    W[list(features.names()).index("country=se"), 1] = 1.0
    model = Linear(features, W, np.zeros(3), Multiclass(), ("a", "b", "c"))
    flip = explain(row, model).flip
    assert (flip.words, flip.predicted) == (((0, 4),), ("b",))
