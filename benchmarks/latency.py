"""How long one text takes in process, raw string in and answer out, beside fastText and scikit-learn.

    python benchmarks/latency.py [--peer-python PYTHON] [--sets banking77 imdb] [--recipes svm default] [--rounds 10]
                                 [--clock wall]

What is timed is `classify(text)` of models that were trained, saved and loaded again; the files stay in a temporary
folder for the next time. fastText runs in an interpreter of its own (`--peer-python`; its wheel wants NumPy below 2),
where its `predict` gets the text lowercased and split, as its models want it. Texts come in rounds in which everybody
takes turns, so that a busy moment of the machine falls on all of them; in each turn the first tenth of the texts does
not count, since others have used the caches before. On a machine that others use, `--clock cpu` leaves out the time in
which they had the processor: the tail is then that of the texts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from latency_fasttext import CLOCKS
from linnaeus import Model
from measure import data_folder, say, say_machine
from trained import model_file

PER_ROUND = 200
Clock = Callable[[list[str]], list[int]]


class FastText:
    """A child process that trains a model and then times texts when asked to."""

    def __init__(self, python: str, clock: str, train: tuple[list[str], list[str]]) -> None:
        command = [python, str(Path(__file__).with_name("latency_fasttext.py")), clock]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(train)

    def ask(self, question: Any) -> Any:
        """One line of JSON to the child, one back."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


def each(answer: Callable[[str], Any], clock_name: str) -> Clock:
    """A clock around one call for each text."""
    now = CLOCKS[clock_name]

    def clock(texts: list[str]) -> list[int]:
        times = []
        for text in texts:
            start = now()
            answer(text)
            times.append(now() - start)
        return times

    return clock


def scikit(texts: list[str], labels: list[str]) -> Callable[[str], Any]:
    """scikit-learn's pipeline of words and pairs; a few steps of training are enough to have weights."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), SGDClassifier(max_iter=1, tol=None))
    model.fit(texts[:5000], labels[:5000])
    return lambda text: model.predict([text])


def read(name: str, part: str) -> tuple[list[str], list[str]]:
    """Texts and labels of a data set, in an order drawn at random."""
    table = pq.read_table(data_folder() / name / f"{part}.parquet")
    order = np.random.default_rng(0).permutation(len(table))
    texts, labels = table["text"].to_pylist(), table["label"].to_pylist()
    return [texts[i] for i in order], [str(labels[i]) for i in order]


def race(name: str, given: argparse.Namespace) -> None:
    """Everybody's times on one data set."""
    peer, by = given.peer_python, given.clock
    train, test = read(name, "train"), read(name, "test")[0]
    models = {recipe: Model.load(model_file(name, recipe)) for recipe in given.recipes}
    clocks: dict[str, tuple[Clock, int]] = {who: (each(model.classify, by), PER_ROUND) for who, model in models.items()}
    try:
        clocks["fastText"] = FastText(peer, by, train).ask, PER_ROUND
    except (OSError, ValueError):
        say(what="skipped", peer="fastText", why=f"{peer} has none; give another interpreter by --peer-python")
    clocks["scikit-learn"] = each(scikit(*train), by), PER_ROUND // 10
    times: dict[str, list[int]] = {who: [] for who in clocks}
    for turn in range(given.rounds + 1):
        for who, (clock, count) in clocks.items():
            at = turn * count % max(1, len(test) - count)
            found = clock(test[at : at + count])
            times[who] += found[count // 10 :] if turn else []  # the first round is for warming up
    tell(name, {who: np.array(found) / 1e3 for who, found in times.items()})


def tell(name: str, times: dict[str, Any]) -> None:
    """Medians, tails, and ratios to fastText's."""
    p50, p99 = ({who: float(np.percentile(found, at)) for who, found in times.items()} for at in (50, 99))
    for who in times:
        beside = {"ratio": p50[who] / p50["fastText"]} if "fastText" in times else {}
        say(what="one text", data=name, who=who, p50_us=p50[who], p99_us=p99[who], tail=p99[who] / p50[who], **beside)


def main() -> None:
    """All sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer-python", default=sys.executable, help="an interpreter that has fastText")
    parser.add_argument("--sets", nargs="+", default=["banking77", "imdb"])
    parser.add_argument("--recipes", nargs="+", default=["svm", "default"])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    given = parser.parse_args()
    say_machine(numpy=np.__version__, clock=given.clock)
    for name in given.sets:
        race(name, given)


if __name__ == "__main__":
    main()
