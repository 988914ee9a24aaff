"""A learner of dependency parsers: it learns, the same on any number of threads, and goes on from a checkpoint."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.features.arcs import Arcs
from linnaeus.learners.dependencies import Dependencies, Treebank, TreeWeights
from linnaeus.learners.dependencies.runs import WORK, ArcRun, _slices
from linnaeus.learners.step_settings import STEP_LOSSES
from linnaeus.losses import LOSSES
from linnaeus.store.parts import PartsFile
from linnaeus.types import Heads, State

NOUNS, VERBS = ["dog", "cat", "bird", "fish", "man"], ["sees", "likes", "hunts", "knows"]
RELATIONS = ("det", "nsubj", "obj", "punct", "root")
SMALL = Arcs(
    ("h.upos m.upos", "h.upos", "m.upos", "h.word m.word", "h.upos m.upos between.upos", "h.upos m-1.upos m.upos"),
    ("h:head.upos h.upos m.upos", "h.relation m.relation"),
    ("h.upos m.upos", "m.word", "m:leftmost.upos"),
    bits=12,
    relation_bits=10,
)


def draw(n, seed=0):
    """Sentences such as "the dog sees a cat ." with their trees."""
    rng = np.random.default_rng(seed)
    words, tags, heads, relations = [], [], [], []
    for _ in range(n):
        subject = [["the"], ["DET"], [1], [0]] if rng.random() < 0.5 else [[], [], [], []]
        verb = len(subject[0]) + 2
        words.append([*subject[0], rng.choice(NOUNS), rng.choice(VERBS), rng.choice(NOUNS)])
        tags.append([*subject[1], "NOUN", "VERB", "NOUN"])
        heads.append([*(2 for _ in subject[2]), verb, 0, verb])
        relations.append([*subject[3], 1, 4, 2])
        if rng.random() < 0.5:
            words[-1].append("."), tags[-1].append("PUNCT"), heads[-1].append(verb), relations[-1].append(3)
    return words, tags, heads, relations


def bank(n=40, seed=0, features=SMALL, weights=None):
    words, tags, heads, relations = draw(n, seed)
    sentences = Sentences.from_lists(words, columns={"upos": tags})
    y = Heads.of([len(row) for row in heads], np.concatenate(heads), weights)
    return Treebank(features.fit(sentences), sentences, y, np.concatenate(relations).astype(np.int32), len(RELATIONS))


def same(one: TreeWeights, other: TreeWeights) -> bool:
    mine, theirs = one.state(), other.state()
    return all(mine.tensors[name].tobytes() == theirs.tensors[name].tobytes() for name in mine.tensors)


@pytest.mark.parametrize("space", ["projective", "spanning"])
@pytest.mark.parametrize("rule", ["sgd", "adagrad"])
@pytest.mark.parametrize("loss", STEP_LOSSES)
def test_it_learns_to_parse(loss, rule, space):
    lesson, unseen = bank(), bank(20, 1)
    learned = Dependencies(loss=loss, rule=rule, space=space, rate=0.3, epochs=4).learn_trees(lesson)
    found = learned.parse(lesson.features, unseen.sentences)
    assert (found.heads == unseen.y.heads).mean() > 0.95
    assert (found.relations == unseen.relations).mean() > 0.95


def test_training_has_the_same_bits_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 5):
        with kernels.threads(threads):
            lesson = bank()
            found.append(Dependencies(epochs=2).learn_trees(lesson))
    assert same(found[0], found[1])
    assert same(found[0], found[2])
    assert not same(found[0], Dependencies(epochs=2).learn_trees(bank(), seed=1))


def test_every_part_is_told():
    told = []
    plan = Dependencies(epochs=2)
    plan.learn_trees(bank(), told=lambda *step: told.append(step))
    assert [epoch for epoch, _, _ in told] == list(range(2 * plan.parts(bank().features)))
    assert all(loss >= 0 for _, loss, _ in told)
    assert told[1][2] < told[0][2]


@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_interrupted_training_goes_on_to_the_same_bits(tmp_path, strength):
    plan = Dependencies(epochs=2, strength=strength)
    whole = plan.learn_trees(bank(), seed=3)
    for stop in range(2 * plan.parts(bank().features)):
        path = tmp_path / f"{stop}.part"

        def interrupt(epoch, _loss, _wrong, stop=stop):
            if epoch == stop:
                raise KeyboardInterrupt

        file = PartsFile(path, "these")
        with pytest.raises(KeyboardInterrupt):
            plan.learn_trees(bank(), 3, interrupt, file.part("trees"))
        file.write()
        met = []
        again = plan.learn_trees(
            bank(), 3, lambda *step, met=met: met.append(step), PartsFile(path, "these").part("trees")
        )
        assert same(again, whole)
        assert [epoch for epoch, _, _ in met][:1] == [stop + 1][: len(met)]


def test_a_checkpoint_of_other_sentences_is_refused(tmp_path):
    file = PartsFile(tmp_path / "a.part", "these")
    file.part("trees").put(State({"part": 0, "epochs": 1}, {"open.table": np.zeros((2, 2)), "open.clock": np.zeros(3)}))
    with pytest.raises(ModelFileError, match="checkpoint"):
        Dependencies().learn_trees(bank(), kept=file.part("trees"))


@pytest.mark.parametrize(
    ("manifest", "tensors"),
    [
        ({"part": -1, "epochs": 0}, {"done.0": np.zeros((2, 2), np.float32)}),
        ({"part": -1, "epochs": 0}, {"done.0": np.zeros((1 << 10, 3))}),
        ({"epochs": 0}, {}),
        ({"part": "0", "epochs": 0}, {}),
        ({"part": 0}, {}),
    ],
)
def test_a_damaged_checkpoint_is_refused(tmp_path, manifest, tensors):
    place = PartsFile(tmp_path / "a.part", "these").part("trees")
    place.put(State(manifest, tensors))
    with pytest.raises(ModelFileError, match="checkpoint"):
        Dependencies().learn_trees(bank(), kept=place)


def test_parts_that_are_not_known_are_left_alone(tmp_path):
    place = PartsFile(tmp_path / "a.part", "these").part("trees")
    place.put(State({"part": -1, "epochs": 0}, {"done.no number": np.zeros(2)}))
    plan = Dependencies(epochs=1)
    assert same(plan.learn_trees(bank(), kept=place), plan.learn_trees(bank()))


def test_weights_that_are_too_large_are_refused():
    lesson = bank()
    state = Dependencies(epochs=1).learn_trees(lesson).state()
    tensors = {**state.tensors, "first": np.full_like(state.tensors["first"], 1e13)}
    with pytest.raises(ModelFileError, match="larger than"):
        TreeWeights.from_state(State(state.manifest, tensors))


def test_calls_of_the_kernel_are_cut_by_what_they_cost():
    lesson = bank(2)

    def work(**settings):
        return ArcRun(Dependencies(**settings), lesson, lesson.features.first, None).work

    assert (work() < work(loss="log")).all()
    assert (work() < work(strength=0.1)).all()
    assert (work(strength=0.1) < work(loss="log", strength=0.1)).all()
    order, costs = np.arange(6, dtype=np.int32), np.array([1, 5 * WORK, 1, 1, WORK, 1])
    parts = [part.tolist() for part in _slices(order, costs)]
    assert [i for part in parts for i in part] == order.tolist()
    assert all(parts), "no call has nothing to do"
    assert len(parts) > 1
    assert [part.tolist() for part in _slices(order[:0], costs)] == [[]]


def test_several_runs_are_averaged():
    one, three = Dependencies(epochs=1), Dependencies(epochs=1, runs=3)
    told = []
    found = three.learn_trees(bank(), told=lambda epoch, *_: told.append(epoch))
    assert told == list(range(three.parts(bank().features))) == list(range(3 * one.parts(bank().features)))
    assert not same(found, one.learn_trees(bank()))
    same_features = Arcs(SMALL.templates, (), SMALL.relations, bits=12, relation_bits=10)
    relations = three.learn_trees(bank(features=same_features)).relations
    assert relations.tobytes() == found.relations.tobytes()  # the first part, whatever follows


def test_a_penalty_shrinks_the_weights():
    sizes = [
        np.abs(Dependencies(epochs=2).with_strength(strength).learn_trees(bank()).first).sum()
        for strength in (0.0, 1.0, 100.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_sentence_of_weight_two_counts_as_two():
    lesson = bank(4)
    twice = Treebank(
        lesson.features, lesson.sentences, Heads.of(np.diff(lesson.y.tokens), lesson.y.heads, np.full(4, 2.0)),
        lesson.relations, lesson.k,
    )  # fmt: skip
    plan = Dependencies(loss="perceptron", rule="sgd", rate=0.02, epochs=1)
    one, two = plan.learn_trees(lesson), Dependencies(loss="perceptron", rule="sgd", rate=0.04, epochs=1)
    np.testing.assert_allclose(plan.learn_trees(twice).first, two.learn_trees(lesson).first, atol=1e-6)
    assert np.any(one.first)


def test_a_loss_of_ones_own_takes_the_steps_of_the_general_engine():
    class Own:
        """The structured hinge loss, as a user writes it."""

        def value_and_grad(self, space, S, y):
            return LOSSES["hinge"]().value_and_grad(space, S, y)

    features = Arcs(SMALL.templates, (), SMALL.relations, bits=16, relation_bits=10)
    plan = Dependencies(loss=Own(), rate=0.3, epochs=3)
    lesson = bank(20, features=features)
    learned = plan.learn_trees(lesson)
    found = learned.parse(lesson.features, lesson.sentences)
    assert (found.heads == lesson.y.heads).mean() > 0.95
    guided = bank(12)
    assert len(plan.learn_trees(guided).second) == guided.features.second.width


def test_short_and_long_sentences_are_parsed():
    lesson = bank()
    learned = Dependencies(epochs=1).learn_trees(lesson)
    words = [["dog"], [], ["dog", "sees"] * 100, ["cat"]]
    tags = [["NOUN"], [], ["NOUN", "VERB"] * 100, ["NOUN"]]
    sentences = Sentences.from_lists(words, columns={"upos": tags})
    tree = learned.parse(lesson.features, sentences)
    assert len(tree.heads) == len(tree.relations) == 202
    assert tree.heads[0] == tree.heads[-1] == 0
    assert (tree.heads[1:201] == 0).sum() == 1
    chances = learned.marginals(lesson.features, sentences)
    assert len(chances) == len(learned.scores(lesson.features, sentences)) == 2 + 200 * 201 + 2
    np.testing.assert_allclose(chances[2:-2].reshape(200, 201).sum(axis=1), 1.0)
    nothing = learned.parse(lesson.features, Sentences.from_lists([], columns={"upos": []}))
    assert len(nothing.heads) == 0


def test_marginals_are_those_of_the_last_pass():
    lesson = bank()
    learned = Dependencies(epochs=3, loss="log", rate=0.3).learn_trees(lesson)
    chances = learned.marginals(lesson.features, lesson.sentences)
    gold = lesson.y.offsets[:-1].repeat(np.diff(lesson.y.tokens))
    sizes = np.diff(lesson.y.tokens)
    at = np.arange(len(lesson.y.heads)) - lesson.y.tokens[:-1].repeat(sizes)
    assert chances[gold + at * (sizes.repeat(sizes) + 1) + lesson.y.heads].mean() > 0.9


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"loss": "squared"}, UsageError),
        ({"rule": "ftrl"}, UsageError),
        ({"space": "graph"}, UsageError),
        ({"epochs": 0}, UsageError),
        ({"epochs": 1.5}, InputTypeError),
        ({"folds": 1}, UsageError),
        ({"runs": 0}, UsageError),
        ({"rate": 0.0}, UsageError),
        ({"rate": np.inf}, UsageError),
        ({"strength": -1.0}, UsageError),
        ({"smoothing": 0.0}, UsageError),
    ],
)
def test_wrong_settings_are_refused(wrong, error):
    with pytest.raises(error):
        Dependencies(**wrong)


def test_a_loss_that_the_kernel_knows_is_taken_by_its_name():
    assert Dependencies(loss=LOSSES["log"]()).loss == "log"


def test_truths_that_do_not_fit_are_refused():
    lesson = bank(4)
    for y, relations, k in (
        (lesson.y[:3], lesson.relations, 5),
        (lesson.y, lesson.relations[1:], 5),
        (lesson.y, lesson.relations, 0),
        (lesson.y, lesson.relations - 1, 5),
        (Heads.of(np.diff(lesson.y.tokens), lesson.y.heads + 3), lesson.relations, 5),
        (Heads.of(np.diff(lesson.y.tokens), np.ones_like(lesson.y.heads)), lesson.relations, 5),
    ):
        with pytest.raises(DataError):
            Treebank(lesson.features, lesson.sentences, y, relations, k)
    with pytest.raises(DataError, match="second pass needs at least"):
        Dependencies().learn_trees(bank(1))


def test_weights_survive_their_state_and_hostile_ones_do_not():
    lesson = bank(6)
    learned = Dependencies(epochs=1).learn_trees(lesson)
    state = learned.state()
    assert same(TreeWeights.from_state(state), learned)
    assert learned.fits(lesson.features, 5)
    assert not learned.fits(lesson.features, 4)
    for name in ("first", "second", "relations"):
        for bad in (np.nan, np.inf, 1e30):
            part = state.tensors[name].copy()
            part.flat[0] = bad
            with pytest.raises(ModelFileError):
                TreeWeights.from_state(State(state.manifest, {**state.tensors, name: part}))
        for part in (state.tensors[name].astype(np.float64), state.tensors[name][None]):
            with pytest.raises(ModelFileError):
                TreeWeights.from_state(State(state.manifest, {**state.tensors, name: part}))
        with pytest.raises(ModelFileError):
            TreeWeights.from_state(State(state.manifest, {k: v for k, v in state.tensors.items() if k != name}))
    for manifest in ({"kind": "chain", "space": "projective"}, {"kind": "dependencies", "space": "graph"}, {}):
        with pytest.raises(ModelFileError):
            TreeWeights.from_state(State(manifest, state.tensors))
