"""Options that several verbs share, and their use: arguments of `linnaeus.read`, a screen, a progress report."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from linnaeus.cli.texts import quoted
from linnaeus.errors import LinnaeusWarning, UsageError

if TYPE_CHECKING:
    from linnaeus.cli.screen import Screen
    from linnaeus.data import Corpus
    from linnaeus.model.model import Model

Command = TypeVar("Command", bound=Callable[..., Any])

_READ = (
    click.option("--text", metavar="COLUMN", help="Column of the texts (default: guessed from column names)."),
    click.option("--label", metavar="COLUMN", help="Column of the labels; '' for none."),
    click.option("--weight", metavar="COLUMN", help="Column of row weights; '' for none."),
    click.option(
        "--group", metavar="COLUMN", help="Column of groups: rows of one group are held out together; '' for none."
    ),
    click.option("--split", metavar="PART", help="Which part of a folder to read: train, dev, test or all."),
    click.option("--names", metavar="NAMES", help="Column names for a file without a header, such as text,label."),
    click.option("--format", metavar="FORMAT", help="Format of the file (default: taken from its name)."),
    click.option("--encoding", metavar="CODEC", help="Encoding of text files (default: utf-8)."),
    click.option("--delimiter", metavar="CHAR", help="Character that separates cells; '\\t' or 'tab' for a tab."),
    click.option("--label-separator", metavar="TEXT", help="Separator of several labels in one cell."),
    click.option(
        "--label-kind",
        type=click.Choice(["one", "many", "numeric"]),
        help="One label per row, several, or a number (default: guessed).",
    ),
    click.option(
        "--max-bytes",
        type=click.IntRange(1),
        metavar="N",
        help="Maximum size of a compressed file after decompression.",
    ),
    click.option(
        "--bad-rows",
        type=click.Choice(["error", "skip"]),
        help="Stop at a bad row, or skip bad rows and report how many.",
    ),
)
_READ_NAMES = (
    *("text", "label", "weight", "group", "names", "format", "encoding", "delimiter"),
    *("label_separator", "label_kind", "max_bytes", "bad_rows", "split"),
)
COLUMNS = ("text", "label")
"""The columns whose names a model remembers."""

_COMMON = (
    click.option("--threads", type=click.IntRange(1), metavar="N", help="Number of threads (default: all cores)."),
    click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colors."),
    click.option("-q", "--quiet", is_flag=True, help="Print no progress and no messages to stderr."),
    click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback if an error occurs."),
)


def read_options(command: Command) -> Command:
    """Add the options for reading data to a verb."""
    return _decorate(command, _READ)


def common_options(command: Command) -> Command:
    """Add the options that every verb has."""
    return _decorate(command, _COMMON)


def _decorate(command: Command, options: tuple[Callable[[Any], Any], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def open_source(model: Model, data: str, options: dict[str, Any], labeled: bool = True) -> Any:
    """The data that an argument names, as the task of a model reads them; `-` is standard input.

    Columns that were named when the model was trained have the same roles here, if the data have them.
    """
    refuse_model(data)
    usual: Any = model.facts.get("columns", {})
    usual = {role: usual[role] for role in COLUMNS if role in usual}
    return model.task.open(data, given(options), usual, labeled)


def read_source(source: str, options: dict[str, Any]) -> Corpus:
    """Read the texts that an argument names, with the given options; `-` is standard input."""
    from linnaeus.data.corpus import read_usual

    refuse_model(source)
    return read_usual(source, {}, **given(options))


def refuse_model(data: str) -> None:
    """Refuse a model where data are expected."""
    from linnaeus.store.header import is_model

    if is_model(data):
        raise UsageError(f"{data} is a model, not data; `linnaeus predict {quoted(data)} DATA` uses it on data.")


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The options about data that were given, as arguments of `linnaeus.read`."""
    found = {name: options[name] for name in _READ_NAMES if options.get(name) is not None}
    if found.get("delimiter") in ("\\t", "tab"):
        found["delimiter"] = "\t"
    if "names" in found:
        found["names"] = found["names"].split(",")
    return found


def choose_part(source: str, options: dict[str, Any], wanted: str) -> dict[str, Any]:
    """The options with the part of a folder that a verb reads; reports the part and the files left out."""
    from linnaeus.data.files import listed_files, parts_of

    parts = parts_of(source)
    if not parts:
        return options
    split = options.get("split") or wanted
    if split in parts:
        others = [f"{name} ({listed_files(paths)})" for name, paths in parts.items() if name != split]
        told = f"{source}: reading the {split} part ({listed_files(parts[split])}), not {' or '.join(others)}"
        unused = wanted == "train" and split != "test" and "test" in parts and options.get("other", "") is None
        remark(f"{told}; add --test {quoted(source)} to evaluate on the test part" if unused else told, options)
    return {**options, "split": split}


def test_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options for reading the `--test` data; for a folder with parts, its test part."""
    return choose_part(options["other"], {**options, "split": None}, "test")


_ROLES = {"tokens": "text", "tags": "label"}
"""The columns of sentences, by the options that name them."""

_ARGUMENT = re.compile(rf"\b({'|'.join((*_READ_NAMES, *_ROLES))})=(\[[^\]]*\]|'[^']*'|\"[^\"]*\")?")

_PYTHON_ONLY = ", or pass texts in a list"  # this hint does not apply to the command line


def as_options(message: str) -> str:
    """A message of the library with the arguments of `read` as options of the command line.

    >>> as_options("leave such rows out with bad_rows='skip', or say encoding=.")
    'leave such rows out with --bad-rows skip, or say --encoding.'
    >>> as_options('give names=["text", "label"]')
    'give --names text,label'
    >>> as_options("name it with tags=, or read none with tags=''.")
    "name it with --label, or read none with --label ''."
    >>> as_options("give label='main topic'")
    'give --label "main topic"'
    """
    return _ARGUMENT.sub(_option, message.replace(_PYTHON_ONLY, ""))


def _option(found: re.Match[str]) -> str:
    from ast import literal_eval

    option = f"--{_ROLES.get(found[1], found[1]).replace('_', '-')}"
    if not found[2]:
        return option
    try:
        value = literal_eval(found[2])
    except (SyntaxError, ValueError):
        return f"{option} {found[2]}"
    return f"{option} {quoted(','.join(value) if isinstance(value, list) else value)}"


def label_separator(model: Model, options: dict[str, Any]) -> str | None:
    """The separator of labels in one cell: from the option, else from the training data of the model."""
    remembered = model.facts.get("label_separator")
    return options["label_separator"] or (remembered if isinstance(remembered, str) and remembered else None)


def labels_as(model: Model, options: dict[str, Any]) -> dict[str, Any]:
    """The options with the kind of labels that a model predicts, and the separator that it writes between them."""
    if not model.task.texts:
        return options
    return {
        **options,
        "label_kind": options["label_kind"] or model.label_kind,
        "label_separator": _label_separator(model, options),
    }


def _label_separator(model: Model, options: dict[str, Any]) -> str | None:
    from linnaeus.cli.cells import SEPARATOR

    found = label_separator(model, options)
    if found is not None or model.label_kind != "many" or model.classes is None:
        return found
    return None if any(SEPARATOR in str(name) for name in model.classes.tolist()) else SEPARATOR


def refuse_itself(path: str | None, data: str) -> None:
    """Refuse, before any work, to put an output in the place of the data."""
    try:
        same = path is not None and Path(data).is_file() and Path(path).samefile(data)
    except (OSError, ValueError):
        return  # one of them does not exist; the reader or writer reports that
    if same:
        raise UsageError(f"{path} is the input data, which would be overwritten; give another name with -o.")


def abstention(options: dict[str, Any], model: Model) -> Any:
    """The rule for abstaining that `--abstain` gives: confidence=0.8, coverage=0.9."""
    from linnaeus.decision.abstention import Confidence, Margin, abstention_text, as_abstention

    given, decision = as_abstention(options["abstain"] or None), model.decision
    rule = given or (decision.rules.abstain if decision else None)
    if decision is not None and not decision.calibrated and isinstance(rule, Confidence | Margin):
        remark(
            f"the probabilities of this model are not calibrated, because no rows were held out in its training, so "
            f"{abstention_text(rule)} may abstain from every row; train with `--set tuning.folds=5`, or with a recipe "
            "that holds out rows, such as `--recipe logistic`",
            options,
        )
    return given


_THREADS = "LINNAEUS_NUM_THREADS"


def use_threads(options: dict[str, Any]) -> AbstractContextManager[None]:
    """Use the requested number of threads while the verb runs."""
    from linnaeus.kernels import threads

    if options["threads"]:
        return threads(options["threads"])
    wanted = os.environ.get(_THREADS, "")
    if wanted and not (wanted.isdecimal() and int(wanted)):
        raise click.UsageError(f"{_THREADS} is {wanted!r}; set it to a whole number from 1 up, or leave it unset.")
    return nullcontext()


def stdout_screen(options: dict[str, Any]) -> Screen:
    """The screen on stdout."""
    from linnaeus.cli.screen import open_screen

    return open_screen(sys.stdout, options["color"])


def remark(text: str, options: dict[str, Any]) -> None:
    """Print one message to stderr, unless quiet; control characters in quoted names are escaped."""
    if not options["quiet"]:
        from linnaeus.cli.guard import say
        from linnaeus.render import clean

        say(f"linnaeus: {clean(text)}")


@contextmanager
def remarking(options: dict[str, Any]) -> Iterator[None]:
    """Print the warnings of the library, each once, when the work ends or fails."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", LinnaeusWarning)
        try:
            yield
        finally:
            ours = [warning.message for warning in said if issubclass(warning.category, LinnaeusWarning)]
            for text in dict.fromkeys(map(str, ours)):
                remark(as_options(text), options)


TWINS = "the compiled kernels are not installed; the Python versions give the same results, but slowly."
_said: set[str] = set()


def remark_kernels(options: dict[str, Any]) -> None:
    """Print, once per process, that the Python versions of the kernels run, if they do."""
    from linnaeus import kernels

    if not kernels.NATIVE and TWINS not in _said:
        _said.add(TWINS)
        remark(TWINS, options)
