"""The tables of extractors and of what columns are selected by: recipes, documentation and contract tests read them."""

from linnaeus.lazy import Table

EXTRACTORS = Table(
    "linnaeus.features",
    {
        "affixes": "affixes.Affixes",
        "chars": "chars.Chars",
        "columns": "columns.Columns",
        "conjunction": "conjunction.Conjunction",
        "field": "field.Field",
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

SCORES = Table(
    "linnaeus.features",
    {"df": "selection.DocumentFrequency", "chi2": "selection.Chi2", "mi": "selection.MutualInformation"},
)
"""What `by=...` of `Selected` may name."""
