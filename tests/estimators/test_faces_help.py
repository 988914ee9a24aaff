"""Faces refuse unknown parameters at once, show what can be set, and describe themselves in a few lines."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import linnaeus
from linnaeus import LogisticRegression, Tagger, TextClassifier, TextRegressor
from linnaeus.errors import UsageError

TEXTS, LABELS = ["good film", "bad film", "good", "bad"] * 5, ["pos", "neg"] * 10


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ({"regulariser__strenth": 3}, "regularizer__strength"),
        ({"los": "hinge"}, "loss"),
        ({"features__blocks__0__ngram": (1, 2)}, "features__blocks__0__ngrams"),
    ],
)
def test_unknown_parameters_are_refused_at_construction(slip, meant):
    with pytest.raises(UsageError, match=f"is not known; did you mean '{meant}'?"):
        TextClassifier("default", **slip)
    with pytest.raises(UsageError, match=f"did you mean '{meant}'?"):
        TextClassifier("default").set_params(**slip)


def test_names_of_recipes_and_pieces_are_suggested():
    with pytest.raises(UsageError, match="did you mean 'svm'"):
        TextClassifier("svn").fit(TEXTS, LABELS)
    with pytest.raises(UsageError, match="did you mean 'hinge'"):
        linnaeus.LinearClassifier(loss="hing").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(UsageError, match="did you mean 'strength'"):
        linnaeus.LinearClassifier().set_params(regularizer__strenth=1)
    with pytest.raises(UsageError, match="did you mean 'pos-crf'"):
        Tagger("poscrf").fit([["a"]], [["X"]])


def test_get_params_shows_what_can_be_set():
    face = TextClassifier("default", regularizer__strength=0.25)
    deep = face.get_params()
    assert deep["regularizer__strength"] == 0.25
    assert {"loss", "features__blocks__0__ngrams", "tuning__folds", "calibration", "seed", "recipe"} <= set(deep)
    assert face.get_params(deep=False) == {"recipe": "default", "regularizer__strength": 0.25}
    for name, value in deep.items():
        if name != "recipe":
            clone(TextClassifier("default")).set_params(**{name: value})


def test_a_grid_search_takes_the_names_that_are_shown():
    names = TextRegressor().get_params()
    assert "regularizer__strength" in names
    search = GridSearchCV(TextClassifier("logistic", tuning=None), {"regularizer__strength": [0.1, 1.0]}, cv=2)
    assert search.fit(TEXTS, LABELS).best_params_["regularizer__strength"] in (0.1, 1.0)


def _models(folder):
    yield TextClassifier("fast").fit(TEXTS, LABELS)
    yield TextClassifier("default", regularizer__strength=0.1)
    yield TextClassifier(linnaeus.Recipe())
    yield linnaeus.Recipe().fit(list(zip(TEXTS, LABELS, strict=True)))
    yield Tagger().fit([["the", "dog"]], [["D", "N"]])
    yield Tagger().fit([["the", "dog"]], [["D", "N"]]).model_
    yield linnaeus.Recipe(task="rank").fit([{"text": "a", "candidates": ["a", "b"], "answer": "a"}] * 3)
    stages = (linnaeus.Stage("pos", linnaeus.Recipe(task="tag")),)
    tagged = [[("a", "X"), ("b", "Y")]]
    yield linnaeus.Recipe(before=stages).fit(list(zip(TEXTS, LABELS, strict=True)), stages={"pos": tagged})
    yield LogisticRegression().fit([[0.0], [1.0]], ["a", "b"])
    for model in (TextClassifier("fast").fit(TEXTS, LABELS), Tagger().fit([["the", "dog"]], [["D", "N"]])):
        model.save(folder / "m.lin", force=True)
        yield linnaeus.load(folder / "m.lin")
        yield type(model).load(folder / "m.lin")


def test_a_model_describes_itself_in_a_few_lines(tmp_path):
    for model in _models(tmp_path):
        said = repr(model)
        assert said.count("\n") <= 6, said
        assert max(map(len, said.splitlines())) <= 100, said
        assert type(model).__name__ in said


def test_a_classifier_names_its_classes():
    model = linnaeus.Recipe().fit(list(zip(TEXTS, LABELS, strict=True)))
    assert "classes: 2 (neg, pos)" in repr(model)
    assert "20 rows" in repr(model)
