"""A name with a slip in it is answered with the nearest one that there is."""

import pytest


@pytest.fixture
def films(tmp_path, monkeypatch, run):
    """A file of two classes and a model of it."""
    monkeypatch.chdir(tmp_path)
    rows = [f"a {'good' if i % 2 else 'bad'} film {i},{'pos' if i % 2 else 'neg'},x" for i in range(40)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label,source", *rows]) + "\n")
    run("train", "films.csv", "--recipe", "fast", "-o", "films.lin")


@pytest.mark.parametrize(
    ("words", "code", "meant"),
    [
        ("trian films.csv", 2, "'train'"),
        ("evalute films.lin films.csv", 2, "'evaluate'"),
        ("train films.csv --lable label", 2, "'--label'"),
        ("train films.csv --recipe logistc -o a.lin", 2, "'logistic'"),
        ("recipes navie-bayes", 2, "'naive-bayes'"),
        ("train films.csv --set los=hinge -o a.lin", 2, "'loss'"),
        ("train films.csv --set regulariser.strenth=1 -o a.lin", 2, "'regularizer.strength'"),
        ("train films.csv --recipe logistic --set strength=1 -o a.lin", 2, "'regularizer.strength'"),
        ("train films.csv --set features.blocks.0.ngram=2 -o a.lin", 2, "'features.blocks.0.ngrams'"),
        ("train films.csv --set learner.los=hinge -o a.lin", 2, "'learner.loss'"),
        ("train films.csv --set loss=hing -o a.lin", 2, "'hinge'"),
        ("train films.csv --label lable -o a.lin", 3, "'label'"),
        ("train films.csv --format cvs -o a.lin", 2, "'csv'"),
        ("test films.lin films.csv --min acuracy=0.5", 2, "'accuracy'"),
        ("test films.lin films.csv --max logloss=0.5", 2, "'log-loss'"),
        ("test films.lin films.csv --by sorce", 3, "'source'"),
        ("predict films.lin films.csv --keep sorce", 3, "'source'"),
        ("explain films.lin good --class POS", 2, "'pos'"),
        ("check films.csv --limit duplicate=1", 2, "'duplicates'"),
        ("gallery --only loses", 2, "'losses'"),
    ],
)
def test_the_nearest_name_is_suggested(run, films, words, code, meant):
    done = run(*words.split())
    assert done.code == code, done.err
    assert f"did you mean {meant}?" in done.err
    assert done.err.count("linnaeus: error:") == 1


def test_all_names_are_listed_where_none_is_near(run, films):
    assert "take one of default, fast, " in run("train", "films.csv", "--recipe", "zzz", "-o", "a.lin").err
    assert (
        "Recipe has task, features, learner, tuning" in run("train", "films.csv", "--set", "zzz=1", "-o", "a.lin").err
    )


@pytest.mark.parametrize("options", ["--set los=hinge", "--task tag --set los=hinge", "--task rank --set los=hinge"])
def test_a_slip_in_a_change_is_told_before_the_data_are_read(run, tmp_path, options):
    path = tmp_path / "broken.csv"
    path.write_bytes(b"text,label\n\xff\xfe,a\n")
    done = run("train", str(path), "-o", str(tmp_path / "a.lin"), *options.split())
    assert done.code == 2
    assert "did you mean 'loss'?" in done.err
