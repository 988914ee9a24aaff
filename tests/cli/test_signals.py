"""Ctrl-C and SIGTERM: one signal ends a command with its code and one sentence, and nothing half-written is left."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.toys import fruit_and_metal

import linnaeus
from linnaeus import kernels
from linnaeus.cli.guard import guarded

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")

# A shell that starts the tests in the background makes them, and what they start, deaf to Ctrl-C.
HEAR = "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
RUN = "\nfrom linnaeus.__main__ import program; program()"

IN_TRAINING = """
import importlib
train = importlib.import_module("linnaeus.erm.train")
report, count = train._Keeper.report, 0
def press(self, step):
    global count
    count += 1
    if count == {}:
        os.kill(os.getpid(), signal.SIGINT)
    return report(self, step)
train._Keeper.report = press
"""
AT_TEMPORARY = """
made = os.open
def open_and_die(path, flags, *mode):
    found = made(path, flags, *mode)
    if str(path).endswith(".tmp") and flags & os.O_CREAT:
        os.kill(os.getpid(), signal.SIGTERM)
    return found
os.open = open_and_die
"""
IN_LIBRARY = """
import hashlib
from pathlib import Path
from linnaeus import temporary
from linnaeus.cli import main
def stuck(*_, **__):  # a call into C that takes minutes and looks for no signal
    temporary.create(Path("half.tmp"), Path.touch)
    os.kill(os.getpid(), signal.{})
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
main.group.main = stuck
"""
IN_IMPORT = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == {!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in fruit_and_metal()))
    (tmp_path / "data.txt").write_text("".join(f"{text}\n" for text, _ in fruit_and_metal()))
    return path


def end(code: str, *args: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HEAR + code + RUN, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("report", [1, 7])
def test_one_press_ends_a_training_also_in_cross_fitting(report, data, tmp_path):
    before = sorted(tmp_path.iterdir())
    done = end(IN_TRAINING.format(report), "train", data, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.split("\n")[1:] == ["", "linnaeus: interrupted", ""]
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "verb",
    [
        ("train", "data.csv", "--recipe", "words", "-o", "new.lin"),
        ("predict", "old.lin", "data.csv", "-o", "answers.csv"),
        pytest.param(("clusters", "data.txt", "-o", "clusters.tsv"), marks=pytest.mark.slow),
        pytest.param(("gallery", "-o", ".", "--only", "neighbors"), marks=pytest.mark.slow),
    ],
    ids=lambda verb: verb[0],
)
def test_a_signal_as_a_temporary_file_appears_leaves_none(verb, data, tmp_path, run):
    if verb[0] == "predict":
        run("train", data, "--recipe", "words", "-o", tmp_path / "old.lin")
    before = sorted(tmp_path.iterdir())
    done = end(AT_TEMPORARY, *verb, cwd=tmp_path)
    assert done.returncode == 143, done.stderr
    new = set(tmp_path.iterdir()) - set(before)
    assert new <= {tmp_path / "new.lin"}  # a thread beside the main one may have been done before the process ended
    assert all(linnaeus.load(path) for path in new)


@pytest.mark.parametrize(("number", "sentence"), [("SIGINT", "interrupted"), ("SIGTERM", "terminated")])
def test_work_that_looks_for_no_signal_is_not_waited_for(number, sentence, tmp_path):
    done = end(IN_LIBRARY.format(number), "check", cwd=tmp_path)
    assert done.returncode == 128 + getattr(signal, number)
    assert done.stderr == f"linnaeus: {sentence}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["click", "linnaeus.data", "pyarrow", "numpy"])
def test_ctrl_c_while_modules_are_loaded_is_one_sentence(module, data):
    done = end(IN_IMPORT.format(module), "check", data)
    assert (done.returncode, done.stderr.strip()) == (130, "linnaeus: interrupted")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits address space")
@pytest.mark.parametrize("megabytes", [60, 120, 200])
def test_too_little_memory_to_load_is_one_sentence(megabytes, data):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    done = end("", "check", data, preexec_fn=limit)
    assert done.returncode == 5
    assert done.stderr == (
        "linnaeus: error: the limit on memory (ulimit -v) is too low; Linnaeus needs at least 300 MB.\n"
    )


@pytest.mark.parametrize("hidden", [MemoryError(), ImportError("x.so: failed to map segment from shared object")])
def test_an_import_that_fails_for_want_of_memory_says_so(hidden, capsys):
    def load():
        try:
            raise hidden
        except Exception as error:
            raise ImportError("something could not be imported") from error

    assert guarded(load, debug=False) == 5
    assert capsys.readouterr().err == "linnaeus: error: there is not enough memory; use less data at a time.\n"


def test_an_error_that_was_caught_still_ends_the_command(capsys):
    def stubborn():
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:
            return 0

    assert guarded(stubborn, debug=False) == 143
    assert capsys.readouterr().err == "linnaeus: terminated\n"


class PressedError(Exception):
    pass


@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_kernels_look_for_signals_while_they_work(threads):
    """The work would take hours."""

    def press(*_):
        raise PressedError

    letters = np.zeros(400 * 2000, np.int32)
    strings = np.arange(0, len(letters) + 1, 2000), letters
    pairs = np.repeat(np.arange(400, dtype=np.int32), 400), np.tile(np.arange(400, dtype=np.int32), 400)
    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(PressedError):
            kernels.subsequences(strings, strings, pairs, (3, 0.5), threads)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "recipe", ["default", "logistic", "naive-bayes", "knn", "knn-graph", "random-forest", "kernel-svm", "lda"]
)
def test_signals_at_any_moment(recipe, number, tmp_path):
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(5000)])
    rows = [f"{' '.join(rng.choice(words, 40))},c{i % 20}\n" for i in range(2000)]
    (tmp_path / "data.csv").write_text("text,label\n" + "".join(rows))
    for seed in range(5):
        command = [sys.executable, "-c", HEAR + RUN, "train", "data.csv", "--recipe", recipe, "-o", "m.lin", "--force"]
        running = subprocess.Popen(command, cwd=tmp_path, stdout=-3, stderr=-1, text=True)
        time.sleep(random.Random(seed).uniform(0.1, 4))
        running.send_signal(number)
        _, err = running.communicate(timeout=30)
        assert "Traceback" not in err
        assert running.returncode in (0, -number, 128 + number)
        assert {path.name for path in tmp_path.iterdir()} <= {"data.csv", "m.lin"}
