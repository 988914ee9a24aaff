"""Near-duplicates: what banding finds, against comparing all pairs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from linnaeus.audit.near import Near, between, within
from linnaeus.text import as_texts


def jaccard(a: str, b: str, k: int = 5) -> float:
    one, two = ({text[i : i + k] for i in range(max(1, len(text) - k + 1))} for text in (a, b))
    return len(one & two) / len(one | two)


def edited(rng: np.random.Generator, text: str, edits: int) -> str:
    letters = list(text)
    for at in rng.integers(0, len(letters), edits):
        letters[at] = rng.choice(list("abcdefghij"))
    return "".join(letters)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = np.random.default_rng(7)
    originals = ["".join(rng.choice(list("abcdefghij "), 120)).strip() or "x" for _ in range(60)]
    return originals + [edited(rng, text, edits) for text in originals for edits in (1, 2, 8)]


def test_almost_all_near_pairs_are_found_and_almost_only_they(texts):
    near = Near()
    pairs = within(near, near.sketch(as_texts(pa.array(texts))), np.arange(len(texts)))
    found = set(pairs.left.tolist())
    truth = {i: max(jaccard(texts[i], texts[j]) for j in range(i)) for i in range(1, len(texts))}
    sure = {i for i, best in truth.items() if best >= 0.9}
    assert len(found & sure) >= 0.97 * len(sure) > 0
    assert all(truth[i] > 0.6 for i in found)
    assert (pairs.right < pairs.left).all()


def test_similarities_are_close_to_exact_ones(texts):
    near = Near()
    pairs = within(near, near.sketch(as_texts(pa.array(texts))), np.arange(len(texts)))
    exact = [jaccard(texts[i], texts[j]) for i, j in zip(pairs.left, pairs.right, strict=True)]
    assert np.abs(pairs.similarity - exact).max() < 0.2


def test_between_two_sets_finds_what_is_near_in_the_other(texts):
    near = Near()
    train, test = near.sketch(as_texts(pa.array(texts[:60]))), near.sketch(as_texts(pa.array(texts[60:])))
    rows = np.arange(len(texts) - 60)
    pairs = between(near, test, rows, train, np.arange(60))
    assert set(pairs.left.tolist()) >= {i for i in rows.tolist() if jaccard(texts[60 + i], texts[i // 3]) > 0.92}
    assert (pairs.right == pairs.left // 3).all()


def test_a_crowd_of_like_texts_is_found_in_linear_work():
    near = Near()
    crowd = pa.array([f"the same long template with one number in it, which is {i}" for i in range(500)])
    pairs = within(near, near.sketch(as_texts(crowd)), np.arange(500))
    assert len(pairs) > 480


def test_nothing_is_near_nothing():
    near = Near()
    none = near.sketch(as_texts(pa.array([], pa.string())))
    rows = np.zeros(0, np.int64)
    assert len(within(near, none, rows)) == len(between(near, none, rows, none, rows)) == 0


def test_texts_of_a_slice_are_those_of_the_slice():
    array = pa.array(["zero", "one", "two", "three"]).slice(1, 2)
    texts = as_texts(array)
    assert len(texts) == 2
    assert bytes(texts.data[texts.offsets[0] : texts.offsets[-1]]) == b"onetwo"
