"""The table of extractors: recipes, documentation and contract tests read it."""

from linnaeus.lazy import Table

EXTRACTORS = Table(
    "linnaeus.features",
    {
        "affixes": "affixes.Affixes",
        "chars": "chars.Chars",
        "columns": "columns.Columns",
        "conjunction": "conjunction.Conjunction",
        "fourier": "fourier.Fourier",
        "function": "function.Function",
        "letters": "letters.Letters",
        "lexicon": "lexicon.Lexicon",
        "nystrom": "nystrom.Nystrom",
        "ready": "ready.Ready",
        "reduced": "reduced.Reduced",
        "selected": "selection.Selected",
        "shape": "shape.Shape",
        "skips": "words.Skips",
        "subwords": "chars.Subwords",
        "union": "union.Union",
        "weighted": "weighting.Weighted",
        "words": "words.Words",
    },
)
"""Every extractor by name."""
