"""`linnaeus vectors`: train, look at, test and convert word vectors; clusters and features from them."""

from __future__ import annotations

import json

import pytest
from tests.embeddings.test_negative_sampling import language

from linnaeus.features import read_vectors

SMALL = ("--width", "8", "--epochs", "3", "--min-count", "2", "-q")


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text,label", *(f"{line},x" for line in language(100))]) + "\n", "utf-8")
    return path


@pytest.fixture
def table(run, texts, tmp_path):
    path = tmp_path / "words.lin"
    assert run("vectors", "train", texts, "-o", path, *SMALL).code == 0
    return path


@pytest.mark.parametrize("method", ["skipgram", "cbow", "glove", "ppmi", "lsa"])
def test_every_method_trains(run, texts, tmp_path, method):
    path = tmp_path / f"{method}.vec"
    options = ("--width", "4", "--min-count", "2", "--method", method, "--json", "-q")
    code, out, err = run("vectors", "train", texts, "-o", path, *options)
    said = json.loads(out)
    assert (code, err) == (0, "")
    assert (said["words"], said["width"]) == read_vectors(path).vectors.shape
    assert said["words_read"] > 300


def test_several_files_and_threads_give_the_same_file(run, texts, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(language(50, 1)) + "\n", "utf-8")
    found = []
    for threads in ("1", "3"):
        path = tmp_path / f"{threads}.lin"
        assert (
            run("vectors", "train", texts, lines, "-o", path, *SMALL, "--subwords", "2-3", "--threads", threads).code
            == 0
        )
        found.append(path.read_bytes())
    assert found[0] == found[1]


def test_it_says_what_it_wrote(run, texts, tmp_path):
    path = tmp_path / "words.lin"
    code, out, err = run("vectors", "train", texts, "-o", path, *SMALL[:-1])
    assert (code, out) == (0, "")
    assert f"19 words of 8 numbers: {path}" in err.replace("\n", " ")


def test_neighbors_and_analogy(run, table):
    code, out, _ = run("vectors", "neighbors", table, "Ann", "cup", "-k", "3")
    assert code == 0
    assert out.count("cosine") == 2
    code, out, _ = run("vectors", "neighbors", table, "ann", "-k", "2", "--json")
    said = json.loads(out)
    assert said["word"] == "ann"
    assert len(said["neighbors"]) == 2
    code, out, _ = run("vectors", "analogy", table, "ann", "bob", "cid", "--json")
    assert code == 0
    assert len(json.loads(out)["answers"]) == 5
    assert "ann : bob = cid : ?" in run("vectors", "analogy", table, "ann", "bob", "cid").out
    code, _, err = run("vectors", "neighbors", table, "annn")
    assert code == 3
    assert "did you mean 'ann'?" in err


def test_similarities_and_analogies_are_tested(run, table, tmp_path):
    pairs, questions, plain = tmp_path / "pairs.tsv", tmp_path / "questions.txt", tmp_path / "pairs.txt"
    pairs.write_text("word1\tword2\tscore\nann\tbob\t9\nann\tcup\t2\nann\tred\t1\nann\tnobody\t5\n", "utf-8")
    questions.write_text(": names\nann bob cid dee\n: things\ncup hat pen ball\nno such words here\n", "utf-8")
    plain.write_text("ann bob 9\nann cup 2\n", "utf-8")
    code, out, _ = run("vectors", "test", table, pairs, questions, plain)
    assert code == 0
    assert "3 of 4" in out
    assert "2 of 3" in out
    said = [json.loads(line) for line in run("vectors", "test", table, pairs, questions, "--json").out.splitlines()]
    assert [line["measure"] for line in said] == ["spearman", "accuracy"]
    table_of_four = tmp_path / "four.csv"
    table_of_four.write_text("a,b,c,d\nann,bob,cid,dee\n", "utf-8")
    assert run("vectors", "test", table, table_of_four).code == 0
    for content, said in {"a b\n": "three words, or four", "ann bob x\nann cup y\n": "not a score"}.items():
        plain.write_text(content, "utf-8")
        code, _, err = run("vectors", "test", table, plain)
        assert code == 3
        assert said in " ".join(err.split())


def test_tables_are_converted(run, table, tmp_path):
    wanted = read_vectors(table).vectors.tobytes()
    for name in ("a.vec", "a.bin", "a.txt", "b.lin"):
        assert run("vectors", "convert", table, tmp_path / name, "-q").code == 0
        assert read_vectors(tmp_path / name).vectors.tobytes() == wanted
    code, _, err = run("vectors", "convert", table, tmp_path / "a.vec")
    assert code == 2
    assert "--force" in err
    assert (
        run("vectors", "convert", tmp_path / "a.vec", tmp_path / "c.txt", "--to", "word2vec", "--words", "3").code == 0
    )
    assert len(read_vectors(tmp_path / "c.txt")) == 3


def test_subwords_that_a_format_cannot_hold_are_said(run, texts, tmp_path):
    assert run("vectors", "train", texts, "-o", tmp_path / "s.lin", *SMALL, "--subwords", "3-4").code == 0
    assert "subwords are not in this format" in " ".join(
        run("vectors", "convert", tmp_path / "s.lin", tmp_path / "s.vec").err.split()
    )
    assert run("vectors", "neighbors", tmp_path / "s.lin", "annabel").code == 0


def test_wrong_use_gets_a_sentence(run, texts, table, tmp_path):
    cases = {
        ("train", texts, "-o", table): (2, "--force"),
        ("train", texts, "-o", texts, "--force"): (2, "is the input data"),
        ("train", texts, "-o", tmp_path / "a.lin", "--method", "ppmi", "--negatives", "3"): (2, "does not go with"),
        ("train", texts, "-o", tmp_path / "a.lin", "--subwords", "x"): (2, "such as 3-6"),
        ("train", texts, "-o", tmp_path / "a.lin", "--min-count", "9999"): (3, "No word occurs"),
        ("train", table, "-o", tmp_path / "a.lin"): (2, "is a model, not data"),
        ("neighbors", tmp_path / "none.lin", "a"): (5, "no file of word vectors"),
        ("neighbors", texts, "a"): (3, "line 1"),
        ("test", table, texts): (3, "neither columns"),
        ("nothing",): (2, "No such command"),
    }
    for words, (code, said) in cases.items():
        answer = run("vectors", *words)
        assert answer.code == code, answer
        assert said in " ".join(answer.err.split())


def test_clusters_and_a_classifier_from_vectors(run, table, texts, tmp_path):
    out = tmp_path / "clusters.tsv"
    assert run("clusters", "--vectors", table, "-o", out, "--count", "4", "-q").code == 0
    assert len(out.read_text("utf-8").splitlines()) == len(read_vectors(table))
    assert run("clusters", "-o", tmp_path / "x.tsv").code == 2
    assert run("clusters", texts, "--vectors", table, "-o", tmp_path / "x.tsv").code == 2
    rows = [f"{line},{'thing' if 'the' in line else 'name'}" for line in language(60, 2)]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(["text,label", *rows]) + "\n", "utf-8")
    recipe = tmp_path / "vectors.toml"
    recipe.write_text(f'[features]\nkind = "word_vectors"\ntable = "{table}"\n', "utf-8")
    model = tmp_path / "m.lin"
    assert run("train", data, "--recipe", recipe, "-o", model, "-q").code == 0
    table.unlink()
    assert run("test", model, data, "--json").code == 0
    assert run("explain", model, "the red cup fell").code == 0
    assert "vectors" in run("inspect", tmp_path / "m.lin", "--recipe").out
