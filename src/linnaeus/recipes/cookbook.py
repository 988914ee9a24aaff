"""Named recipes: `default`, and the classical methods by name.

A recipe is made on request and imports only the modules that it uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus import features as blocks
from linnaeus import optimizers
from linnaeus import similarities as kernels
from linnaeus.errors import UsageError, did_you_mean
from linnaeus.features import Binary, Contrast, Exact, Hashed, NaiveBayes, TfIdf, Words
from linnaeus.learners import LEARNERS, bayes, neighbors
from linnaeus.learners import kernel_methods as methods
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes.recipe import Recipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.regularizers import L2
from linnaeus.tasks import TASKS

if TYPE_CHECKING:
    from linnaeus.features import Block, Values

STRENGTHS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
"""The L2 strengths that cross-validation tries, from strong to weak; scikit-learn's C is 1 / strength."""


SMOOTHINGS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
"""The smoothing values of naive Bayes that cross-validation tries."""


SHARED = Exact(min_token_df=2)
"""Drop tokens that occur in one text only, so that rare private words do not get into a model file."""

COMMON = Exact(min_term_df=2)
"""Drop terms (tokens and pairs) that occur in one text only: the same, and a smaller model."""


UNSIGNED = Hashed(bits=21, signed=False)
"""Two million columns for terms by their hash; none counts negative, so that rows are counts."""


NEAREST = (30.0, 20.0, 10.0, 5.0, 1.0)
"""The numbers of neighbors that cross-validation tries."""


class Named(NamedTuple):
    """A named recipe: a one-sentence description, the function that makes it, and its task."""

    help: str
    make: Callable[[], Recipe]
    task: str = "classify"


def words(ngrams: tuple[int, int] = (1, 2)) -> Words:
    """Word n-grams with sublinear tf-idf, normalized to length 1."""
    return Words(ngrams=ngrams, terms=SHARED, values=TfIdf("log"), length="l2")


def characters(shortest: int = 2, values: Values | None = None) -> Block:
    """Character n-grams of up to 5 characters within words, with sublinear tf-idf, normalized to length 1."""
    from linnaeus.features import Chars

    return Chars(shortest, 5, terms=SHARED, values=values or TfIdf("log"), length="l2")


def words_and_parts() -> Block:
    """Counts of words, and of the character n-grams in each word."""
    from linnaeus.features import Subwords

    return Words(tokenizer="edges", terms=UNSIGNED) | Subwords(terms=UNSIGNED)


def directions() -> Block:
    """The first 100 singular directions of the word features."""
    from linnaeus.features import Reduced

    return Reduced(replace(words((1, 1)), terms=COMMON), width=100)


def _tuned(learner: object, features: Block | None = None, strengths: tuple[float, ...] = (), folds: int = 0) -> Recipe:
    """A learner on words and pairs, or on other features, with cross-validation."""
    return Recipe(features=features or words(), learner=learner, tuning=Tuning(strengths=strengths, folds=folds))


def _default() -> Recipe:
    """Chosen by cross-validation on the training parts of twenty datasets."""
    features: Block = Words(ngrams=(1, 2), tokenizer="edges", terms=SHARED, values=Contrast(), length="l2")
    features |= characters(values=Contrast())
    return _tuned(Linear(loss="squared_hinge", regularizer=L2(1.0), tol=3e-3), features, STRENGTHS)


def _brisk(features: Words) -> Recipe:
    """Online learning in a few epochs: not the optimum, but near it in a fraction of the time."""
    average = optimizers.Average(optimizers.PassiveAggressive(0.5))
    learner = Linear(loss="hinge", regularizer="none", optimizer=average, epochs=2)
    return Recipe(features=replace(features, terms=COMMON), learner=learner)


def _online(loss: str, optimizer: object, epochs: int | None = None) -> Recipe:
    """Updates after each text, without a penalty."""
    return _tuned(Linear(loss=loss, regularizer="none", optimizer=optimizer, epochs=epochs))


def _bag(features: Block, **settings: object) -> Recipe:
    """An embedding bag on counts of hashed terms, without cross-validation."""
    return Recipe(features=features, learner=LEARNERS["bag"](**settings))


def _ranked(learner: object) -> Recipe:
    """Labels ranked by words and pairs; a part of the rows is held out once."""
    return Recipe(task="many", features=words(), learner=learner, tuning=Tuning(strengths=(2.0, 1.0, 0.5), folds=1))


def _presence(ngrams: tuple[int, int], most: int) -> Words:
    """The presence of terms that occur in more than one text, at most `most` of them, for decision trees."""
    return Words(ngrams=ngrams, terms=replace(COMMON, max_terms=most), values=Binary())


def _grown(name: str, **settings: float) -> Recipe:
    """Trees on the presence of words; training is slow, so there are few folds."""
    return _tuned(LEARNERS[name](**settings), _presence((1, 1), 10_000), folds=3)


def _directed(search: str) -> Recipe:
    """Nearest neighbors in a learned projection with 64 numbers for each word, so the vocabulary is limited."""
    features = replace(words(), terms=replace(COMMON, max_terms=200_000))
    projection = neighbors.Components()
    learner = neighbors.Neighbors(k=10, votes=neighbors.Kernel(), search=search, projection=projection)
    return _tuned(learner, features, folds=3)


def _kernel(learner: object, folds: int = 5) -> Recipe:
    """Few folds, because each computes a kernel matrix."""
    return _tuned(learner, folds=folds)


def _scaled(features: Block) -> Recipe:
    """Approximate kernel features with a linear learner."""
    return _tuned(Linear(loss="squared_hinge", regularizer=L2(0.3)), features)


def _made(module: str, name: str) -> Recipe:
    """A recipe of another module, which is imported now."""
    return import_module(f"linnaeus.recipes.{module}").MAKERS[name]()


def _network(encoder: str, **settings: Any) -> Recipe:
    """A network on words in their order; a fifth of the rows is held out once, for training is slow."""
    from linnaeus.learners.networks import ENCODERS, SequenceNetwork

    learner = SequenceNetwork(encoder=ENCODERS[encoder](), **settings)
    return Recipe(features=blocks.WordSequence(min_df=2), learner=learner, tuning=Tuning(folds=1))


def _filters() -> Recipe:
    """Settings that were best on development parts of short texts, with word vectors."""
    return _network("convolution", rate=2e-3, schedule="linear", decay=0.1, dropout=0.3, epochs=15, patience=15)


TAGGERS = {
    "pos": "Averaged structured perceptron: fast and accurate.",
    "pos-crf": "Conditional random field (CRF) with probabilities.",
    "pos-second": "Second-order conditional random field: a tag depends on the two before it.",
    "pos-svm": "Structured SVM with the Hamming cost.",
    "pos-greedy": "Greedy tagger from left to right.",
    "pos-exact": "CRF with L2 penalty, solved exactly by L-BFGS.",
    "pos-cnn": "Convolutional network over tokens below a CRF; trained by PyTorch.",
    "entities": "Named entities: softmax-margin chain, word shapes and pairs, search restricted to valid BIO tags.",
    "entities-fast": "Named entities with the averaged structured perceptron.",
    "lemmas": "Lemmas: learns how words are changed into their lemmas; reads tags if the data have them.",
}
PARSERS = {
    "parse": "Dependency trees without crossing arcs: structured SVM in two passes, then relations.",
    "parse-fast": "The same in one pass: a sixth of the time to train, half the time to parse.",
    "parse-any": "Dependency trees whose arcs may cross: structured SVM over spanning trees.",
    "parse-crf": "Conditional random field over dependency trees, with probabilities of arcs.",
}
RANKERS = {
    "plain": "Name matches, and pairs of text words and candidate words; needs only a text and its candidates.",
    "plain-mlp": "The same features below a multilayer perceptron; trained by PyTorch.",
    "reading": "Multiple-choice questions about a story (columns `story` and `question`), English.",
    "linking": (
        "Entity linking: a mention with its context (`left`, `right`), its document (`doc`), titles and their links."
    ),
    "tree-linking": "Entity linking without candidates in the data: a label tree over all titles proposes them.",
}

RECIPES: dict[str, Named] = {
    "default": Named(
        "Linear SVM on words, word pairs and character n-grams, strength tuned by cross-validation.", _default
    ),
    "fast": Named(
        "Averaged passive-aggressive classifier on words and pairs, two epochs, no cross-validation.",
        lambda: _brisk(replace(words(), tokenizer="edges")),
    ),
    "words": Named(
        "Averaged passive-aggressive classifier on single words: the fastest and smallest model.",
        lambda: _brisk(words((1, 1))),
    ),
    "logistic": Named(
        "Multinomial logistic regression (softmax) on words and pairs.",
        lambda: _tuned(Linear(loss="log", regularizer=L2(0.1))),
    ),
    "svm": Named(
        "One-vs-rest linear SVM on words and pairs.",
        lambda: _tuned(Linear(loss="hinge", regularizer=L2(1.0), output="onevsrest")),
    ),
    "multiclass-svm": Named(
        "Multiclass SVM of Crammer and Singer on words and pairs; takes a cost matrix.",
        lambda: _tuned(Linear(loss="hinge", regularizer=L2(1.0))),
    ),
    "nb-svm": Named(
        "SVM on words, pairs and triples weighted by naive Bayes log-count ratios; good for sentiment.",
        lambda: _tuned(
            Linear(loss="squared_hinge", regularizer=L2(1.0)),
            Words(ngrams=(1, 3), terms=SHARED, values=NaiveBayes(), length="l2"),
        ),
    ),
    "naive-bayes": Named(
        "Multinomial naive Bayes on words, smoothing tuned by cross-validation.",
        lambda: _tuned(bayes.Multinomial(), Words(terms=SHARED), SMOOTHINGS),
    ),
    "bernoulli-naive-bayes": Named(
        "Bernoulli naive Bayes on the presence and absence of words; for short texts.",
        lambda: _tuned(bayes.Bernoulli(threshold=None), Words(terms=SHARED, values="binary"), SMOOTHINGS),
    ),
    "complement-naive-bayes": Named(
        "Complement naive Bayes with normalized weights; for classes of unequal size.",
        lambda: _tuned(bayes.Complement(length="l1"), words(), SMOOTHINGS),
    ),
    "lda": Named(
        "Linear discriminant analysis with shrinkage, on the first 100 singular directions of words.",
        lambda: _tuned(bayes.LinearDiscriminant(shrinkage="auto"), directions()),
    ),
    "qda": Named(
        "Quadratic discriminant analysis with shrinkage, on the first 100 singular directions of words.",
        lambda: _tuned(bayes.QuadraticDiscriminant(shrinkage="auto"), directions()),
    ),
    "least-squares": Named(
        "Ridge classifier: least squares on targets +1 and -1, on words and pairs.",
        lambda: _tuned(Linear(loss="squared", regularizer=L2(1.0))),
    ),
    "perceptron": Named(
        "Perceptron on words and pairs: online learning, updated after each mistake.",
        lambda: _online("perceptron", optimizers.SGD(rate=1.0)),
    ),
    "averaged-perceptron": Named(
        "Averaged perceptron on words and pairs: nearly as accurate as an SVM, in a few epochs.",
        lambda: _online("perceptron", optimizers.Average(optimizers.SGD(rate=1.0)), epochs=10),
    ),
    "passive-aggressive": Named(
        "Passive-aggressive classifier on words and pairs.",
        lambda: _online("hinge", optimizers.PassiveAggressive(1.0), epochs=10),
    ),
    "characters": Named(
        "Linear SVM on character n-grams of 1 to 5 characters; for languages, names, text without spaces.",
        lambda: _tuned(Linear(loss="squared_hinge", regularizer=L2(1.0)), characters(1), STRENGTHS),
    ),
    "decision-tree": Named("Decision tree on the presence of words; easy to read.", lambda: _grown("tree")),
    "random-forest": Named(
        "Random forest of a hundred decision trees on the presence of words.", lambda: _grown("forest")
    ),
    "adaboost": Named(
        "AdaBoost with decision stumps on the presence of words and pairs; a linear model.",
        lambda: _tuned(LEARNERS["adaboost"](), _presence((1, 2), 100_000)),
    ),
    "gradient-boosting": Named(
        "Gradient boosting with a hundred rounds of small trees on the presence of words.",
        lambda: _grown("gradient_boosting", rate=0.3),
    ),
    "kernel-svm": Named(
        "SVM with an RBF kernel on words and pairs; for up to a few thousand texts.",
        lambda: _kernel(methods.KernelSVM(kernel=kernels.RBF(0.5), strength=1.0)),
    ),
    "kernel-ridge": Named(
        "Kernel ridge regression with an RBF kernel on words and pairs; for classes or numbers.",
        lambda: _kernel(methods.KernelRidge(kernel=kernels.RBF(0.5), strength=0.3)),
    ),
    "kernel-perceptron": Named(
        "Averaged kernel perceptron with a polynomial kernel: all conjunctions of two terms.",
        lambda: _kernel(methods.AveragedKernelPerceptron(kernel=kernels.Polynomial(2))),
    ),
    "gaussian-process": Named(
        "Gaussian process classifier on words and pairs, with uncertainty; for at most 2,000 texts.",
        lambda: _kernel(methods.GaussianProcess(kernel=kernels.RBF(0.5), strength=0.1), folds=3),
    ),
    "string-kernel": Named(
        "SVM with a subsequence string kernel; for short texts, which are kept in the model file.",
        lambda: _tuned(
            methods.KernelSVM(kernel=kernels.Subsequence(3, 0.5), strength=0.3), blocks.Letters(200), folds=3
        ),
    ),
    "fourier-svm": Named(
        "Linear SVM on 2,000 random Fourier features of words (approximate RBF kernel); for any number of texts.",
        lambda: _scaled(
            blocks.Fourier(replace(words((1, 1)), terms=Exact(min_token_df=2, max_terms=30_000)), 2000, gamma=0.5)
        ),
    ),
    "nystrom-svm": Named(
        "Linear SVM on Nystrom features with 500 landmarks (approximate kernel); for any number of texts.",
        lambda: _scaled(blocks.Nystrom(words(), kernels.RBF(0.5))),
    ),
    "label-tree": Named(
        "Tree of linear rankers for thousands to millions of labels, on words and pairs; small, fast, can be updated.",
        lambda: _ranked(LEARNERS["label_tree"]()),
        "many",
    ),
    "label-trees": Named(
        "Three label trees from different clusterings: a little more accurate, three times as large and as slow.",
        lambda: _ranked(LEARNERS["label_tree"](trees=3)),
        "many",
    ),
    "flat-labels": Named(
        "One sparse linear ranker for each label, without a tree; for up to some ten thousand labels.",
        lambda: _ranked(LEARNERS["label_tree"](leaf=1 << 16)),
        "many",
    ),
    "ridge": Named(
        "Ridge regression for numbers, on words, word pairs and character n-grams, strength tuned.",
        lambda: _tuned(Linear(loss="squared", regularizer=L2(1.0)), words() | characters(), STRENGTHS),
        "regress",
    ),
    "knn": Named(
        "k nearest neighbors by cosine similarity of words, k tuned; the model keeps all training rows.",
        lambda: _tuned(neighbors.Neighbors(votes=neighbors.Kernel()), words((1, 1)), NEAREST),
    ),
    "knn-metric": Named(
        "k nearest neighbors in a 64-dimensional projection learned from the labels.",
        lambda: _directed("exact"),
    ),
    "knn-graph": Named(
        "k nearest neighbors in the learned projection by approximate search (HNSW); for very many texts.",
        lambda: _directed("graph"),
    ),
    "nearest-centroid": Named(
        "Nearest centroid by cosine similarity: one pass, no tuning, a linear model.",
        lambda: _tuned(neighbors.Centroid(), words() | characters()),
    ),
    "bag": Named(
        "Embedding bag (fastText): vectors of words and pairs are learned and averaged over the text; fast.",
        lambda: _bag(Words(ngrams=(1, 2), tokenizer="edges", terms=UNSIGNED)),
    ),
    "bag-subwords": Named(
        "Embedding bag on words and the character n-grams in them; for languages, short texts and spelling mistakes.",
        lambda: _bag(words_and_parts()),
    ),
    "mlp": Named(
        "Multilayer perceptron: one hidden layer on words and pairs.",
        lambda: _tuned(LEARNERS["network"](), folds=1),
    ),
    "pooled": Named(
        "Mean of the vectors of words, learned or given, below a linear classifier; trained by PyTorch.",
        lambda: _network("pooled", rate=1e-2),
    ),
    "cnn": Named("Convolutional network for sentences: filters over 3, 4 and 5 words; takes word vectors.", _filters),
    "deep-cnn": Named(
        "Several layers of filters, each added to what is below it; takes word vectors.",
        lambda: _network("deep_convolution"),
    ),
    "gru": Named(
        "Recurrent network (GRU) that reads from both sides; takes word vectors; slow.",
        lambda: _network("recurrent", rate=3e-3),
    ),
    "attention": Named(
        "Self-attention over word vectors: a small transformer, without pretraining.", lambda: _network("attention")
    ),
    **{name: Named(said, partial(_made, "tagging", name), "tag") for name, said in TAGGERS.items()},
    **{name: Named(said, partial(_made, "parsing", name), "parse") for name, said in PARSERS.items()},
    **{name: Named(said, partial(_made, "ranking", name), "rank") for name, said in RANKERS.items()},
}
"""Every recipe by name."""


def recipe(name: str, task: str | None = None) -> Recipe:
    """A named recipe; with a task, one for it.

    >>> recipe("svm").learner.loss
    Hinge()
    >>> recipe("svn")
    Traceback (most recent call last):
    linnaeus.errors.UsageError: There is no recipe 'svn'; did you mean 'svm'?
    """
    if name not in RECIPES:
        known = [name for name, row in RECIPES.items() if task is None or _alike(row.task, task)]
        raise UsageError(f"There is no recipe {name!r}; {did_you_mean(name, known, 'a TOML file')}")
    if task is not None and not _alike(RECIPES[name].task, task):
        there, here = TASKS[RECIPES[name].task], TASKS[task]
        raise UsageError(
            f"{name!r} is a recipe for {there.models}, which learn from {there.data}; for {here.data} take "
            f"{here.usual!r}, or another for {here.models} that `linnaeus recipes` lists."
        )
    return RECIPES[name].make()


def _alike(one: str, other: str) -> bool:
    """Whether a recipe for one task may be taken for the other: texts with labels or with numbers are alike."""
    texts = ("classify", "regress", "many")
    return one == other or (one in texts and other in texts)
