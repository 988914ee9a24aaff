"""`linnaeus import`: a file of fastText becomes a model that every command takes, or one sentence says why not."""

from __future__ import annotations

import json

import pytest
from tests.fasttext_files import LABELS, Made


@pytest.fixture
def made():
    return Made("ova", word_ngrams=2, minn=2, maxn=3, bucket=30)


@pytest.fixture
def source(tmp_path, made):
    (tmp_path / "topics.bin").write_bytes(made.raw())
    return tmp_path / "topics.bin"


def test_the_model_has_the_name_of_the_file_and_answers_as_it_does(run, source, made, tmp_path):
    code, out, err = run("import", source)
    assert (code, out) == (0, "")
    assert "4 labels" in err
    code, out, _ = run("predict", tmp_path / "topics.lin", "the good film", "--top", "2", "--json")
    found = json.loads(out)
    wanted = dict(zip(LABELS, made.chances("the good film"), strict=True))
    assert code == 0
    assert [row["label"] for row in found["top"]] == sorted(LABELS, key=wanted.get)[:-3:-1]
    assert all(row["probability"] == pytest.approx(wanted[row["label"]], abs=1e-6) for row in found["top"])


def test_every_command_takes_it(run, source, tmp_path):
    model, data = tmp_path / "m.lin", tmp_path / "d.csv"
    data.write_text("text,label\ngood film,pos\nbad film,neg\n", encoding="utf-8")
    assert run("import", source, "-o", model, "--quiet") == (0, "", "")
    assert "accuracy" in run("test", model, data).out
    assert "good" in run("explain", model, "good film").out
    assert run("predict", model, data).out.count("\n") == 2
    page = run("inspect", model)
    assert page.code == 0
    assert "unknown data, by fastText" in page.out
    assert json.loads(run("inspect", model, "--json").out)["facts"]["imported"] == "fastText"
    assert "fasttext" in run("inspect", model, "--recipe").out
    assert run("predict", model, data, "--abstain", "confidence=0.2").code == 0


def test_it_overwrites_only_if_told(run, source, tmp_path):
    assert run("import", source, "-q").code == 0
    code, _, err = run("import", source)
    assert (code, "already exists" in err) == (2, True)
    assert run("import", source, "--force", "-q").code == 0
    assert run("import", source, "-o", source, "--force").code == 2
    assert "already" in run("import", tmp_path / "topics.lin", "-o", tmp_path / "x.lin").err


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not a model of fastText"),
        (b"word 1 2 3\n", "not a model of fastText"),
        (Made().raw()[:-5], "its end is missing"),
        (Made().raw(model=1), "word vectors"),
    ],
)
def test_files_that_cannot_be_imported(raw, said, run, tmp_path):
    (tmp_path / "m.bin").write_bytes(raw)
    code, out, err = run("import", tmp_path / "m.bin")
    assert (code, out) == (4, "")
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "m.lin").exists()


def test_a_file_that_is_not_there(run, tmp_path):
    code, _, err = run("import", tmp_path / "nothing.bin")
    assert (code, err.count("\n")) == (4, 1)
