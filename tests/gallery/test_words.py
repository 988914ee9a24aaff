"""The map of words: words of one kind lie together, and names do not cover each other."""

import numpy as np

from linnaeus.gallery import PICTURES
from linnaeus.gallery.words import KINDS, places, sentences, vectors
from linnaeus.render.svg import svg


def test_words_of_one_kind_lie_together():
    at, size = places(vectors()), len(KINDS["names"])
    centers = at.reshape(len(KINDS), size, 2).mean(axis=1)
    nearest = np.linalg.norm(at[:, None] - centers, axis=2).argmin(axis=1)
    assert (nearest == np.repeat(np.arange(len(KINDS)), size)).mean() >= 0.9


def test_the_picture_has_every_word_as_a_point_and_some_by_name():
    layers = PICTURES["word-map"]().panels[0].layers
    assert [layer.label for layer in layers] == list(KINDS)
    assert [len(layer.at) for layer in layers] == [len(words) for words in KINDS.values()]
    names = [name for layer in layers for name in layer.names if name]
    assert len(names) >= len(KINDS)
    assert all(f">{name}<" in svg(PICTURES["word-map"]()) for name in names)
    assert sentences() == sentences()
