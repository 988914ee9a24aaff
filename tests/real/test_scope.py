"""Out-of-scope scores of a model of `sms_spam`: short messages whose words it knows, and texts it knows nothing of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnaeus import read
from linnaeus.recipes.cookbook import recipe

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SHORT = ["free prize, call now", "free prize", "win cash", "call me later", "see you at home tonight", "are you there"]
STRANGE = ["quark gluon plasma", "asdkjh qwlekj zxmcnb", "żółw gęś jaźń", "xylem phloem"]


def test_short_messages_are_in_scope(real_data: Path) -> None:
    if not (real_data / "sms_spam").is_dir():
        pytest.skip("no sms_spam here")
    train, test = (read(real_data / "sms_spam" / f"{part}.parquet").load() for part in ("train", "test"))
    model = recipe("default").fit(train)
    assert (model.out_of_scope(SHORT) < 0.9).all()
    assert (model.out_of_scope(STRANGE) > 0.9).all()
    texts = test.text.to_pylist()
    scores, short = model.out_of_scope(texts), np.array([len(text.split()) <= 5 for text in texts])
    assert np.mean(scores > 0.95) == pytest.approx(0.05, abs=0.02)
    assert np.mean(scores[short] > 0.95) < 0.15
