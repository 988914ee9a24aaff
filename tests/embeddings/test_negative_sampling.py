"""Skip-gram and CBOW: what they learn from a small language, the same bits again, checkpoints, bad rates."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.embeddings import CBOW, Checkpoint, SkipGram, encoded
from linnaeus.embeddings import negative_sampling as module
from linnaeus.embeddings.negative_sampling import alias_table, word_chances
from linnaeus.errors import InputTypeError, LinnaeusWarning, ModelFileError, UsageError

METHODS = {"skipgram": SkipGram, "cbow": CBOW}


def language(count=400, seed=0):
    """Texts in which names stand where names stand, and numbers where numbers stand."""
    rng = np.random.default_rng(seed)
    names, acts = ["ann", "bob", "cid", "dee"], ["runs", "eats", "sits", "hums"]
    things, colors = ["ball", "cup", "hat", "pen"], ["red", "blue", "green", "gray"]
    lines = []
    for _ in range(count):
        name, act, thing, color = (str(rng.choice(kind)) for kind in (names, acts, things, colors))
        lines.append(f"{name} {act} here" if rng.random() < 0.5 else f"the {color} {thing} fell")
    return lines


def small(kind, **changes):
    return METHODS[kind](**{"width": 12, "window": 3, "epochs": 8, "sample": 0.0, "rate": 0.05, **changes})


@pytest.fixture(scope="module")
def text():
    with encoded(language(), min_count=2) as found:
        yield found


@pytest.mark.native
@pytest.mark.parametrize("kind", METHODS)
def test_words_of_one_kind_come_together(kind, text):
    table = small(kind, epochs=30).learn(text)
    for word, others in {"ann": {"bob", "cid", "dee"}, "cup": {"ball", "hat", "pen"}}.items():
        assert {near.word for near in table.neighbors(word, 3)} == others


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("subwords", [None, (2, 3)])
def test_the_same_bits_on_any_number_of_threads(kind, subwords, text, monkeypatch):
    monkeypatch.setattr(module, "STRETCH", 40)
    found = []
    for count in (1, 2, 3, 8):
        with kernels.threads(count):
            found.append(small(kind, subwords=subwords, epochs=1).learn(text))
    assert len({table.vectors.tobytes() for table in found}) == 1
    other = small(kind, subwords=subwords, epochs=1, seed=1).learn(text)
    assert other.vectors.tobytes() != found[0].vectors.tobytes()


def test_vectors_of_unknown_words_come_from_subwords(text):
    table = small("skipgram", subwords=(2, 4), epochs=1).learn(text)
    assert "runner" not in table
    assert table.vector("runner") is not None
    assert table.vector("ζζζ") is None
    grams = table.subwords
    offsets, rows = grams.rows_of(["runs"])
    assert len(rows) == offsets[-1] > 0
    assert len(grams.buckets) == len(grams.vectors)


@pytest.mark.native
def test_words_of_one_repeated_character_stay_small():
    rng = np.random.default_rng(0)
    lines = [
        " ".join([*rng.choice(["ann", "bob", "runs", "eats"], 3), "_" * rng.integers(20, 80)]) for _ in range(2000)
    ]
    with encoded(lines, min_count=1) as text:
        table = small("skipgram", subwords=(3, 6)).learn(text)
    assert np.abs(table.vectors).max() < 10


def test_the_loss_falls(text):
    stands = []
    small("skipgram", epochs=6).learn(text, stands.append)
    assert [stand.epoch for stand in stands] == sorted(stand.epoch for stand in stands)
    assert stands[-1].share == 1.0
    assert stands[-1].loss < stands[0].loss
    assert stands[-1].per_second > 0


class Stop(KeyboardInterrupt):
    """Ctrl-C."""


def test_an_interrupted_training_goes_on_to_the_same_bits(text, tmp_path):
    method, path = small("skipgram", epochs=4), tmp_path / "half.lin"

    def stop(stand):
        if stand.share >= 0.5:
            raise Stop

    with pytest.raises(KeyboardInterrupt):
        method.learn(text, stop, Checkpoint(path))
    assert path.exists()
    shares = []
    table = method.learn(text, lambda stand: shares.append(stand.share), Checkpoint(path))
    assert shares[0] > 0.5
    assert table.vectors.tobytes() == method.learn(text).vectors.tobytes()
    assert not path.exists()


def test_a_checkpoint_of_something_else_is_refused(text, tmp_path):
    path = tmp_path / "half.lin"

    def stop(stand):
        raise Stop

    with pytest.raises(KeyboardInterrupt):
        small("skipgram").learn(text, stop, Checkpoint(path))
    with pytest.raises(UsageError, match="other settings"):
        small("skipgram", seed=9).learn(text, checkpoint=Checkpoint(path))
    path.write_text("nothing", "utf-8")
    with pytest.raises(ModelFileError):
        small("skipgram").learn(text, checkpoint=Checkpoint(path))


def test_a_loss_that_is_not_finite_halves_the_rate(text, monkeypatch):
    rates, whole = [], module._Run._call

    def call(run, count):
        rates.append(run.rates(0, 1)[0])
        return (float("nan"), 1) if len(rates) == 1 else whole(run, count)

    monkeypatch.setattr(module._Run, "_call", call)
    with pytest.warns(LinnaeusWarning, match=r"goes on with a rate of 0\.05"):
        table = small("skipgram", rate=0.1, epochs=1).learn(text)
    assert rates[1] == rates[0] / 2
    assert np.isfinite(table.vectors).all()


def test_one_word_and_words_of_one_letter_are_learned():
    with encoded(["a", "a a a"], min_count=1) as text:
        assert small("skipgram").learn(text).vectors.shape == (1, 12)
        assert small("cbow", subwords=(3, 6)).learn(text).vectors.shape == (1, 12)


def test_the_noise_is_drawn_by_its_weight():
    weights = np.array([5.0, 1.0, 0.0, 2.0, 8.0])
    chance, alias = alias_table(weights)
    share = (chance.astype(float) + 1) / 2**32
    found = np.bincount(np.arange(5), share, 5) + np.bincount(alias, 1 - share, 5)
    assert np.allclose(found / 5, weights / weights.sum(), atol=1e-8)


def test_frequent_words_are_left_out_and_rare_ones_kept():
    kept, _, _ = word_chances(np.array([10_000, 100, 1]), 1e-3)
    assert kept[0] < 0.05 * 2**32
    assert kept[2] == 2**32 - 1
    assert (word_chances(np.array([5, 5]), 0.0)[0] == 2**32 - 1).all()


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"width": 0}, UsageError),
        ({"width": "9"}, InputTypeError),
        ({"rate": -1.0}, UsageError),
        ({"subwords": (6, 3)}, UsageError),
        ({"sample": -0.1}, UsageError),
        ({"seed": -1}, UsageError),
    ],
)
def test_bad_settings_are_refused(settings, error):
    with pytest.raises(error):
        SkipGram(**settings)
