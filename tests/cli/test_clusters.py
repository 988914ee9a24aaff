"""`linnaeus clusters`: words and bits in a file, from texts or from tokens."""

from __future__ import annotations

import pytest

from linnaeus.features.tokens import Clusters


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.csv"
    rows = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5
    path.write_text("\n".join(["text,label", *(f"{row},x" for row in rows)]) + "\n", "utf-8")
    return path


def test_clusters_of_texts_and_of_tokens(run, texts, tmp_path):
    tokens = tmp_path / "tokens.conll"
    tokens.write_text("the DT\ncow NN\nsat VB\n\na DT\ncow NN\nran VB\n\n" * 5, "utf-8")
    out = tmp_path / "clusters.tsv"
    code, said, remarks = run("clusters", texts, tokens, "-o", out, "--count", "3")
    assert (code, said) == (0, "")
    assert "7 words in 3 clusters" in remarks
    found = dict(line.split("\t") for line in out.read_text("utf-8").splitlines())
    assert found["cat"] == found["dog"] == found["cow"] != found["sat"]
    assert len(Clusters(str(out)).read().of_word) == 7
    again = tmp_path / "again.tsv"
    assert run("clusters", texts, tokens, "-o", again, "--count", "3", "--threads", "1", "-q").code == 0
    assert again.read_bytes() == out.read_bytes()


def test_nothing_is_overwritten_and_bad_data_gets_a_sentence(run, texts, tmp_path):
    out = tmp_path / "clusters.tsv"
    out.write_text("mine", "utf-8")
    code, _, said = run("clusters", texts, "-o", out)
    assert (code, out.read_text("utf-8")) == (2, "mine")
    assert "--force" in said
    assert run("clusters", texts, "-o", out, "--force", "--count", "2").code == 0
    code, _, said = run("clusters", texts, "-o", texts, "--force")
    assert code == 2
    assert "is the input data" in said
    code, _, said = run("clusters", texts, "-o", tmp_path / "b.tsv", "--min-count", "99")
    assert code == 3
    assert "fewer than two words" in said
    assert not (tmp_path / "b.tsv").exists()
