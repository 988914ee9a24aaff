"""`linnaeus vectors train|neighbors|analogy|test|convert`: word vectors from unlabeled text, and what they know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.errors import DataError, UsageError

if TYPE_CHECKING:
    from linnaeus.arrays.word_table import Neighbor, WordTable
    from linnaeus.data.batch import Batch
    from linnaeus.embeddings import Stand
    from linnaeus.embeddings.judging import VectorScore
    from linnaeus.render import Page

METHODS = ["skipgram", "cbow", "glove", "ppmi", "lsa"]
TABLE_FORMATS = ["linnaeus", "word2vec", "word2vec-binary", "glove"]

_VERBS = {
    "train": "Learn word vectors from unlabeled text.",
    "neighbors": "Show the words nearest to a word.",
    "analogy": "Answer a is to b as c is to what.",
    "test": "Compare vectors with judgments of people, or with analogies.",
    "convert": "Write word vectors in another format.",
}


@click.group("vectors", subcommand_metavar="COMMAND [ARGS]...")
def command() -> None:
    """Learn word vectors from unlabeled text, look at them, test them and convert them.

    Examples:
      linnaeus vectors train reviews.csv -o words.lin
      linnaeus vectors neighbors words.lin actor
      linnaeus vectors analogy words.lin man actor woman
      linnaeus vectors test words.lin wordsim353.tsv
      linnaeus vectors convert words.lin words.vec

    """


command.help, command.epilog = shared.help_of(command.callback)


def _ranged(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Two numbers such as 3-6."""
    if value is None:
        return None
    low, _, high = value.partition("-")
    if not (low.isdecimal() and (high or low).isdecimal()):
        raise click.BadParameter("give the shortest and the longest, such as 3-6.", context, parameter)
    return int(low), int(high or low)


@shared.verb("train")
@click.argument("sources", metavar="TEXTS...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", required=True, help="Output file; its ending gives the format.")
@click.option("--method", type=click.Choice(METHODS), default="skipgram", show_default=True, help="How to learn.")
@shared.count("--width", default=100, text="Numbers of a vector.")
@click.option("--window", type=click.IntRange(1), help="Words on either side (default: 5; glove: 10).")
@click.option("--negatives", type=click.IntRange(1), help="Words of noise for each word (default: 5).")
@click.option("--epochs", type=click.IntRange(1), help="Passes over the text (default: 5; glove: 25).")
@click.option("--rate", type=float, help="Rate of the first steps (default: 0.025; others: 0.05).")
@click.option("--sample", type=float, help="Threshold for leaving out frequent words; 0: none (default: 0.001).")
@click.option("--subwords", metavar="N-N", callback=_ranged, help="Lengths of character n-grams, such as 3-6.")
@click.option("--buckets", type=click.IntRange(1), help="Hash buckets of subwords (default: 2000000).")
@shared.count("--min-count", default=5, text="Minimum frequency of a word.")
@shared.count("--words", default=1_000_000, text="Maximum number of words, the most frequent first.")
@click.option("--keep-case", is_flag=True, help="Do not fold words to lower case.")
@click.option("--text", metavar="COLUMN", help="Column of the texts (default: guessed from column names).")
@click.option("--format", metavar="FORMAT", help="Format of the texts' files (default: taken from their names).")
@click.option("--checkpoint", metavar="FILE", help="Keep what is done in FILE, and go on from it if it is there.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")
@click.option("--force", is_flag=True, help="Overwrite an existing FILE.")
@shared.as_json()
def train(sources: tuple[str, ...], output: str, **options: shared.Option) -> int:
    """Learn a vector for each word of unlabeled TEXTS.

    The result does not depend on the number of threads.

    Examples:
      linnaeus vectors train reviews.csv -o words.lin
      linnaeus vectors train news-*.txt.gz -o words.lin --subwords 3-6
      linnaeus vectors train reviews.csv -o words.vec --method glove --width 50

    """
    from linnaeus.embeddings import METHODS, Checkpoint, encoded
    from linnaeus.features.word_vectors import write_vectors

    shared.refuse_existing(output, options["force"])
    for source in sources:
        shared.refuse_itself(output, source)
    method = _method(METHODS[options["method"]], options)
    texts, watcher = _Texts(sources, options), _Watcher(options)
    with watcher, shared.remarking(options):
        limits = {"min_count": options["min_count"], "most": options["words"]}
        with encoded(texts, **limits, lowercase=not options["keep_case"]) as text:
            table = method.learn(text, watcher, Checkpoint(options["checkpoint"]))
            total = text.total
    write_vectors(output, table, force=True)
    _told(table, {"words_read": total, "method": options["method"], **watcher.facts}, output, options)
    return 0


def _method(kind: type, options: shared.Options) -> shared.Option:
    """The method with the settings that were given; one that it does not have is refused."""
    known = {field.name for field in fields(kind)}
    names = ("width", "window", "negatives", "epochs", "rate", "sample", "subwords", "buckets", "seed")
    given = {name: options[name] for name in names if options[name] is not None}
    for name in given:
        if name not in known and name != "seed":
            raise UsageError(f"--{name} does not go with --method {options['method']}; leave it out.")
    return kind(**{name: value for name, value in given.items() if name in known})


class _Texts:
    """The texts of several files, one after the other."""

    def __init__(self, sources: tuple[str, ...], options: shared.Options) -> None:
        self._sources, self._options = sources, {**options, "label": ""}

    def batches(self) -> Iterator[Batch]:
        """All texts, in batches."""
        for source in self._sources:
            options = shared.choose_part(source, self._options, "train")
            yield from shared.read_source(source, options).batches()


class _Watcher:
    """Shows how far a training is: words per second, and the loss."""

    def __init__(self, options: shared.Options) -> None:
        from linnaeus.cli.progress import open_progress

        self._progress = open_progress(options["quiet"])
        self.facts: dict[str, float] = {}

    def __enter__(self) -> None:
        from linnaeus.cli.progress import Mark

        self._progress.__enter__()
        self._progress(Mark("counting words"))

    def __exit__(self, *why: object) -> None:
        self._progress.__exit__(*why)

    def __call__(self, stand: Stand) -> None:
        from linnaeus.cli.progress import PARTS, Mark

        note = f"epoch {stand.epoch + 1}, {stand.per_second:,.0f} {stand.unit}/s, loss {stand.loss:.4f}"
        self.facts = {"per_second": stand.per_second, "loss": stand.loss}
        self._progress(Mark("training", done=round(PARTS * stand.share), total=PARTS, note=note))


def _told(table: WordTable, facts: dict[str, shared.Option], output: str, options: shared.Options) -> None:
    from linnaeus.render import counted, size

    if options["as_json"]:
        found = {"file": output, "words": len(table), "width": table.width, **facts}
        shared.stdout_screen(options).write_json({name: None if v != v else v for name, v in found.items()})
    else:
        held = size(Path(output).stat().st_size)
        shared.remark(f"{counted(len(table), 'word')} of {table.width} numbers: {output} ({held})", options)


@shared.verb("neighbors")
@click.argument("file")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@shared.count("-k", "count", default=10, text="Number of neighbors.")
@click.option("--format", "form", type=click.Choice(TABLE_FORMATS), help="Format of FILE (default: found from it).")
@shared.as_json("Print one JSON object for each word.")
@shared.no_seed
def neighbors(file: str, words: tuple[str, ...], **options: shared.Option) -> int:
    """Show the words whose vectors are nearest to that of each WORD, by the cosine.

    Examples:
      linnaeus vectors neighbors words.lin actor actress
      linnaeus vectors neighbors glove.6B.100d.txt oslo -k 5

    """
    from linnaeus.features.word_vectors import read_vectors

    table = read_vectors(file, options["form"])
    screen = shared.stdout_screen(options)
    for word in words:
        near = table.neighbors(_looked_up(table, word), options["count"])
        if options["as_json"]:
            screen.write_json({"word": word, "neighbors": [{"word": n.word, "similarity": n.similarity} for n in near]})
        else:
            screen.show(_page(word, near))
    return 0


@shared.verb("analogy")
@click.argument("file")
@click.argument("a")
@click.argument("b")
@click.argument("c")
@shared.count("-k", "count", default=5, text="Number of answers.")
@click.option("--format", "form", type=click.Choice(TABLE_FORMATS), help="Format of FILE (default: found from it).")
@shared.as_json()
@shared.no_seed
def analogy(file: str, a: str, b: str, c: str, **options: shared.Option) -> int:
    """Answer A is to B as C is to what: the words nearest to B - A + C.

    Examples:
      linnaeus vectors analogy words.lin man actor woman

    """
    from linnaeus.features.word_vectors import read_vectors

    table = read_vectors(file, options["form"])
    near = table.analogy(_looked_up(table, a), _looked_up(table, b), _looked_up(table, c), options["count"])
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        found = [{"word": n.word, "similarity": n.similarity} for n in near]
        screen.write_json({"a": a, "b": b, "c": c, "answers": found})
    else:
        screen.show(_page(f"{a} : {b} = {c} : ?", near))
    return 0


def _looked_up(table: WordTable, word: str) -> str:
    return word.lower() if table.lowercase and word not in table else word


def _page(said: str, near: Sequence[Neighbor]) -> Page:
    from linnaeus.render import Page, clean, cut, indent, line, table, title

    rows = [[f"{n.similarity:.3f}", cut(clean(n.word), 60, "...")] for n in near]
    return title(cut(clean(said), 80, "...")) + indent(table(["cosine", "word"], rows, "><")) + Page((line(),))


@shared.verb("test")
@click.argument("file")
@click.argument("sources", metavar="DATA...", nargs=-1, required=True)
@shared.count("--words", default=30_000, text="Words among which answers to analogies are looked for.")
@click.option("--format", "form", type=click.Choice(TABLE_FORMATS), help="Format of FILE (default: found from it).")
@shared.as_json("Print one JSON object for each DATA.")
@shared.no_seed
def test(file: str, sources: tuple[str, ...], **options: shared.Option) -> int:
    """Compare word vectors with pairs of words and their similarities, or with analogies.

    DATA has columns word1, word2 and score (Spearman's rank correlation is shown), or a, b, c and d (the share of
    right answers), or is a text file whose lines have three or four words, such as questions-words.txt. Rows with
    words that have no vector are left out and counted.

    Examples:
      linnaeus vectors test words.lin simlex999.tsv questions-words.txt

    """
    from linnaeus.embeddings.judging import analogy_score, similarity_score
    from linnaeus.features.word_vectors import read_vectors

    table = read_vectors(file, options["form"])
    found: list[tuple[str, VectorScore]] = []
    for source in sources:
        rows = _judgments(source)
        if len(rows[0]) == 3:
            found.append((source, similarity_score(table, [(a, b, _number(s, source)) for a, b, s in rows])))
        else:
            found.append((source, analogy_score(table, [(a, b, c, d) for a, b, c, d in rows], options["words"])))
    _show_scores(found, options)
    return 0


def _show_scores(found: list[tuple[str, VectorScore]], options: shared.Options) -> None:
    from linnaeus.render import Page, clean, indent, line, table

    screen = shared.stdout_screen(options)
    if options["as_json"]:
        for source, score in found:
            facts = {"measure": score.measure, "value": score.value, "used": score.used, "given": score.given}
            screen.write_json({"data": source, **facts})
        return
    rows = [
        [clean(Path(source).name), score.measure, f"{score.value:.3f}", f"{score.used:,} of {score.given:,}"]
        for source, score in found
    ]
    screen.show(indent(table(["data", "measure", "value", "rows"], rows, "<<>>")) + Page((line(),)))


_COLUMNS = (("word1", "word2", "score"), ("a", "b", "c", "d"))


def _judgments(source: str) -> list[tuple[str, ...]]:
    """The rows of a file: three cells or four each."""
    if Path(source).suffix in (".txt", "") and Path(source).is_file():
        lines = Path(source).read_text(encoding="utf-8").splitlines()
        rows = [tuple(line.split()) for line in lines if line.strip() and line[0] not in ":#"]
        if not rows or len(rows[0]) not in (3, 4) or any(len(row) != len(rows[0]) for row in rows):
            raise DataError(f"{source}: its lines do not all have three words, or four; give such a file.")
        return rows
    return _columns(source)


def _columns(source: str) -> list[tuple[str, ...]]:
    from linnaeus.data import FORMATS, ReadOptions, read
    from linnaeus.data.files import find

    found = find(source, ReadOptions())
    there = set(FORMATS[found.format](ReadOptions()).schema(found.files[0]).names)
    names = next((names for names in _COLUMNS if set(names) <= there), None)
    if names is None:
        raise DataError(f"{source} has neither columns word1, word2, score nor a, b, c, d; rename its columns.")
    batch = read(source, text=names[0], label="").batch()
    columns = [batch.text, *(batch.columns[name] for name in names[1:])]
    return list(zip(*([str(cell) for cell in column.to_pylist()] for column in columns), strict=True))


def _number(cell: str, source: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise DataError(f"{source}: {cell!r} is not a score; give numbers.") from error


@shared.verb("convert")
@click.argument("file")
@click.argument("output")
@click.option("--from", "form", type=click.Choice(TABLE_FORMATS), help="Format of FILE (default: found from it).")
@click.option("--to", "target", type=click.Choice(TABLE_FORMATS), help="Format of OUTPUT (default: that of its name).")
@click.option("--words", type=click.IntRange(1), help="Read so many words, the first of FILE (default: all).")
@click.option("--force", is_flag=True, help="Overwrite an existing OUTPUT.")
@shared.no_seed
def convert(file: str, output: str, **options: shared.Option) -> int:
    """Write the word vectors of FILE to OUTPUT, in another format.

    Formats are linnaeus (.lin), word2vec (.vec, .w2v; also fastText's), word2vec-binary (.bin) and glove (.txt). FILE
    may also be a folder with model.safetensors and tokenizer.json.

    Examples:
      linnaeus vectors convert GoogleNews-vectors-negative300.bin news.lin
      linnaeus vectors convert words.lin words.txt --to glove

    """
    from linnaeus.features.word_vectors import read_vectors, write_vectors

    shared.refuse_existing(output, options["force"])
    shared.refuse_itself(output, file)
    table = read_vectors(file, options["form"], options["words"])
    write_vectors(output, table, options["target"], force=True)
    if table.subwords is not None and (options["target"] or Path(output).suffix) not in ("linnaeus", ".lin"):
        shared.remark("the rows of subwords are not in this format, so unknown words have no vectors there", options)
    shared.remark(f"{len(table):,} words of {table.width} numbers: {output}", options)
    return 0


for _command in (train, neighbors, analogy, test, convert):
    _command.short_help = _VERBS[str(_command.name)]
    command.add_command(_command)
