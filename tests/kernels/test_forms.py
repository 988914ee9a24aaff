"""Forms of words: the kernel against its twin over all of Unicode, and the meaning of each form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.features.tokens.templates import FORMS, parse
from linnaeus.kernels import reference
from linnaeus.kernels.reference.token_features import form_of
from linnaeus.text.buffers import pack

SPELLED = [
    before + kind + (str(size) if kind in ("prefix", "suffix") else "")
    for before in ("", "lower.", "zeros.", "lower.zeros.")
    for kind in FORMS
    for size in (1, 3)
]
ROWS = np.array([[*parse(form), salt] for salt, form in enumerate(dict.fromkeys(SPELLED))], np.int32)


@given(st.lists(st.one_of(st.text(max_size=9), st.from_regex(r"[A-Za-zÀ-ÿΑ-ω0-9٠-٩\-_.']{0,20}"))))
def test_keys_have_the_bits_of_the_twin(words):
    texts = pack([word.encode("utf-8", "surrogatepass") for word in words])
    ours = kernels.form_keys((texts.data, texts.offsets), ROWS, 2)
    assert ours.tobytes() == reference.form_keys((texts.data, texts.offsets), ROWS, 1).tobytes()


@given(st.lists(st.binary(max_size=12), max_size=5), st.integers(0, len(ROWS) - 1))
def test_texts_of_any_bytes_are_those_of_the_twin(words, row):
    texts = pack(words)
    ours = kernels.form_texts((texts.data, texts.offsets), ROWS[row : row + 1], 1)
    theirs = reference.form_texts((texts.data, texts.offsets), ROWS[row : row + 1], 1)
    assert [part.tobytes() for part in ours] == [part.tobytes() for part in theirs]


def test_values_are_looked_up():
    texts = pack([b"one", b"two", b"ones"])
    forms = np.array([[0, 0, 0, 1], [0, 3, 2, 2]], np.int32)
    keys = kernels.form_keys((texts.data, texts.offsets), forms, 1)
    slots = kernels.probe_pairs(np.array([keys[0, 0], keys[0, 1]]), np.array([7, 3], np.int32), 0)
    for form_ids in (kernels.form_ids, reference.form_ids):
        assert form_ids((texts.data, texts.offsets), forms, slots, 1).tolist() == [[7, 3], [-1, -1], [-1, 3]]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_many_words_have_the_same_keys_for_any_number_of_threads(threads):
    rng = np.random.default_rng(0)
    texts = pack([bytes(rng.integers(32, 127, rng.integers(0, 12), dtype=np.uint8)) for _ in range(3000)])
    ours = kernels.form_keys((texts.data, texts.offsets), ROWS[:9], threads)
    assert ours.tobytes() == kernels.form_keys((texts.data, texts.offsets), ROWS[:9], 1).tobytes()


MEANT = {
    "word": {"Straße": "Straße", "": ""},
    "lower": {"ÉCOLE": "école", "ΟΔΟΣ": "οδος"},
    "zeros": {"1990s": "0000s", "٣": "0"},
    "shape": {"McDonald's": "XxXxxxxx'x", "A_1-中": "X_d-o"},
    "short": {"McDonald's": "XxXx'x", "1990-91": "d-d", "...": "."},
    "prefix2": {"été": "ét", "a": None, "ab": "ab"},
    "suffix2": {"été": "té", "a": None, "中文字": "文字"},
    "caps": {"Dog": "first", "A": "first", "USA": "all", "iPhone": "mixed", "dog": None, "1-A": "mixed"},
    "digits": {"1990": "all", "2.5": "number", "A4": "some", "dog": None},
    "hyphen": {"well-known": "yes", "well": None},
    "here": {"dog": ""},
}


@pytest.mark.parametrize(("form", "word"), [(form, word) for form, words in MEANT.items() for word in words])
def test_what_each_form_means(form, word):
    assert form_of(word, parse(form)) == MEANT[form][word]


@pytest.mark.parametrize("row", [[4, 0, 0, 0], [0, 9, 0, 0], [0, 3, 0, 0], [0, 3, 65, 0], [0, 0, 1, 0], [0, -1, 0, 0]])
@pytest.mark.parametrize("form_keys", [kernels.form_keys, reference.form_keys])
def test_unknown_forms_are_refused(form_keys, row):
    with pytest.raises(ValueError, match="form"):
        form_keys((np.zeros(0, np.uint8), np.zeros(1, np.int64)), np.array([row], np.int32), 1)
