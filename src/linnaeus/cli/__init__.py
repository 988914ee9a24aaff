"""The command line: verbs, options, screens, exit codes. Only this package prints.

Results go to stdout, progress and messages to stderr. A verb is a module with a click command named `command`; it is
imported only when it is called, so that `linnaeus --help` is fast.

To add a verb: its module, with its help page as the docstring of `command`, its row in `VERBS`, its tests in
`tests/cli/`, its page in `docs/`.
"""

from __future__ import annotations

from keyword import iskeyword

VERBS = {
    "check": "Check labeled data before training.",
    "train": "Train a model on labeled data.",
    "test": "Evaluate a model on labeled data.",
    "predict": "Predict a label for every row of data.",
    "explain": "Explain the prediction for a text.",
    "search": "Find the training texts most similar to a text.",
    "tag": "Tag every token of a text.",
    "inspect": "Show the contents of a model file.",
    "import": "Read a classifier of fastText as a model.",
    "clusters": "Learn word clusters from unlabeled text, for taggers.",
    "vectors": "Learn, test and convert word vectors.",
    "recipes": "List the recipes, which name the models to train.",
    "gallery": "Draw pictures that explain how the models work.",
    "demo": "Train, test and explain a model on built-in data.",
}
"""Every verb and its one-line description for `linnaeus --help`; `module_of` names its module."""

ALIASES = {"evaluate": "test"}
"""Other names of verbs."""


def module_of(verb: str) -> str:
    """The name of a verb's module: the verb itself, with an underscore behind a word that Python keeps for itself.

    >>> module_of("train"), module_of("import")
    ('train', 'import_')
    """
    return f"{verb}_" if iskeyword(verb) else verb
