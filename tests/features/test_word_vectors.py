"""Tables of word vectors, their files, and features of texts from them."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linnaeus
from linnaeus import Recipe, store
from linnaeus.arrays.word_table import SubwordRows, WordTable
from linnaeus.errors import DataError, InputTypeError, MachineError, ModelFileError, UsageError
from linnaeus.features import Words, WordVectors, read_vectors, restore, write_vectors
from linnaeus.features.word_vectors.files import VECTOR_FORMATS, guess_format, table_of, table_state
from linnaeus.types import State

WORDS = ["good", "bad", "film", "naïve", "日本"]
TABLE = WordTable(WORDS, np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))
GRAMS = SubwordRows(2, 3, 50, np.arange(50, dtype=np.int32), np.ones((50, 3), np.float32))
ENDINGS = {"linnaeus": "lin", "word2vec": "vec", "word2vec-binary": "bin", "glove": "txt"}


@pytest.mark.parametrize("form", VECTOR_FORMATS)
def test_every_format_gives_the_same_bits_again(form, tmp_path):
    path = tmp_path / f"words.{ENDINGS[form]}"
    write_vectors(path, TABLE)
    assert guess_format(path) == form
    again = read_vectors(path)
    assert list(again.words) == WORDS
    assert again.vectors.tobytes() == TABLE.vectors.tobytes()
    assert again.lowercase
    assert list(read_vectors(path, most=2).words) == WORDS[:2]
    with pytest.raises(UsageError, match="already exists"):
        write_vectors(path, TABLE)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
def test_numbers_survive_text(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("numbers") / "a.vec"
    write_vectors(path, WordTable(["a"], np.array([numbers], np.float32)))
    assert read_vectors(path).vectors.tobytes() == np.array([numbers], np.float32).tobytes()


def test_compressed_files_and_those_with_spaces_at_the_end(tmp_path):
    path = tmp_path / "a.vec.gz"
    path.write_bytes(gzip.compress(b"2 2\nnew york 1 2 \nb 3 4 \r\n"))
    table = read_vectors(path)
    assert list(table.words) == ["new york", "b"]
    assert table.vectors.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(UsageError, match="space"):
        write_vectors(tmp_path / "b.vec", table)
    assert not (tmp_path / "b.vec").exists()


BAD = {
    "no header": ("a.vec", b"a 1 2\n", "line 1 is not the number of words"),
    "no width": ("a.vec", b"2 0\na\n", "line 1 says"),
    "too few words": ("a.vec", b"3 2\na 1 2\nb 1 2\n", "says that there are 3 words, but the file has 2"),
    "too many words": ("a.vec", b"1 2\na 1 2\nb 1 2\n", "says that there are 1 words"),
    "dimension": ("a.vec", b"2 2\na 1 2\nb 1\n", "line 3 has 1 numbers, not 2"),
    "too many numbers": ("a.txt", b"a 1 2\nb x 1 2\nc 1 y 2\n", "line 3 does not have 2 numbers"),
    "duplicate": ("a.vec", b"3 1\na 1\nb 2\na 3\n", "line 4 has the word 'a' again, which line 2 has"),
    "not UTF-8": ("a.vec", b"2 1\na 1\n\xff\xfe 2\n", "line 3 has a word that is not UTF-8"),
    "not finite": ("a.vec", b"2 1\na 1\nb nan\n", "line 3 has a number that is not finite"),
    "too large": ("a.txt", b"a 1e50\n", "line 1 has a number that is not finite"),
    "no number": ("a.txt", b"a one\n", "line 1 does not have 1 numbers"),
    "no word": ("a.vec", b"1 2\n 1 2\n", "line 2 has no word"),
    "empty": ("a.txt", b"", "no words"),
    "binary, cut": ("a.bin", b"2 2\na \0\0\0\0\0\0\0\0b \0\0", "word 2 is the last one"),
    "binary, missing": ("a.bin", b"2 1\na \0\0\0\0\n", "word 2 is missing"),
    "binary, more": ("a.bin", b"1 1\na \0\0\0\0xyz", "there is more in the file"),
    "binary, not UTF-8": ("a.bin", b"1 1\n\xff \0\0\0\0", "word 1 has a word that is not UTF-8"),
    "binary, duplicate": ("a.bin", b"2 1\na \0\0\0\0a \0\0\0\0", "word 2 has the word 'a' again"),
    "binary, not finite": ("a.bin", b"1 1\na \xff\xff\xff\xff", "word 1 has a number that is not finite"),
    "binary, header": ("a.bin", b"1 1 1\na \0\0\0\0", "line 1 is not the number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_and_the_line_is_said(name, tmp_path):
    file, content, said = BAD[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_vectors(tmp_path / file)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_refused(tmp_path_factory, content):
    for ending in ("vec", "bin", "txt", "lin"):
        path = tmp_path_factory.mktemp("bytes") / f"a.{ending}"
        path.write_bytes(content)
        with suppress(DataError, ModelFileError):
            assert np.isfinite(read_vectors(path).vectors).all()


def test_files_that_are_not_there_and_formats_that_are_none(tmp_path):
    with pytest.raises(MachineError, match="no file of word vectors"):
        read_vectors(tmp_path / "nothing.vec")
    write_vectors(tmp_path / "a.vec", TABLE)
    with pytest.raises(UsageError, match="did you mean 'glove'"):
        read_vectors(tmp_path / "a.vec", format="glov")


def test_subwords_are_kept_in_the_own_file(tmp_path):
    table = WordTable(WORDS, TABLE.vectors, GRAMS, lowercase=False)
    write_vectors(tmp_path / "a.lin", table)
    again = read_vectors(tmp_path / "a.lin")
    assert not again.lowercase
    assert again.vector("goodness").tolist() == [1.0, 1.0, 1.0]
    assert read_vectors(tmp_path / "a.lin", most=1).vector("goodness") is not None


def damage(**changes):
    state = table_state(WordTable(WORDS, TABLE.vectors, GRAMS))
    manifest, tensors = dict(state.manifest), dict(state.tensors)
    for name, value in changes.items():
        part = manifest if name in manifest else tensors
        part[name.replace("__", ".")] = value
    return State(manifest, {name: value for name, value in tensors.items() if value is not None})


@pytest.mark.parametrize(
    "changes",
    [
        {"vectors": np.ones((4, 3), np.float32)},
        {"vectors": np.full((5, 3), np.nan, np.float32)},
        {"vectors": np.ones((5, 3))},
        {"vectors": None},
        {"subwords": {"low": 3}},
        {"subwords": {"low": 3, "high": 2, "count": 50}},
        {"buckets": np.arange(50, dtype=np.int32)[::-1].copy()},
        {"buckets": np.arange(49, dtype=np.int32)},
        {"buckets": np.arange(50, dtype=np.int64)},
        {"lowercase": "yes"},
        {"words__bytes": np.zeros(3, np.uint8)},
    ],
)
def test_damaged_states_are_refused(changes):
    with pytest.raises(ModelFileError):
        table_of(damage(**changes))


def test_a_model_is_no_table(tmp_path):
    Recipe().fit([("a", "x"), ("b", "y")]).save(tmp_path / "m.lin")
    with pytest.raises(ModelFileError, match="not word vectors"):
        read_vectors(tmp_path / "m.lin")
    write_vectors(tmp_path / "v.lin", TABLE)
    with pytest.raises(ModelFileError, match="vectors"):
        linnaeus.load(tmp_path / "v.lin")


def test_neighbors_and_analogies():
    table = WordTable(["a", "b", "c", "zero"], np.array([[1, 0], [2, 0.1], [0, 1], [0, 0]], np.float32))
    assert [near.word for near in table.neighbors("a", 9)] == ["b", "c", "zero"]
    assert table.similarity("a", "b") == pytest.approx(0.998752, abs=1e-6)
    assert table.similarity("a", "x") is None
    with pytest.raises(DataError, match="no vector for 'x'"):
        table.neighbors("x")
    with pytest.raises(UsageError):
        table.neighbors("a", 0)
    with pytest.raises(UsageError):
        WordTable(["a"], np.ones((2, 2), np.float32))


# Features of texts

TEXTS = ["a good film", "Bad, bad film!", "", "nothing known", "GOOD naïve 日本 日本"]


def by_hand(pool, text, length=2):
    known = [WORDS.index(word) for word in linnaeus.text.tokens([text])[0] if word in WORDS]
    rows = TABLE.vectors[known].astype(np.float64)
    if pool == "concat":
        return np.concatenate([rows[:length].ravel(), np.zeros(3 * max(0, length - len(rows)))])
    if not len(rows):
        return np.zeros(3)
    return {"mean": rows.mean, "sum": rows.sum, "max": rows.max}[pool](axis=0)


@pytest.mark.parametrize("pool", ["mean", "sum", "max", "concat"])
def test_vectors_are_pooled(pool):
    fitted, X = WordVectors(TABLE, pool=pool, length=2).fit_rows(TEXTS)
    assert np.allclose(X.to_scipy().toarray(), [by_hand(pool, text) for text in TEXTS], atol=1e-6)
    assert len(fitted.names()) == fitted.width == (6 if pool == "concat" else 3)
    again = restore(fitted.state())
    assert again.rows(TEXTS).to_scipy().toarray().tolist() == X.to_scipy().toarray().tolist()


@pytest.mark.parametrize("pool", ["mean", "sum", "max", "concat"])
def test_places_add_up_to_the_features(pool):
    fitted, X = WordVectors(TABLE, pool=pool, length=2).fit_rows(TEXTS)
    found = np.zeros(X.shape)
    for row, places in enumerate(fitted.places(TEXTS)):
        for place in places:
            assert TEXTS[row][place.start : place.end].casefold() in WORDS
            found[row, place.column] += place.amount
    assert np.allclose(found, X.to_scipy().toarray(), atol=1e-6)


def test_a_model_keeps_the_rows_of_its_words(tmp_path):
    write_vectors(tmp_path / "words.lin", TABLE)
    rows = [("good film", "yes"), ("bad film", "no")] * 4
    model = Recipe(features=WordVectors(str(tmp_path / "words.lin"))).fit(rows)
    model.save(tmp_path / "m.lin")
    (tmp_path / "words.lin").unlink()
    again = linnaeus.load(tmp_path / "m.lin")
    assert sorted(again.features.table.words) == ["bad", "film", "good"]
    assert np.array_equal(again.scores(TEXTS), model.scores(TEXTS))
    whole = Recipe(features=Words() | WordVectors(TABLE, keep="all")).fit(rows)
    assert len(whole.features.blocks[1].table) == 5


def test_unknown_words_have_vectors_from_subwords_in_a_model(tmp_path):
    table = WordTable(WORDS, TABLE.vectors, GRAMS)
    model = Recipe(features=WordVectors(table)).fit([("good", "yes"), ("bad", "no")] * 4)
    model.save(tmp_path / "m.lin")
    assert linnaeus.load(tmp_path / "m.lin").features.rows(["unheard"]).data.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("changes", [{"pool": "min"}, {"length": 0}, {"keep": "none"}])
def test_bad_settings_are_refused(changes):
    with pytest.raises(UsageError):
        WordVectors(TABLE, **changes)


def test_a_table_is_needed(tmp_path):
    with pytest.raises(InputTypeError):
        WordVectors(3)
    with pytest.raises(DataError, match="no table"):
        WordVectors().fit(["a"])
    with pytest.raises(MachineError):
        WordVectors(tmp_path / "none.lin").fit(["a"])


@pytest.mark.parametrize("changes", [{"pool": "min"}, {"length": 0}, {"length": 2}, {"table": 3}, {"table": {}}])
def test_damaged_features_are_refused(changes):
    state = WordVectors(TABLE).fit(TEXTS).state()
    with pytest.raises(ModelFileError):
        restore(State({**state.manifest, **changes}, state.tensors))


# Static models

PIECES = ["[UNK]", "good", "film", "##s", "bad"]


@pytest.fixture
def static(tmp_path):
    """A folder as Model2Vec writes it, made without its packages."""
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: i for i, piece in enumerate(PIECES)},
        },
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    put_table(tmp_path, np.arange(10, dtype=np.float32).reshape(5, 2))
    return tmp_path


def put_table(folder, table, **changes):
    entry = {"dtype": "F32", "shape": list(table.shape), "data_offsets": [0, table.nbytes], **changes}
    head = json.dumps({"embeddings": entry}).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + table.tobytes())


def test_static_models_are_read(static):
    pytest.importorskip("tokenizers")
    table = read_vectors(static)
    assert table.lowercase
    assert table.vector("good").tolist() == [2.0, 3.0]
    assert table.vector("films").tolist() == [5.0, 6.0]
    assert table.vector("xyz") is None
    rows = WordVectors(table, pool="sum").fit_rows(["Good films"])[1]
    assert rows.data.tolist() == [7.0, 9.0]


def test_bad_static_models_are_refused(static):
    pytest.importorskip("tokenizers")
    table = np.ones((5, 2), np.float32)
    for changes in ({"dtype": "I8"}, {"shape": [5]}, {"shape": [5, 3]}, {"data_offsets": [0, 999]}):
        put_table(static, table, **changes)
        with pytest.raises(DataError):
            read_vectors(static)
    put_table(static, np.full((5, 2), np.inf, np.float32))
    with pytest.raises(DataError, match="not finite"):
        read_vectors(static)
    put_table(static, np.ones((4, 2), np.float32))
    with pytest.raises(DataError, match="5 pieces and the table 4 rows"):
        read_vectors(static)
    put_table(static, table)
    (static / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(DataError, match="not a tokenizer"):
        read_vectors(static)
    (static / "model.safetensors").write_bytes(b"short")
    with pytest.raises(DataError, match="not a safetensors"):
        read_vectors(static)


def test_the_own_file_is_a_safetensors_file(tmp_path):
    write_vectors(tmp_path / "a.lin", TABLE)
    assert store.load(tmp_path / "a.lin").manifest["kind"] == "vectors"
