"""Spans point at the characters that made a feature, whatever normalization does to the text."""

from __future__ import annotations

import unicodedata
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.explain.models import check_sums, random_model

from linnaeus.explain import explain
from linnaeus.features import Chars, Hashed, Subwords, Words
from linnaeus.kernels.reference.terms import SPACES
from linnaeus.text import Analysis, Normalize

# Letters of many scripts, marks, what grows or shrinks when it is normalized, emoji of several parts, directions.
PIECES = [
    "Straße", "ﬁnal", "ﬃ", "İstanbul", "ŉ", "ΐ", "ΣΑΣ", "e\u0301", "é", "A\u030a", "①",
    "½", "㎏", "ｱﾞ", "ｶﾞｯ", "한국어", "\u1112\u1161\u11ab", "天气好", "ภาษาไทย", "हिन्दी",
    "ক্ষ", "שָׁלוֹם", "السلام", "مرحبا", "👩‍👩‍👧", "🇸🇪🇫🇮", "👍🏽", "don't", "3.14", "a_b",
    "-", "\u200f", "\u202e", "\u00ad", "\ufeff", " ", "\u00a0", "\u3000", "\n", "\t ",
    ".", "!", "ǅ", "ﷺ", "\u0345", "\U0001d54f", "ſ", "K",
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=12).map("".join)
FORMS = [
    Normalize(),
    Normalize(form="nfkc"),
    Normalize(form=None, case="lower"),
    Normalize(form="nfkc", case="lower", accents=False),
    Normalize(form=None, case=None),
]


def simple(piece: str, form: Normalize) -> bool:
    """Whether normalization goes character by character here, and looks at no neighbors."""
    return all(len(form(char)) == 1 for char in piece) and "".join(map(form, piece)) == form(piece)


@pytest.mark.parametrize("form", FORMS, ids=repr)
@given(text=texts)
@example(text="Die Straße, ﬁne ΣΑΣ e\u0301te\u0301")
@example(text="½e\u0301e\u0301-Straße")
def test_words_stand_where_their_spans_say(form, text):
    fitted = Words(ngrams=(1, 2), normalize=form, terms=Hashed(12, signed=False)).fit([])
    why = explain(text, random_model(fitted), search=None)
    check_sums(why)
    analysis = Analysis("words", form)
    for part in why.reason().parts():
        if len(part.terms) > 1:
            continue
        for spot in part.spots:
            piece = text[spot.start : spot.end]
            if simple(piece, form):
                found = [token.text for token in analysis.spans(piece)]
                assert part.name in (" ".join(found), *found) or part.name.replace(" ", "") in form(piece)
            for token in part.name.split(" "):
                assert token in form(piece) or "Σ" in piece.upper() or not simple(piece, form)


@pytest.mark.parametrize("form", FORMS, ids=repr)
@pytest.mark.parametrize("kind", [Chars, Subwords, partial(Chars, within="text")])
@given(text=texts)
def test_characters_stand_where_their_spans_say(form, kind, text):
    fitted = kind(1, 4, normalize=form, terms=Hashed(16, signed=False)).fit([])
    why = explain(text, random_model(fitted), search=None)
    check_sums(why)
    for part in why.reason().parts():
        for spot in part.spots:
            piece = SPACES.sub(" ", form(text[spot.start : spot.end]))
            letters = [term.strip(" <>") for term in part.terms]
            assert any(term in piece for term in letters) or "Σ" in piece.upper()


@given(text=texts)
def test_exact_terms_have_the_places_of_hashed_ones(text):
    block = {"ngrams": (1, 2), "normalize": Normalize(form="nfkc")}
    try:
        exact = Words(**block).fit([text])
    except ValueError:
        return  # no term at all
    hashed = Words(**block, terms=Hashed(20, signed=False)).fit([])
    spots = [
        {
            (part.name, spot.start, spot.end)
            for part in explain(text, random_model(f), search=None).reason().parts()
            for spot in part.spots
        }
        for f in (exact, hashed)
    ]
    assert spots[0] == spots[1]


@given(text=texts)
def test_places_of_words_never_cut_a_mark_from_its_letter(text):
    fitted = Words(terms=Hashed(12)).fit([])
    for part in explain(text, random_model(fitted), search=None).reason().parts():
        for spot in part.spots:
            after = text[spot.end : spot.end + 1]
            assert not (after and unicodedata.category(after) == "Mn" and unicodedata.combining(after))


def test_entities_are_spanned_whole():
    fitted = Words(normalize=Normalize(html=True)).fit(["café"])
    (part,) = explain("caf&eacute; ", random_model(fitted)).reason().parts()
    assert [(spot.start, spot.end) for spot in part.spots] == [(0, 11)]
