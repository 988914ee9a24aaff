"""Progress: a bar only on a terminal, few plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import io

import pytest

from linnaeus.cli.progress import Bar, Lines, Mark, Phases, Silent, describe, open_progress
from linnaeus.data import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("quiet", "stream", "env", "kind"),
    [
        (False, Terminal(), {}, Bar),
        (True, Terminal(), {}, Silent),
        (False, io.StringIO(), {"FORCE_COLOR": "1"}, Lines),
        (False, Terminal(), {"TERM": "dumb"}, Lines),
        (False, Terminal(), {"CI": "true"}, Lines),
        (False, Terminal(), {"TTY_INTERACTIVE": "0"}, Lines),
    ],
)
def test_the_stream_decides(quiet, stream, env, kind):
    assert type(open_progress(quiet, stream, env)) is kind


def test_plain_lines_come_only_now_and_then():
    often, seldom = io.StringIO(), io.StringIO()
    for stream, every in ((often, 0.0), (seldom, 10.0)):
        with Lines(stream, every) as report:
            for rows in range(100):
                report(Mark("reading", rows, rows, 100))
    assert often.getvalue().count("\n") == 100
    assert seldom.getvalue() == ""
    assert "\x1b" not in often.getvalue()


def test_a_bar_shows_rate_and_time_left_and_leaves_nothing_but_control_codes():
    stream = Terminal()
    with Bar(stream) as report:
        phases = Phases(report)
        phases.begin("reading")
        phases.move(Progress(500, 1_000_000, 4_000_000))
        report._bar.refresh()
        phases.begin("comparing")
    assert "25 % of 4.0 MB" in stream.getvalue()
    assert "left" in stream.getvalue()


def test_what_is_unknown_is_not_said():
    assert describe(Mark("reading", 12), 3) == "reading: 12 rows"
    assert describe(Mark("reading", 12, 2000), 2) == "reading: 12 rows, 1.0 kB/s"
