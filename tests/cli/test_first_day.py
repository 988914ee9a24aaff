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


@pytest.fixture
def named(films, run):
    """A model whose columns were named, and a file with these columns and one that would be guessed."""
    films.write_text(films.read_text().replace("text,label", "body,cat"))
    rows = [f"{'pos' if i % 2 else 'neg'},a {'good' if i % 2 else 'bad'} film {i},-" for i in range(10)]
    films.with_name("other.csv").write_text("\n".join(["cat,body,text", *rows]) + "\n")
    assert run("train", "films.csv", "--text", "body", "--label", "cat", "--recipe", "fast", "-o", "m.lin").code == 0
    return films.with_name("other.csv")


def test_a_model_remembers_the_columns_that_were_named(run, named):
    code, _, err = run("test", "m.lin", "other.csv", "--min", "accuracy=1")
    assert code == 0, err
    answers = [json.loads(line)["label"] for line in run("predict", "m.lin", "other.csv").out.splitlines()]
    assert answers == ["neg", "pos"] * 5
    assert json.loads(run("explain", "m.lin", "other.csv", "--json").out)["text"] == "a bad film 0"


def test_other_columns_are_guessed_or_named_as_before(run, named):
    named.write_text(named.read_text().replace("cat,body,text", "label,text,body"))
    assert run("test", "m.lin", "other.csv", "--text", "text", "--label", "label", "--min", "accuracy=1").code == 0
    named.write_text("label,text\npos,a good film\n")
    assert run("test", "m.lin", "other.csv", "--min", "accuracy=1").code == 0


def test_abstaining_by_probabilities_that_are_not_calibrated_is_remarked_on(run, named):
    for verb in ("predict", "test"):
        code, _, err = run(verb, "m.lin", "other.csv", "--abstain", "confidence=0.99")
        assert code == 0
        assert "not calibrated, because no rows were held out" in err
        assert "confidence=0.99 may abstain from every row; train with `--set tuning.folds=5`" in err
    run("train", "films.csv", "--text", "body", "--label", "cat", "--recipe", "fast", "--set", "tuning.folds=2",
        "-o", "c.lin")  # fmt: skip
    assert run("predict", "c.lin", "other.csv", "--abstain", "confidence=0.5").err == ""


def test_the_accuracy_of_no_answers_is_no_number(run, named):
    words = ("test", "m.lin", "other.csv", "--abstain", "confidence=0.999", "-q")
    assert re.search(r"answered_accuracy +– +accuracy .*: no row was answered", run(*words).out)
    told = json.loads(run(*words, "--json").out)
    assert told["metrics"]["answered_accuracy"] is None
    assert "answered_accuracy" not in told["intervals"]
    code, _, err = run(*words, "--min", "answered-accuracy=0.5")
    assert code == 1
    assert "answered_accuracy has no value, because no row was answered" in err


def test_the_features_of_many_classes_are_cut(run, films):
    films.write_text("text,label\n" + "".join(f"word{i} one,c{i:02}\n" for i in range(25)) * 2)
    run("train", "films.csv", "--recipe", "fast", "-o", "m.lin")
    out = run("explain", "m.lin").out
    assert "\nc19\n" in out
    assert "\nc20\n" not in out
    assert "5 more of 25 classes: name those to show with --class, or use --json for all" in out
    assert "more of" not in run("explain", "m.lin", "--class", "c24").out
    assert len(run("explain", "m.lin", "--json").out.splitlines()) == 25


def test_percents_are_no_bounds_of_shares(run, named):
    code, _, err = run("test", "m.lin", "other.csv", "--min", "accuracy=95")
    assert code == 2
    assert "accuracy lies between 0 and 1, so 95 cannot be its bound; use --min accuracy=0.95." in err
    assert run("test", "m.lin", "other.csv", "--max", "log-loss=95").code == 0


def test_a_file_without_a_header_gets_a_hint(run, films):
    for rows in ("a good film number one,pos\na bad film,neg\n", "great,pos\nawful,neg\n"):
        films.write_text(rows)
        for words in ((), ("--label", "label"), ("--text", "text")):
            code, _, err = run("train", "films.csv", *words)
            assert code == 3
            assert "for a file without a header, give --names text,label." in err


def test_a_file_with_a_header_gets_no_such_hint(run, films):
    films.write_text("title,text one,text two\nx,y,z\n")
    assert "without a header" not in run("train", "films.csv", "--label", "label").err
    films.with_suffix(".jsonl").write_text('{"one": "great", "two": "pos"}\n')
    assert "2 columns could be the text" in (err := run("train", "films.jsonl").err)
    assert "without a header" not in err


def test_columns_are_listed_where_labels_are_missing(run, named):
    named.write_text("text,one,two\na good film,pos,x\n")
    for words in (("train", "other.csv", "-o", "n.lin"), ("test", "m.lin", "other.csv")):
        code, _, err = run(*words)
        assert code == 3
        assert "name their column with --label, one of 'one', 'two'." in err


def test_a_model_in_the_place_of_data_is_recognized(run, named):
    for words in (
        ("train", "m.lin"),
        ("train", "m.lin", "-o", "n.lin"),
        ("check", "m.lin"),
        ("test", "m.lin", "m.lin"),
    ):
        code, _, err = run(*words)
        assert code == 2
        assert "m.lin is a model, not data; `linnaeus predict m.lin DATA` uses it on data." in err
    for verb in ("predict", "test", "explain", "search", "tag"):
        code, _, err = run(verb, "other.csv", "m.lin")
        assert code == 2
        assert "other.csv is not a model, but m.lin is; give the model first, then the data." in err


def test_python_names_are_suggested_in_python():
    with pytest.raises(UsageError, match="did you mean 'regularizer__strength'"):
        TextClassifier("logistic", strength=3)
    with pytest.raises(DataError, match="use TextRegressor for numbers"):
        TextClassifier("fast").fit(["a", "b", "c", "d"], [0.5, 1.5, 2.5, 3.25])


def test_an_unknown_recipe_is_refused_by_fit():
    model = TextClassifier("logistc")
    assert repr(model) == "TextClassifier(recipe='logistc')"
    assert model.get_params() == {"recipe": "logistc"}
    with pytest.raises(UsageError, match="did you mean 'logistic'"):
        model.fit(["a", "b"], ["x", "y"])


def test_explanations_abstain_where_predictions_do():
    corpus = datasets.intents()
    model = TextClassifier("logistic", decision__abstain="scope=0.7")
    model.fit(corpus.text, corpus.labels.to_pylist())
    texts = [f"{text} brillig slithy toves" for text in corpus.text.to_pylist()[::10]]
    answers = model.predict(texts).tolist()
    assert 0 < answers.count(None) < len(answers)
    assert [(model.explain(text).predicted or (None,))[0] for text in texts] == answers
    refused = model.explain(texts[answers.index(None)])
    assert str(refused).startswith("no prediction; next ")
    assert refused.flip is None
