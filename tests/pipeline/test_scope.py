"""Out-of-scope scores of a trained model of two classes, one of them much larger."""

from __future__ import annotations

import numpy as np

from linnaeus.pipeline.cookbook import recipe

CHAT = [
    "see",
    "you",
    "later",
    "home",
    "dinner",
    "mum",
    "bus",
    "work",
    "sleep",
    "tired",
    "love",
    "cat",
    "late",
    "ok",
    "lunch",
    "walk",
    "rain",
    "sorry",
    "film",
    "week",
]
OFFERS = ["free", "prize", "win", "cash", "claim", "voucher", "urgent", "bonus", "award", "credit"]


def messages(n: int = 300) -> list[tuple[str, str]]:
    """One in six is an offer, which has words of chats too; some texts are short."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        offer = i % 6 == 0
        size = int(rng.integers(2, 8))
        words = [*rng.choice(CHAT, 2 if offer else size), *rng.choice(OFFERS, size if offer else 0)]
        rows.append((" ".join(rng.permutation(words)), "offer" if offer else "chat"))
    return rows


def test_short_texts_of_known_words_are_in_scope():
    model = recipe("default").fit(messages())
    short = ["free prize", "win cash", "free voucher later", "claim prize, see you", "see you later", "home late sorry"]
    strange = ["qqq zzz xxx", "жжж щщщ", "0x7f 9981"]
    assert (model.out_of_scope(short) < 0.9).all()
    assert (model.out_of_scope(strange) > 0.9).all()
