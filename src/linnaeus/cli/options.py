"""Options that several verbs share, and their use: arguments of `linnaeus.read`, a screen, a progress report."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from linnaeus.cli.texts import quoted
from linnaeus.errors import LinnaeusWarning, UsageError
from linnaeus.types import Json, Source

if TYPE_CHECKING:
    from linnaeus.cli.screen import Screen
    from linnaeus.data import Corpus
    from linnaeus.decision.abstention import Abstention
    from linnaeus.model.model import Model

Option: TypeAlias = Any
"""The value of an option: a text, a number, a flag, several texts, or None."""

Options: TypeAlias = dict[str, Option]
"""The options of a verb by name."""

Verb = Callable[..., int]
Decorator = Callable[[Verb], Verb]


def _named(name: str, metavar: str, text: str) -> click.Option:
    return click.Option([name], metavar=metavar, help=text)


def _number(name: str, text: str) -> click.Option:
    return click.Option([name], type=click.IntRange(1), metavar="N", help=text)


def _chosen(name: str, values: Sequence[str], text: str, default: str | None = None) -> click.Option:
    return click.Option([name], type=click.Choice(values), default=default, help=text)


_READ = (
    _named("--text", "COLUMN", "Column of the texts (default: guessed from column names)."),
    _named("--label", "COLUMN", "Column of the labels; '' for none."),
    _named("--weight", "COLUMN", "Column of row weights; '' for none."),
    _named("--group", "COLUMN", "Column of groups: rows of one group are held out together; '' for none."),
    _named("--split", "PART", "Which part of a folder to read: train, dev, test or all."),
    _named("--names", "NAMES", "Column names for a file without a header, such as text,label."),
    _named("--format", "FORMAT", "Format of the file (default: taken from its name)."),
    _named("--encoding", "CODEC", "Encoding of text files (default: utf-8)."),
    _named("--delimiter", "CHAR", "Character that separates cells; '\\t' or 'tab' for a tab."),
    _named("--label-separator", "TEXT", "Separator of several labels in one cell."),
    _chosen("--label-kind", ["one", "many", "numeric"], "One label per row, several, or a number (default: guessed)."),
    _number("--max-bytes", "Maximum size of a compressed file after decompression."),
    _chosen("--bad-rows", ["error", "skip"], "Stop at a bad row, or skip bad rows and report how many."),
)
_READ_NAMES = tuple(str(option.name) for option in _READ)
COLUMNS = ("text", "label")
"""The columns whose names a model remembers."""

_COMMON = (
    _number("--threads", "Number of threads (default: all cores)."),
    _chosen("--color", ["auto", "always", "never"], "When to use colors.", "auto"),
    click.Option(["-q", "--quiet"], is_flag=True, help="Print no progress and no messages to stderr."),
    click.Option(["--debug"], is_flag=True, expose_value=False, help="Show the traceback if an error occurs."),
)


def help_of(function: object) -> tuple[str, str]:
    """The help page in a docstring: what stands above the options, and from "Examples:" on, what stands below them."""
    above, _, below = str(getdoc(function)).partition("\n\nExamples:\n")
    parts = f"Examples:\n{below}".split("\n\n")
    return above, "\n\n".join(f"\b\n{part}" for part in parts)  # after \b, click leaves lines as they are


def verb(name: str, reads: bool = False, works: bool = True) -> Callable[[Verb], click.Command]:
    """Make a command of a function, with the options that every verb has; `reads`: also those for reading data.

    Its docstring is the help page. One that `works` has the requested number of threads, and says which kernels run.
    """

    def made(run: Verb) -> click.Command:
        @wraps(run)
        def begun(**given: Option) -> int:
            remark_kernels(given)
            with use_threads(given):
                return run(**given)

        above, below = help_of(run)
        command = click.command(name, help=above, epilog=below)(begun if works else run)
        command.params = [*(_READ if reads else ()), *command.params, *_COMMON]
        return command

    return made


def count(*names: str, least: int = 1, default: int, text: str) -> Decorator:
    """An option for a number of things."""
    return click.option(*names, type=click.IntRange(least), default=default, show_default=True, help=text)


def several(*names: str, metavar: str, text: str) -> Decorator:
    """An option that can be given more than once."""
    return click.option(*names, multiple=True, metavar=metavar, help=f"{text}; repeatable.")


def as_json(text: str = "Print one JSON object instead of a page.") -> Decorator:
    """The option for JSON."""
    return click.option("--json", "as_json", is_flag=True, help=text)


no_seed = click.option("--seed", type=int, default=0, hidden=True, help="Nothing is drawn.")
"""Scripts may give every verb a seed, also one that draws nothing."""

abstain = click.option(
    "--abstain",
    metavar="RULE",
    help="Predict only if sure: confidence=0.8, margin=0.2, coverage=0.9, scope=0.95 or risk=0.05.",
)
"""The option for abstaining, of models of any task."""


def open_source(model: Model, data: str, options: Options, labeled: bool = True) -> Source:
    """The data that an argument names, as the task of a model reads them; `-` is standard input.

    Columns that were named when the model was trained have the same roles here, if the data have them.
    """
    refuse_model(data)
    usual: Json = model.facts.get("columns", {})
    usual = {role: usual[role] for role in COLUMNS if role in usual}
    return model.task.open(data, given(options), usual, labeled)


def read_source(source: str, options: Options) -> Corpus:
    """Read the texts that an argument names, with the given options; `-` is standard input."""
    from linnaeus.data.corpus import read_usual

    refuse_model(source)
    return read_usual(source, {}, **given(options))


def refuse_model(data: str) -> None:
    """Refuse a model where data are expected."""
    from linnaeus.store.header import is_model

    if is_model(data):
        raise UsageError(f"{data} is a model, not data; `linnaeus predict {quoted(data)} DATA` uses it on data.")


def given(options: Options) -> Options:
    """The options about data that were given, as arguments of `linnaeus.read`."""
    found = {name: options[name] for name in _READ_NAMES if options.get(name) is not None}
    if found.get("delimiter") in ("\\t", "tab"):
        found["delimiter"] = "\t"
    if "names" in found:
        found["names"] = found["names"].split(",")
    return found


def choose_part(source: str, options: Options, wanted: str) -> Options:
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


def test_options(options: Options) -> Options:
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


def label_separator(model: Model, options: Options) -> str | None:
    """The separator of labels in one cell: from the option, else from the training data of the model."""
    remembered = model.facts.get("label_separator")
    return options["label_separator"] or (remembered if isinstance(remembered, str) and remembered else None)


def labels_as(model: Model, options: Options) -> Options:
    """The options with the kind of labels that a model predicts, and the separator that it writes between them."""
    if not model.task.texts:
        return options
    return {
        **options,
        "label_kind": options["label_kind"] or model.label_kind,
        "label_separator": _label_separator(model, options),
    }


def _label_separator(model: Model, options: Options) -> str | None:
    from linnaeus.cli.writers import SEPARATOR

    found = label_separator(model, options)
    if found is not None or model.label_kind != "many":
        return found
    if model.many is not None:
        return None if model.many.containing(SEPARATOR) else SEPARATOR
    if model.classes is None:
        return found
    return None if any(SEPARATOR in str(name) for name in model.classes.tolist()) else SEPARATOR


def refuse_existing(path: str | None, force: bool) -> None:
    """Refuse, before any work, to write over a file."""
    if path is not None and Path(path).exists() and not force:
        raise UsageError(f"{path} already exists; give another name with -o, or overwrite it with --force.")


def refuse_itself(path: str | None, data: str) -> None:
    """Refuse, before any work, to put an output in the place of the data."""
    try:
        same = path is not None and Path(data).is_file() and Path(path).samefile(data)
    except (OSError, ValueError):
        return  # one of them does not exist; the reader or writer reports that
    if same:
        raise UsageError(f"{path} is the input data, which would be overwritten; give another name with -o.")


def abstention(options: Options, model: Model) -> Abstention | None:
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


def use_threads(options: Options) -> AbstractContextManager[None]:
    """Use the requested number of threads while the verb runs."""
    from linnaeus.kernels import threads

    if options["threads"]:
        return threads(options["threads"])
    wanted = os.environ.get(_THREADS, "")
    if wanted and not (wanted.isdecimal() and int(wanted)):
        raise click.UsageError(f"{_THREADS} is {wanted!r}; set it to a whole number from 1 up, or leave it unset.")
    return nullcontext()


def stdout_screen(options: Options) -> Screen:
    """The screen on stdout."""
    from linnaeus.cli.screen import open_screen

    return open_screen(sys.stdout, options["color"])


def remark(text: str, options: Options) -> None:
    """Print one message to stderr, unless quiet; control characters in quoted names are escaped."""
    if not options["quiet"]:
        from linnaeus.cli.guard import say
        from linnaeus.render import clean

        say(f"linnaeus: {clean(text)}")


@contextmanager
def remarking(options: Options) -> Iterator[None]:
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


def remark_kernels(options: Options) -> None:
    """Print, once per process, that the Python versions of the kernels run, if they do."""
    from linnaeus import kernels

    if not kernels.NATIVE and TWINS not in _said:
        _said.add(TWINS)
        remark(TWINS, options)
