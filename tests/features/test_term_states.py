"""What a model holds of its terms: nothing that was discarded, the same bytes for any cut and any number of threads."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from linnaeus import kernels
from linnaeus.data.batch import Batch
from linnaeus.errors import ModelFileError
from linnaeus.features import Chars, Exact, Given, Hashed, Selected, Skips, Subwords, Words, restore
from linnaeus.types import State

TEXTS = ["the cat sat on the mat", "The Dog sat", "a cat, the cat & a dog", "", "Mäuse and cats; cats and mäuse", "dog"]


@pytest.mark.parametrize(
    "block",
    [
        Words(ngrams=(1, 2), terms=Exact(min_df=2)),
        Words(ngrams=(1, 3), terms=Exact(max_terms=3)),
        Chars(3, 6, terms=Exact(min_df=2)),
        Subwords(terms=Exact(min_df=2)),
        Selected(Words(ngrams=(1, 2)), "df", k=3),
        Words(terms=Hashed(8)),
        Words(ngrams=(1, 2), terms=Given(["hello world", "again"]), unknown=True),
    ],
    ids=repr,
)
def test_discarded_tokens_are_not_stored(block):
    texts = ["hello world hello world again"] * 3 + ["hello my password is zq7xsecret"]
    state = block.fit(texts).state()
    stored = b"".join(tensor.tobytes() for tensor in state.tensors.values()) + repr(state.manifest).encode()
    assert b"zq7" not in stored
    assert b"secre" not in stored
    # Short tokens lie in the probe table as numbers too: none of their bytes may.
    assert b"passwor" not in stored


@pytest.mark.parametrize(
    "block",
    [Words(), Words(ngrams=(1, 3)), Words(ngrams=(2, 2), terms=Exact(max_terms=5)), Chars(1, 4), Skips(2), Subwords(),
     Words(ngrams=(1, 2), terms=Hashed(6, keep_names=True))],
    ids=repr,
)  # fmt: skip
def test_states_have_the_same_bytes_for_any_cut(block):
    whole = Batch(pa.array(TEXTS))

    class Cut:
        def __init__(self, size):
            self.size = size

        def batches(self):
            return (whole.slice(at, min(self.size, len(TEXTS) - at)) for at in range(0, len(TEXTS), self.size))

    def content(state: State):
        return state.manifest, {name: tensor.tobytes() for name, tensor in state.tensors.items()}

    expected = content(block.fit(TEXTS).state())
    for size in range(1, len(TEXTS)):
        assert content(block.fit(Cut(size)).state()) == expected
    assert content(restore(block.fit(TEXTS).state()).state()) == expected


def damaged(name, change):
    state = Words(ngrams=(1, 3)).fit(TEXTS).state()
    return State(state.manifest, {**state.tensors, name: change(state.tensors[name].copy())})


def raised(tensor, at, value):
    tensor[at] = value
    return tensor


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("token_bytes", lambda t: t[:-1]),
        ("token_offsets", lambda t: t[::-1].copy()),
        ("token_offsets", lambda t: raised(t, 1, 0)),
        ("token_slots", lambda t: t[:-2]),
        ("token_slots", lambda t: np.full_like(t, 1)),
        ("columns", lambda t: raised(t, 0, 10**6)),
        ("columns", lambda t: t[:-1]),
        ("pair_slots", lambda t: np.zeros_like(t)),
        ("pair_slots", lambda t: t[:0]),
        ("pair_slots", lambda t: t.astype(np.int64)),
    ],
)
def test_damaged_vocabularies_are_refused(name, change):
    with pytest.raises(ModelFileError, match="damaged"):
        restore(damaged(name, change))


def test_terms_of_terms_without_end_are_refused():
    """A file may claim a term of a thousand words, each of which would be a name of its own."""
    state = Words(ngrams=(1, 2)).fit(["a a"]).state()
    keys = np.arange(1000, dtype=np.uint64) << np.uint64(32)
    slots = kernels.probe_pairs(keys, np.arange(1, 1001, dtype=np.int32), 1)
    deep = State({**state.manifest, "terms": 1001}, {**state.tensors, "pair_slots": slots})
    with pytest.raises(ModelFileError, match="damaged"):
        restore(deep)


@pytest.mark.parametrize(
    "change", [{"bits": 31}, {"signed": 1}, {"named": None}, {"grams": {}}, {"grams": {"unit": "x"}}]
)
def test_damaged_hashes_are_refused(change):
    state = Words(terms=Hashed(8, keep_names=True)).fit(TEXTS).state()
    with pytest.raises(ModelFileError, match="damaged"):
        restore(State({**state.manifest, **change}, state.tensors))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", np.array([300], np.int32)),
        ("columns", np.array([-1], np.int32)),
        ("columns", np.array([1, 1], np.int32)),
        ("terms.bytes", np.array([255], np.uint8)),
        ("terms.offsets", np.array([0, 2], np.int64)),
    ],
)
def test_damaged_names_are_refused(name, value):
    state = Words(terms=Hashed(8, keep_names=True)).fit(["a"]).state()
    with pytest.raises(ModelFileError, match="damaged"):
        restore(State(state.manifest, {**state.tensors, name: value}))


# Threads


@pytest.fixture(scope="module")
def generated() -> pa.Array:
    """2 MB, a piece of work for each of 8 threads: words as frequent as in a language, some outside ASCII or NFC."""
    rng = np.random.default_rng(5)
    letters = [*"etaoinshrdlucmfwypvbgkjqxz", "é", "e\u0301", "ß", "Σ", "東", "京", "👍"]
    words = ["".join(rng.choice(letters, rng.integers(1, 11))) for _ in range(30_000)]
    ranks = np.minimum(rng.zipf(1.2, 200_000) - 1, len(words) - 1)
    ends = np.cumsum(rng.integers(0, 150, 2_700))
    return pa.array([" ".join(words[r] for r in row) for row in np.split(ranks, ends[ends < len(ranks)])])


def fingerprint(block, texts) -> str:
    """A hash over the rows, the state and the first names."""
    fitted, X = block.fit_rows(texts)
    found = hashlib.sha256(repr((X.shape, fitted.state().manifest, list(fitted.names()[:99]))).encode())
    for array in (X.indptr, X.indices, X.data, *fitted.state().tensors.values()):
        found.update(str(array.dtype).encode() + array.tobytes())
    again = fitted.rows(texts)
    assert all(getattr(X, part).tobytes() == getattr(again, part).tobytes() for part in ("indptr", "indices", "data"))
    return found.hexdigest()


@pytest.mark.native
@pytest.mark.parametrize(
    "block",
    [
        Words(ngrams=(1, 2), values="tfidf", length="l2"),
        Words(ngrams=(1, 3), terms=Exact(min_df=3, max_terms=5_000), unknown=True),
        Words(ngrams=(1, 2), terms=Hashed(18)),
        Words(terms=Hashed(12, signed=False, keep_names=True), values="log", length="l1"),
        Chars(3, 5),
        Chars(2, 4, within="text", terms=Hashed(16)),
        Subwords(3, 4, terms=Exact(min_df=2)),
        Subwords(terms=Hashed(16, signed=False)),
        Skips(2),
        Skips(3, terms=Hashed(16)),
    ],
    ids=repr,
)
def test_threads_change_nothing(block, generated):
    found = set()
    for count in (1, 2, 3, 8):
        with kernels.threads(count):
            found.add(fingerprint(block, generated))
    assert len(found) == 1
