"""What every extractor promises, over a list of examples: one row for each, and whatever they are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from tests.encoders import tiny_encoder

from linnaeus import features
from linnaeus.arrays.word_table import WordTable
from linnaeus.data.batch import Batch
from linnaeus.features import (
    EXTRACTORS,
    VALUES,
    Affixes,
    Chars,
    Columns,
    Conjunction,
    Exact,
    Field,
    Fourier,
    Function,
    Given,
    Hashed,
    Letters,
    Lexicon,
    Nystrom,
    Ready,
    Reduced,
    Selected,
    Shape,
    Skips,
    Subwords,
    TfIdf,
    TransformerVectors,
    Union,
    Vectors,
    Weighted,
    Words,
    WordSequence,
    WordVectors,
)
from linnaeus.text import Normalize

TEXTS = [
    "The weather in Uppsala is not good today, not good at all!",
    "Play some good jazz, please",
    "",
    "wake me at 7:30 TOMORROW morning; wake me again at 8",
    "Är det soligt i Malmö idag? ☀️ 好天气",
    "   \t\n ",
    "e\u0301te\u0301 👩‍👩‍👧 don't DON'T",
    "play play play the weather",
]
LABELS = ["weather", "music", "weather", "alarm", "weather", "music", "alarm", "music"]
PRICES = ["1.5", "2", "", "-3", "1e3", "NA", "0", "7"]
ENTRIES = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))
READY = [{5: 1.5, 0: 2.0}, {1: -1.0}, {}, {2: 0.0, 3: 4.0}, {5: 1.0}, {4: 0.5}, {0: 3.0, 1: 1.0, 2: 1.0}, {5: -2.5}]
POINTS = [[0.5, -1.0, 2.0], [1.0, 0.0, 0.0], [0.1, 0.2, 0.3], *([float(i), -0.5, 1e-3] for i in range(5))]
IMAGES = [[[i, 2 * i], [3, i % 2]] for i in range(8)]
COUNTRIES = ["se", "fi", "se", None, "no", "fi", "se", "dk"]


TABLE = WordTable(["weather", "play", "good"], np.array([[0.5, -1, 2], [1, 0, 0.25], [-2, 1, 1]], np.float32))


def count_words(text: str) -> int:
    return len(text.split())


def look_at_row(row: dict) -> dict:
    return {"country": row["country"] or "nowhere", "long": len(row["text"]) > 20}


FUNCTIONS = {"count_words": count_words, "look_at_row": look_at_row, "ends": lambda text: [len(text), len(text) % 3]}

EXAMPLES = [
    Words(),
    Words(ngrams=(1, 3)),
    Words(ngrams=(2, 3), terms=Exact(min_df=2)),
    Words(ngrams=(1, 2), terms=Exact(max_terms=9), values="tfidf", length="l2"),
    Words(ngrams=(1, 2), terms=Given(["good", "not good", "jazz"]), unknown=True, values="binary"),
    Words(ngrams=(1, 2), terms=Hashed(8)),
    Words(ngrams=(1, 2), terms=Hashed(6, signed=False, keep_names=True), values="tfidf"),
    Words(tokenizer="scikit", normalize=Normalize(form=None, case="lower"), unknown=True),
    Words(tokenizer="characters", ngrams=(2, 2)),
    Words(tokenizer="bytes", ngrams=(1, 2)),
    Words(stem="english", normalize=Normalize(accents=False, html=True)),
    Skips(2),
    Skips(1, terms=Hashed(7, keep_names=True)),
    Chars(),
    Chars(2, 4, within="text", normalize=Normalize("nfkc", None)),
    Chars(1, 3, terms=Exact(min_df=2), values="log", length="l1", unknown=True),
    Chars(terms=Hashed(10)),
    Subwords(2, 4),
    Selected(Words(ngrams=(1, 3)), "chi2", k=11),
    Words() | Chars(2, 3, values="binary") | Shape(),
    Words() * Columns(categorical=("country",)),
    Affixes(),
    Affixes(prefixes=(), suffixes=(2,), min_df=2),
    Columns(numeric=("price",), categorical=("country",)),
    Columns(categorical=("country",), min_df=2),
    Field("country", Words()),
    Words() | Field("country", Weighted(Chars(1, 2), "tfidf", "l2")) * Shape(),
    Selected(Field("country", Words()) | Words(), "chi2", k=5),
    Function(count_words, name="count_words"),
    Function(look_at_row, name="look_at_row", of="row"),
    Function(FUNCTIONS["ends"], name="ends"),
    Letters(),
    Letters(7, Normalize(case=None, accents=False)),
    Fourier(Words(), width=9),
    Fourier(Affixes() | Shape(), width=4, gamma=0.1, seed=5),
    Nystrom(Words(values="tfidf", length="l2"), "rbf", width=4),
    Nystrom(Letters(), "spectrum", width=20, seed=2),
    Lexicon({"good": 1.0, "not good": -2.5}),
    Lexicon({"places": ["Uppsala", "malmö"], "times": {"today": 1, "tomorrow": 2.0}}),
    Ready(),
    Ready(3) | Words(),
    Reduced(Words(), width=3),
    Reduced(Words(ngrams=(1, 2), values="tfidf", length="l2") | Shape(), width=50, seed=7),
    Shape(),
    Vectors("point"),
    Vectors("image", "standard") | Words(),
    Weighted(Vectors("point", "l2"), "count", "l2") * Shape(),
    WordSequence(),
    WordSequence(min_df=2),
    WordSequence(max_terms=5, normalize=Normalize(case=None)),
    WordVectors(TABLE),
    WordVectors(TABLE, "max") | Words(),
    WordVectors(TABLE, "concat", 3, "all"),
    Selected(WordVectors(TABLE, "sum"), "df", k=2),
    Selected(Vectors("image"), "df", k=3),
    Reduced(Vectors("point"), width=2),
    TransformerVectors("encoder"),
    TransformerVectors("encoder", "max", 48),
    Shape() | Affixes() | Columns(numeric=("price",)),
    Affixes((1,), ()) * Columns(categorical=("country",)),
    Conjunction(Affixes((1,), ()), Lexicon(["play", "good"]), min_df=2),
    *(Weighted(Affixes((), (1, 2)), values, length) for values in VALUES for length in (None, "l2")),
    Weighted(Affixes(), TfIdf(tf="log"), "l1"),
    Weighted(Shape() | Columns(numeric=("price",)), "log", "l2"),
    *(Selected(Affixes(), by, k=7) for by in ("df", "chi2", "mi")),
    Selected(Weighted(Affixes(), "tfidf", "l2"), "chi2", k=5),
    Weighted(Selected(Affixes() | Shape(), "chi2", k=9), "sqrt", None),
    Selected(Affixes() * Affixes() | Shape(), "mi", k=20),
]


@dataclass
class Cut:
    """A stream in batches of some size."""

    whole: Batch
    size: int

    def batches(self):
        for start in range(0, len(self.whole), self.size):
            yield self.whole.slice(start, min(self.size, len(self.whole) - start))


def corpus() -> Batch:
    columns = {"price": pa.array(PRICES), "country": pa.array(COUNTRIES)}
    columns |= {"point": pa.array(POINTS), "image": pa.array(IMAGES)}
    return Batch(pa.array(TEXTS), pa.array(LABELS), features=ready(READY), columns=columns)


def ready(rows: list[dict[int, float]]) -> pa.Array:
    return pa.array([[{"index": i, "value": v} for i, v in row.items()] for row in rows], ENTRIES)


def same(A, B) -> bool:
    return (
        A.shape == B.shape
        and A.indptr.tobytes() == B.indptr.tobytes()
        and A.indices.tobytes() == B.indices.tobytes()
        and A.data.tobytes() == B.data.tobytes()
    )


@pytest.fixture(scope="session")
def encoders(tmp_path_factory):
    """A folder with a folder `encoder`, which examples name."""
    home = tmp_path_factory.mktemp("encoders")
    tiny_encoder(home / "encoder")
    return home


@pytest.fixture(params=EXAMPLES, ids=repr)
def recipe(request, monkeypatch):
    if isinstance(request.param, TransformerVectors):
        monkeypatch.chdir(request.getfixturevalue("encoders"))
    return request.param


@pytest.fixture
def fitted(recipe):
    return recipe.fit(corpus())


def test_every_extractor_has_an_example():
    def kinds(block):
        return {type(block)}.union(*(kinds(b) for b in vars(block).values() if isinstance(b, features.Block)))

    assert set(EXTRACTORS.values()) <= set().union(*map(kinds, EXAMPLES))
    assert all(issubclass(kind, features.Block) for kind in EXTRACTORS.values())


def test_rows_are_finite_of_one_width_and_sorted_unless_they_have_an_order(fitted):
    X = fitted.rows(corpus())
    assert X.shape == (len(TEXTS), fitted.width)
    assert (X.indptr.dtype, X.indices.dtype, X.data.dtype) == (np.int64, np.int32, np.float32)
    assert X.indptr[0] == 0
    assert len(X.indices) == len(X.data) == X.indptr[-1]
    assert np.isfinite(X.data).all()
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        row = X.indices[start:end]
        assert fitted.ordered or (np.diff(row) > 0).all()
        assert all(0 <= column < fitted.width for column in row)


def test_it_learns_something(fitted):
    assert fitted.width > 0
    assert fitted.rows(corpus()).nnz > 0


def test_names_are_as_many_as_columns(fitted):
    names = fitted.names()
    assert len(names) == fitted.width
    assert all(isinstance(name, str) for name in names)


def test_one_row_alone_is_the_row_among_many(fitted):
    whole, X = corpus(), fitted.rows(corpus())
    for i in range(len(whole)):
        assert same(fitted.rows(whole.slice(i, 1)), X.take(np.array([i])))


@pytest.mark.parametrize("size", [1, 3, 7])
def test_the_cut_into_batches_does_not_matter(recipe, size):
    whole, stream = corpus(), Cut(corpus(), size)
    (one, X), (two, Y) = recipe.fit_rows(whole), recipe.fit_rows(stream)
    assert list(one.names()) == list(two.names())
    assert same(X, Y)
    assert same(X, one.rows(stream))
    assert same(X, recipe.fit(stream).rows(whole))
    assert one.places(whole) == two.places(stream)


def test_no_rows_are_rows_too(fitted):
    assert fitted.rows(corpus().slice(0, 0)).shape == (0, fitted.width)
    assert fitted.places(corpus().slice(0, 0)) == []


def test_extracting_again_gives_the_same(fitted):
    assert same(fitted.rows(corpus()), fitted.rows(corpus()))


def test_places_lie_within_the_text_and_name_features_that_are_there(fitted):
    X, places = fitted.rows(corpus()), fitted.places(corpus())
    assert len(places) == len(TEXTS)
    for i, row in enumerate(places):
        there = set(X.indices[X.indptr[i] : X.indptr[i + 1]].tolist())
        for place in row:
            assert 0 <= place.start < place.end <= len(TEXTS[i])
            assert place.column in there


def counts_only(block) -> bool:
    """Whether values are counts: nothing is weighted, and there are no shares of all words."""
    if (
        isinstance(block, Weighted | Shape)
        or getattr(block, "values", "count") != "count"
        or getattr(block, "length", None)
    ):
        return False
    inner = [*vars(block).values(), *getattr(block, "blocks", ())]
    return all(counts_only(part) for part in inner if isinstance(part, features.Block))


def test_amounts_of_places_add_up_to_the_count(recipe, fitted):
    if not counts_only(recipe):
        pytest.skip("its values are not counts")
    X, places = fitted.rows(corpus()), fitted.places(corpus())
    for i, row in enumerate(places):
        sums: dict[int, float] = {}
        for place in row:
            sums[place.column] = sums.get(place.column, 0.0) + place.amount
        found = dict(
            zip(X.indices[X.indptr[i] : X.indptr[i + 1]].tolist(), X.data[X.indptr[i] : X.indptr[i + 1]], strict=True)
        )
        assert sums == pytest.approx({column: found[column] for column in sums})


def test_a_file_brings_back_the_same_bits(fitted, tmp_path):
    features.save(tmp_path / "a.lin", fitted)
    back = features.load(tmp_path / "a.lin", functions=FUNCTIONS)
    assert type(back) is type(fitted)
    assert same(fitted.rows(corpus()), back.rows(corpus()))
    assert list(fitted.names()) == list(back.names())
    assert fitted.places(corpus()) == back.places(corpus())
    features.save(tmp_path / "b.lin", back)
    assert (tmp_path / "a.lin").read_bytes() == (tmp_path / "b.lin").read_bytes()


def test_text_it_has_never_seen(fitted):
    columns = {"price": pa.array(["5"]), "country": pa.array(["xx"])}
    columns |= {"point": pa.array([[7.0, 8.0, 9.0]]), "image": pa.array([[[255, 0], [0, 255]]])}
    rows = Batch(pa.array(["zzz Qux 42 %"]), features=ready([{99: 1.0}]), columns=columns)
    assert fitted.rows(rows).shape == (1, fitted.width)


def test_recipes_are_frozen_and_equal_by_value(recipe):
    with pytest.raises(AttributeError):
        recipe.anything = 1
    assert recipe == recipe
    assert isinstance(recipe | recipe, Union)
