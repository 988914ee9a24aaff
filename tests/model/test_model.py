"""From labeled rows to a model that predicts, judges, explains and keeps itself."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from linnaeus import Model, Recipe, TextClassifier, TextRegressor, datasets, kernels, read
from linnaeus.decision.calibration import FittedTemperature
from linnaeus.decision.shared_sigmoid import FittedShared
from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.features import Columns, Contrast, Selected, Words
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.cookbook import RECIPES, recipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.tasks.base import Wish
from linnaeus.tasks.classify.answers import answers

TEXT_RECIPES = [name for name, row in RECIPES.items() if row.task in ("classify", "regress")]

TEXTS = ["a good film", "so good", "good and fine", "a bad film", "so bad", "bad and dull"] * 4
LABELS = ["pos", "pos", "pos", "neg", "neg", "neg"] * 4
SETS = [["good"], ["good", "so"], ["good"], ["bad"], ["bad", "so"], []] * 4
NUMBERS = [5.0, 5.0, 4.0, 1.0, 1.0, 2.0] * 4


@pytest.fixture(scope="module")
def model():
    return recipe("default").fit(datasets.intents("train"))


def test_the_default_recipe_is_good_on_the_embedded_data(model):
    found = model.evaluate(datasets.intents("test"), rounds=0)
    assert found.value("accuracy") > 0.85
    assert model.evaluation is not None
    assert abs(found.value("accuracy") - model.evaluation.value("accuracy")) < 0.12
    assert found.value("ece") < 0.15


@pytest.mark.parametrize("name", TEXT_RECIPES)
def test_every_recipe_trains_saves_and_answers_alike(name, tmp_path):
    rows = list(zip(TEXTS, NUMBERS if name == "ridge" else LABELS, strict=True))
    given = read(rows, label_kind="numeric" if name == "ridge" else "one")
    model = recipe(name).fit(given)
    model.save(tmp_path / "m.lin")
    again = Model.load(tmp_path / "m.lin")
    new = ["a good one", "bad", "", "nothing known"]
    assert np.array_equal(model.scores(new), again.scores(new))
    assert model.predict(new).tolist() == again.predict(new).tolist()
    assert again.recipe == model.recipe
    if name != "ridge":
        assert model.predict(["so good", "so bad"]).tolist() == ["pos", "neg"]
        assert np.array_equal(model.probabilities(new), again.probabilities(new))
    again.save(tmp_path / "n.lin")
    assert (tmp_path / "m.lin").read_bytes() == (tmp_path / "n.lin").read_bytes()


def test_two_equal_trainings_write_equal_bytes_for_any_number_of_threads(tmp_path):
    for threads in (1, 2, 3, 8):
        with kernels.threads(threads):
            recipe("default").fit(datasets.intents("train")).save(tmp_path / f"{threads}.lin")
    assert len({(tmp_path / f"{threads}.lin").read_bytes() for threads in (1, 2, 3, 8)}) == 1


def test_label_sets(tmp_path):
    face = TextClassifier("logistic").fit(TEXTS, SETS)
    assert set(face.predict(["so good"])[0]) >= {"good"}
    assert face.predict_proba(["so good"]).shape == (1, 3)
    face.save(tmp_path / "m.lin")
    assert TextClassifier.load(tmp_path / "m.lin").predict(TEXTS) == face.predict(TEXTS)
    assert set(face.model_.explain("so good").predicted) == set(face.predict(["so good"])[0])
    matrix = np.array([[1, 0], [1, 1], [1, 0], [0, 1], [0, 1], [0, 0]] * 4)
    found = TextClassifier("svm").fit(TEXTS, matrix).predict(TEXTS)
    assert found.shape == matrix.shape


def test_numbers():
    face = TextRegressor().fit(TEXTS, NUMBERS)
    good, bad = face.predict(["so good", "so bad"])
    assert good > 3 > bad
    assert face.evaluation_.value("rmse") < 1.5
    with pytest.raises(UsageError, match="probabilities"):
        face.model_.probabilities(["x"])


def test_labels_keep_their_type():
    assert TextClassifier("fast").fit(TEXTS, [int(n) for n in NUMBERS]).predict(["so bad"]).tolist() == [1]
    assert TextClassifier("fast").fit(TEXTS, [n > 3 for n in NUMBERS]).predict(["so bad"]).tolist() == [False]


def test_classify_says_what_predict_says(model):
    for text in ("turn on the lights", "", "wake me at seven"):
        said = model.classify(text)
        assert said.label == model.predict([text])[0]
        assert said.probability == pytest.approx(model.probabilities([text]).max())
        assert said.ranking[0] == (said.label, said.probability)


def test_sets_with_a_coverage_are_judged_by_their_best_class():
    found = TextClassifier("logistic", abstain="coverage=0.9").fit(TEXTS, LABELS)
    assert found.evaluation_.value("accuracy") == 1.0
    rows = read(list(zip(TEXTS, LABELS, strict=True)))
    assert found.model_.evaluate(rows, abstain="coverage=0.9", rounds=0).value("accuracy") == 1.0
    assert found.classify("so good").label == ("pos",)


def test_classify_gives_the_probability_of_its_own_label():
    costs = {"decision__costs": [[0, 1000], [1, 0]]}  # missing "pos" is dear, so it is said where it is not likely
    found = TextClassifier("logistic", **costs).fit(TEXTS, LABELS).classify("so bad", top=2)
    assert found.label == "pos"
    assert found.probability == dict(found.ranking)["pos"] < 0.5
    unsure = TextClassifier("logistic", decision__abstain="confidence=0.999").fit(TEXTS, LABELS).classify("film")
    assert unsure.label is None
    assert unsure.probability is None


def test_explanations_add_up(model):
    for text in ("please turn on the lights", "what is the weather like"):
        why = model.explain(text)
        reason = why.reason()
        total = reason.bias + float(np.sum(reason.contributions))
        assert total == pytest.approx(reason.score, abs=1e-5)
        assert why.predicted == (model.predict([text])[0],)
    assert model.top_features(3)[0].positive


def test_label_sets_and_sets_with_a_coverage_are_explained():
    found = TextClassifier().fit(TEXTS, SETS)
    assert found.explain("so good").predicted == tuple(found.predict(["so good"])[0])
    sure = TextClassifier("logistic", abstain="coverage=0.9").fit(TEXTS, LABELS)
    assert sure.explain("so good").predicted == ("pos",)


def test_further_columns_are_features(tmp_path):
    rows = [{"text": t, "label": label, "from": label} for t, label in zip(["same"] * 24, LABELS, strict=True)]
    given = Recipe(features=Words() | Columns(categorical=["from"]), learner=Linear(loss="log"), tuning=Tuning())
    model = given.fit(read(rows))
    assert model.evaluation.value("accuracy") == 1.0
    model.save(tmp_path / "m.lin")
    new = read([{"text": "same", "from": "neg"}], label="")
    assert Model.load(tmp_path / "m.lin").predict(new).tolist() == ["neg"]


def test_held_out_rows_are_not_known_to_features_that_look_at_labels():
    """Labels by chance: features learned on all rows would make the held-out score better than chance."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 400, 12)) for _ in range(300)]
    labels = rng.integers(0, 2, 300).tolist()
    for features in (Words(values="nb"), Words(values=Contrast(), length="l2"), Selected(Words(), by="chi2", k=50)):
        given = Recipe(features=features, learner=Linear(loss="squared_hinge"), tuning=Tuning(folds=5))
        assert TextClassifier(given).fit(texts, labels).evaluation_.value("accuracy") < 0.62


def test_groups_stay_together_in_folds():
    """Each text stands twice in its group: apart, the one would give the other away."""
    rng = np.random.default_rng(0)
    rows = [{"text": f"key{i} a b", "label": str(rng.integers(0, 2)), "group": str(i)} for i in range(60)] * 2
    given = Recipe(features=Words(), learner=Linear(loss="log"), tuning=Tuning(folds=5))
    assert given.fit(read(rows, group="group")).evaluation.value("accuracy") < 0.75


def test_a_tuned_strength_is_the_best_of_those_tried(model):
    tried = dict(model.facts["tried"])
    assert tried[model.facts["strength"]] == max(tried.values())


def test_scikit_learn_handles_the_faces():
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    face = TextClassifier("logistic", regularizer__strength=0.5)
    assert clone(face).get_params(deep=False) == {"recipe": "logistic", "regularizer__strength": 0.5}
    assert clone(face).get_params() == face.get_params()
    search = GridSearchCV(face, {"regularizer__strength": [1.0, 0.1], "tuning": ["none"]}, cv=2).fit(TEXTS, LABELS)
    assert search.best_estimator_.predict(["so bad"]).tolist() == ["neg"]
    assert cross_val_score(TextClassifier("fast"), TEXTS, LABELS, cv=3).mean() > 0.9
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.predict_proba(TEXTS).tolist() == search.best_estimator_.predict_proba(TEXTS).tolist()
    with pytest.raises(UsageError, match="los"):
        face.set_params(los="hinge")
    assert face.get_params(deep=False) == {"recipe": "logistic", "regularizer__strength": 0.5}


def test_eight_threads_and_a_fork_give_the_same_answers(model):
    texts = [row for batch in datasets.intents("test").batches() for row in batch.text.to_pylist()]
    wanted = model.probabilities(texts)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.probabilities(texts), range(16)):
            assert np.array_equal(found, wanted)
    reading, writing = os.pipe()
    if os.fork() == 0:
        same = np.array_equal(model.probabilities(texts), wanted)
        os.write(writing, b"1" if same else b"0")
        os._exit(0)
    assert os.read(reading, 1) == b"1"
    os.wait()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("a", "x"), ("b", "x")], "one class"),
        ([], "no rows|label"),
        ([{"text": "a"}, {"text": "b"}], "label"),
        (["just", "texts"], "label"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(rows, words):
    with pytest.raises(DataError, match=words):
        recipe("default").fit(rows)


def test_files_of_others_are_refused(tmp_path, model):
    from linnaeus import features

    features.save(tmp_path / "f.lin", model.features)
    with pytest.raises(ModelFileError, match="kind of model"):
        Model.load(tmp_path / "f.lin")
    model.save(tmp_path / "m.lin")
    with pytest.raises(ModelFileError, match="TextClassifier"):
        TextRegressor.load(tmp_path / "m.lin")


def test_rare_classes_and_few_rows_train():
    """A class with one row cannot be in every fold; two rows cannot be split in five."""
    model = recipe("default").fit([*zip(TEXTS, LABELS, strict=True), ("odd one", "rare")])
    assert "rare" in model.classes.tolist()
    assert recipe("default").fit([("good", "pos"), ("bad", "neg")]).predict(["good"]).tolist() == ["pos"]


def test_classes_that_a_fold_lacks_do_not_hold_it_up():
    """A class of one row is in no other fold: its bias would sink for ever."""
    rows = [*zip(TEXTS, LABELS, strict=True), ("odd one", "rare"), ("one more", "rarer")]
    for name in ("logistic", "multiclass-svm"):
        model = recipe(name).fit(rows)
        assert model.evaluation.value("accuracy") > 0.8
        assert model.classes.tolist() == ["neg", "pos", "rare", "rarer"]


@pytest.mark.parametrize("name", [name for name in TEXT_RECIPES if name != "ridge"])
def test_no_secret_that_occurs_once_is_in_the_file(name, tmp_path):
    secrets = ["zx81secret9", "4929881737", "hunter2", "q7pz"]
    rows = [*zip(TEXTS * 5, LABELS * 5, strict=True), (f"my code is {' and '.join(secrets)} ok", "pos")]
    recipe(name).fit(rows).save(tmp_path / "m.lin")
    written = (tmp_path / "m.lin").read_bytes()
    for secret in secrets:
        assert secret.encode() not in written


@pytest.mark.parametrize("name", ["default", "svm", "logistic", "multiclass-svm", "perceptron", "fast"])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_text_at_a_time_says_what_a_batch_says(name, classes):
    labels = LABELS if classes == 2 else ["pos", "pos", "odd", "neg", "neg", "neg"] * 4
    model = TextClassifier(name).fit(TEXTS, labels)
    for text in ("so good", "bad and dull", "", "unheard of", "good bad fine ßÄ"):
        said, P = model.classify(text), model.predict_proba([text])[0]
        assert said.label == model.predict([text])[0]
        assert said.probability == pytest.approx(P.max(), rel=1e-12)
        longer = model.classify(text, top=classes)
        assert [p for _, p in longer.ranking] == sorted(P.tolist(), reverse=True)


@pytest.mark.parametrize("offset", [-3.0, 0.5, 4.0, None])
def test_every_curve_says_the_same_by_text_by_batch_and_from_a_file(model, offset, tmp_path):
    curve = FittedTemperature("classes", 0.3) if offset is None else FittedShared("classes", 0.3, offset)
    model = replace(model, decision=replace(model.decision, calibrator=curve))
    texts = ["will it rain", "play some jazz", "", "unheard of", "e\u0301t\u00e9 &amp; more", "play it again"]
    model.save(tmp_path / "m.lin")
    again = Model.load(tmp_path / "m.lin")
    P, best = model.probabilities(texts), model.scores(texts).argmax(axis=1)
    assert again.probabilities(texts).tobytes() == P.tobytes()
    for one in (model, again):
        batch = answers(one, next(iter(read(texts).batches())), Wish())
        assert batch["label"].to_pylist() == [one.classes[i] for i in best] == one.predict(texts).tolist()
        assert batch["probability"].to_pylist() == pytest.approx(P.max(axis=1), rel=1e-12)
        said = [one.classify(text) for text in texts]
        assert [answer.label for answer in said] == batch["label"].to_pylist()
        assert [answer.probability for answer in said] == pytest.approx(batch["probability"].to_pylist(), rel=1e-12)
    long = "play " * 70_000  # more often than the tables of values reach
    assert model.classify(long).probability == pytest.approx(model.probabilities([long]).max(), rel=1e-12)


@pytest.mark.parametrize("name", ["default", "svm", "logistic"])
def test_recipes_for_classes_refuse_numbers_before_any_work(name):
    with pytest.raises(UsageError, match="loss is for classes, and the labels are numbers; take the recipe ridge"):
        TextRegressor(name).fit(TEXTS, range(len(TEXTS)))


def test_labels_of_another_kind_are_refused():
    model = Recipe().fit([("good film", "pos"), ("bad film", "neg")])
    with pytest.raises(DataError, match=r"have sets of labels, but this model predicts one label; .*'one'"):
        model.evaluate(read([{"text": "a film", "label": ["pos"]}], label="label"))
    many = Recipe().fit(read([{"text": "good film", "label": ["pos"]}, {"text": "bad", "label": []}], label="label"))
    with pytest.raises(DataError, match=r"have one label each, but this model predicts sets of labels"):
        many.evaluate([("a film", "pos")])
