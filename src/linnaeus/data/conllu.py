"""Sentences written as CoNLL-U: ten columns for each token, an empty line after each sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EMPTY = "_"
ALIASES = {
    "lemma": ("lemma", "lemmas"),
    "upos": ("upos", "pos", "pos_tags"),
    "xpos": ("xpos", "tag", "tags"),
    "feats": ("feats", "morph", "morphology"),
}
"""What columns about tokens are called."""

COLUMNS = (
    *(("tokens",), ALIASES["lemma"], ALIASES["upos"], ALIASES["xpos"], ALIASES["feats"]),
    *(("heads", "head"), ("relations", "deprel"), ("deps",), ("misc",)),
)
"""The columns behind the number of a token, each by the names that it may have."""


def conllu_lines(columns: Mapping[str, Sequence[Sequence[str | int | None]]]) -> str:
    """Lists of tokens and of what stands beside them as CoNLL-U; what is missing is `_`.

    >>> made = conllu_lines({"tokens": [["Dogs", "bark"]], "heads": [[2, 0]], "relations": [["nsubj", "root"]]})
    >>> print(made.splitlines()[0].replace(chr(9), " "))
    1 Dogs _ _ _ _ 2 nsubj _ _
    """
    there = [next((columns[name] for name in names if name in columns), None) for names in COLUMNS]
    lines: list[str] = []
    for i in range(len(columns["tokens"])):
        rows = [None if column is None else column[i] for column in there]
        for at in range(len(columns["tokens"][i])):
            cells = [EMPTY if row is None else _cell(row[at]) for row in rows]
            lines.append("\t".join([str(at + 1), *cells]))
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def _cell(value: str | int | None) -> str:
    """A cell: white space between its words is one space, an empty one is `_`."""
    return EMPTY if value is None else " ".join(str(value).split()) or EMPTY
