"""The pictures of the lectures, made by the library's own models on toy data: `linnaeus gallery` draws them.

    toys             data in two dimensions, and texts
    drawing          titles and captions, the plane of two features, lines of equal value
    boundaries       decision boundaries: which models on which data; soft margins, cells of nearest neighbors
    multiclass       three classes;  lifts  truth tables, features that help
    curves           losses, convexity, sigmoids, densities and posteriors
    fits             polynomials: underfitting, overfitting, bias and variance
    paths, minima    gradient descent, on bowls and where there are several valleys
    texts            weights of words, tf-idf, Zipf's law, learning curves, reliability
    digits           weights as templates
    parsing          dependency trees
    words            word vectors
    networks         a network with one hidden layer;  filters  a convolution;  attention  pooling with attention

To add a picture: a function that gives its panels, with its title and caption as docstring (`drawing.picture`), its row
in `PICTURES`, a test of what it plots, and a link to it in the documentation.
"""

from __future__ import annotations

from linnaeus.lazy import Table, room

PICTURES = Table(
    __name__,
    {
        "perceptron": "boundaries.perceptron",
        "logistic-regression": "boundaries.logistic_regression",
        "linear-svm": "boundaries.linear_svm",
        "naive-bayes": "boundaries.naive_bayes",
        "linear-discriminant": "boundaries.linear_discriminant",
        "quadratic-discriminant": "boundaries.quadratic_discriminant",
        "neighbors": "boundaries.neighbors",
        "rbf-svm": "boundaries.rbf_svm",
        "centroid": "boundaries.centroid",
        "exclusive-or": "boundaries.exclusive_or",
        "kernels": "boundaries.kernels",
        "decision-tree": "boundaries.decision_tree",
        "adaboost": "boundaries.adaboost",
        "gradient-boosting": "boundaries.gradient_boosting",
        "random-forest": "boundaries.random_forest",
        "outliers": "boundaries.outliers",
        "slack": "boundaries.slack",
        "three-classes": "multiclass.k_way",
        "one-vs-rest": "multiclass.one_vs_rest",
        "one-vs-one": "multiclass.one_vs_one",
        "truth-tables": "lifts.truth_tables",
        "lift": "lifts.lift",
        "voronoi": "boundaries.voronoi",
        "two-gaussians": "curves.gaussians",
        "losses": "curves.losses",
        "convexity": "curves.convexity",
        "gradient-descent": "paths.descent",
        "local-minima": "minima.minima",
        "sigmoid-scaling": "curves.scaling",
        "overfitting": "fits.overfitting",
        "underfitting": "fits.underfitting",
        "bias-variance": "fits.variance",
        "word-weights": "texts.words",
        "tf-idf": "texts.tfidf",
        "zipf": "texts.zipf",
        "learning-curves": "texts.learning",
        "reliability": "texts.reliability",
        "digit-templates": "digits.digits",
        "best-trees": "parsing.best_trees",
        "word-map": "words.word_map",
        "hidden-layer": "networks.hidden_layer",
        "hidden-units": "networks.units",
        "hidden-space": "networks.hidden_space",
        "network-scores": "networks.outputs",
        "network-loss": "networks.losses",
        "filters": "filters.fire",
        "attention": "attention.attend",
    },
)
"""Every picture by name: a function that draws it, imported when it is asked for."""


__getattr__, __dir__ = room(__name__)
