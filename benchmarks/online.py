"""One epoch of per-example learners on `newsgroups20`, against scikit-learn's SGDClassifier and Vowpal Wabbit.

The same tf-idf matrix (word 1-2-grams, scikit-learn's) for all; who takes part takes turns, and the ratios are of
medians. Times are of a fit with one epoch, and of a further epoch: that of a fit with several minus that of one.
SGDClassifier is one-vs-rest, `tol=None`; Vowpal Wabbit is `--oaa 20` over its cache, so that parsing does not count.
Prints JSON lines, the ratios last. `--cpu` counts processor time, for busy machines; `--runs` sets how many turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

import linnaeus
from linnaeus.arrays import CSR
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.losses import Log, Perceptron
from linnaeus.optimizers import SGD, AdaGrad, Average
from linnaeus.optimizers.shuffle import shuffled
from linnaeus.outputs import Multiclass, OneVsRest
from linnaeus.regularizers import NoPenalty
from measure import data_folder, say, say_machine

ONCE = {"max_iter": 1, "tol": None, "random_state": 0}
PEERS: dict[str, Callable[[], SGDClassifier]] = {
    "log": lambda: SGDClassifier(loss="log_loss", **ONCE),
    "perceptron": lambda: SGDClassifier(loss="perceptron", penalty=None, **ONCE),
    "averaged perceptron": lambda: SGDClassifier(loss="perceptron", penalty=None, average=True, **ONCE),
}
OURS: dict[str, tuple[Any, Any, Any]] = {
    "adagrad softmax": (AdaGrad(rate=0.5), Log(), Multiclass()),
    "perceptron": (SGD(rate=1.0), Perceptron(), Multiclass()),
    "perceptron one-vs-rest": (SGD(rate=1.0), Perceptron(), OneVsRest()),
    "averaged perceptron": (Average(SGD(rate=1.0)), Perceptron(), Multiclass()),
    "averaged perceptron one-vs-rest": (Average(SGD(rate=1.0)), Perceptron(), OneVsRest()),
}
WABBITS = {"vw adaptive logistic": "--loss_function logistic --adaptive", "vw": "--loss_function logistic"}
WANTED = [
    ("adagrad softmax", "log", 2.0),
    ("adagrad softmax", "vw adaptive logistic", 1.0),
    ("averaged perceptron", "averaged perceptron", 2.0),
    ("averaged perceptron one-vs-rest", "averaged perceptron", 2.0),
    ("averaged perceptron", "vw adaptive logistic", 1.0),
    ("perceptron", "perceptron", 2.0),
]
MORE = 3


def load() -> tuple[Any, Any]:
    """The training part as scikit-learn's tf-idf, and classes by number."""
    table = pq.read_table(data_folder() / "newsgroups20" / "train.parquet")
    X = TfidfVectorizer(ngram_range=(1, 2), min_df=2).fit_transform(table["text"].to_pylist())
    return X, np.unique(np.array(table["label"].to_pylist()), return_inverse=True)[1]


def objectives(X: Any, y: Any) -> dict[str, tuple[Any, Objective]]:
    """Our problems, on the arrays of scikit-learn's matrix."""
    rows = CSR(X.indptr.astype(np.int64), X.indices, X.data, X.shape[1])
    weights, k = np.ones(X.shape[0]), int(y.max()) + 1
    return {
        name: (piece, Objective(rows, y, space, loss, NoPenalty(), weights, k))
        for name, (piece, loss, space) in OURS.items()
    }


def write_wabbit(X: Any, y: Any, path: Path) -> None:
    """The same nonzeros in Vowpal Wabbit's format, shuffled."""
    with path.open("w", encoding="ascii") as file:
        for i in shuffled(X.shape[0], 0, 1):
            at = slice(X.indptr[i], X.indptr[i + 1])
            pairs = " ".join(f"{j}:{v:.6g}" for j, v in zip(X.indices[at], X.data[at], strict=True))
            file.write(f"{y[i] + 1} | {pairs}\n")


def wabbit(path: Path, options: str, epochs: int) -> None:
    """Passes over the cache."""
    from vowpalwabbit import Workspace

    cache = f"--cache_file {path}.cache --passes {epochs} --holdout_off -b 22 --quiet"
    Workspace(f"-d {path} --oaa 20 {cache} {options}").finish()


def contestants(X: Any, y: Any, path: Path) -> dict[str, Callable[[int], Any]]:
    """Who takes part: a fit with so many epochs."""
    found: dict[str, Callable[[int], Any]] = {}
    for name, (piece, objective) in objectives(X, y).items():
        found[f"linnaeus {name}"] = lambda n, p=piece, o=objective: train(o, p, Watch(Stop(epochs=n)))
    for name, make in PEERS.items():
        found[f"scikit-learn {name}"] = lambda n, make=make: make().set_params(max_iter=n).fit(X, y)
    if _wabbit_is_there():
        write_wabbit(X, y, path)
        wabbit(path, "", 1)
        for name, options in WABBITS.items():
            found[name] = lambda n, options=options: wabbit(path, options, n)
    return found


def measure(X: Any, y: Any, runs: int, clock: Callable[[], float]) -> dict[str, tuple[float, float]]:
    """Medians of a fit with one epoch, and of one epoch more; all take turns."""
    times: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        everyone = contestants(X, y, Path(folder) / "newsgroups20.vw")
        for _ in range(runs):
            for name, work in everyone.items():
                marks = [clock()]
                for epochs in (1, 1 + MORE):
                    work(epochs)
                    marks.append(clock())
                once, often = marks[1] - marks[0], marks[2] - marks[1]
                times.setdefault(name, []).append((once, (often - once) / MORE))
    return {name: tuple(np.median(found, axis=0)) for name, found in times.items()}


def _wabbit_is_there() -> bool:
    try:
        import vowpalwabbit  # noqa: F401
    except ImportError:
        say(who="vowpal wabbit", note="not installed")
        return False
    return True


def main() -> None:
    """All figures, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    say_machine(linnaeus=linnaeus.__version__, sklearn=sklearn.__version__)
    X, y = load()
    say(what="matrix", rows=X.shape[0], columns=X.shape[1], nonzeros=X.nnz)
    seconds = measure(X, y, options.runs, time.process_time if options.cpu else time.perf_counter)
    for name, (once, more) in seconds.items():
        say(who=name, fit=once, epoch=more, nanoseconds_per_nonzero=1e9 * more / X.nnz, runs=options.runs)
    for ours, peer, wanted in WANTED:
        other = seconds.get(f"scikit-learn {peer}", seconds.get(peer))
        if other is not None:
            mine = seconds[f"linnaeus {ours}"]
            say(what="ratio", ours=ours, peer=peer, wanted=wanted, fit=other[0] / mine[0], epoch=other[1] / mine[1])


if __name__ == "__main__":
    main()
