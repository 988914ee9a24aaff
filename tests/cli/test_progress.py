"""Progress: a bar only on a terminal, few plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import io
import json
import re
import time

import pytest
from tests.toys import fruit_and_metal

from linnaeus.cli.main import main
from linnaeus.cli.progress import Bar, Lines, Mark, Phases, Silent, describe, open_progress, phase_mark
from linnaeus.data import Progress
from linnaeus.erm import Record, Stop, Trace
from linnaeus.erm.progress import Folds, Phase, Watching, share


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


def test_a_bar_shows_rate_and_time_left_and_leaves_nothing_but_control_codes(monkeypatch):
    monkeypatch.setattr("linnaeus.cli.progress.SOON", 0.0)
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
    assert describe(Mark("training"), 3) == "training"


def test_what_is_only_guessed_is_not_said():
    assert describe(Mark("reading", 12, 2000, 4000), 1e-6) == "reading: 12 rows, 50 % of 4.0 kB"
    assert describe(Mark("reading", 12, 4000, 4000), 3) == "reading: 12 rows"
    assert describe(Mark("training", done=1000, total=1000, note="epoch 9"), 3) == "training: 100 %, epoch 9"


def test_a_limit_of_epochs_that_is_a_safeguard_tells_no_share():
    trace = Trace([Record(3, 4.2, value=20.0)])
    assert share(trace, Stop(epochs=12)) == 0.25
    assert share(trace, Stop(epochs=10_000)) == 0.0
    told = []
    watching = Watching(told.append)
    watching.due = 0.0
    watching(trace, Stop(epochs=10_000))
    assert told == [Phase("training", None, "epoch 3")]


def test_a_single_fold_is_not_counted():
    told = []
    folds = Folds(1, 2, told.append)
    folds.begin()
    folds.tried(10.0, 0.5)
    assert [phase_mark(phase).note for phase in told] == ["", "strength 10: score 0.5000"]


class Recorder(Silent):
    """Keeps the marks, one list for each time that progress is opened."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []

    def __call__(self, mark: Mark) -> None:
        self.marks.append(mark)


def trained(monkeypatch, folder, *args: object) -> list[Mark]:
    """What is shown while a model is trained, if solvers tell of every epoch."""
    recorder = Recorder()
    monkeypatch.setattr("linnaeus.cli.progress.open_progress", lambda quiet: recorder)
    monkeypatch.setattr("linnaeus.erm.progress.EVERY", 0.0)
    assert main(["train", *map(str, args), "-o", str(folder / "m.lin")]) == 0
    return recorder.marks


def shares(marks: list[Mark], phase: str) -> list[float]:
    return [mark.done / mark.total for mark in marks if mark.phase.endswith(phase) and mark.total]


@pytest.mark.parametrize("recipe", ["default", "nb-svm", "naive-bayes", "nystrom-svm"])
def test_a_training_shows_its_phases_and_never_goes_back_to_reading(recipe, tmp_path, monkeypatch):
    data = tmp_path / "data.csv"
    rows = [f"{text} {i},{name}\n" for i, (text, name) in enumerate(fruit_and_metal())]
    data.write_text("text,label\n" + "".join(rows))
    marks = trained(monkeypatch, tmp_path, data, "--recipe", recipe)
    phases = list(dict.fromkeys(mark.phase for mark in marks))
    assert phases == ["reading", "features", "cross-fitting", "training", "calibration", "saving"]
    order = [phases.index(mark.phase) for mark in marks]
    assert order == sorted(order)
    found = shares(marks, "cross-fitting")
    assert found == sorted(found)
    assert (found[0], len(set(found)) >= 5) == (0.0, True)
    assert any("fold 2 of 5" in mark.note for mark in marks)
    if recipe != "naive-bayes":
        assert shares(marks, "training")


def test_taggers_and_rankers_show_how_far_they_are(tmp_path, monkeypatch):
    sentences = [{"tokens": ["Ann", "sleeps"], "tags": ["N", "V"]}, {"tokens": ["dogs"], "tags": ["N"]}] * 15
    (tmp_path / "tags.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sentences))
    marks = trained(monkeypatch, tmp_path, tmp_path / "tags.jsonl")
    phases = ["reading", "features", "cross-fitting", "training", "calibration", "saving"]
    assert list(dict.fromkeys(mark.phase for mark in marks)) == phases
    assert shares(marks, "training")[-1] == 1.0
    groups = [{"text": text, "candidates": ["fruit", "metal"], "answer": name} for text, name in fruit_and_metal()]
    (tmp_path / "groups.jsonl").write_text("".join(json.dumps(row) + "\n" for row in groups))
    marks = trained(monkeypatch, tmp_path, tmp_path / "groups.jsonl", "--force")
    assert list(dict.fromkeys(mark.phase for mark in marks)) == phases
    assert len(set(shares(marks, "cross-fitting"))) > 5
    assert shares(marks, "training")


def test_a_bar_is_one_line_however_long_its_note(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    stream = Terminal()
    with Bar(stream) as report:
        report(Mark("cross-fitting", done=1, total=4, note="fold 1 of 4, " + "strength " * 20))
        report._bar.refresh()
    assert stream.getvalue().count("\x1b[1A") <= 1  # up to its beginning, when it is cleared at the end
    assert "25 %, fold 1 of 4" in stream.getvalue()


def test_a_bar_cuts_the_note_and_not_the_time_left(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("linnaeus.cli.progress.SOON", 0.0)
    stream = Terminal()
    with Bar(stream) as report:
        report(Mark("cross-fitting", done=0, total=4))
        report(Mark("cross-fitting", done=1, total=4, note="fold 1 of 4, strength 0.1: score 0.9417"))
        report._bar.refresh()
    assert re.search(r"25 %, fold 1 of 4, stren.*\.\.\., \S+ \S+ left", stream.getvalue())


def test_the_time_left_is_that_of_the_phase(monkeypatch):
    began = time.monotonic()
    now = [began]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with Lines(stream, 0.0) as report:
        report(Mark("reading", 5, 1, 4))
        now[0] = began + 100.0
        report(Mark("training", done=0, total=4, note="..."))
        now[0] = began + 110.0
        report(Mark("training", done=1, total=4, note="epoch 1"))
    assert stream.getvalue().splitlines()[-1] == "linnaeus: training: 25 %, epoch 1, 30 s left"
