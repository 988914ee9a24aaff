"""Words, Chars, Subwords, Skips over exact, given and hashed terms."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from tests.text.test_normalize import TEXTS as TRICKY

from linnaeus import kernels
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.features import Chars, Exact, Given, Hashed, Selected, Skips, Subwords, Words, as_stream, restore
from linnaeus.features.terms.counting import count_terms
from linnaeus.features.terms.vocabulary import hash_columns, join_hashes
from linnaeus.kernels.hashes import hash_join
from linnaeus.kernels.reference.terms import hash_term
from linnaeus.text import Normalize
from linnaeus.types import Place

LOWER = Normalize(form=None, case="lower")
SCIKIT = {"tokenizer": "scikit", "normalize": LOWER}
TEXTS = ["the cat sat on the mat", "The Dog sat", "a cat, the cat & a dog", "", "Mäuse and cats; cats and mäuse", "dog"]
RANDOM = st.lists(st.text(alphabet="abAB é_9.'\t東京", max_size=30), min_size=1, max_size=8)


def dense(X) -> list[list[float]]:
    return X.to_scipy().toarray().tolist()


def ours_and_scikits(texts, block, **settings):
    """Names and counts of both, or that both find nothing."""
    peer = CountVectorizer(**settings)
    try:
        expected = peer.fit_transform(texts).toarray().tolist()
    except ValueError:
        with pytest.raises((DataError, UsageError)):
            block.fit(texts)
        return
    fitted, X = block.fit_rows(texts)
    assert list(fitted.names()) == peer.get_feature_names_out().tolist()
    assert dense(X) == expected
    assert dense(fitted.rows(TEXTS)) == peer.transform(TEXTS).toarray().tolist()


# As scikit-learn


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("bounds", [{}, {"min_df": 2}, {"max_df": 2}, {"min_df": 0.3, "max_df": 0.7}, {"max_df": 0.5}])
@given(texts=RANDOM)
@settings(max_examples=15)
def test_document_frequencies_as_scikit_learn(texts, ngrams, bounds):
    for rows in (TEXTS, texts):
        ours_and_scikits(rows, Words(ngrams=ngrams, terms=Exact(**bounds), **SCIKIT), ngram_range=ngrams, **bounds)


@given(RANDOM)
def test_characters_as_scikit_learn(texts):
    for sizes in ((1, 1), (2, 3), (3, 5)):
        ours_and_scikits(texts, Chars(*sizes, normalize=LOWER), ngram_range=sizes, analyzer="char_wb")
        ours_and_scikits(texts, Chars(*sizes, within="text", normalize=LOWER), ngram_range=sizes, analyzer="char")


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
@given(texts=RANDOM)
@settings(max_examples=30)
def test_the_most_frequent_terms_and_among_equals_the_first_by_code_point(most, texts):
    """scikit-learn breaks ties by the memory of the machine; ours are broken by name."""
    block = Words(ngrams=(1, 2), terms=Exact(max_terms=most), **SCIKIT)
    for rows in (TEXTS, texts):
        peer = CountVectorizer(ngram_range=(1, 2))
        try:
            total = np.asarray(peer.fit_transform(rows).sum(axis=0)).ravel()
        except ValueError:
            continue
        names = peer.get_feature_names_out().tolist()
        kept = sorted(sorted(range(len(names)), key=lambda i: (-total[i], names[i]))[:most])
        assert list(block.fit(rows).names()) == [names[i] for i in kept]


def test_tfidf_as_scikit_learn():
    fitted, X = Words(ngrams=(1, 2), values="tfidf", length="l2", **SCIKIT).fit_rows(TEXTS)
    peer = TfidfVectorizer(ngram_range=(1, 2))
    assert np.abs(X.to_scipy().toarray() - peer.fit_transform(TEXTS).toarray()).max() < 1e-6
    assert np.abs(fitted.rows(["cat dog"]).to_scipy().toarray() - peer.transform(["cat dog"]).toarray()).max() < 1e-6


# Which terms


def test_columns_are_in_the_order_of_code_points():
    assert Words(ngrams=(1, 2), normalize=Normalize(case=None)).fit(["b a", "é Z", "b"]).names() == [
        "Z", "a", "b", "b a", "é", "é Z",
    ]  # fmt: skip


def test_given_terms_keep_their_order_and_case():
    block = Words(ngrams=(1, 2), terms=Given(["York", "New York", "Ohio"]), normalize=Normalize(case=None))
    fitted = block.fit(["nothing is learned from this"])
    assert fitted.names() == ["York", "New York", "Ohio"]
    assert dense(fitted.rows(["New York, York", "new york", "Ohio York"])) == [[2, 1, 0], [0, 0, 0], [1, 0, 1]]


def test_given_characters_and_skips():
    assert dense(Chars(2, 3, terms=Given([" th", "he"])).fit(["x"]).rows(["the theme"])) == [[2, 2]]
    fitted = Skips(2, terms=Given(["not _ good"])).fit(["x"])
    assert dense(fitted.rows(["not very good", "not very very good", "not good"])) == [[1], [1], [0]]


def test_unknown_words_have_a_column():
    fitted, X = Words(terms=Exact(min_df=2), unknown=True).fit_rows(["a b", "a c", "d d"])
    assert fitted.names() == ["a", "<unknown>"]
    assert dense(X) == [[1, 1], [1, 1], [0, 2]]
    assert fitted.places(["a z"]) == [[Place(0, 0, 1), Place(1, 2, 3)]]
    assert list(fitted.names()[-1:]) == ["<unknown>"]


def test_subwords_are_fasttexts():
    assert Subwords(3, 4).fit(["Hi you"]).names() == [
        "<hi",
        "<hi>",
        "<yo",
        "<you",
        "<you>",
        "hi>",
        "ou>",
        "you",
        "you>",
    ]


def test_skips_leave_words_out():
    fitted, X = Skips(1).fit_rows(["not a good one", "not good"])
    assert fitted.names() == ["a _ one", "not _ good"]
    assert dense(X) == [[1, 1], [0, 0]]
    assert fitted.places(["is not so good"])[0] == [Place(1, 3, 14)]


def test_places_bring_back_the_terms():
    fitted = Words(ngrams=(1, 2)).fit(["Die große Straße"])
    text = "DIE GROSSE STRASSE"
    found = {fitted.names()[place.column]: text[place.start : place.end] for place in fitted.places([text])[0]}
    assert found == {name: name.upper() for name in ("die", "grosse", "strasse", "die grosse", "grosse strasse")}


@pytest.mark.parametrize(
    "block",
    [
        Words(ngrams=(1, 3)),
        Words(ngrams=(2, 2), normalize=Normalize("nfkc", "lower", accents=False, html=True)),
        Words(ngrams=(1, 2), terms=Exact(max_terms=4), unknown=True),
        Words(tokenizer="bytes", ngrams=(1, 2)),
        Words(tokenizer="scikit", stem="english"),
        Skips(2),
        Chars(1, 4),
        Chars(2, 3, tokenizer="words", terms=Exact(max_terms=6), unknown=True),
        Chars(1, 3, within="text", normalize=Normalize(case="lower")),
        Subwords(2, 4),
    ],
    ids=repr,
)
@given(train=st.lists(TRICKY, min_size=1, max_size=4), test=st.lists(TRICKY, max_size=3))
@settings(max_examples=60)
def test_there_is_a_place_for_every_count(block, train, test):
    try:
        fitted = block.fit(train)
    except DataError:
        return
    X = fitted.rows(test + train).to_scipy().toarray()
    for counts, places in zip(X, fitted.places(test + train), strict=True):
        found = np.bincount([place.column for place in places], minlength=fitted.width)
        assert found.tolist() == counts.tolist()


# Hashed


def test_a_column_by_hash():
    fitted = Words(ngrams=(1, 2), terms=Hashed(10, signed=False)).fit([])
    X = fitted.rows(["good film good"])
    expected = np.zeros(1 << 10)
    for term in ((b"good",), (b"film",), (b"good",), (b"good", b"film"), (b"film", b"good")):
        expected[hash_term(term, fitted.grams.plan) & 1023] += 1
    assert dense(X) == [expected.tolist()]
    assert X.shape == (1, 1024)
    assert fitted.names()[7] == "#7"
    assert fitted.state().tensors == {}


def test_signs_come_from_the_topmost_bit():
    words = [f"w{i}" for i in range(200)]
    fitted = Words(terms=Hashed(24)).fit([])
    for word in words:
        value = kernels.hash_bytes(word.encode())
        X = fitted.rows([word])
        assert X.indices.tolist() == [value & ((1 << 24) - 1)]
        assert X.data.tolist() == [-1 if value >> 63 else 1]
    signs = fitted.rows(words).data
    assert 60 < (signs > 0).sum() < 140


def test_names_of_hashed_terms_and_their_collisions():
    texts = ["one two three four five six seven eight nine ten eleven twelve"]
    fitted = Words(ngrams=(1, 2), terms=Hashed(3, keep_names=True)).fit(texts)
    exact = Words(ngrams=(1, 2)).fit(texts)
    by_column: dict[int, list[str]] = {}
    for name in exact.names():
        term = tuple(token.encode() for token in name.split(" "))
        by_column.setdefault(hash_term(term, fitted.grams.plan) & 7, []).append(name)
    assert fitted.names() == [" | ".join(by_column.get(column, [f"#{column}"])) for column in range(8)]
    assert fitted.collisions() == sum(len(names) for names in by_column.values() if len(names) > 1) > 0
    assert Words(terms=Hashed(28, keep_names=True)).fit(texts).collisions() == 0


@pytest.mark.parametrize("block", [Words(ngrams=(1, 3)), Skips(2), Chars(2, 3), Subwords(), Words(ngrams=(2, 2))])
def test_the_hash_of_many_terms_is_that_of_each(block):
    seen = count_terms(block.grams(), as_stream(TEXTS), lambda _n: 1)
    vocabulary = seen.vocabulary(seen.columns(seen.wanted))
    names = block.fit(TEXTS).names()
    split = block.grams().unit in ("words", "skips")
    terms = [tuple(t.encode() for t in n.split(block.grams().joint)) if split else (n.encode(),) for n in names]
    found = hash_columns(vocabulary, isinstance(block, Skips)).tolist()
    assert found == [hash_term(term, block.grams().plan) for term in terms]


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), min_size=1, max_size=20))
def test_joining_many_hashes(pairs):
    a, b = (np.array(side, np.uint64) for side in zip(*pairs, strict=True))
    assert join_hashes(a, b).tolist() == [hash_join(*pair) for pair in pairs]


def test_texts_without_a_token_have_no_names():
    fitted = Words(terms=Hashed(4, keep_names=True)).fit(["", "?"])
    assert fitted.names() == [f"#{i}" for i in range(16)]
    assert fitted.collisions() == 0
    assert restore(fitted.state()).names() == fitted.names()


# Names


def test_names_read_like_a_list():
    names = Words(unknown=True).fit(["d c b a"]).names()
    assert names == ["a", "b", "c", "d", "<unknown>"]
    assert names != ["a"]
    assert names != "abcd"
    assert (names[0], names[-1], names[np.int64(2)], names[1:3], names[::-2]) == (
        "a", "<unknown>", "c", ["b", "c"], ["<unknown>", "c", "a"],
    )  # fmt: skip
    assert repr(names) == "['a', 'b', 'c', 'd', '<unknown>']"
    assert "d" in names
    assert names.index("d") == 3
    with pytest.raises(IndexError, match="no column 5 among 5"):
        names[5]
    assert repr(Words(terms=Hashed(12)).fit([]).names()).endswith("'#999', ... 3,096 more]")


def test_single_bytes_have_readable_names():
    names = Words(tokenizer="bytes", ngrams=(1, 2)).fit(["é!"]).names()
    assert names == ["!", "\\xa9", "\\xa9 !", "\\xc3", "\\xc3 \\xa9"]


def test_names_of_a_union_and_of_a_selection():
    fitted = (Words() | Words(terms=Hashed(2)) | Words(ngrams=(2, 2))).fit(["a b"])
    assert fitted.names() == ["a", "b", "#0", "#1", "#2", "#3", "a b"]
    assert fitted.names()[1:4] == ["b", "#0", "#1"]
    assert Selected(Words(ngrams=(1, 2)), "df", k=2).fit(["a b", "a", "b"]).names() == ["a", "b"]


# Sentences


@pytest.mark.parametrize(
    ("make", "kind", "sentence"),
    [
        (lambda: Exact(min_df="2"), InputTypeError, "min_df must be a number of texts or a share of them, not '2'"),
        (lambda: Exact(max_df=True), InputTypeError, "max_df must be a number"),
        (lambda: Exact(min_df=-1), UsageError, "min_df=-1 is neither a whole number of texts nor a share"),
        (lambda: Exact(max_df=1.5), UsageError, r"max_df=1\.5 is neither"),
        (lambda: Exact(max_terms=0), UsageError, "max_terms=0 would keep no term"),
        (lambda: Given("word"), InputTypeError, "Given takes a list of terms, not one string"),
        (lambda: Given([]), UsageError, "at least one term"),
        (lambda: Given(["a", ""]), UsageError, "none of them empty"),
        (lambda: Given(["a", 3]), UsageError, "Given takes at least one term"),
        (lambda: Given(["a", "b", "a"]), UsageError, "Given has the term 'a' twice"),
        (lambda: Words(terms=Given(["a b c"])).fit(["x"]), UsageError, "Given has 'a b c', longer than n-grams of 1"),
        (lambda: Hashed(0), UsageError, "bits=0 is out of range"),
        (lambda: Hashed(31), UsageError, "from 1 to 30"),
        (lambda: Words(terms=Hashed(8), unknown=True), UsageError, "Hashed terms have no unknown tokens"),
        (lambda: Words(ngrams=(2, 2), unknown=True), UsageError, r"let n-grams begin at 1"),
        (lambda: Skips(unknown=True), UsageError, "let n-grams begin at 1"),
        (lambda: Words(terms=Hashed(8)).fit([]).collisions(), UsageError, r"Hashed\(keep_names=True\)"),
        (lambda: Words(terms="hashed"), InputTypeError, r"terms takes Exact\(\.\.\.\), Given"),
        (lambda: Words(values="cube"), UsageError, "values='cube' is not known"),
        (lambda: Words(length="l3"), UsageError, "length='l3' is not known"),
        (lambda: Words(ngrams=2), InputTypeError, "ngrams takes two numbers"),
        (lambda: Words(ngrams=(1, 2, 3)), InputTypeError, "ngrams takes two numbers"),
        (lambda: Words(ngrams=(1, 2.5)), InputTypeError, "ngrams takes two whole numbers"),
        (lambda: Words(ngrams=(2, 1)), UsageError, "not 2 to 1"),
        (lambda: Words(ngrams=(0, 1)), UsageError, "not 0 to 1"),
        (lambda: Words(ngrams=(1, 65)), UsageError, "must have 1 to 64 units"),
        (lambda: Words(tokenizer="word"), UsageError, "tokenizer='word' is not known"),
        (lambda: Words(stem="klingon"), UsageError, "stem='klingon'"),
        (lambda: Skips(0), UsageError, "must skip 1 to 64 words, not 0"),
        (lambda: Chars(3, 2), UsageError, "not 3 to 2"),
        (lambda: Chars("3", 5), InputTypeError, "Chars takes two whole numbers"),
        (lambda: Chars(within="lines"), UsageError, "within='lines' is not known"),
        (lambda: Chars(tokenizer="bytes"), UsageError, "Character n-grams need words"),
        (lambda: Subwords(tokenizer="characters"), UsageError, "Character n-grams need words"),
        (lambda: Words().fit("a single string"), InputTypeError, r"A single string was given.*\[text\]"),
        (lambda: Words().fit(["a"]).rows("a"), InputTypeError, "A single string was given"),
        (lambda: Words().fit([]), DataError, "There are no texts to learn a vocabulary from"),
        (lambda: Words().fit(["", "!"]), DataError, "None of the 2 texts has a term"),
        (lambda: Words(ngrams=(2, 2)).fit(["a", "b"]), DataError, "None of the 2 texts has a term"),
        (lambda: Words(terms=Exact(min_df=2)).fit(["a", "b"]), DataError, "None of 2 terms passes min_df and max_df"),
        (
            lambda: Words(ngrams=(2, 2), terms=Exact(min_df=2)).fit(["a b c", "c d"]),
            DataError,
            "No term passes min_df and max_df in 2 texts",
        ),
        (lambda: Words(terms=Exact(min_df=3, max_df=0.5)).fit(["a", "b"]), UsageError, "max_df=0.5 is below min_df=3"),
        (lambda: Words().fit(Batch(labels=pa.array(["x"]))), DataError, "need texts, but the rows have none"),
        (lambda: Words(values="nb").fit(["a"]), DataError, "NaiveBayes needs labels"),
    ],
)  # fmt: skip
def test_every_mistake_has_its_sentence(make, kind, sentence):
    with pytest.raises(kind, match=sentence):
        make()


def test_pairs_with_the_edges_of_a_text():
    words = Words(ngrams=(1, 2), tokenizer="edges").fit(["How so?", "so"])
    assert words.names() == ["^ how", "^ so", "how", "how so", "so", "so $"]
    assert words.rows(["so, how"]).to_scipy().toarray().tolist() == [[0, 1, 1, 0, 1, 0]]
    given = Words(ngrams=(1, 2), tokenizer="edges", terms=Given(["^ so", "so $", "so"])).fit([])
    assert given.rows(["so", "so it is"]).to_scipy().toarray().tolist() == [[1, 1, 1], [1, 0, 1]]
    assert [(place.column, place.start, place.end) for place in given.places(["well, so"])[0]] == [(2, 6, 8), (1, 6, 8)]


def test_terms_of_one_text_are_left_out_where_there_are_texts_enough():
    texts = ["good film"] * 30 + ["bad film"] * 30 + ["good bad secret"]
    bounded = Words(ngrams=(1, 2), terms=Exact(min_term_df=2))
    assert bounded.fit(texts).names() == ["bad", "bad film", "film", "good", "good film"]
    assert "secret" in bounded.fit(texts[40:]).names()
