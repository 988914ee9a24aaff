"""`linnaeus clusters TEXTS -o FILE`: word clusters from unlabeled text, as features of taggers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared
from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences


@shared.verb("clusters")
@click.argument("sources", metavar="[TEXTS]...", nargs=-1)
@click.option("-o", "--output", metavar="FILE", required=True, help="Output file for the words and their clusters.")
@shared.count("--count", default=512, text="Number of clusters.")
@shared.count("--min-count", default=5, text="Minimum frequency of a word.")
@shared.count("--words", least=2, default=50_000, text="Maximum number of words, the most frequent first.")
@click.option("--vectors", metavar="FILE", help="Group the words of a file of word vectors, instead of TEXTS.")
@click.option("--text", metavar="COLUMN", help="Column of the texts (default: guessed from column names).")
@click.option("--tokens", metavar="COLUMN", help="Column of lists of tokens, for texts that are already tokenized.")
@click.option("--format", metavar="FORMAT", help="Format of the files (default: taken from their names).")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--force", is_flag=True, help="Overwrite an existing FILE.")
def command(sources: tuple[str, ...], output: str, **options: shared.Option) -> int:
    """Learn clusters of words with similar contexts from unlabeled TEXTS, or of words with similar vectors.

    Each line of FILE has a word, a tab, and the bits of its cluster.

    Examples:
      linnaeus clusters reviews.csv -o clusters.tsv
      linnaeus clusters train.conll more.txt -o clusters.tsv --count 256
      linnaeus clusters --vectors words.lin -o clusters.tsv

    """
    from linnaeus.features import read_vectors
    from linnaeus.features.tokens import Grouping
    from linnaeus.store.atomic import replacing

    shared.refuse_existing(output, options["force"])
    if bool(sources) == bool(options["vectors"]):
        raise UsageError("Give texts, or word vectors with --vectors FILE, not both.")
    for source in (*sources, *filter(None, [options["vectors"]])):
        shared.refuse_itself(output, source)
    limits = {"count": options["count"], "min_count": options["min_count"], "most": options["words"]}
    grouping = Grouping(**limits, seed=options["seed"])
    if options["vectors"]:
        found = grouping.of_vectors(read_vectors(options["vectors"]))
    else:
        found = grouping.learn(part for source in sources for part in _parts(source, options))
    with replacing(output) as path:
        path.write_text("".join(f"{word}\t{cluster}\n" for word, cluster in found), encoding="utf-8", newline="\n")
    shared.remark(f"{len(found)} words in {len({cluster for _, cluster in found})} clusters: {output}", options)
    return 0


def _parts(source: str, options: shared.Options) -> Iterator[Sentences]:
    """The sentences of a file of tokens, or the words of texts, in batches."""
    from linnaeus.data.sentence_reading import holds_tokens, stream_sentences
    from linnaeus.features.tokens import cut

    options = shared.choose_part(source, options, "train")
    given = {name: options[name] for name in ("format", "split") if options.get(name)}
    if options["tokens"] or (not options["text"] and holds_tokens(source, **given)):
        yield from stream_sentences(source, tokens=options["tokens"], tags="", **given)
        return
    for batch in shared.read_source(source, {**options, "label": ""}).batches():
        yield cut(batch.text)
