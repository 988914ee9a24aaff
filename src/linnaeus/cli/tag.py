"""`linnaeus tag MODEL [TEXT|DATA|-]`: plain text, or sentences, with a tag for every token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from linnaeus.cli import options as shared
from linnaeus.cli.texts import names_data
from linnaeus.errors import DataError, UsageError

if TYPE_CHECKING:
    from linnaeus.text import Token

LINES = 1000
"""Standard input is tagged in pieces of at least this many lines, each up to an empty line."""

_EXAMPLES = """\b
Examples:
  linnaeus tag pos.lin "The quick fox, they say, jumps."
  linnaeus tag entities.lin --json < article.txt
  linnaeus tag pos.lin new.conllu
  linnaeus tag entities.lin "Ann Lee left Oslo." --entities

\b
Each output line has a token, a tab and its tag; an empty line ends a sentence.
Exit code: 0 success, 3 if the data cannot be used, 4 if the model cannot.
"""


@click.command("tag", epilog=_EXAMPLES)
@click.argument("model")
@click.argument("source", default="-", metavar="[TEXT|DATA|-]")
@shared.read_options
@click.option("--entities", is_flag=True, help="Print only the entities that the tags mark, one per line.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per sentence, with character offsets.")
@click.option("--seed", type=int, default=0, hidden=True, help="Nothing is drawn.")
@shared.common_options
def command(model: str, source: str, **options: Any) -> int:
    """Tag the tokens of TEXT, or the sentences of DATA, with MODEL.

    Standard input is plain text, which is split into sentences.
    """
    from linnaeus.cli.tasks import open_model

    shared.remark_kernels(options)
    with shared.use_threads(options):
        task, state = open_model(model, data=source)
        if task is None or not hasattr(task, "tags_of"):
            raise UsageError(f"{model} is not a tagger; use `linnaeus predict`.")
        tagger = task.tags_of(state)
        screen = shared.stdout_screen(options)
        for texts, sentences in _pieces(source, options):
            said = tagger(sentences)
            for tokens, tags in zip(texts, said, strict=True):
                screen.write(_shown(tokens, tags, options))
    return 0


def _pieces(source: str, options: dict[str, Any]) -> Iterator[tuple[list[list[Any]], list[list[str]]]]:
    """Sentences as tokens, with their character offsets if they come from a text."""
    if source != "-" and names_data(source):
        from linnaeus.cli.tasks.tag import stream

        for piece in stream(source, options):
            yield piece.lists(), piece.lists()
        return
    from linnaeus.text import sentences

    for text in [source] if source != "-" else _blocks():
        cut = sentences(text)
        yield list(cut), [[token.text for token in sentence] for sentence in cut]


def _blocks() -> Iterator[str]:
    """Standard input in pieces that end at a line."""
    from linnaeus.data.files import standard_input

    waiting: list[str] = []
    for number, raw in enumerate(standard_input(), 1):
        try:
            waiting.append(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise DataError(
                f"standard input, line {number}: some bytes are not UTF-8; convert the text first."
            ) from error
        if len(waiting) >= LINES and not waiting[-1].strip():
            yield "".join(waiting)
            waiting = []
    if waiting:
        yield "".join(waiting)


def _shown(tokens: list[Token] | list[str], tags: list[str], options: dict[str, Any]) -> str:
    words = [token if isinstance(token, str) else token.text for token in tokens]
    if options["as_json"]:
        return json.dumps(_told(tokens, words, tags), ensure_ascii=False) + "\n"
    if options["entities"]:
        return "".join(f"{kind}\t{' '.join(words[a:b])}\n" for a, b, kind in _entities(tags))
    return "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True)) + "\n"


def _told(tokens: list[Any], words: list[str], tags: list[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"tokens": words, "tags": tags}
    if tokens and not isinstance(tokens[0], str):
        told["spans"] = [[token.start, token.end] for token in tokens]
    found = _entities(tags)
    if found:
        told["entities"] = [{"start": a, "end": b, "type": kind, "text": " ".join(words[a:b])} for a, b, kind in found]
    return told


def _entities(tags: list[str]) -> list[tuple[int, int, str]]:
    """Start, end and type of each span that the tags mark."""
    import numpy as np

    from linnaeus.data.tag_encodings import is_encoded, spans

    return spans(tags, np.array([0, len(tags)])).listed() if is_encoded(tags) else []
