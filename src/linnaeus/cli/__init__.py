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
    "demo": Verb("linnaeus.cli.demo", "Show what Linnaeus does, on data that come with it."),
}
"""Every verb by name."""
