"""Tokens and where they stand: the way over spans gives the tokens of the kernels, for every text and setting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.test_normalize import SETTINGS, TEXTS

from linnaeus.errors import InputTypeError, UsageError
from linnaeus.text import TOKENIZERS, Analysis, Normalize, Token, spans, tokens

PLAIN = Normalize(form=None, case=None)


def words(text: str, **settings) -> list[str]:
    return [token.text for token in Analysis(**settings).spans(text)]


@given(TEXTS, st.sampled_from(sorted(TOKENIZERS)), SETTINGS)
def test_spans_are_the_tokens_of_the_kernels(text, tokenizer, settings):
    found = spans(text, tokenizer, settings)
    (expected,) = tokens([text], tokenizer, settings)
    if tokenizer == "bytes":
        # A span knows the character that a byte belongs to; the bytes themselves are those of the normalized text.
        assert len(found) == len(expected)
        assert "".join(expected).encode("latin-1") == settings(text).encode()
    else:
        assert [token.text for token in found] == expected


@given(TEXTS, st.sampled_from(sorted(TOKENIZERS)), SETTINGS)
def test_spans_lie_in_the_text_in_order(text, tokenizer, settings):
    found = spans(text, tokenizer, settings)
    assert all(0 <= token.start < token.end <= len(text) for token in found)
    assert [token.start for token in found] == sorted(token.start for token in found)


def _words_of(found: list[Token], tokenizer: str) -> list[Token]:
    """Without the marks of "edges", which are not in the text."""
    return found[1:-1] if tokenizer == "edges" else found


@given(TEXTS, st.sampled_from(sorted(TOKENIZERS)), SETTINGS)
def test_what_stands_in_a_span_becomes_its_token(text, tokenizer, settings):
    """A span may hold more than its token: half of a ligature still stands on the whole of it."""
    for token in _words_of(spans(text, tokenizer, settings), tokenizer):
        alone = settings(text[token.start : token.end])
        assert token.text.replace("ς", "σ") in alone.replace("ς", "σ")  # alone, a sigma is never the last letter


@given(TEXTS, st.sampled_from(sorted(TOKENIZERS)))
def test_without_normalization_a_span_is_its_token(text, tokenizer):
    for token in _words_of(spans(text, tokenizer, PLAIN), tokenizer):
        assert text[token.start : token.end] == token.text


@given(st.lists(TEXTS, max_size=5), st.sampled_from(sorted(TOKENIZERS)))
def test_texts_do_not_meddle_with_each_other(texts, tokenizer):
    assert tokens(texts, tokenizer) == [tokens([text], tokenizer)[0] for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop, O’Neill's!", ["don't", "stop", "o’neill's"]),
        ("'quoted' rock 'n' roll", ["quoted", "rock", "n", "roll"]),
        ("3.14 1,000 1,000.50 .5 5. a.b", ["3.14", "1,000", "1,000.50", "5", "5", "a", "b"]),
        ("snake_case e-mail", ["snake_case", "e", "mail"]),
        ("I ❤ it 👍👍", ["i", "❤", "it", "👍", "👍"]),
        ("東京都に行く", ["東京", "京都", "都に", "に行", "行く"]),
        ("我爱你 我", ["我爱", "爱你", "我"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("안녕하세요 세계", ["안녕하세요", "세계"]),
        ("٣٫٥ ٣٤", ["٣", "٥", "٣٤"]),
        ("★♡ ♡", ["★", "♡", "♡"]),
        ("", []),
        (" \t\n.,!?", []),
    ],
)
def test_words_as_people_see_them(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        ("scikit", ["ab", "cd_", "é9"]),
        ("whitespace", ["ab-cd_", "x", "é9!"]),
        ("characters", list("ab-cd_ x é9!")),
    ],
)
def test_other_tokenizers(tokenizer, expected):
    assert words("ab-cd_ x é9!", tokenizer=tokenizer) == expected


def test_edges_stand_on_the_character_beside_them():
    assert spans(" (So, it's over) ", "edges") == [
        Token("\0", 2, 3),
        Token("so", 2, 4),
        Token("it's", 6, 10),
        Token("over", 11, 15),
        Token("\0", 14, 15),
    ]
    assert tokens(["?!", "", "One"], "edges") == [[], [], ["\0", "one", "\0"]]


def test_bytes_stand_on_their_character():
    assert [(token.start, token.end) for token in spans("aé", "bytes")] == [(0, 1), (1, 2), (1, 2)]
    assert tokens(["aé"], "bytes") == [["a", "Ã", "©"]]


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("Die Straße", Normalize(), [Token("die", 0, 3), Token("strasse", 4, 10)]),
        ("cafe\u0301 x", Normalize(), [Token("café", 0, 5), Token("x", 6, 7)]),
        ("İzmir x", Normalize(), [Token("i\u0307zmir", 0, 5), Token("x", 6, 7)]),
        ("ﬁn x", Normalize("nfkc"), [Token("fin", 0, 2), Token("x", 3, 4)]),
        ("ΣΑΣ x", Normalize(case="lower"), [Token("σας", 0, 3), Token("x", 4, 5)]),
        ("Caf&eacute;s x", Normalize(html=True), [Token("cafés", 0, 12), Token("x", 13, 14)]),
        ("a&amp;b", Normalize(html=True), [Token("a", 0, 1), Token("b", 6, 7)]),
        ("Ångström x", Normalize(accents=False), [Token("angstrom", 0, 8), Token("x", 9, 10)]),
        ("e\u0301 x", Normalize(form=None, accents=False), [Token("e", 0, 1), Token("x", 3, 4)]),
    ],
)
def test_spans_are_those_of_the_original(text, settings, expected):
    assert spans(text, normalize=settings) == expected


def test_half_a_surrogate_pair_counts_as_a_question_mark():
    assert spans("a\ud800b") == [Token("a", 0, 1), Token("b", 2, 3)]
    assert tokens(["a\ud800b"]) == [["a", "b"]]
    assert spans("a\ud800b", "whitespace") == [Token("a?b", 0, 3)]


def test_calls_that_cannot_be_meant():
    with pytest.raises(UsageError, match="tokenizer='word' is not known; choose one of words, scikit"):
        Analysis("word")
    with pytest.raises(InputTypeError, match=r"normalize takes a Normalize\(\.\.\.\)"):
        Analysis(normalize="nfc")
    with pytest.raises(InputTypeError, match="spans takes one text, not list"):
        spans(["a text"])
    with pytest.raises(InputTypeError, match=r"wrap it in a list: \[text\]"):
        tokens("a text")
    with pytest.raises(InputTypeError, match=r"texts\[1\] is of type int"):
        tokens(["a text", 1])


@given(SETTINGS, st.sampled_from(sorted(TOKENIZERS)))
def test_settings_survive_as_json(settings, tokenizer):
    analysis = Analysis(tokenizer, settings)
    assert Analysis.from_manifest(analysis.manifest()) == analysis
