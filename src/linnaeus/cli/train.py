"""`linnaeus train DATA`: train a model on labeled text, write it to a file and evaluate it on held-out rows."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from linnaeus.cli import options as shared
from linnaeus.errors import UsageError
from linnaeus.kernels.threads import Beside
from linnaeus.protocols import Stream
from linnaeus.tasks import TASKS
from linnaeus.types import Json, Source

if TYPE_CHECKING:
    from linnaeus.erm.progress import Phase
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import AnyTask
    from linnaeus.tasks.examples import Examples


Later: TypeAlias = Beside[Source] | None


_NUMBER = re.compile(r"[-+]?\d+\.?\d*")
_HELD = 1 << 28
"""Test data up to this many bytes are read during training and kept; larger ones are read when they are used."""
_SEVERAL = 100
"""Near-duplicates are searched for from this many rows on; fewer can be read by eye."""
_FEW = 20
"""Up to this many classes may be numbers without a message, for any number of rows."""


@shared.verb("train", reads=True)
@click.argument("data")
@click.option("--recipe", "name", metavar="NAME|FILE", help="A recipe from `linnaeus recipes`, or a TOML file.")
@shared.several("--set", "changes", metavar="PATH=VALUE", text="Change a setting of the recipe")
@click.option(
    "--task",
    type=click.Choice(["auto", *TASKS]),
    default="auto",
    help="What to predict: classes, numbers, tags of tokens, or the best candidate (default: guessed from DATA).",
)
@click.option("--test", "other", metavar="DATA", help="Data to evaluate the model on; for a folder, its test part.")
@click.option(
    "--cv", "folds", type=click.IntRange(2, 1000), metavar="K", help="Evaluate by cross-validation with K folds."
)
@click.option("--update", metavar="MODEL", help="Go on with a trained model: learn from DATA and write a new model.")
@shared.several("--remove", metavar="LABEL", text="With --update: take a label out of a label tree")
@click.option("--checkpoint", metavar="FILE", help="Keep in FILE what is done, for --resume; it is removed in the end.")
@click.option("--resume", is_flag=True, help="Go on from the --checkpoint of an interrupted training.")
@click.option("--compact", is_flag=True, help="Write a model about a tenth as large, and report the loss of accuracy.")
@click.option(
    "-o", "--output", metavar="MODEL", help="The model file (default: name of DATA with .lin, in this folder)."
)
@click.option("--force", is_flag=True, help="Overwrite an existing model file.")
@click.option("--seed", type=click.IntRange(0), default=None, help="Random seed (default: 0).")
@shared.as_json()
def command(data: str, **options: shared.Option) -> int:
    """Train a model on DATA, a file with a column of texts and a column of labels.

    If the rows are lists of tokens with tags, this trains a tagger, with `--label heads` a parser; if they have lists
    of candidates, a ranker (`--text` and `--label` name their columns too). A recipe with earlier stages trains a
    pipeline.

    Reports which columns it guessed, tunes and evaluates the model on held-out rows, writes one model file, and shows
    the metrics. `-` means standard input.

    Examples:
      linnaeus train reviews.csv
      linnaeus train train.jsonl --test test.jsonl -o topics.lin
      linnaeus train data.csv --text body --label topic --recipe logistic
      linnaeus train data.csv --compact -o small.lin
      linnaeus train treebank.conllu --label upos -o pos.lin
      linnaeus train data.csv --set regularizer.strength=0.1 --set "features.blocks.0.ngrams=[1,3]"

    Exit code: 0 success, 2 wrong usage, 3 if the data cannot be used.

    """
    shared.refuse_model(data)
    path = _target(data, options)
    shared.refuse_itself(path, data)
    _check_files(options)
    return _train_and_save(data, path, shared.choose_part(data, options, "train"))


def _train_and_save(data: str, path: str, options: shared.Options) -> int:
    from linnaeus.cli.progress import Mark, open_progress

    began = time.perf_counter()
    model, test = (_trained if options["update"] is None else _updated)(data, options)
    saved = Beside(lambda: model.save(path, force=True)).begin()
    with open_progress(options["quiet"]) as progress:
        progress(Mark("saving" if test is None else "testing", note=path if test is None else options["other"]))
        try:
            tested = _test(model, test, options)
        finally:
            saved.result()
    _show(model, tested, {"model": path, "seconds": time.perf_counter() - began}, options)
    return 0


def _trained(data: str, options: shared.Options) -> tuple[Model, Later]:
    """A new model, and the test data."""
    task, recipe = _asked(data, options)
    source = _open(task, data, options)
    test = _test_data(task, source, options)
    model = _train(recipe, task, source, test, options)
    model = _compact(model, source, test, options) if options["compact"] else model
    return _remember(model, options), test


def _asked(data: str, options: shared.Options) -> tuple[AnyTask, Recipe | None]:
    """The task, and the recipe if one is named. A file and a pipeline say what they are for; else the data do."""
    from linnaeus.recipes.cookbook import RECIPES

    name = options["name"]
    if name is None:
        task = recognized(data, options)
        if options["changes"]:
            _refuse_changes(task, options)
        return task, None
    if Path(name).is_file() or (name in RECIPES and RECIPES[name].make().before):
        recipe = named_recipe(options)
        return recipe.task, recipe
    task = recognized(data, options)
    return task, named_recipe(options, task.name)


def _updated(data: str, options: shared.Options) -> tuple[Model, Later]:
    """The model that there is, which has learned from more rows; and the test data."""
    from linnaeus.cli.models import open_model
    from linnaeus.cli.progress import Training, open_progress
    from linnaeus.training.merging import updated

    for option in ("name", "folds", "compact", "checkpoint", "changes"):
        if options[option]:
            raise UsageError("--update goes on with the recipe of the model; leave out options that change a training.")
    model = open_model(options["update"], data)
    source = shared.open_source(model, data, shared.labels_as(model, options))
    test = _test_data(model.task, source, options)
    with shared.remarking(options), open_progress(options["quiet"]) as progress:
        shown = Training(progress)
        return updated(model, source.watch(shown.read), shown, options["remove"]), test


def recognized(data: str, options: shared.Options) -> AnyTask:
    """The task that `--task`, or the columns of the data, ask for."""
    from linnaeus.data.sentence_reading import columns_of
    from linnaeus.errors import LinnaeusError

    if options["task"] != "auto":
        return task_named(options["task"])
    columns: dict[str, bool] = {}
    with suppress(LinnaeusError):  # who reads the data says what is wrong with them
        columns = columns_of(data, format=options["format"], split=options["split"])
    known = list(TASKS) if columns else list(TASKS)[:1]  # formats without lists have texts
    return next(task for task in map(task_named, reversed(known)) if task.recognize(columns, options))


def task_named(name: str) -> AnyTask:
    """A task of the table."""
    return TASKS[name]()


def _target(data: str, options: shared.Options) -> str:
    """The path of the model; refused before any work if a file exists there."""
    stem = "model" if data == "-" else Path(data).name.split(".")[0] or "model"
    path = options["output"] or f"{stem}.lin"
    shared.refuse_existing(path, options["force"])
    if not Path(path).resolve().parent.is_dir():
        raise UsageError(f"There is no folder {Path(path).resolve().parent} for the model; create it first.")
    return path


def _check_files(options: shared.Options) -> None:
    """Refuse, before any work, a checkpoint that is there and not meant, or what goes on from a file without one."""
    path = options["checkpoint"]
    if options["resume"] and path is None:
        raise click.UsageError("--resume goes on from a file; name it with --checkpoint FILE.")
    if options["remove"] and options["update"] is None:
        raise click.UsageError("--remove takes a label out of a trained model; name it with --update MODEL.")
    if path is not None and Path(path).exists() and not options["resume"]:
        raise UsageError(f"{path} is there, from an interrupted training; add --resume to go on, or remove it.")
    if options["resume"] and not Path(path).exists():
        shared.remark(f"there is no {path}, so the training starts at the beginning", options)


def named_recipe(options: shared.Options, task: str | None = None, name: str | None = None) -> Recipe:
    """The recipe that the options name, with the changes of `--set`; for a task, if one is given."""
    from linnaeus.recipes.cookbook import RECIPES, recipe
    from linnaeus.recipes.recipe import Recipe

    name = name or options["name"] or "default"
    found = recipe(name, task) if name in RECIPES or not Path(name).exists() else Recipe.read(name)
    changes = assignments(options["changes"])
    if options["folds"] is not None:
        changes["tuning.folds"] = options["folds"]
    if options["seed"] is not None:
        changes["seed"] = options["seed"]
    return found.changed(changes)


def _refuse_changes(task: AnyTask, options: shared.Options) -> None:
    """Refuse, before the data are read, changes that fit no recipe of the task; the data choose one of them."""
    from linnaeus.recipes.cookbook import RECIPES

    wrong: list[UsageError] = []
    for name in (task.usual, *(name for name, row in RECIPES.items() if row.task in (task.name, *task.kin))):
        try:
            named_recipe(options, task.name, name)
        except UsageError as error:
            wrong.append(error)
        else:
            return
    raise wrong[0]


def assignments(texts: tuple[str, ...]) -> dict[str, Json]:
    """The paths and values of all `--set` options."""
    return dict(_assignment(text) for text in texts)


def _assignment(text: str) -> tuple[str, Json]:
    path, sign, value = text.partition("=")
    if not sign or not path:
        raise click.UsageError(f"--set takes PATH=VALUE, such as regularizer.strength=0.1, not {text!r}.")
    import tomllib

    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return path, value


def _open(task: AnyTask, data: str, options: shared.Options) -> Source:
    """The training data; says which columns hold what."""
    source = task.open(data, shared.given(options), {})
    if options["task"] == "classify" and source.kind == "numeric":
        source = task.open(data, shared.given({**options, "label_kind": "one"}), {})
    shared.remark(f"{'standard input' if data == '-' else data}: {task.described(source)}", options)
    return source


def _fitting(task: AnyTask, examples: Examples, options: shared.Options) -> Recipe:
    """The recipe for these examples where none is named; says which, where it is not the usual one."""
    name = task.fitting(examples)
    if name == "ridge" and options["task"] == "auto":
        shared.remark("the labels are numbers: training a regression (--label-kind one makes them classes)", options)
    elif name == "label-tree" and examples.labels is not None:
        count = len(examples.labels.classes)
        shared.remark(
            f"there are {count:,} labels: training a label tree (--recipe default trains one-vs-rest)", options
        )
    elif name != "default":
        shared.remark(f"training {TASKS[task.name].models} with the recipe {name}", options)
    return named_recipe(options, task.name, name)


def _train(recipe: Recipe | None, task: AnyTask, source: Source, test: Later, options: shared.Options) -> Model:
    """Train the model; the test data are read meanwhile, since training mostly uses one thread."""
    from linnaeus.cli.progress import Training, open_progress
    from linnaeus.training.train import train

    with shared.remarking(options), open_progress(options["quiet"]) as progress:
        shown = Training(progress)
        watched = source.watch(shown.read)
        examples = task.examples(watched)
        chosen = recipe or _fitting(task, examples, options)
        if task.texts:
            _hint_numbers(examples, options)
            _hint_sets(examples, options)
        if (options["folds"] or 0) > len(examples):
            raise UsageError(f"--cv {options['folds']} asks for more folds than there are rows ({len(examples):,}).")
        if options["compact"]:
            from linnaeus.training.compact import refuse_compact

            refuse_compact(chosen)
        several = task.texts and chosen.tuning is not None and len(examples) >= _SEVERAL
        near = Beside(lambda: near_duplicates(examples.stream, len(examples)))

        def told(phase: Phase) -> None:
            if test is not None and phase.name == "training":
                test.begin()
            if several and phase.name == "training":
                near.begin()
            shown(phase)

        found = train(chosen, examples, told, checkpoint=options["checkpoint"])
    if watched.skipped.count:
        shared.remark(str(watched.skipped), options)
    if several and found.evaluation is not None and (warning := near.result()):
        shared.remark(warning, options)
    return found


def near_duplicates(stream: Stream, rows: int) -> str:
    """A warning if many rows are near-duplicates, which held-out metrics do not account for; else ""."""
    from linnaeus.audit.near import near_share
    from linnaeus.data.split import MANY

    found = near_share(stream, rows)
    if found.share <= MANY:
        return ""
    sample = f"in a sample of {found.rows:,}, " if found.rows < rows else ""
    return (
        f"{sample}{found.near:,} rows repeat an earlier one with small changes, so the held-out metrics may be too "
        "high; `linnaeus check` shows these rows, and --group holds out the rows of one group together"
    )


def _hint_numbers(examples: Examples, options: shared.Options) -> None:
    """Warn if numeric labels of a text file, taken for classes, nearly all occur once."""
    names = [] if examples.labels is None else examples.labels.classes.tolist()
    if options["task"] != "auto" or len(names) <= max(_FEW, len(examples) // 2):
        return
    if all(_NUMBER.fullmatch(str(name)) for name in names):
        said = f"the labels are {len(names):,} different numbers in {len(examples):,} rows, and are treated as classes"
        shared.remark(f"{said}; use --task regress to predict numbers", options)


def _hint_sets(examples: Examples, options: shared.Options) -> None:
    """Warn if most labels of a text file contain a separator, and so may be several labels."""
    if examples.labels is None or examples.labels.form != "single" or options["label_kind"] is not None:
        return
    names = [str(name) for name in examples.labels.classes.tolist()]
    for sign in ";|":
        if sum(sign in name for name in names) > len(names) // 2:
            said = f"most labels contain {sign!r}, and each cell is treated as one class"
            shared.remark(f"{said}; use --label-separator {sign!r} to split them into several labels", options)


def _compact(model: Model, source: Source, test: Later, options: shared.Options) -> Model:
    """The compact model; with test data, the metric of the full model on them is reported too."""
    small = model.compact(source)
    before = _test(model, test, options)
    if before is not None:
        name, value = next(iter(before.metrics.items()))
        shared.remark(f"before it was made compact: {name} {value:.4f} on the test data", options)
    return small


def _remember(model: Model, options: shared.Options) -> Model:
    """Use the label separator and the named columns of the training data for other files too, if none are given."""
    known: dict[str, Json] = {}
    if options["label_separator"] is not None:
        known["label_separator"] = options["label_separator"]
    if columns := {role: options[role] for role in shared.COLUMNS if options[role]}:
        known["columns"] = columns
    return replace(model, facts=model.facts | known) if known else model


def _test_data(task: AnyTask, source: Source, options: shared.Options) -> Later:
    """The test data, read later; a wrong name or missing columns are reported at once."""
    if options["other"] is None:
        return None
    given = shared.test_options(options)
    if task.texts and source.kind != "none":  # training reports missing labels
        given = {**given, "label_kind": options["label_kind"] or source.kind}
    found = task.open(options["other"], shared.given(given), {})
    return Beside(lambda: found.load() if task.texts and found.size <= _HELD else found)


def _test(model: Model, test: Later, options: shared.Options) -> Evaluation | None:
    if test is None:
        return None
    with shared.remarking(options):
        return model.evaluate(test.result())


def _show(model: Model, tested: Evaluation | None, how: dict[str, Json], options: shared.Options) -> None:
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        account = {
            **how,
            "held_out": None if model.evaluation is None else model.evaluation.to_json(),
            "test": None if tested is None else tested.to_json(),
            "facts": model.facts,
        }
        screen.write_json(account)
        return
    from linnaeus.cli.account import trained_page

    screen.show(trained_page(model, tested, how, screen.glyphs))
