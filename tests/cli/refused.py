"""Commands that cannot be carried out: what they raise, and what that says."""

from __future__ import annotations

from click.testing import CliRunner

from linnaeus.cli.main import group
from linnaeus.errors import LinnaeusError


def check_refused(words: tuple[str, ...], kind: type[LinnaeusError], said: str) -> None:
    """The command raises an error of this kind that says this."""
    done = CliRunner().invoke(group, list(words))
    assert isinstance(done.exception, kind)
    assert said in str(done.exception)
