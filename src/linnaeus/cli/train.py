"""`linnaeus train DATA`: train a model on labeled text, write it to a file and evaluate it on held-out rows."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linnaeus.cli import options as shared
from linnaeus.cli.tasks import of_data
from linnaeus.errors import UsageError
from linnaeus.kernels.threads import Beside

if TYPE_CHECKING:
    from linnaeus.data import Corpus
    from linnaeus.erm.progress import Phase
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.model import Classifier
    from linnaeus.protocols import Stream
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.examples import Examples

_EXAMPLES = """\b
Examples:
  linnaeus train reviews.csv
  linnaeus train train.jsonl --test test.jsonl -o topics.lin
  linnaeus train data.csv --text body --label topic --recipe logistic
  linnaeus train data.csv --compact -o small.lin
  linnaeus train treebank.conllu --label upos -o pos.lin
  linnaeus train data.csv --set regularizer.strength=0.1 --set "features.blocks.0.ngrams=[1,3]"

\b
Exit code: 0 success, 2 wrong usage, 3 if the data cannot be used.
"""

_NUMBER = re.compile(r"[-+]?\d+\.?\d*")
_HELD = 1 << 28
"""Test data up to this many bytes are read during training and kept; larger ones are read when they are used."""
_SEVERAL = 100
"""Near-duplicates are searched for from this many rows on; fewer can be read by eye."""
_FEW = 20
"""Up to this many classes may be numbers without a message, for any number of rows."""


@click.command("train", epilog=_EXAMPLES)
@click.argument("data")
@shared.read_options
@click.option(
    "--recipe", "name", default=None, metavar="NAME|FILE", help="A recipe from `linnaeus recipes`, or a TOML file."
)
@click.option(
    "--set", "changes", multiple=True, metavar="PATH=VALUE", help="Change a setting of the recipe; repeatable."
)
@click.option(
    "--task",
    type=click.Choice(["auto", "classify", "regress", "tag", "rank"]),
    default="auto",
    help="What to predict: classes, numbers, tags of tokens, or the best candidate (default: guessed from DATA).",
)
@click.option("--test", "other", metavar="DATA", help="Data to evaluate the model on; for a folder, its test part.")
@click.option(
    "--cv",
    "folds",
    type=click.IntRange(2, 1000),
    metavar="K",
    help="Evaluate by cross-validation with K folds.",
)
@click.option("--compact", is_flag=True, help="Write a model about a tenth as large, and report the loss of accuracy.")
@click.option(
    "-o", "--output", metavar="MODEL", help="The model file (default: name of DATA with .lin, in this folder)."
)
@click.option("--force", is_flag=True, help="Overwrite an existing model file.")
@click.option("--seed", type=click.IntRange(0), default=None, help="Random seed (default: 0).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a page.")
@shared.common_options
def command(data: str, **options: Any) -> int:
    """Train a classifier on DATA, a file with a column of texts and a column of labels.

    If the rows are lists of tokens with tags, this trains a tagger; if they have lists of candidates, a ranker
    (`--text` and `--label` name their columns too); with a recipe that has stages, a pipeline.

    Reports which columns it guessed, tunes and evaluates the model on held-out rows, writes one model file, and shows
    the metrics. `-` means standard input.
    """
    shared.remark_kernels(options)
    shared.refuse_model(data)
    path = _target(data, options)
    shared.refuse_itself(path, data)
    options = shared.choose_part(data, options, "train")
    with shared.use_threads(options):
        task = of_data(data, options)
        if task is not None:
            code: int = task.train(data, path, options)
            return code
        return _classifier(data, path, options)


def _classifier(data: str, path: str, options: dict[str, Any]) -> int:
    """Train a classifier, or a regression, of texts."""
    from linnaeus.cli.progress import Mark, open_progress

    recipe = build_recipe(options)
    began = time.perf_counter()
    corpus = _read(data, options)
    recipe = _for_labels(recipe, corpus, options)
    test = _test_data(corpus, options)
    model = _train(recipe, corpus, test, options)
    model = _compact(model, corpus, test, options) if options["compact"] else model
    model = _remember(model, options)
    saved = Beside(lambda: model.save(path, force=True)).begin()
    with open_progress(options["quiet"]) as progress:
        progress(Mark("saving" if test is None else "testing", note=path if test is None else options["other"]))
        try:
            tested = _test(model, test, options)
        finally:
            saved.result()
    _show(model, tested, {"model": path, "seconds": time.perf_counter() - began}, options)
    return 0


def _target(data: str, options: dict[str, Any]) -> str:
    """The path of the model; refused before any work if a file exists there."""
    stem = "model" if data == "-" else Path(data).name.split(".")[0] or "model"
    path = options["output"] or f"{stem}.lin"
    if Path(path).exists() and not options["force"]:
        raise UsageError(f"{path} already exists; give another name with -o, or overwrite it with --force.")
    if not Path(path).resolve().parent.is_dir():
        raise UsageError(f"There is no folder {Path(path).resolve().parent} for the model; create it first.")
    return path


def build_recipe(options: dict[str, Any]) -> Recipe:
    """The recipe that the options name, with the changes of `--set`."""
    from linnaeus.recipes.cookbook import RECIPES, recipe
    from linnaeus.recipes.recipe import Recipe

    name = options["name"] or ("ridge" if options["task"] == "regress" else "default")
    found = recipe(name) if name in RECIPES or not Path(name).exists() else Recipe.read(name)
    changes = assignments(options["changes"])
    if options["folds"] is not None:
        changes["tuning.folds"] = options["folds"]
    if options["seed"] is not None:
        changes["seed"] = options["seed"]
    return found.changed(changes)


def assignments(texts: tuple[str, ...]) -> dict[str, Any]:
    """The paths and values of all `--set` options."""
    return dict(_assignment(text) for text in texts)


def _assignment(text: str) -> tuple[str, Any]:
    path, sign, value = text.partition("=")
    if not sign or not path:
        raise click.UsageError(f"--set takes PATH=VALUE, such as regularizer.strength=0.1, not {text!r}.")
    import tomllib

    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return path, value


def _read(data: str, options: dict[str, Any]) -> Corpus:
    if options["task"] == "regress":
        options = {**options, "label_kind": options["label_kind"] or "numeric"}
    corpus = shared.read_source(data, options)
    if options["task"] == "classify" and corpus.kind == "numeric":
        corpus = shared.read_source(data, {**options, "label_kind": "one"})
    shared.remark(f"{'standard input' if data == '-' else data}: {corpus.roles.describe()}, {_kind(corpus)}", options)
    return corpus


def _kind(corpus: Corpus) -> str:
    kinds = {"one": "one label for each row", "many": "sets of labels", "numeric": "numbers", "none": "no labels"}
    return kinds[corpus.kind]


def _for_labels(recipe: Recipe, corpus: Corpus, options: dict[str, Any]) -> Recipe:
    """Use regression for numeric labels if no recipe was named."""
    if corpus.kind == "numeric" and options["name"] is None and options["task"] == "auto":
        shared.remark("the labels are numbers: training a regression (--label-kind one makes them classes)", options)
        return build_recipe({**options, "name": "ridge"})
    return recipe


def _train(recipe: Recipe, corpus: Corpus, test: Beside[Corpus] | None, options: dict[str, Any]) -> Classifier:
    """Train the model; the test data are read meanwhile, since training mostly uses one thread."""
    from linnaeus.cli.progress import Training, open_progress
    from linnaeus.tasks.examples import as_examples
    from linnaeus.training.train import train

    with shared.remarking(options), open_progress(options["quiet"]) as progress:
        shown = Training(progress)
        watched = corpus.watch(shown.read)
        examples = as_examples(watched)
        _hint_numbers(examples, options)
        _hint_sets(examples, options)
        _refuse_folds(examples, options)
        near = Beside(lambda: near_duplicates(examples.stream, len(examples)))

        def told(phase: Phase) -> None:
            if test is not None and phase.name == "training":
                test.begin()
            if phase.name == "training" and recipe.tuning is not None and len(examples) >= _SEVERAL:
                near.begin()
            shown(phase)

        found = train(recipe, examples, told)
    if watched.skipped.count:
        shared.remark(str(watched.skipped), options)
    if found.evaluation is not None and len(examples) >= _SEVERAL and (warning := near.result()):
        shared.remark(warning, options)
    return found


def near_duplicates(stream: Stream, rows: int) -> str:
    """A warning if many rows are near-duplicates, which held-out metrics do not account for; else ""."""
    from linnaeus.audit.sample import near_share
    from linnaeus.data.split import MANY

    found = near_share(stream, rows)
    if found.share <= MANY:
        return ""
    sample = f"in a sample of {found.rows:,}, " if found.rows < rows else ""
    return (
        f"{sample}{found.near:,} rows repeat an earlier one with small changes, so the held-out metrics may be too "
        "high; `linnaeus check` shows these rows, and --group holds out the rows of one group together"
    )


def _hint_numbers(examples: Examples, options: dict[str, Any]) -> None:
    """Warn if numeric labels of a text file, taken for classes, nearly all occur once."""
    names = [] if examples.labels is None else examples.labels.classes.tolist()
    if options["task"] != "auto" or len(names) <= max(_FEW, len(examples) // 2):
        return
    if all(_NUMBER.fullmatch(str(name)) for name in names):
        said = f"the labels are {len(names):,} different numbers in {len(examples):,} rows, and are treated as classes"
        shared.remark(f"{said}; use --task regress to predict numbers", options)


def _hint_sets(examples: Examples, options: dict[str, Any]) -> None:
    """Warn if most labels of a text file contain a separator, and so may be several labels."""
    if examples.labels is None or examples.labels.form != "single" or options["label_kind"] is not None:
        return
    names = [str(name) for name in examples.labels.classes.tolist()]
    for sign in ";|":
        if sum(sign in name for name in names) > len(names) // 2:
            said = f"most labels contain {sign!r}, and each cell is treated as one class"
            shared.remark(f"{said}; use --label-separator {sign!r} to split them into several labels", options)


def _refuse_folds(examples: Examples, options: dict[str, Any]) -> None:
    if (options["folds"] or 0) > len(examples):
        raise UsageError(f"--cv {options['folds']} asks for more folds than there are rows ({len(examples):,}).")


def _compact(model: Classifier, corpus: Corpus, test: Beside[Corpus] | None, options: dict[str, Any]) -> Classifier:
    """The compact model; with test data, the metric of the full model on them is reported too."""
    small = model.compact(corpus)
    before = _test(model, test, options)
    if before is not None:
        name, value = next(iter(before.metrics.items()))
        shared.remark(f"before it was made compact: {name} {value:.4f} on the test data", options)
    return small


def _remember(model: Classifier, options: dict[str, Any]) -> Classifier:
    """Use the label separator and the named columns of the training data for other files too, if none are given."""
    known: dict[str, Any] = {}
    if options["label_separator"] is not None:
        known["label_separator"] = options["label_separator"]
    if columns := {role: options[role] for role in shared.COLUMNS if options[role]}:
        known["columns"] = columns
    return replace(model, facts=model.facts | known) if known else model


def _test_data(corpus: Corpus, options: dict[str, Any]) -> Beside[Corpus] | None:
    """The test data, read later; a wrong name or missing columns are reported at once."""
    if options["other"] is None:
        return None
    kind = None if corpus.kind == "none" else corpus.kind  # training reports missing labels
    given = shared.test_options(options)
    found = shared.read_source(options["other"], {**given, "label_kind": options["label_kind"] or kind})
    return Beside(lambda: found.load() if found.size <= _HELD else found)


def _test(model: Classifier, test: Beside[Corpus] | None, options: dict[str, Any]) -> Evaluation | None:
    if test is None:
        return None
    with shared.remarking(options):
        return model.evaluate(test.result())


def _show(model: Classifier, tested: Evaluation | None, how: dict[str, Any], options: dict[str, Any]) -> None:
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        account = {
            **how,
            "held_out": None if model.evaluation is None else model.evaluation.to_json(),
            "test": None if tested is None else tested.to_json(),
            "facts": model.facts,
        }
        screen.write(json.dumps(account, ensure_ascii=False) + "\n")
        return
    from linnaeus.cli.account import trained_page

    screen.show(trained_page(model, tested, how, screen.glyphs))
