"""The table of figures of the README, read from the tables of `benchmarks/README.md`."""

from __future__ import annotations

import re


def measured_table(text: str) -> str:
    """The rows that the README shows, as Markdown."""
    accuracy = [_mean(text, column) for column in ("Linnaeus", "LIBLINEAR", "LinearSVC", "fastText")]
    hashed, tfidf = (
        _row(text, "Features", start) for start in ("hashed words 1-2 | arrow", "tf-idf words 1-2 | arrow")
    )
    exact = _row(text, "Solvers", "newsgroups20 l2-logistic | 1 | 1e-6")
    near = _row(text, "Solvers", "newsgroups20 multinomial | 1 | 1e-3")
    epoch = _row(text, "One example at a time", "averaged perceptron |")
    whole = _row(text, "From files to a saved model", "`imdb` |")
    vectors = [_row(text, "Word vectors", start) for start in ("skip-gram |", "gensim, skip-gram |")]
    bag = _row(text, "Embedding bags", "newsgroups20 |")
    one = text.partition("\n## One text")[2].partition("`banking77`")[2].splitlines()
    starts = re.search(r"bare interpreter (\d+ ms), `import linnaeus` (\d+ ms)", text)
    assert starts
    rows = [
        (
            "mean test accuracy of `default` on 20 data sets, nothing tuned by hand",
            f"{accuracy[0]:.1f} %",
            f"LIBLINEAR {accuracy[1]:.1f} %, LinearSVC {accuracy[2]:.1f} %, fastText {accuracy[3]:.1f} %",
        ),
        (
            "hashed words and pairs, 33 MB of reviews, two threads",
            _time(hashed[4]),
            f"scikit-learn {_time(hashed[2])}",
        ),
        ("tf-idf of words and pairs of the same, two threads", _time(tfidf[4]), f"scikit-learn {_time(tfidf[2])}"),
        (
            "logistic regression within 1e-6 of the optimum, `newsgroups20`, C = 1, two threads",
            exact[7],
            f"{_peer(exact[3])} {exact[4]}",
        ),
        (
            "multinomial regression within 1e-3 of the optimum, `newsgroups20`, C = 1, two threads",
            near[7],
            f"{_peer(near[3])} {near[4]}",
        ),
        ("an epoch of the averaged perceptron, `newsgroups20`", epoch[1], f"scikit-learn {_inside(epoch[2])}"),
        (
            "from a CSV file of 25,000 reviews to a saved model and its test accuracy, process start included",
            f"{whole[2]} %",
            f"Vowpal Wabbit {whole[3]} %; fastText {whole[5]} %",
        ),
        (
            "label and probability of one text, `default`, 77 classes",
            _cells(one[1])[2],
            f"fastText {_cells(one[2])[2]}, scikit-learn {_cells(one[3])[2]}",
        ),
        (
            "skip-gram, 100 numbers, reviews of 12 million words, two threads, the same bits each time",
            f"{vectors[0][1]} words/s",
            f"gensim {vectors[1][1]} words/s",
        ),
        (
            "fastText's classifier on `newsgroups20`, from the start of the process to the saved model",
            f"{bag[3]} s, {bag[1]} %",
            f"fastText {bag[4]} s, {bag[2]} %",
        ),
        ("`import linnaeus`", starts[2], f"(Python alone {starts[1]})"),
    ]
    lines = ["| what | Linnaeus | others |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _section(text: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"benchmarks/README.md has no section {title!r}"
    return found[0]


def _row(text: str, title: str, start: str) -> list[str]:
    """The cells of the first row of a section that begins like this."""
    for line in _section(text, title).splitlines():
        if line.startswith(f"| {start}"):
            return _cells(line)
    raise AssertionError(f"benchmarks/README.md, section {title!r}, has no row {start!r}")


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("**", "") for cell in line.strip().strip("|").split("|")]


def _mean(text: str, column: str) -> float:
    """The mean of a column of the table of accuracies over the data sets."""
    lines = [line for line in _section(text, "Accuracy").splitlines() if line.startswith("| ")]
    head, rows = _cells(lines[0]), [_cells(line) for line in lines[1:21]]
    return sum(float(row[head.index(column)]) for row in rows) / len(rows)


def _time(cell: str) -> str:
    return cell.partition(",")[0]


def _inside(cell: str) -> str:
    return cell.partition("(")[2].rstrip(")")


def _peer(name: str) -> str:
    return {"liblinear": "LIBLINEAR", "snapml": "Snap ML"}.get(name.split()[0], name.split()[0])
