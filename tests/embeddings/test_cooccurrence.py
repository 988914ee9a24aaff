"""Vectors from counts: GloVe, PPMI and LSA on a small language; LSA beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from tests.embeddings.test_negative_sampling import Stop, language

from linnaeus import kernels
from linnaeus.embeddings import LSA, PPMI, Checkpoint, GloVe, encoded
from linnaeus.embeddings import cooccurrence as module
from linnaeus.embeddings.cooccurrence import near_counts
from linnaeus.errors import DataError, UsageError
from linnaeus.features import Reduced, Words


@pytest.fixture(scope="module")
def text():
    with encoded(language(), min_count=2) as found:
        yield found


METHODS = {
    "glove": GloVe(width=12, window=3, cap=10.0, epochs=40, rate=0.1),
    "ppmi": PPMI(width=6, window=2),
}


@pytest.mark.native
@pytest.mark.parametrize("kind", METHODS)
def test_words_of_one_kind_come_together(kind, text):
    table = METHODS[kind].learn(text)
    for word, like, unlike in [("ann", "bob", "cup"), ("cup", "pen", "runs"), ("red", "blue", "eats")]:
        assert table.similarity(word, like) > table.similarity(word, unlike) + 0.2


@pytest.mark.native
@pytest.mark.parametrize("method", [GloVe(width=6, epochs=2), PPMI(width=6), LSA(width=6)], ids=str)
def test_the_same_bits_on_any_number_of_threads(method, text):
    found = set()
    for count in (1, 2, 3, 8):
        with kernels.threads(count):
            found.add(method.learn(text).vectors.tobytes())
    assert len(found) == 1


def test_counts_do_not_depend_on_how_texts_are_cut(text, monkeypatch):
    whole = near_counts(text, 3)
    monkeypatch.setattr(module, "PIECE", 50)
    cut = near_counts(text, 3)
    assert np.allclose(whole.toarray(), cut.toarray(), 1e-12)
    assert np.allclose(whole.toarray(), whole.toarray().T, 1e-12)


def test_blocks_of_a_stratum_have_no_word_in_common(text):
    pairs, bounds = module._dealt(near_counts(text, 3), GloVe())
    assert sorted(bounds.reshape(-1, 2).tolist()) == bounds.reshape(-1, 2).tolist()
    assert bounds[-1, -1, 1] == len(pairs[0])
    for stratum in bounds.tolist():
        for column in (0, 1):
            words = [set(pairs[column][a:b].tolist()) for a, b in stratum]
            assert sum(map(len, words)) == len(set().union(*words))


def test_an_interrupted_glove_goes_on_to_the_same_bits(text, tmp_path):
    method, path = GloVe(width=6, epochs=4), tmp_path / "half.lin"

    def stop(stand):
        if stand.epoch == 2:
            raise Stop

    with pytest.raises(KeyboardInterrupt):
        method.learn(text, stop, Checkpoint(path, every=0.0))
    epochs = []
    table = method.learn(text, lambda stand: epochs.append(stand.epoch), Checkpoint(path))
    assert epochs == [2, 3]
    assert table.vectors.tobytes() == method.learn(text).vectors.tobytes()


def test_latent_semantic_analysis_is_that_of_scikit_learn():
    from sklearn.decomposition import TruncatedSVD

    texts = language(120)
    fitted, rows = Reduced(Words(values="tfidf", length="l2"), width=5).fit_rows(texts)
    X = Words(values="tfidf", length="l2").fit_rows(texts)[1].to_scipy()
    theirs = TruncatedSVD(5, algorithm="arpack", random_state=0).fit_transform(X.astype(np.float64))
    ours = rows.to_scipy().toarray()
    signs = np.sign((ours * theirs).sum(axis=0))
    assert np.allclose(ours, theirs * signs, atol=1e-4)
    assert fitted.width == 5


def test_vectors_of_words_by_texts_are_the_right_singular_vectors(text):
    X = module._weighted(text).to_scipy().toarray()
    table = LSA(width=4).learn(text)
    _, sizes, V = np.linalg.svd(X, full_matrices=False)
    theirs = V[:4].T * sizes[:4]
    signs = np.sign((table.vectors * theirs).sum(axis=0))
    assert np.allclose(table.vectors, theirs * signs, atol=1e-3 * sizes[0])


def test_bad_settings_and_texts_of_single_words_are_refused():
    with pytest.raises(UsageError):
        GloVe(cap=0.0)
    with pytest.raises(UsageError):
        PPMI(window=0)
    with encoded(["a", "b"], min_count=1) as lonely, pytest.raises(DataError, match="near each other"):
        PPMI().learn(lonely)
