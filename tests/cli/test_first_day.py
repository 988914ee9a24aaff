"""Slips of a first day: each gets one sentence that says what to do."""

import json
import re
import subprocess
import sys

import pytest

from linnaeus import TextClassifier, datasets, load
from linnaeus.errors import DataError, LinnaeusWarning, UsageError


@pytest.fixture
def films(tmp_path, monkeypatch):
    """40 rows of two classes, with the columns text and label."""
    monkeypatch.chdir(tmp_path)
    rows = [f"a {'good' if i % 2 else 'bad'} film number {i},{'pos' if i % 2 else 'neg'}" for i in range(40)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return tmp_path / "films.csv"


def test_swapped_columns_are_refused(run, films):
    code, _, err = run("train", "films.csv", "--text", "label", "--label", "text", "--recipe", "fast")
    assert code == 3
    assert "--text and --label look swapped: 40 different labels of" in err
    assert "2 different texts of 3, in 40 rows; name them the other way." in err


def test_swapped_texts_and_labels_are_refused_in_python():
    texts, labels = ["some long text number " + str(i) for i in range(40)], ["a", "b"] * 20
    with pytest.raises(DataError, match="look swapped"):
        TextClassifier("fast").fit(labels, texts)


def test_classes_that_occur_once_are_remarked_on(run, films):
    films.write_text("text,label\n" + "".join(f"text {i % 30},a name with {i}\n" for i in range(40)))
    code, _, err = run("train", "films.csv", "--recipe", "fast")
    assert code == 0
    assert "There are 40 classes in 40 rows, so that most classes have one row; are --text and --label swapped?" in err


def test_short_labels_of_many_classes_are_remarked_on_in_python():
    with pytest.warns(LinnaeusWarning, match="30 classes in 30 rows, .* is label= the right column"):
        TextClassifier("fast").fit([f"a long text number {i}" for i in range(30)], [f"c{i}" for i in range(30)])


def test_many_classes_that_are_numbers_are_remarked_on(run, films):
    films.write_text("text,price\n" + "".join(f"text {i},{i % 25}.5\n" for i in range(100)))
    code, _, err = run("train", "films.csv", "--label", "price", "--recipe", "fast")
    assert code == 0
    assert "The 25 classes are numbers, such as '9.5'; to predict a number use --label-kind numeric." in err
    code, _, err = run("train", "films.csv", "--label", "price", "--label-kind", "numeric", "--force")
    assert code == 0
    assert "classes are numbers" not in err


@pytest.mark.parametrize("folds", [41, 1000])
def test_more_folds_than_rows_are_refused(run, films, folds):
    code, _, err = run("train", "films.csv", "--cv", folds)
    assert code == 2
    assert f"--cv {folds} asks for more folds than there are rows (40)." in err


def test_a_million_folds_are_refused(run, films):
    code, _, err = run("train", "films.csv", "--cv", "1000000")
    assert code == 2
    assert "1000000 is not in the range 2<=x<=1000" in err
    with pytest.raises(UsageError, match="at most 1,000, not 1,000,000"):
        TextClassifier("svm", tuning__folds=1_000_000).fit(["a", "b"], ["x", "y"])
    with pytest.raises(UsageError, match="100 folds are asked for, but there are 20 rows"):
        TextClassifier("svm", tuning__folds=100).fit(["a", "b"] * 10, ["x", "y"] * 10)


def test_recipes_of_another_kind_say_what_they_need(run, films):
    code, _, err = run("train", "films.csv", "--recipe", "pos")
    assert code == 2
    assert "'pos' is a recipe for taggers, which learn from lists of tokens with tags, as in CoNLL files; " in err
    assert "for texts with labels take 'default'" in err
    with pytest.raises(UsageError, match="'reading' is a recipe for rankers"):
        TextClassifier("reading").fit(["a", "b"], ["x", "y"])


def test_taggers_refuse_recipes_for_texts(run, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["a", "dog"], "tags": ["D", "N"]}\n' * 30)
    code, _, err = run("train", tmp_path / "a.jsonl", "--recipe", "svm", "-o", tmp_path / "a.lin")
    assert code == 2
    assert "'svm' is a recipe for classifiers of texts" in err


def test_unknown_labels_are_named(run, films, tmp_path):
    run("train", "films.csv", "--recipe", "fast", "-o", "films.lin")
    (tmp_path / "test.csv").write_text("text,label\na good film,pos\na film,fine\na film,odd\nbad,fine\n")
    told = "3 of 4 rows have labels that the model does not know, which are counted as mistakes: 'fine' (2), 'odd' (1)"
    code, out, err = run("test", "films.lin", "test.csv", "--json")
    assert (code, json.loads(out)["unknown"]) == (0, 3)
    assert told in err
    assert told in run("train", "films.csv", "--recipe", "fast", "--test", "test.csv", "--force").err
    with pytest.warns(LinnaeusWarning, match=re.escape(told)):
        load("films.lin").evaluate("test.csv")


def test_unknown_tags_are_named(run, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"tokens": ["a", "dog"], "tags": ["D", "N"]}\n' * 30)
    (tmp_path / "b.jsonl").write_text('{"tokens": ["a", "dog"], "tags": ["X", "N"]}\n')
    run("train", tmp_path / "a.jsonl", "-o", tmp_path / "a.lin")
    err = run("test", tmp_path / "a.lin", tmp_path / "b.jsonl").err
    assert "1 of 2 tokens have tags that the model does not know, which are counted as mistakes: 'X' (1)" in err


def test_outcome_takes_a_corpus():
    train, test = datasets.intents().split(0.2)
    model = TextClassifier("fast").fit(train.text, train.labels.to_pylist()).model_
    assert len(model.outcome(test).truth) == len(test)
    assert len(model.outcome(test.batch()).truth) == len(test)


def test_python_runs_the_package():
    done = subprocess.run([sys.executable, "-m", "linnaeus", "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("linnaeus ")
