"""The command line: verbs, options, screens, exit codes. Only this package prints.

Results go to stdout, progress and messages to stderr. A verb is a module with a click command named `command`; it is
imported only when it is called, so that `linnaeus --help` is fast.

To add a verb: its module, its row in `VERBS`, its tests in `tests/cli/`, its page in `docs/`.
"""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """The module of a verb, and its one-line description for `linnaeus --help`."""

    module: str
    help: str


VERBS = {
    "check": Verb("linnaeus.cli.check", "Check labeled data before training."),
    "train": Verb("linnaeus.cli.train", "Train a model on labeled data."),
    "test": Verb("linnaeus.cli.test", "Evaluate a model on labeled data."),
    "predict": Verb("linnaeus.cli.predict", "Predict a label for every row of data."),
    "explain": Verb("linnaeus.cli.explain", "Explain the prediction for a text."),
    "search": Verb("linnaeus.cli.search", "Find the training texts most similar to a text."),
    "tag": Verb("linnaeus.cli.tag", "Tag every token of a text."),
    "inspect": Verb("linnaeus.cli.inspect", "Show the contents of a model file."),
    "clusters": Verb("linnaeus.cli.clusters", "Learn word clusters from unlabeled text, for taggers."),
    "recipes": Verb("linnaeus.cli.recipes", "List the recipes, which name the models to train."),
    "gallery": Verb("linnaeus.cli.gallery", "Draw pictures that explain how the models work."),
    "demo": Verb("linnaeus.cli.demo", "Train, test and explain a model on built-in data."),
}
"""Every verb by name."""

ALIASES = {"evaluate": "test"}
"""Other names of verbs."""
