"""The helper for hostile inputs tells crashes, hangs, failures and refusals apart, and goes on after each."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest
from tests.hostile import MEGABYTE, Outcome, assert_harmless, try_all

from linnaeus.errors import DataError, MachineError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured through /proc")


def act(case: str) -> object:
    if case == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if case == "sleep":
        time.sleep(60)
    if case == "large":
        return len(bytearray(40 * MEGABYTE))
    errors = {
        "bug": KeyError("x"),
        "refuse": DataError("No."),
        "machine": MachineError("No."),
        "lines": DataError("\n"),
    }
    if case in errors:
        raise errors[case]
    return case


def test_each_case_has_its_outcome():
    cases = ["sound", "crash", "refuse", "bug", "machine", "sleep", "lines", "large", "sound"]
    found = try_all(cases, act, seconds=1.0)
    kinds = ["done", "died", "refused", "failed", "failed", "hung", "failed", "done", "done"]
    assert [one.kind for one in found] == kinds
    assert found[7].grown > 39 * MEGABYTE > found[8].grown
    assert_harmless([found[0], found[2], found[7]], lambda _: 60 * MEGABYTE)


@pytest.mark.parametrize("kind", ["died", "hung", "failed"])
def test_what_is_not_harmless_fails(kind):
    with pytest.raises(AssertionError, match="1 cases"):
        assert_harmless([Outcome("a", kind, "")], lambda _: MEGABYTE)
    with pytest.raises(AssertionError, match="3 MB"):
        assert_harmless([Outcome("a", "done", "", 3 * MEGABYTE)], lambda _: MEGABYTE)
