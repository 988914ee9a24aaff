"""Templates over windows of tokens: what features there are, where, and what is stored."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.features.tokens import FittedTemplates, Pair, Part, Templates, Window
from linnaeus.types import State

WORDS = [["The", "old", "dog", "barked"], ["A", "dog"], [], ["dog"]]
RICH = Templates(
    (
        Window(("lower", "suffix2"), (-1, 0, 1)),
        Window(("caps", "shape")),
        Window(("word",), (0,), "pos"),
        Pair(Part("lower", -1), Part("lower")),
        Pair(Part("word", 0, "pos"), Part("short", 1)),
    )
)


@pytest.fixture
def sentences() -> Sentences:
    pos = [["DT", "JJ", None, "VB"], ["DT", "NN"], [], ["NN"]]
    return Sentences.from_lists(WORDS, columns={"pos": pos})


def written(fitted: FittedTemplates, sentences: Sentences) -> list[list[str]]:
    X, names = fitted.rows(sentences), fitted.names()
    return [[names[j] for j in X.indices[a:b]] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]


def test_a_token_has_the_features_that_its_window_says(sentences):
    rows = written(RICH.fit(sentences), sentences)
    assert rows[0] == [
        "lower[-1]=<s>",
        "lower[0]=the",
        "suffix2[0]=he",
        "lower[1]=old",
        "suffix2[1]=ld",
        "caps[0]=first",
        "shape[0]=Xxx",
        "pos[0]=DT",
        "lower[-1]=<s> & lower[0]=the",
        "pos[0]=DT & short[1]=x",
    ]
    assert "pos[0]=DT" not in rows[2]  # a null has no feature
    assert rows[6] == [
        "lower[-1]=<s>",
        "lower[0]=dog",
        "suffix2[0]=og",
        "lower[1]=</s>",
        "shape[0]=xxx",
        "pos[0]=NN",
        "lower[-1]=<s> & lower[0]=dog",
        "pos[0]=NN & short[1]=</s>",
    ]


def test_named_tells_column_and_name_of_one_token(sentences):
    fitted = RICH.fit(sentences)
    X, names = fitted.rows(sentences), fitted.names()
    for token in range(sentences.count):
        columns = X.indices[X.indptr[token] : X.indptr[token + 1]].tolist()
        assert fitted.named(sentences, token) == [(j, names[j]) for j in columns]
    with pytest.raises(UsageError, match="token 7"):
        fitted.named(sentences, 7)


def test_rare_features_have_no_column(sentences):
    fitted = Templates((Window(("lower",), (0, 1)),), min_count=2).fit(sentences)
    assert fitted.names() == ["lower[0]=dog", "lower[1]=</s>", "lower[1]=dog"]


def test_words_unknown_at_fit_keep_the_forms_that_are_known(sentences):
    fitted = Templates((Window(("lower", "suffix2")),)).fit(sentences)
    new = Sentences.from_lists([["HOT", "fog"]])
    assert written(fitted, new) == [[], ["suffix2[0]=og"]]


def test_scores_are_rows_times_weights(sentences):
    fitted = RICH.fit(sentences)
    W = np.random.default_rng(0).normal(size=(fitted.width, 5)).astype(np.float32)
    assert np.allclose(fitted.scores(sentences, W), fitted.rows(sentences).dot(W), atol=1e-5)
    alone = [fitted.scores(sentences.slice(i, i + 1), W) for i in range(4)]
    assert np.concatenate(alone).tobytes() == fitted.scores(sentences, W).tobytes()
    with pytest.raises(UsageError, match="float32"):
        fitted.scores(sentences, W.astype(np.float64))


def test_nothing_has_no_scores(sentences):
    fitted = RICH.fit(sentences)
    none = sentences.slice(2, 3)
    assert fitted.rows(none).shape == (0, fitted.width)
    assert fitted.scores(none, np.zeros((fitted.width, 3), np.float32)).shape == (0, 3)
    assert fitted.scores(sentences.slice(0, 0), np.zeros((fitted.width, 3), np.float32)).shape == (0, 3)


def test_stored_templates_are_the_same(sentences):
    fitted = RICH.fit(sentences)
    again = FittedTemplates.from_state(fitted.state())
    assert again.templates == RICH
    assert again.names() == fitted.names()
    assert (again.rows(sentences).indices == fitted.rows(sentences).indices).all()


def _tensors(name, change):
    def damage(state: State) -> State:
        return State(state.manifest, {**state.tensors, name: change(state.tensors[name].copy())})

    return damage


def _manifest(**changes):
    return lambda state: State({**state.manifest, **changes}, state.tensors)


def _put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    "damage",
    [
        _manifest(kind="words"),
        _manifest(items=[{"kind": "window", "forms": ["nothing"]}]),
        _manifest(items=[{"kind": "other"}]),
        _manifest(items=[3]),
        _manifest(items=[]),
        _manifest(min_count="2"),
        _tensors("first", _put(0, 99)),
        _tensors("first", _put(1, -1)),
        _tensors("first", lambda a: a[::-1].copy()),
        _tensors("second", _put(0, 99)),
        _tensors("second", lambda a: a[1:]),
        _tensors("bounds", _put(1, -3)),
        _tensors("bounds", lambda a: a[:-1]),
        _tensors("value_counts", _put(0, 99)),
        _tensors("value_counts", lambda a: a[:-1]),
        _tensors("values.bytes", _put(0, 255)),
        _tensors("values.offsets", lambda a: a.astype(np.float64)),
    ],
)
def test_a_damaged_state_is_refused(sentences, damage):
    state = RICH.fit(sentences).state()
    with pytest.raises(ModelFileError, match="damaged"):
        FittedTemplates.from_state(damage(state))


def test_what_cannot_be_meant_is_refused(sentences):
    with pytest.raises(UsageError, match="suffix9x"):
        Window(("suffix9x",))
    with pytest.raises(UsageError, match="templates"):
        Templates(())
    with pytest.raises(UsageError, match="min_count"):
        Templates(min_count=0)
    with pytest.raises(DataError, match=r"no column 'chunk'.*'pos'"):
        Templates((Window(("word",), (0,), "chunk"),)).fit(sentences)
    with pytest.raises(DataError, match="no token"):
        RICH.fit(sentences.slice(2, 3))
