"""Sentences and token features of real sets: counts as the sets' own papers have them, scores as rows give them."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.data.sentence_reading import read_sentences
from linnaeus.data.tag_encodings import allowed, spans
from linnaeus.features.tokens import Pair, Part, Templates, Window


def read(real_data, name, part, **roles):
    path = real_data / name / f"{part}.parquet"
    if not path.exists():
        pytest.skip(f"no {name} here")
    return read_sentences(path, **roles)


def test_words_of_the_treebank_and_their_features(real_data):
    train, test = (read(real_data, "ud_english_ewt", part) for part in ("train", "test"))
    assert (len(train), train.count, test.count) == (12_544, 204_577, 25_094)
    templates = Templates((Window(("lower", "suffix3", "shape"), (-1, 0, 1)), Pair(Part("lower", -1), Part("lower"))))
    fitted = templates.fit(train)
    X = fitted.rows(test)
    assert X.shape == (25_094, fitted.width)
    assert X.counts().max() <= len(X)
    W = np.random.default_rng(0).normal(size=(fitted.width, 17)).astype(np.float32)
    assert np.allclose(fitted.scores(test, W), X.dot(W), atol=1e-4)


def test_entities_of_conll(real_data):
    test = read(real_data, "conll2003", "test", tags="ner")
    assert len(spans(test.tags, test.offsets)) == 5_648
    names = sorted(test.tags.unique().to_pylist())
    codes = np.array([names.index(tag) for tag in test.tags.to_pylist()])
    follows, first, _ = allowed(names, "bio")
    inner = np.setdiff1d(np.arange(1, test.count), test.offsets)
    assert follows[codes[inner - 1], codes[inner]].all()
    assert first[codes[test.offsets[:-1][np.diff(test.offsets) > 0]]].all()
