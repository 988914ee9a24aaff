"""Training of networks: what they learn, what they refuse, the same bits again, and predictions without PyTorch."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

from linnaeus import Recipe
from linnaeus.arrays import Dense
from linnaeus.arrays.word_table import WordTable
from linnaeus.errors import DataError, LinnaeusError, LinnaeusWarning, MachineError, ModelFileError, UsageError
from linnaeus.features import Words, WordSequence
from linnaeus.learners.networks import (
    Attention,
    Convolution,
    DeepConvolution,
    FittedNetwork,
    Network,
    Pooled,
    Recurrent,
    SequenceNetwork,
)
from linnaeus.learners.run import Run
from linnaeus.model.model import Model
from linnaeus.store.parts import PartsFile
from linnaeus.types import Lesson, State

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

QUICK = {"epochs": 12, "dropout": 0.1, "rate": 0.01, "batch": 8}
SMALL = {
    "pooled": Pooled(width=8),
    "convolution": Convolution(width=8, widths=(1, 2), filters=6),
    "deep": DeepConvolution(width=8, layers=2, filters=8),
    "recurrent": Recurrent(width=8, units=6),
    "attention": Attention(width=8, units=8, heads=2, inner=8),
}
LEARNERS = {"rows": Network(hidden=(8,), **QUICK)} | {
    name: SequenceNetwork(encoder=encoder, **QUICK) for name, encoder in SMALL.items()
}
KINDS = {"fruit": ("apple", "pear", "plum"), "metal": ("iron", "zinc", "lead"), "tree": ("oak", "elm", "ash")}


def rows(classes=2, count=30, seed=0):
    rng = np.random.default_rng(seed)
    names = list(KINDS)[:classes]
    return [
        (" ".join([*rng.choice(KINDS[name], 2), *rng.choice(["a", "the", "one"], rng.integers(1, 5))]), name)
        for name in names * count
    ]


def recipe(name="convolution", **changes):
    learner = replace(LEARNERS[name], **changes)
    return Recipe(features=Words() if name == "rows" else WordSequence(), learner=learner)


@pytest.mark.parametrize("name", LEARNERS)
def test_it_learns_and_gives_the_same_bits_again(name):
    model, again = recipe(name).fit(rows(3)), recipe(name).fit(rows(3))
    assert model.predict(["apple pear", "the zinc iron", "an elm, an oak"]).tolist() == list(KINDS)
    assert all(np.array_equal(model.body.weights[part], again.body.weights[part]) for part in model.body.weights)
    assert model.body.facts["threads"] == again.body.facts["threads"]


@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_equal_those_of_torch(name):
    from linnaeus.learners.networks.batches import row_batch, word_batch
    from linnaeus.neural.operations import TorchOperations

    model = recipe(name).fit(rows(3))
    texts = [text for text, _ in rows(3, 330, seed=5)] + ["", "wholly unknown words"] * 5
    X = model.features.rows(texts)
    batch = (row_batch if name == "rows" else word_batch)(X, np.arange(len(texts)))
    there = {key: torch.from_numpy(np.array(part)) for key, part in batch.items()}
    weights = {key: torch.from_numpy(part) for key, part in model.body.weights.items()}
    found = model.body.form.forward(TorchOperations(), weights, there).numpy()
    assert len(texts) == 1000
    assert np.allclose(model.raw_scores(texts), found, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", LEARNERS)
def test_scores_have_the_same_bits_beside_any_others(name):
    model = recipe(name).fit(rows(3))
    texts = [text for text, _ in rows(3, 9, seed=5)] + [""]
    together = model.raw_scores(texts)
    assert np.array_equal(together, np.concatenate([model.raw_scores([text]) for text in texts]))


@pytest.mark.parametrize("name", ["rows", "convolution"])
def test_a_saved_model_predicts_without_torch(name, tmp_path):
    model = recipe(name).fit(rows(2))
    model.save(tmp_path / "m.lin")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import linnaeus, numpy as np\n"
        f"model = linnaeus.load({str(tmp_path / 'm.lin')!r})\n"
        "print(model.raw_scores(['apple', '', 'zinc']).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(model.raw_scores(["apple", "", "zinc"]).tolist())


def test_without_torch_training_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(LinnaeusError, match=r"pip install 'linnaeus\[neural\]'") as error:
        recipe("rows").fit(rows(2))
    assert error.value.exit_code == 5


def test_label_sets_numbers_and_costs():
    sets = [(text, [label]) for text, label in rows(2)] + [("apple iron", ["fruit", "metal"])] * 9
    assert set(recipe("convolution").fit(sets).predict(["apple pear iron zinc"])[0]) == {"fruit", "metal"}
    numbers = [(text, 1000.0 + 50.0 * (label == "metal")) for text, label in rows(2)]
    found = recipe("rows", epochs=40).fit(numbers).predict(["apple pear", "zinc iron"])
    assert np.allclose(found, [1000, 1050], atol=15)
    costs = [[0, 1, 1], [1, 0, 1], [9, 9, 0]]
    dear = recipe("convolution", loss="hinge", costs=costs).fit(rows(3))
    assert dear.space.costs is not None
    assert dear.predict(["apple pear", "oak elm"]).tolist() == ["fruit", "tree"]


@pytest.mark.parametrize("loss", ["hinge", "softmargin", "logistic", "squared_hinge", "probability", "perceptron"])
def test_any_loss_of_the_output_space(loss):
    model = recipe("convolution", loss=loss).fit(rows(3))
    assert model.predict(["apple pear", "the zinc", "oak elm"]).tolist() == list(KINDS)


def test_the_log_loss_of_torch_is_ours():
    from linnaeus.learners.networks.learner import goal_of
    from linnaeus.neural.training import log_loss
    from linnaeus.outputs import Binary, Multiclass, MultiLabel
    from linnaeus.types import LabelSets

    rng = np.random.default_rng(0)
    sets = LabelSets(np.array([0, 2, 2, 3]), np.array([0, 2, 1], np.int32))
    for space, y, k in (
        (Multiclass(), np.array([2, 0, 1]), 3),
        (Binary(), np.array([1, 0, 1]), 2),
        (MultiLabel(), sets, 3),
    ):
        goal = goal_of(Network(), Lesson(None, y, np.array([1.0, 2.0, 0.5]), k, space=space))
        S = rng.normal(size=(3, space.width(k)))
        joint, truth, weights = goal.targets(np.arange(3))
        parts = (torch.from_numpy(part.astype(np.float64)) for part in (truth, weights))
        value, grad = log_loss(torch, torch.from_numpy(S), type(goal.targets(np.arange(3)))(joint, *parts))
        ours, mine = goal.value_and_grad(S, np.arange(3))
        assert float(value) == pytest.approx(ours)
        assert np.allclose(grad.numpy(), mine)


def test_weights_of_rows_and_classes_count():
    data = [("apple", "fruit")] * 20 + [("apple", "metal")] * 20 + [("zinc", "metal")] * 5
    heavy = recipe("rows", class_weight={"fruit": 9.0, "metal": 1.0}, held_out=0.0).fit(data)
    light = recipe("rows", class_weight={"fruit": 1.0, "metal": 9.0}, held_out=0.0).fit(data)
    assert heavy.predict(["apple"]).tolist() == ["fruit"]
    assert light.predict(["apple"]).tolist() == ["metal"]


def test_words_that_are_not_known_and_texts_without_words():
    model = recipe("convolution").fit([*rows(2), ("", "fruit"), ("", "fruit")])
    S = model.raw_scores(["", "unheard-of", "unheard-of words"])
    assert np.isfinite(S).all()
    single = recipe("convolution", epochs=40, rate=0.05, held_out=0.0).fit(
        [("word", "a"), ("word word word", "b")] * 12
    )
    assert single.predict(["word", "word word word"]).tolist() == ["a", "b"]


def test_xor_needs_a_hidden_layer():
    X = Dense(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]] * 8))
    y = np.array([0, 1, 1, 0] * 8)
    learner = Network(hidden=(8,), activation="tanh", dropout=0.0, rate=0.05, epochs=100, batch=8, held_out=0.0)
    S = learner.learn(Lesson(X, y, np.ones(32), 2)).scores(X)
    assert ((S[:, 0] > 0) == y).all()


def table(width=4):
    rng = np.random.default_rng(3)
    words = [word for some in KINDS.values() for word in some] + ["the"]
    return WordTable(words, rng.normal(size=(len(words), width)).astype(np.float32))


def test_given_vectors_stay_start_or_both():
    vectors, names = table(), ["apple", "oak"]
    for lookup in ("static", "started", "both"):
        encoder = Convolution(lookup=lookup, vectors=vectors, widths=(1, 2), filters=5)
        model = recipe("convolution", encoder=encoder).fit(rows(3))
        columns = [list(model.features.names()).index(name) for name in names]
        given = vectors.vectors_of(names)[1]
        weights = model.body.weights
        assert ("words.fixed" in weights, "words.learned" in weights) == (lookup != "started", lookup != "static")
        if lookup != "started":
            assert np.array_equal(weights["words.fixed"][columns], given)
        if lookup != "static":
            assert not np.array_equal(weights["words.learned"][columns], given)
            assert np.abs(weights["words.learned"][columns] - given).max() < 1


def test_vectors_of_a_file(tmp_path):
    path = tmp_path / "some.vec"
    path.write_text("2 3\napple 1 0 0\nzinc 0 1 0\n")
    model = recipe("convolution", encoder=Convolution(vectors=str(path), widths=(1,), filters=5)).fit(rows(2))
    assert model.body.form.encoder.width == 3
    path.write_text("2 3\napple 1 0 0\nzinc 0 1\n")
    with pytest.raises(DataError, match="line 3"):
        recipe("convolution", encoder=Convolution(vectors=str(path))).fit(rows(2))
    with pytest.raises(MachineError, match="no file of word vectors"):
        recipe("convolution", encoder=Convolution(vectors=str(tmp_path / "none.vec"))).fit(rows(2))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Network(hidden=()),
        lambda: Network(hidden=(0,)),
        lambda: Network(activation="swish"),
        lambda: Network(dropout=1.0),
        lambda: Network(rate=0.0),
        lambda: Network(optimizer="lbfgs"),
        lambda: Network(device="tpu"),
        lambda: Convolution(widths=()),
        lambda: Convolution(lookup="other"),
        lambda: Convolution(pool="median"),
        lambda: DeepConvolution(span=2),
        lambda: Attention(units=10, heads=4),
        lambda: Recurrent(units=0),
        lambda: Pooled(lookup="static").resolved(None),
        lambda: Pooled(lookup="random", vectors="some.vec").resolved(None),
        lambda: recipe("convolution", loss="huber").fit(rows(2)),
        lambda: recipe("convolution", loss="hinge").fit([("a b", 1.0), ("b", 2.0)] * 9),
        lambda: Recipe(features=Words(), learner=LEARNERS["convolution"]).fit(rows(2)),
        lambda: Recipe(features=WordSequence()).fit(rows(2)),
    ],
)
def test_what_means_nothing_is_refused(wrong):
    with pytest.raises(UsageError):
        wrong()


class Stopped(Exception):  # noqa: N818 - an interruption
    pass


@pytest.mark.parametrize("name", ["rows", "convolution"])
@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "sgd"])
def test_an_interrupted_training_ends_with_the_same_bits(name, optimizer, tmp_path):
    wanted = recipe(name, optimizer=optimizer, rate=0.05, schedule="cosine").fit(rows(2))
    X, labels = wanted.features.rows([text for text, _ in rows(2)]), [label == "metal" for _, label in rows(2)]
    lesson = Lesson(X, np.array(labels, int), np.ones(len(labels)), 2, names=wanted.features.names)
    learner = replace(LEARNERS[name], optimizer=optimizer, rate=0.05, schedule="cosine")
    whole = learner.learn(lesson)

    def stop(phase):
        if "epoch 3" in phase.note:
            raise Stopped

    kept = PartsFile(tmp_path / "work.part", "test")
    with pytest.raises(Stopped):
        learner.learn(replace(lesson, run=Run(stop, kept.part("solver"))))
    kept.write()
    again = PartsFile(tmp_path / "work.part", "test")
    assert again.part("solver").get() is not None
    resumed = learner.learn(replace(lesson, run=Run(None, again.part("solver"))))
    assert all(np.array_equal(whole.weights[part], resumed.weights[part]) for part in whole.weights)
    assert whole.facts == resumed.facts


def test_a_loss_that_stays_not_finite_ends_the_training():
    X = Dense(np.array([[1e38, 0.0], [0.0, 1e38]] * 20))
    lesson = Lesson(X, np.array([[0.0], [1.0]] * 20), np.ones(40), 1)
    learner = Network(hidden=(4,), optimizer="sgd", rate=1e4, dropout=0.0, clip=None, epochs=3, held_out=0.0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(DataError, match="not finite at any rate"):
            learner.learn(lesson)
    assert any("half the rate" in str(one.message) and one.category is LinnaeusWarning for one in said)


def test_training_goes_on_from_the_last_good_state_with_half_the_rate(monkeypatch):
    from linnaeus.learners.networks import learner as module

    calls, whole = [], module.Goal.value_and_grad

    def broken(self, S, rows):
        calls.append(len(rows))
        value, grad = whole(self, S, rows)
        return (np.nan, grad) if len(calls) == 3 else (value, grad)

    monkeypatch.setattr(module.Goal, "value_and_grad", broken)
    X = Dense(np.array([[1.0, 0.0], [0.0, 1.0]] * 20))
    lesson = Lesson(X, np.array([0, 1] * 20), np.ones(40), 2)
    learner = Network(hidden=(4,), loss="hinge", rate=0.05, epochs=5, batch=8, held_out=0.0)
    with pytest.warns(LinnaeusWarning, match="half the rate"):
        model = learner.learn(lesson)
    assert model.facts["halvings"] == 1
    assert ((model.scores(X)[:, 0] > 0) == lesson.y).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_damaged_network_is_refused(name):
    state = recipe(name, epochs=1).fit(rows(2)).body.state()
    assert np.array_equal(FittedNetwork.from_state(state).weights["out.W"], state.tensors["out.W"])
    for part, tensor in state.tensors.items():
        for wrong in (tensor[:-1], tensor.astype(np.float64), np.full_like(tensor, np.nan)):
            with pytest.raises(ModelFileError):
                FittedNetwork.from_state(State(state.manifest, {**state.tensors, part: wrong}))
    with pytest.raises(ModelFileError):
        FittedNetwork.from_state(State(state.manifest, {n: t for n, t in state.tensors.items() if n != "out.b"}))


def test_a_file_with_another_encoder_is_refused(tmp_path):
    model = recipe("convolution", epochs=1).fit(rows(2))
    state = model.body.state()
    for change in ({"kind": "magic"}, {"widths": [0]}, {"filters": "many"}, {"widths": 3}, {"extra": 1}):
        encoder = {**state.manifest["form"]["encoder"], **change}
        with pytest.raises((LinnaeusError, TypeError, KeyError)):
            FittedNetwork.from_state(
                State({**state.manifest, "form": {**state.manifest["form"], "encoder": encoder}}, state.tensors)
            )
    model.save(tmp_path / "m.lin")
    assert Model.load(tmp_path / "m.lin").recipe == model.recipe


def test_explanations_are_approximate():
    model = recipe("convolution").fit(rows(2))
    why = model.explain("the zinc")
    assert not why.exact
    assert why.predicted == ("metal",)
    assert max(why.reason().parts(), key=lambda part: part.contribution).name == "zinc"


def test_words_of_given_vectors_are_known_beside_those_of_the_training_texts():
    table = WordTable(["apple", "plum", "iron", "zinc"], np.eye(4, 6, dtype=np.float32))
    rows = [("apple", "fruit"), ("iron", "metal")] * 20
    for more, known in ((10, True), (0, False)):
        encoder = Pooled(vectors=table, lookup="static", more_words=more)
        learner = SequenceNetwork(encoder=encoder, rate=0.05, epochs=3, batch=8)
        model = Recipe(features=WordSequence(), learner=learner).fit(rows)
        assert ("plum" in model.features.names()) is known
        again = model.scores(["plum"])
        assert np.array_equal(again, model.scores(["entirely unknown"])) is not known
