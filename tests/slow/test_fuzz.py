"""Any bytes, from a file to its rows and through `linnaeus check`: an answer or one sentence, never a bug."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.damaged import seeds

import linnaeus
from linnaeus.arrays.csr import CSR
from linnaeus.cli.main import main
from linnaeus.errors import LinnaeusError
from linnaeus.features import Chars, Exact, Hashed, Skips, Subwords, Words
from linnaeus.text import Normalize

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
relaxed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

PIECES = st.sampled_from(
    [b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b"{", b"}", b"\\", b"__label__",
     b"1e999", b"nan", b" ", b"\xe2\x80\xa8", b"PAR1", b"ARROW1", b"\x1f\x8b", b"text", b"label"]
)  # fmt: skip
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["set", "insert", "cut", "drop", "double"]),
        st.integers(0, 10**6),
        st.binary(min_size=1, max_size=4) | PIECES,
    ),
    max_size=6,
)


def change(data: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    for kind, place, piece in changes:
        at = place % (len(data) + 1)
        if kind == "set":
            data = data[:at] + piece + data[at + len(piece) :]
        elif kind == "insert":
            data = data[:at] + piece + data[at:]
        elif kind == "cut":
            data = data[:at]
        elif kind == "drop":
            data = data[:at] + data[at + len(piece) :]
        else:
            data = data + data[at:]
    return data


NORMALIZERS = st.builds(
    Normalize,
    form=st.sampled_from([None, "nfc", "nfkc"]),
    case=st.sampled_from([None, "lower", "fold"]),
    accents=st.booleans(),
    html=st.booleans(),
)
TERMS = st.sampled_from([Exact(), Exact(min_df=2), Exact(max_terms=3), Hashed(2), Hashed(20), Hashed(16, signed=False)])
SHARED = {"normalize": NORMALIZERS, "terms": TERMS, "values": st.sampled_from(["count", "binary", "log", "tfidf"])}
CUTTERS = st.sampled_from(["words", "scikit", "whitespace"])
BLOCKS = st.one_of(
    st.builds(Words, ngrams=st.sampled_from([(1, 1), (1, 2), (2, 3)]), tokenizer=CUTTERS, **SHARED),
    st.builds(Words, tokenizer=st.sampled_from(["characters", "bytes"]), **SHARED),
    st.builds(Chars, st.just(2), st.just(4), within=st.sampled_from(["words", "text"]), tokenizer=CUTTERS, **SHARED),
    st.builds(Subwords, st.just(3), st.just(4), tokenizer=CUTTERS, **SHARED),
    st.builds(Skips, st.integers(1, 3), tokenizer=CUTTERS, **SHARED),
)


def assert_sound(X: CSR, n: int) -> None:
    assert X.shape[0] == n
    assert X.indptr[0] == 0
    assert (np.diff(X.indptr) >= 0).all()
    assert len(X.indices) == len(X.data) == X.nnz
    assert ((X.indices >= 0) & (X.indices < X.width)).all()
    assert np.isfinite(X.data).all()
    inner = np.ones(X.nnz, bool)
    inner[X.indptr[:-1][np.diff(X.indptr) > 0]] = False
    assert (np.diff(X.indices, prepend=0)[inner] > 0).all()


def same(X: CSR, Y: CSR) -> bool:
    return all(np.array_equal(getattr(X, name), getattr(Y, name)) for name in ("indptr", "indices", "data"))


@relaxed
@given(st.data())
def test_damaged_files_become_rows_or_one_sentence(tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(seeds())))
    options = {
        "bad_rows": data.draw(st.sampled_from(["error", "skip"])),
        "encoding": data.draw(st.sampled_from(["utf-8", "utf-8", "utf-16", "cp1252", "shift_jis"])),
        "batch_rows": data.draw(st.sampled_from([None, 1, 2])),
    }
    (tmp_path / name).write_bytes(change(seeds()[name], data.draw(CHANGES)))
    try:
        corpus = linnaeus.read(tmp_path / name, **options)
        whole = corpus.batch()
        features, X = data.draw(BLOCKS).fit_rows(corpus)
    except LinnaeusError as error:
        sentence = str(error)
    else:
        sentence = ""
    assert "\n" not in sentence
    if sentence:
        return
    assert_sound(X, len(whole))
    assert same(X, features.rows(corpus))
    if whole.text is None:
        return
    assert same(X, features.rows(whole))
    assert len(features.names()) == features.width
    assert len(features.places(whole)) == len(whole)


def ask(*args: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(arg) for arg in args])
    return code, out.getvalue(), err.getvalue()


@relaxed
@given(st.data())
def test_check_of_damaged_files_ends_in_an_answer_or_one_sentence(tmp_path: Path, monkeypatch, data) -> None:
    monkeypatch.setenv("LINNAEUS_HOME", str(tmp_path / "state"))
    readable = [name for name in sorted(seeds()) if not name.endswith(".xz")]  # refused by its name: a usage error
    names = data.draw(st.lists(st.sampled_from(readable), min_size=1, max_size=2))
    paths = []
    for i, name in enumerate(names):
        paths.append(tmp_path / str(i) / name)
        paths[-1].parent.mkdir(exist_ok=True)
        paths[-1].write_bytes(change(seeds()[name], data.draw(CHANGES)))
    flags = data.draw(st.sampled_from([[], ["--json"], ["--bad-rows", "skip"]]))
    code, out, err = ask("check", *paths, *flags, "-q")
    assert code in (0, 1, 3), err
    assert not err or err.count("\n") == 1
    if code != 3:
        assert out


TEXTS = st.text(max_size=60) | st.text("aA'. ,1٣éÉΣσßİ東京ไ\u0301\u200d😀\0\t&;#x", max_size=40)


@relaxed
@given(st.lists(TEXTS, max_size=6), BLOCKS)
def test_any_texts_become_rows(texts: list[str], block) -> None:
    try:
        features, X = block.fit_rows(texts)
    except LinnaeusError:
        return
    assert_sound(X, len(texts))
    assert same(X, features.rows(texts))
    for row, places in enumerate(features.places(texts)):
        found = X.indices[X.indptr[row] : X.indptr[row + 1]].tolist()
        assert {place.column for place in places} == set(found)
        assert all(0 <= place.start < place.end <= len(texts[row]) for place in places)
