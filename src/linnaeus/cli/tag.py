"""`linnaeus tag MODEL [TEXT|DATA|-]`: another name of `predict`, for taggers: a line for each token and its tag."""

from __future__ import annotations

import click

from linnaeus.cli import options as shared
from linnaeus.cli.predict import run


@shared.verb("tag", reads=True)
@click.argument("model")
@click.argument("source", default="-", metavar="[TEXT|DATA|-]")
@click.option("--abstain", metavar="RULE", help="Tag only if sure: confidence=0.8 or margin=0.2.")
@click.option("--entities", is_flag=True, help="Print only the entities that the tags mark, one per line.")
@shared.as_json("Print one JSON object per sentence, with character offsets.")
@shared.no_seed
def command(model: str, source: str, **options: shared.Option) -> int:
    """Tag the tokens of TEXT, or the sentences of DATA, with MODEL.

    Standard input is plain text, which is split into sentences.

    Examples:
      linnaeus tag pos.lin "The quick fox, they say, jumps."
      linnaeus tag entities.lin --json < article.txt
      linnaeus tag pos.lin new.conllu
      linnaeus tag entities.lin "Ann Lee left Oslo." --entities

    Each output line has a token, a tab and its tag; an empty line ends a sentence.
    Exit code: 0 success, 3 if the data cannot be used, 4 if the model cannot.

    """
    usual = {"top": 0, "keep": (), "scope": False, "output": None, "force": False}
    return run(model, source, {**options, **usual, "lines": not options["as_json"]}, words=True)
