"""Fingerprints and MinHash: kernel against twin, and both against what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference as twin

WORDS = st.sampled_from([b"The", b"cat ", b"\tSAT", b"on", b"the\n", b"mat", "Été".encode(), "中文".encode()])
TEXTS = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=40).map(str.encode),
    st.lists(WORDS, max_size=120).map(b" ".join),
    st.integers(0, 30).map(bytes),
)


def pack(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), offsets


def similarity(a: bytes, b: bytes, hashes: int = 512, shingle: int = 5) -> float:
    table = kernels.minhash(*pack([a, b]), hashes, shingle, 1).reshape(2, hashes)
    return float((table[0] == table[1]).mean())


@given(st.lists(TEXTS, max_size=20), st.integers(1, 8))
def test_fingerprints_have_the_bits_of_their_twins(texts, threads):
    data, offsets = pack(texts)
    for name in ("fingerprint", "fingerprint_folded"):
        ours, theirs = getattr(kernels, name)(data, offsets, threads), getattr(twin, name)(data, offsets, 1)
        assert ours.dtype == np.uint64
        assert ours.tolist() == theirs.tolist()


@given(st.lists(TEXTS, max_size=12), st.integers(1, 90), st.integers(1, 9), st.integers(1, 8))
def test_signatures_have_the_bits_of_their_twin(texts, hashes, shingle, threads):
    data, offsets = pack(texts)
    ours = kernels.minhash(data, offsets, hashes, shingle, threads)
    assert ours.dtype == np.uint32
    assert ours.tolist() == twin.minhash(data, offsets, hashes, shingle, 1).tolist()


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_many_texts_have_the_same_bits_for_any_number_of_threads(threads):
    data, offsets = pack([f"text number {i} of many {i % 7}".encode() for i in range(3000)])
    one, many = (kernels.minhash(data, offsets, 16, 4, count) for count in (1, threads))
    assert one.tobytes() == many.tobytes()


def test_test_vectors_never_change():
    data, offsets = pack([b"", b"linnaeus", b"Systema  Naturae", b"\xff\x00\x80"])
    assert kernels.fingerprint(data, offsets, 1).tolist() == VECTORS["fingerprint"]
    assert kernels.fingerprint_folded(data, offsets, 1).tolist() == VECTORS["fingerprint_folded"]
    assert kernels.minhash(data, offsets, 2, 5, 1).tolist() == VECTORS["minhash"]


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_fingerprints_differ_where_texts_do(a, b):
    one, two = kernels.fingerprint(*pack([a, b]), 1)
    assert (one == two) == (a == b)


@given(st.text("aBcD \t\n", max_size=30), st.text("aBcD \t\n", max_size=30))
def test_folded_fingerprints_forget_case_and_white_space(a, b):
    one, two = kernels.fingerprint_folded(*pack([a.encode(), b.encode()]), 1)
    assert (one == two) == (a.lower().split() == b.lower().split())


@pytest.mark.parametrize("length", [6, 30, 300])
def test_equal_numbers_estimate_the_jaccard_similarity_of_short_and_long_texts(length):
    rng = np.random.default_rng(length)
    a = "".join(rng.choice(list("abcdefgh"), length))
    b = a[: length // 2] + "".join(rng.choice(list("abcdefgh"), length // 2))
    sets = [{text[i : i + 3] for i in range(len(text) - 2)} for text in (a, b)]
    exact = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    assert similarity(a.encode(), b.encode(), 4096, 3) == pytest.approx(exact, abs=0.04)


def test_characters_not_bytes_make_a_shingle():
    # One shingle of five characters each: equal but for one character, they have nothing in common.
    assert similarity("яблок".encode(), "яблоф".encode()) == 0
    assert similarity("яблоко".encode(), "яблоку".encode()) == pytest.approx(1 / 3, abs=0.1)


def test_texts_without_characters_have_the_signature_of_nothing():
    table = kernels.minhash(*pack([b"", b" \n\t", b"a"]), 8, 5, 1).reshape(3, 8)
    assert (table[:2] == 0xFFFFFFFF).all()
    assert (table[2] != 0xFFFFFFFF).all()


def test_a_text_shorter_than_a_shingle_is_its_own_shingle():
    assert similarity(b"yes", b"YES ") == 1
    assert similarity(b"yes", b"yep") == 0


def test_no_texts_are_no_numbers():
    data, offsets = pack([])
    assert len(kernels.fingerprint(data, offsets, 4)) == len(kernels.minhash(data, offsets, 64, 5, 4)) == 0


@pytest.mark.native
def test_offsets_that_lead_out_of_the_text_are_refused():
    data = np.zeros(4, np.uint8)
    for offsets in ([0, 5], [-1, 2], [3, 1]):
        with pytest.raises(ValueError, match="offsets"):
            kernels.fingerprint(data, np.array(offsets, np.int64), 1)


@pytest.mark.native
@pytest.mark.parametrize("text", [b"a" * 50_000_000, b"one more word " * 3_500_000], ids=["one letter", "one phrase"])
def test_a_text_of_50_mb_is_sketched_in_little_memory(text):
    data, offsets = pack([text, text[:1000]])
    table = kernels.minhash(data, offsets, 64, 5, 2).reshape(2, 64)
    assert (table[0] == table[1]).mean() > 0.8


@pytest.mark.native
def test_a_million_texts_of_one_character():
    data, offsets = np.tile(np.frombuffer(b"abcd", np.uint8), 250_000), np.arange(1_000_001, dtype=np.int64)
    assert len(np.unique(kernels.fingerprint(data, offsets, 2))) == 4
    table = kernels.minhash(data, offsets, 4, 5, 2).reshape(-1, 4)
    assert (table[:4] == table[4:8]).all()


VECTORS = {
    "fingerprint": [13302701702526256038, 10730185779814238893, 16184422367836378876, 8955481502748150652],
    "fingerprint_folded": [13302701702526256038, 10730185779814238893, 16289524652734091629, 8955481502748150652],
    "minhash": [4294967295, 4294967295, 160514958, 1506219051, 1087163171, 851433302, 3965593200, 4189788239],
}
