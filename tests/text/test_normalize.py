"""Normalization is what Python's Unicode functions say, step by step."""

from __future__ import annotations

import html
import unicodedata
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.errors import UsageError
from linnaeus.text import Normalize, as_texts
from linnaeus.text.buffers import as_arrow, pack, replace

TRICKY = (
    "aAbZ09_ '.,&;<>\t\n\r\x0b\x1c\x00\x85\xa0İıΣσςßẞſKéÉe\u0301\u0308’—…★♡❤\ufe0f\u200d"
    "東京都アイウไทยမြနหन्द가각ﬁ①٣٤Ǆ𐐀😀\ufffd\u2003\u3000"
)
ENTITIES = ["&amp;", "&eacute;", "&eacute", "&notit;", "&#233;", "&#xE9", "&#0;", "&#xD800;", "&x", "&;", "&fjlig;"]
TEXTS = (
    st.text(alphabet=TRICKY, max_size=60)
    | st.text(max_size=30)
    | st.lists(st.sampled_from([*ENTITIES, "a", " ", "É", "e\u0301", "Σ"]), max_size=12).map("".join)
)
SETTINGS = st.builds(
    Normalize,
    form=st.sampled_from([None, "nfc", "nfkc"]),
    case=st.sampled_from([None, "lower", "fold"]),
    accents=st.booleans(),
    html=st.booleans(),
)


def defined(settings: Normalize, text: str) -> str:
    """The steps as Python names them."""
    if settings.html:
        text = html.unescape(text)
    if settings.form:
        text = unicodedata.normalize(settings.form.upper(), text)
    if not settings.accents:
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return {None: str, "lower": str.lower, "fold": str.casefold}[settings.case](text)


@given(SETTINGS, TEXTS)
def test_one_text(settings, text):
    assert settings(text) == defined(settings, text)


@given(SETTINGS, TEXTS)
def test_the_way_back_gives_the_same_text(settings, text):
    aligned = settings.align(text)
    assert aligned.text == defined(settings, text)
    assert len(aligned.starts) == len(aligned.ends) == len(aligned.text)
    assert all(0 <= start < end <= len(text) for start, end in zip(aligned.starts, aligned.ends, strict=True))
    assert list(aligned.starts) == sorted(aligned.starts)


@given(SETTINGS, st.lists(TEXTS, max_size=5))
def test_many_texts_are_ready_for_the_kernels(settings, texts):
    """All but the case, which the kernels change."""
    before_case = Normalize(settings.form, None, settings.accents, settings.html)
    ready = as_arrow(settings.prepare(as_texts(pa.array(texts, pa.large_string())))).to_pylist()
    assert ready == [defined(before_case, text) for text in texts]


@pytest.mark.parametrize(
    ("settings", "text", "expected"),
    [
        (Normalize(), "e\u0301", "é"),
        (Normalize(form=None), "e\u0301", "e\u0301"),
        (Normalize(), "STRASSE straße", "strasse strasse"),
        (Normalize(case="lower"), "STRASSE straße", "strasse straße"),
        (Normalize(case="lower"), "ΟΔΥΣΣΕΥΣ ΣΑΣ", "οδυσσευς σας"),
        (Normalize(), "ΟΔΥΣΣΕΥΣ", "οδυσσευσ"),
        (Normalize(), "İ", "i\u0307"),
        (Normalize(case=None), "İ", "İ"),
        (Normalize("nfkc"), "ﬁ ① Ｗ", "fi 1 w"),
        (Normalize(accents=False), "Ångström, naïve", "angstrom, naive"),
        (Normalize(html=True), "caf&eacute; &#38;amp;", "café &amp;"),
        (Normalize(html=True), "R&D &notanentity", "r&d ¬anentity"),
        (Normalize(), "caf&eacute;", "caf&eacute;"),
    ],
)
def test_what_people_expect(settings, text, expected):
    assert settings(text) == expected
    assert settings.align(text).text == expected


@pytest.mark.parametrize(("field", "value"), [("form", "nfd"), ("form", "NFC"), ("case", "upper"), ("case", True)])
def test_settings_that_are_not_known(field, value):
    with pytest.raises(UsageError, match=f"{field}={value!r} is not known; choose"):
        Normalize(**{field: value})


def test_texts_that_do_not_change_are_not_copied():
    texts = as_texts(pa.array(["plain", "ascii", "déjà composed 東京"]))
    assert Normalize().prepare(texts) is texts


def test_arrow_text_is_read_where_it_lies():
    array = pa.array(["ab", "c", "déf"]).slice(1)
    texts = as_texts(array)
    assert texts.data.ctypes.data == array.buffers()[2].address
    assert texts.offsets.tolist() == [2, 3, 7]
    assert as_arrow(texts).to_pylist() == ["c", "déf"]


@pytest.mark.parametrize("array", [pa.array([], pa.string()), pa.array(["", ""]), pa.array([""], pa.large_string())])
def test_nothing_to_read(array):
    assert as_arrow(as_texts(array)).to_pylist() == array.to_pylist()


@given(st.lists(st.binary(max_size=9), max_size=6), st.dictionaries(st.integers(0, 5), st.binary(max_size=9)))
def test_some_texts_replaced(rows, changed):
    changed = {row: text for row, text in changed.items() if row < len(rows)}
    found = replace(pack(rows), changed)
    bounds = found.offsets.tolist()
    raw = found.data.tobytes()
    assert [raw[a:b] for a, b in pairwise(bounds)] == [changed.get(row, text) for row, text in enumerate(rows)]
