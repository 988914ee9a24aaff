"""A tiny trained model of every kind, and every question that can be asked of one.

`MAKERS` has them by name: every learner, every kind of features and decision, taggers, rankers, pipelines, compact
models. `ask(path)` opens a file and asks it everything that a person could, in Python and on the command line.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import linnaeus
from linnaeus import Rank, Recipe, Stage, Tag, read
from linnaeus.data.batch import Batch
from linnaeus.data.groups import Groups
from linnaeus.data.sentences import Sentences
from linnaeus.decision import Decision
from linnaeus.errors import DataError, UsageError
from linnaeus.features import (
    Affixes,
    Chars,
    Columns,
    Field,
    Fourier,
    Given,
    Hashed,
    Letters,
    Lexicon,
    Nystrom,
    Ready,
    Reduced,
    Selected,
    Shape,
    Skips,
    Subwords,
    Weighted,
    Words,
)
from linnaeus.features.arcs import Arcs
from linnaeus.features.pairs import (
    Company,
    Context,
    Crossed,
    Described,
    Joined,
    Known,
    Match,
    Measured,
    Nothing,
    Numbers,
)
from linnaeus.features.tokens import Clusters, Gazetteer, Templates, Window
from linnaeus.learners import LEARNERS
from linnaeus.learners.chain.learner import Chain, Greedy
from linnaeus.learners.dependencies import Dependencies
from linnaeus.learners.kernel_methods import AveragedKernelPerceptron, GaussianProcess, KernelRidge, KernelSVM
from linnaeus.learners.label_tree import LabelTree, fitted
from linnaeus.learners.linear.learner import Linear
from linnaeus.learners.neighbors import Components, Neighbors
from linnaeus.recipes.cookbook import recipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.similarities import RBF, LinearKernel, Polynomial, Spectrum, Subsequence
from linnaeus.training.compact import Compact

PAIRS = [("a good film", "pos"), ("so good", "pos"), ("a bad film", "neg"), ("so bad", "neg")]
ROWS = [*PAIRS, ("an odd one", "rare")] * 3
SETS = [("a good film", ["a", "b"]), ("so good", ["a"]), ("a bad film", []), ("so bad", ["b"])] * 3
NUMBERS = [("a good film", 5.0), ("so good", 4.0), ("a bad film", 2.0), ("so bad", 1.0)] * 3
TEXTS = ["a good film", "so bad", "", "x" * 60]
TAGGED = [
    [("Ann", "N"), ("saw", "V"), ("old", "A"), ("Rome", "N")],
    [("old", "A"), ("Bob", "N"), ("slept", "V")],
    [("Rome", "N"), ("burns", "V")],
]
SPANS = [[("Ann", "B-PER"), ("Lee", "I-PER"), ("saw", "O"), ("Rome", "B-LOC")], [("Bob", "B-PER"), ("slept", "O")]]
LEMMAS = [[("dogs", "dog"), ("barked", "bark")], [("Cats", "cat"), ("saw", "see"), ("dogs", "dog")]]
PARSED = Sentences.from_lists(
    [["Ann", "saw", "Rome"], ["Rome", "burns"], ["old", "Bob", "slept"]],
    columns={
        "heads": [["2", "0", "2"], ["2", "0"], ["2", "3", "0"]],
        "relations": [["nsubj", "root", "obj"], ["nsubj", "root"], ["amod", "nsubj", "root"]],
    },
)
SENTENCES = [["Ann", "saw", "Rome"], [], ["nobody"]]
CITIES = Groups.from_lists(
    ["Rome", "Bern", "Oslo", "Rome"],
    [["Rome city", "Bern city"], ["Bern city", "Rome city"], ["Rome city"], ["Rome city", "Bern town"]],
    [0, 0, None, 0],
    columns={
        "doc": ["a", "a", "b", "b"],
        "left": ["in", "to", "", "in"],
        "right": ["old", "now", "", "old"],
        "story": ["Ann ran home. She saw a dog.", "It rained in Bern.", "", "Bob slept."],
    },
    details={"in_links": [[9, 3], [9, 1], [5], [2, None]], "out_links": [[1, 3], [9, 0], [5], [2, 7]]},
)
THINGS = ["dog", "cat", "cow", "oak", "elm", "ash", "red", "blue"]
MANY = [(f"{form} {name}", f"{name[0] < 'd'}/{name}") for name in THINGS for form in ("a", "the", "one old")]
WORDS = Words(ngrams=(1, 2), values="tfidf", length="l2")
SVM = Linear(loss="squared_hinge")


def _trained(features: Any = WORDS, learner: Any = SVM, rows: Any = ROWS, kind: str = "one", **more: Any) -> Any:
    recipe = Recipe(features=features, learner=learner, **{"tuning": Tuning(folds=2), **more})
    return recipe.fit(rows if hasattr(rows, "batches") or hasattr(rows, "text") else read(rows, label_kind=kind))


def _compact(weights: str, features: Any = WORDS) -> Any:
    return _trained(features).compact(read(ROWS), Compact(weights=weights, loss=0.5))


def _table() -> Any:
    rows = [{"text": text, "label": label, "n": i % 4, "c": "xyz"[i % 3]} for i, (text, label) in enumerate(ROWS)]
    return read(pa.Table.from_pylist(rows), text="text", label="label")


def _ready() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.svm")
        path.write_text("\n".join(["1 1:0.5 3:2", "-1 2:1 7:4"] * 6), encoding="utf-8")
        return _trained(Ready(), rows=read(path))


def _entries() -> Batch:
    kind = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))
    return Batch(features=pa.array([[{"index": 3, "value": 1.0}], []], kind))


def _with_lists() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        clusters, places = Path(folder, "clusters.tsv"), Path(folder, "places.tsv")
        clusters.write_text("Ann\t0110\nBob\t0111\nRome\t10\n", encoding="utf-8")
        places.write_text("Rome\tLOC\nold Rome\tLOC\n", encoding="utf-8")
        items = (
            Window(("word", "lower", "shape")),
            Window(("word",), (0,), "cluster"),
            Window(("word",), (0,), "places"),
        )
        templates = Templates(items, sources=(Clusters(str(clusters)), Gazetteer(str(places), "places")))
        return Recipe(task="tag", features=templates).fit(TAGGED)


def _pipeline() -> Any:
    tags = Field("pos.tags", Words(tokenizer="whitespace"))
    topic = Recipe(features=Words() | tags, before=(Stage("pos", Recipe(task="tag")),))
    return topic.fit([("Ann saw Rome", "past"), ("Rome burns", "now")] * 2, stages={"pos": TAGGED})


def _parser(learner: Any = None, **features: Any) -> Any:
    small = Arcs(**{"bits": 8, "relation_bits": 6, **features})
    return Recipe(task="parse", features=small, learner=learner or Dependencies(epochs=1)).fit(PARSED)


def _ranked(name: str) -> Any:
    return replace(recipe(name), tuning=Tuning(strengths=(1.0,), folds=2)).fit(CITIES)


def _linked() -> Any:
    around = ("left", "right")
    links, context = Numbers(("in_links", "out_links")), Context(around, by="doc")
    measured = Measured((links, Match(), Known(by="doc"), context, Company("doc"), Nothing()))
    parts = measured, Described(Words()), Crossed(Words(terms=Hashed(6)), Words(), around, 3.0)
    return Recipe(task=Rank(none="option"), features=Joined(parts)).fit(CITIES)


X = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.8, 0.1]])


def _face(name: str, **settings: Any) -> Any:
    return getattr(linnaeus, name)(**settings).fit(X, [0, 1, 0, 1])


def _stream() -> Any:
    return linnaeus.LinearClassifier(optimizer="adagrad").partial_fit(X, [0, 1, 0, 1])


def _named_columns() -> Any:
    return linnaeus.LogisticRegression().fit(pa.table({"height": X[:, 0], "weight": X[:, 1]}), ["a", "b", "a", "b"])


def _near(features: Any = WORDS, **settings: Any) -> Any:
    return _trained(features, Neighbors(k=3, **settings))


def _many(learner: Any = None, label: Callable[[str], Any] = str, features: Any = WORDS, kind: str = "one") -> Any:
    rows = [(text, label(name)) for text, name in MANY]
    learner, tuning = learner or LabelTree(leaf=2), Tuning(strengths=(1.0,), folds=2)
    return _trained(features, learner, rows, kind, tuning=tuning, task="many")


def _many_numbers() -> Any:
    texts, names = zip(*MANY, strict=True)
    found = Recipe(task="many", features=WORDS, learner=LabelTree(leaf=2), tuning=Tuning(folds=2))
    return linnaeus.TextClassifier(found).fit(list(texts), [len(name) + 10 * (name[-1] < "k") for name in names])


class Mapped(NamedTuple):
    """A model whose weights are stored as they lie in memory, which else only large ones are."""

    model: Any

    def save(self, path: Path) -> None:
        with patch.object(fitted, "MAPPED", 0):
            self.model.save(path)


COUNTED = Words(ngrams=(1, 2))
BUCKETS = Words(terms=Hashed(8))
FEW = Reduced(Words(), width=2)
GROWN = (
    ("tree", {"depth": 3}),
    ("forest", {"trees": 3}),
    ("gradient_boosting", {"rounds": 3}),
    ("adaboost", {"rounds": 3}),
)

MAKERS: dict[str, Callable[[], Any]] = {
    "linear": _trained,
    "linear, two classes": lambda: _trained(rows=PAIRS * 3, decision=Decision(thresholds="f1")),
    "linear, label sets": lambda: _trained(rows=SETS, kind="many"),
    "linear, numbers": lambda: _trained(learner=Linear(loss="squared"), rows=NUMBERS, kind="numeric"),
    "linear, pairs of classes": lambda: _trained(learner=Linear(loss="hinge", output="onevsone")),
    "linear, one against the rest": lambda: _trained(learner=Linear(loss="logistic", output="onevsrest")),
    "linear, costs": lambda: _trained(
        learner=Linear(loss="log"), decision=Decision(costs=[[0, 1, 2], [1, 0, 2], [3, 3, 0]])
    ),
    "linear, isotonic": lambda: _trained(decision=Decision(calibration="isotonic", abstain="coverage=0.9")),
    "linear, tuned": lambda: _trained(tuning=Tuning(strengths=(1.0, 0.1), folds=2)),
    "linear, untaught": lambda: _trained(tuning=None),
    "linear, texts kept": lambda: _trained(keep="texts"),
    "compact int8": lambda: _compact("int8"),
    "compact float16": lambda: _compact("float16", Words() | Chars(2, 3)),
    "hashed": lambda: _trained(Chars(2, 3, terms=Hashed(6)) | Shape() | Affixes()),
    "hashed with names": lambda: _trained(Words(terms=Hashed(6, keep_names=True), values="log", length="l2")),
    "characters": lambda: _trained(Chars(1, 3) | Subwords(3, 3) | Skips(2)),
    "terms given": lambda: _trained(Words(terms=Given(("good", "bad", "odd")))),
    "lexicon": lambda: _trained(Lexicon(["good", "fine"], name="praise") | Words()),
    "conjunction": lambda: _trained(Lexicon(["so", "a"], name="how") * Words()),
    "selected": lambda: _trained(Selected(Words(ngrams=(1, 2)), by="chi2", k=5)),
    "naive Bayes weights": lambda: _trained(Weighted(Words(), "nb", "l2")),
    "columns": lambda: _trained(Words() | Columns(numeric=("n",), categorical=("c",)), rows=_table()),
    "ready": _ready,
    "fourier": lambda: _trained(Fourier(Words(), width=8)),
    "nystrom": lambda: _trained(Nystrom(Words(), RBF(0.5), width=4)),
    "nystrom, hashed": lambda: _trained(Nystrom(BUCKETS, RBF(0.5), width=4)),
    "reduced": lambda: _trained(FEW),
    **{
        f"counting: {name}": lambda name=name: _trained(COUNTED, LEARNERS[name]())
        for name in ("frequencies", "multinomial", "bernoulli", "complement")
    },
    **{
        f"Gaussian: {name}": lambda name=name: _trained(FEW, LEARNERS[name]())
        for name in ("gaussian", "linear_discriminant")
    },
    "Gaussian: quadratic_discriminant": lambda: _trained(FEW, LEARNERS["quadratic_discriminant"](shrinkage=0.5)),
    "counting, hashed": lambda: _trained(Words(terms=Hashed(6, signed=False)), LEARNERS["multinomial"]()),
    "neighbors": lambda: _near(votes="kernel"),
    "neighbors, hashed": lambda: _near(BUCKETS),
    "neighbors, hashed, Euclidean": lambda: _near(BUCKETS, metric="euclidean", votes="distance"),
    "neighbors, label sets": lambda: _trained(learner=Neighbors(k=3), rows=SETS, kind="many"),
    "neighbors, numbers": lambda: _trained(learner=Neighbors(k=3), rows=NUMBERS, kind="numeric"),
    "neighbors, learned metric": lambda: _near(projection=Components(width=4, epochs=1)),
    "neighbors, graph": lambda: _near(search="graph", projection=Components(width=4, epochs=1)),
    "neighbors, kd-tree": lambda: _near(search="kdtree", projection=Components(width=4, epochs=1)),
    "neighbors, ball tree": lambda: _near(search="balltree", projection=Components(width=4, epochs=1)),
    "neighbors, hyperplanes": lambda: _near(search="hyperplanes"),
    "neighbors, hyperplanes, hashed": lambda: _near(BUCKETS, search="hyperplanes"),
    "neighbors, MinHash": lambda: _near(Words(values="binary"), search="minhash"),
    "neighbors, waves": lambda: _near(Fourier(Words(), width=8)),
    "centroid": lambda: _trained(learner=LEARNERS["centroid"]()),
    **{
        f"trees: {name}": lambda name=name, how=how: _trained(Words(values="binary"), LEARNERS[name](**how))
        for name, how in GROWN
    },
    "trees: forest, hashed": lambda: _trained(BUCKETS, LEARNERS["forest"](trees=3)),
    "trees: gradient boosting, hashed": lambda: _trained(BUCKETS, LEARNERS["gradient_boosting"](rounds=3)),
    "kernel SVM": lambda: _trained(learner=KernelSVM(kernel=RBF(0.5))),
    "kernel SVM, linear, hashed": lambda: _trained(BUCKETS, KernelSVM(kernel=LinearKernel())),
    "kernel ridge, hashed": lambda: _trained(BUCKETS, KernelRidge(kernel=RBF(0.5), strength=0.3)),
    "kernel perceptron": lambda: _trained(learner=AveragedKernelPerceptron(kernel=Polynomial(2))),
    "Gaussian process": lambda: _trained(learner=GaussianProcess(kernel=RBF(0.5))),
    "string kernel": lambda: _trained(Letters(50), KernelSVM(kernel=Subsequence(2, 0.5))),
    "spectrum kernel": lambda: _trained(Letters(50), KernelSVM(kernel=Spectrum(2))),
    "matrix, classes": lambda: _face("LogisticRegression"),
    "matrix, costs": lambda: _face("LinearClassifier", costs=[[0, 1], [2, 0]], decision="expected_cost"),
    "matrix, stream": lambda: _stream(),
    "matrix, names": lambda: _named_columns(),
    "matrix, label sets": lambda: linnaeus.LinearClassifier(loss="logistic").fit(X, [["a"], ["b"], ["a", "b"], []]),
    "matrix, numbers": lambda: _face("LinearRegressor"),
    "matrix, trees": lambda: _face("MatrixClassifier", learner="forest"),
    "matrix, neighbors": lambda: _face("MatrixClassifier", learner=Neighbors(k=2)),
    "matrix, counting": lambda: _face("MatrixClassifier", learner="multinomial"),
    "tagger": lambda: Recipe(task=Tag(dictionary=2)).fit(TAGGED),
    "tagger, second order": lambda: Recipe(task=Tag(encoding="bioes"), learner=Chain(order=2)).fit(SPANS),
    "tagger, greedy": lambda: Recipe(task="tag", learner=Greedy()).fit(TAGGED),
    "tagger, word lists": _with_lists,
    "tagger, lemmas": lambda: recipe("lemmas").fit(LEMMAS),
    "parser": lambda: _parser(),
    "parser, one pass": lambda: _parser(second=()),
    "parser, crossing arcs": lambda: _parser(Dependencies(space="spanning", epochs=1)),
    "ranker": lambda: _ranked("plain"),
    "ranker, reading": lambda: _ranked("reading"),
    "ranker, linking": _linked,
    "label tree": _many,
    "label tree, flat": lambda: _many(LabelTree(bits=16)),
    "label tree, label sets": lambda: _many(label=lambda name: name.split("/"), kind="many"),
    "label tree, three trees": lambda: _many(LabelTree(leaf=2, trees=3)),
    "label tree, updated": lambda: _many().updated([("a grey mouse", "m/mouse"), ("one dog", "0/dog")], ["False/oak"]),
    "label tree, numbers": _many_numbers,
    "label tree, taxonomy": lambda: _many(LabelTree(shape="/")),
    "label tree, hashed": lambda: _many(LabelTree(leaf=1, width=4), features=BUCKETS),
    "label tree, mapped": lambda: Mapped(_many()),
    "label tree, classes": lambda: _trained(learner=LabelTree(leaf=1)),
    "pipeline": _pipeline,
}
"""How each is made."""


def ask(path: Path) -> object:
    """Open a file and ask everything; what a model cannot answer, and says so, is no failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # labels that the model does not know, columns without names
        model = linnaeus.load(path)
        _QUESTIONS[model.task.name](model)
        if (own := model.facts.get("estimator")) is not None:
            _ask_estimator(getattr(linnaeus, own["name"], linnaeus.LinearClassifier), path)
        command("inspect", path)
    return model


def command(verb: str, path: Path, *arguments: str) -> int:
    """A verb of the command line, which must end with an answer or with the exit code of a bad model file."""
    from linnaeus.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([verb, str(path), *arguments])
    if code not in (0, 4):
        raise AssertionError(f"{verb} ended with exit code {code}: {err.getvalue()}")
    return code


def _ask_classifier(model: Any) -> None:
    texts: Any = TEXTS
    if "ready" in str(model.features.state().manifest):
        texts = _entries()
    elif "columns" in str(model.features.state().manifest):
        texts = _table()
    with contextlib.suppress(UsageError, DataError):
        model.predict(texts)
        if model.classes is not None:
            model.probabilities(texts)
        for abstain in ("confidence=0.9", "coverage=0.9", "scope=0.9"):
            with contextlib.suppress(UsageError):
                model.predict(texts, abstain)
        if texts is TEXTS:
            model.classify(TEXTS[0])
            model.explain(TEXTS[0]).to_json()
            if model.kept is not None:
                model.search(TEXTS[:1], 2)
        if model.params:
            model.top_features(3)
    _ = model.recipe, model.evaluation


def _ask_many(model: Any) -> None:
    _ask_classifier(model)
    with contextlib.suppress(UsageError, DataError):
        model.rank(TEXTS, 3)
        model.classify("a dog", 3)
        model.explain("the red dog", classes=[model.many[0], model.many[len(model.many) - 1]]).to_json()
        model.predict(TEXTS, "risk=0.2")
        model.body.verify()
        rows = read([("a dog", "new"), ("the", str(model.many[0]))], label_kind=model.label_kind)
        model.evaluate(rows, rounds=0)
        if model.features.width < 1 << 22:  # learning takes memory by their number
            model.updated(rows, [model.many[0]]).predict(TEXTS)


def _ask_tagger(model: Any) -> None:
    with contextlib.suppress(UsageError, DataError):
        model.predict(SENTENCES)
        model.probabilities(SENTENCES)
        model.rank([SENTENCES[0]], 2)[0]
        model.explain(SENTENCES[0], 1)
        model.evaluate(TAGGED)


def _ask_parser(model: Any) -> None:
    with contextlib.suppress(UsageError, DataError):
        model.predict(SENTENCES)
        model.predict(SENTENCES, "confidence=0.9")
        model.rank([SENTENCES[0]], 2)
        model.explain(SENTENCES[0], 1).to_json()
        model.evaluate(PARSED)


def _ask_ranker(model: Any) -> None:
    with contextlib.suppress(UsageError, DataError):
        model.predict(CITIES)
        model.rank(CITIES)
        model.evaluate(CITIES)
        model.explain(CITIES, 0)


def _ask_estimator(kind: Any, path: Path) -> None:
    """What a file of matrices holds, as a `Model` and as the estimator that wrote it."""
    model = linnaeus.load(path)
    with contextlib.suppress(UsageError, DataError):
        rows = np.ones((2, model.features.width if model.features.width <= 1000 else 2))
        model.predict(rows)
        model.evaluate((rows, ["a", "b"]), rounds=0)
        model.explain(rows[:1]).to_json()
    with contextlib.suppress(UsageError, DataError):
        face = kind.load(path)
        face.predict(np.ones((1, 2)))
        if hasattr(face, "predict_proba"):
            face.predict_proba(np.ones((1, 2)))
        if hasattr(face, "partial_fit"):
            face.partial_fit(X, [0, 1, 0, 1])


_QUESTIONS: dict[str, Callable[[Any], None]] = {
    "classify": _ask_classifier,
    "regress": _ask_classifier,
    "many": _ask_many,
    "tag": _ask_tagger,
    "parse": _ask_parser,
    "rank": _ask_ranker,
}
