"""Named recipes: `default`, and the methods of the lectures under their plain names.

A recipe is made when it is asked for, and rooms import a piece when it is named: one recipe loads its own pieces only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus import bayes, neighbors, optimizers
from linnaeus import features as blocks
from linnaeus import kernel_methods as methods
from linnaeus import similarities as kernels
from linnaeus.features import Binary, Contrast, Exact, NaiveBayes, TfIdf, Words
from linnaeus.pipeline.learner import LEARNERS, Linear
from linnaeus.pipeline.recipe import Recipe
from linnaeus.pipeline.recipe_names import unknown_recipe
from linnaeus.pipeline.tuning import Tuning
from linnaeus.regularizers import L2

if TYPE_CHECKING:
    from linnaeus.features import Block, Values

STRENGTHS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
"""What is tried of the L2 penalty, from strong to weak; scikit-learn's C is 1 / strength."""


SMOOTHINGS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
"""What is tried of what naive Bayes adds to its counts."""


SHARED = Exact(min_token_df=2)
"""No token that stands in one text only: what one person wrote once is not for a model file."""

COMMON = Exact(min_term_df=2)
"""No term, token or pair, that stands in one text only: the same, and a small model."""


NEAREST = (30.0, 20.0, 10.0, 5.0, 1.0)
"""How many neighbors are tried."""


class Named(NamedTuple):
    """A recipe with a name: what it is in a sentence, and how it is made."""

    help: str
    make: Callable[[], Recipe]


def words(ngrams: tuple[int, int] = (1, 2)) -> Words:
    """Words and runs of words, sublinear tf-idf, rows of length 1."""
    return Words(ngrams=ngrams, terms=SHARED, values=TfIdf("log"), length="l2")


def characters(shortest: int = 2, values: Values | None = None) -> Block:
    """Runs of up to 5 characters within words, sublinear tf-idf, rows of length 1."""
    from linnaeus.features import Chars

    return Chars(shortest, 5, terms=SHARED, values=values or TfIdf("log"), length="l2")


def directions() -> Block:
    """The 100 directions in which texts differ most by their words."""
    from linnaeus.features import Reduced

    return Reduced(replace(words((1, 1)), terms=COMMON), width=100)


def _default() -> Recipe:
    """Chosen by cross-validation on the training parts of twenty data sets."""
    features: Block = Words(ngrams=(1, 2), tokenizer="edges", terms=SHARED, values=Contrast(), length="l2")
    features |= characters(values=Contrast())
    learner = Linear(loss="squared_hinge", regularizer=L2(1.0))
    return Recipe(features=features, learner=learner, tuning=Tuning(strengths=STRENGTHS))


def _brisk(features: Words) -> Recipe:
    """A few walks over the rows, one example at a time: no optimum, but near it in a fraction of its time."""
    learner = Linear(
        loss="hinge", regularizer="none", optimizer=optimizers.Average(optimizers.PassiveAggressive(0.5)), epochs=2
    )
    return Recipe(features=replace(features, terms=COMMON), learner=learner)


def _simple(learner: Any, features: Block | None = None) -> Recipe:
    return Recipe(features=features or words(), learner=learner, tuning=Tuning())


def _counting(learner: Any, features: Block) -> Recipe:
    return Recipe(features=features, learner=learner, tuning=Tuning(strengths=SMOOTHINGS))


def _presence(ngrams: tuple[int, int], most: int) -> Words:
    """Which terms are there, those of one text left out, at most so many of the others: for questions about words."""
    return Words(ngrams=ngrams, terms=replace(COMMON, max_terms=most), values=Binary())


def _grown(name: str, **settings: Any) -> Recipe:
    """Trees on the presence of words; a training of theirs is long, so that the folds are few."""
    return Recipe(features=_presence((1, 1), 10_000), learner=LEARNERS[name](**settings), tuning=Tuning(folds=3))


def _directed(search: str) -> Recipe:
    """Neighbors in learned directions, of which a word has 64 numbers: so no more words than needed."""
    features = replace(words(), terms=replace(COMMON, max_terms=200_000))
    projection = neighbors.Components()
    learner = neighbors.Neighbors(k=10, votes=neighbors.Kernel(), search=search, projection=projection)
    return Recipe(features=features, learner=learner, tuning=Tuning(folds=3))


def _kernel(learner: Any, features: Block | None = None, folds: int = 5) -> Recipe:
    """Few folds: each of them makes a kernel matrix."""
    return Recipe(features=features or words(), learner=learner, tuning=Tuning(folds=folds))


def _scaled(features: Block) -> Recipe:
    """A kernel as features, for the linear engine."""
    return _simple(Linear(loss="squared_hinge", regularizer=L2(0.3)), features)


RECIPES: dict[str, Named] = {
    "default": Named(
        "Words, pairs and characters with a squared-hinge SVM, its strength tuned: the best guess.", _default
    ),
    "fast": Named(
        "Words and pairs by averaged passive-aggressive steps, two walks over the rows, nothing held out.",
        lambda: _brisk(replace(words(), tokenizer="edges")),
    ),
    "words": Named(
        "The same on single words: the quickest training and the smallest model.",
        lambda: _brisk(words((1, 1))),
    ),
    "logistic": Named(
        "Logistic regression (softmax over the classes) on words and pairs.",
        lambda: _simple(Linear(loss="log", regularizer=L2(0.1))),
    ),
    "svm": Named(
        "A linear SVM for each class against the rest, on words and pairs.",
        lambda: _simple(Linear(loss="hinge", regularizer=L2(1.0), output="onevsrest")),
    ),
    "multiclass-svm": Named(
        "Crammer and Singer's SVM over all classes at once, on words and pairs; takes costs.",
        lambda: _simple(Linear(loss="hinge", regularizer=L2(1.0))),
    ),
    "nb-svm": Named(
        "An SVM on words, pairs and triples weighted by naive-Bayes log-count ratios; strong on sentiment.",
        lambda: _simple(
            Linear(loss="squared_hinge", regularizer=L2(1.0)),
            Words(ngrams=(1, 3), terms=SHARED, values=NaiveBayes(), length="l2"),
        ),
    ),
    "naive-bayes": Named(
        "Multinomial naive Bayes on words, its smoothing tuned: counted, not optimized.",
        lambda: _counting(bayes.Multinomial(), Words(terms=SHARED)),
    ),
    "bernoulli-naive-bayes": Named(
        "Naive Bayes on which words are in a text and which are not; for short texts.",
        lambda: _counting(bayes.Bernoulli(threshold=None), Words(terms=SHARED, values="binary")),
    ),
    "complement-naive-bayes": Named(
        "Naive Bayes on what the other classes say, its weights normalized; for classes of unequal size.",
        lambda: _counting(bayes.Complement(length="l1"), words()),
    ),
    "lda": Named(
        "Linear discriminant analysis on the 100 leading directions of words, with shrinkage.",
        lambda: _simple(bayes.LinearDiscriminant(shrinkage="auto"), directions()),
    ),
    "qda": Named(
        "Quadratic discriminant analysis on the 100 leading directions of words, with shrinkage.",
        lambda: _simple(bayes.QuadraticDiscriminant(shrinkage="auto"), directions()),
    ),
    "least-squares": Named(
        "Ridge regression on targets +1 and -1, on words and pairs.",
        lambda: _simple(Linear(loss="squared", regularizer=L2(1.0))),
    ),
    "perceptron": Named(
        "The perceptron: one example at a time, moved by its mistakes, on words and pairs.",
        lambda: _simple(Linear(loss="perceptron", regularizer="none", optimizer=optimizers.SGD(rate=1.0))),
    ),
    "averaged-perceptron": Named(
        "The perceptron with the average of its weights: nearly an SVM, in a few epochs.",
        lambda: _simple(
            Linear(
                loss="perceptron", regularizer="none", optimizer=optimizers.Average(optimizers.SGD(rate=1.0)), epochs=10
            )
        ),
    ),
    "passive-aggressive": Named(
        "The smallest step that gives each example a margin of 1, on words and pairs.",
        lambda: _simple(
            Linear(loss="hinge", regularizer="none", optimizer=optimizers.PassiveAggressive(1.0), epochs=10)
        ),
    ),
    "characters": Named(
        "Runs of 1 to 5 characters with a squared-hinge SVM: languages, names, texts without spaces.",
        lambda: Recipe(
            features=characters(1),
            learner=Linear(loss="squared_hinge", regularizer=L2(1.0)),
            tuning=Tuning(strengths=STRENGTHS),
        ),
    ),
    "decision-tree": Named(
        "One decision tree on the presence of words: a chain of questions that can be read.", lambda: _grown("tree")
    ),
    "random-forest": Named(
        "The mean of a hundred decision trees, each grown on rows and words drawn at random.", lambda: _grown("forest")
    ),
    "adaboost": Named(
        "A vote of words and pairs, the most useful first: boosted decision stumps, which are a linear model.",
        lambda: Recipe(features=_presence((1, 2), 100_000), learner=LEARNERS["adaboost"](), tuning=Tuning()),
    ),
    "gradient-boosting": Named(
        "A hundred rounds of small trees on the presence of words, each fitted to what those before it left over.",
        lambda: _grown("gradient_boosting", rate=0.3),
    ),
    "kernel-svm": Named(
        "An SVM on how close texts are to each other (RBF kernel of words and pairs); some thousand texts.",
        lambda: _kernel(methods.KernelSVM(kernel=kernels.RBF(0.5), strength=1.0)),
    ),
    "kernel-ridge": Named(
        "Least squares with the same kernel, in closed form; classes or numbers.",
        lambda: _kernel(methods.KernelRidge(kernel=kernels.RBF(0.5), strength=0.3)),
    ),
    "kernel-perceptron": Named(
        "The averaged perceptron over all conjunctions of two terms, which are never made (polynomial kernel).",
        lambda: _kernel(methods.AveragedKernelPerceptron(kernel=kernels.Polynomial(2))),
    ),
    "gaussian-process": Named(
        "A Gaussian process on words and pairs: it knows how sure it is; at most 2,000 texts.",
        lambda: _kernel(methods.GaussianProcess(kernel=kernels.RBF(0.5), strength=0.1), folds=3),
    ),
    "string-kernel": Named(
        "An SVM on the letters that texts share in order, gaps allowed; short texts, and the file keeps them.",
        lambda: _kernel(
            methods.KernelSVM(kernel=kernels.Subsequence(3, 0.5), strength=0.3), blocks.Letters(200), folds=3
        ),
    ),
    "fourier-svm": Named(
        "A linear SVM on 2,000 random waves of words, whose products are about an RBF kernel; any number of texts.",
        lambda: _scaled(
            blocks.Fourier(replace(words((1, 1)), terms=Exact(min_token_df=2, max_terms=30_000)), 2000, gamma=0.5)
        ),
    ),
    "nystrom-svm": Named(
        "A linear SVM on how close texts are to 500 of them: about all that the kernel sees; any number of texts.",
        lambda: _scaled(blocks.Nystrom(words(), kernels.RBF(0.5))),
    ),
    "ridge": Named(
        "Numbers from words, pairs and characters: least squares with a tuned L2 penalty.",
        lambda: Recipe(
            features=words() | characters(),
            learner=Linear(loss="squared", regularizer=L2(1.0)),
            tuning=Tuning(strengths=STRENGTHS),
        ),
    ),
    "knn": Named(
        "The nearest training texts vote, by the cosine of their words; how many is tuned. Keeps all rows.",
        lambda: Recipe(
            features=words((1, 1)),
            learner=neighbors.Neighbors(votes=neighbors.Kernel()),
            tuning=Tuning(strengths=NEAREST),
        ),
    ),
    "knn-metric": Named(
        "The same in 64 directions learned from the labels, in which texts of one class are near to each other.",
        lambda: _directed("exact"),
    ),
    "knn-graph": Named(
        "The same by a walk along a graph of near texts instead of a look at all: for very many of them.",
        lambda: _directed("graph"),
    ),
    "nearest-centroid": Named(
        "Each class is the mean of its texts, and the nearest by cosine wins: one pass, no tuning, linear.",
        lambda: Recipe(features=words() | characters(), learner=neighbors.Centroid(), tuning=Tuning()),
    ),
}
"""Every recipe by name."""


def recipe(name: str) -> Recipe:
    """A named recipe.

    >>> recipe("svm").learner.loss
    Hinge()
    """
    if name not in RECIPES:
        raise unknown_recipe(name, "texts")
    return RECIPES[name].make()
