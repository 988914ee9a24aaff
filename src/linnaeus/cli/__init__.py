"""The command line: verbs, options, screens, exit codes. The only room that prints.

Results go to stdout, narration to stderr. A verb is a module with a click command named `command`; it is imported only
when it is called, so that `linnaeus --help` is quick.

To add a verb: its module, its row in `VERBS`, its tests in `tests/cli/`, its page in `docs/`.
"""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """Where a verb lives, and what it does, for the list of verbs."""

    module: str
    help: str


VERBS = {
    "check": Verb("linnaeus.cli.check", "Look at data before training on them."),
    "train": Verb("linnaeus.cli.train", "Train a model on labeled data."),
    "test": Verb("linnaeus.cli.test", "See how good a model is on labeled data."),
    "predict": Verb("linnaeus.cli.predict", "Answer every row of data with a model."),
    "explain": Verb("linnaeus.cli.explain", "See why a text is answered as it is."),
    "search": Verb("linnaeus.cli.search", "Find the training texts that are most like a text."),
    "tag": Verb("linnaeus.cli.tag", "Tag every token of a text."),
    "inspect": Verb("linnaeus.cli.inspect", "See what is in a model file."),
    "clusters": Verb("linnaeus.cli.clusters", "Learn word clusters from unlabeled text, for taggers."),
    "recipes": Verb("linnaeus.cli.recipes", "List what can be trained."),
    "gallery": Verb("linnaeus.cli.gallery", "Draw the pictures of the lectures with the library's own models."),
    "demo": Verb("linnaeus.cli.demo", "Show what Linnaeus does, on data that come with it."),
}
"""Every verb by name."""

ALIASES = {"evaluate": "test"}
"""Other names of verbs."""
