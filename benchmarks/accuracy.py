"""Accuracy of `default` beside the peers, on the test parts of the shared data sets.

    python benchmarks/accuracy.py [--sets trec,mr] [--recipe default] [--peer-python PYTHON] [--cache FOLDER]

One table, one run: each set is trained on its train part and tested on its test part. Peers: fastText (the best of
three settings, chosen by the test part in its favor), scikit-learn's TF-IDF of words 1-2 with LinearSVC and with
LogisticRegression(C=10), LIBLINEAR's Crammer-Singer on the same matrix; on `langid75` and `wiki_person_ja` characters
1-3 instead of words. A peer whose library is missing is named and left out. Predictions of peers are kept in the cache,
so that a run of a changed `default` need not train them again. Prints JSON lines on stdout and the table on stderr.

`held_out` is the accuracy that the training itself states; `held_out_once` is the same on texts that occur once, where
the library gives it. `new` is the accuracy on test rows whose text is not in the train part (letter case and white
space aside), in percent with its 95 % Wilson interval: an honest `held_out` lies inside of it. `log_loss` is that of
the test part.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from measure import data_folder, say, say_machine

SETS = (
    *("imdb", "newsgroups20", "banking77", "clinc150", "r52", "trec", "trec_fine", "sms_spam", "mr", "sst2", "sst5"),
    *("snips", "atis", "swda", "debian_section", "ag_news_small", "dbpedia_14k", "langid75", "wiki_person_en"),
    "wiki_person_ja",
)
PEERS = ("LinearSVC", "LogisticRegression", "LIBLINEAR -s 4", "fastText default", "fastText paper", "fastText tuned")
FASTTEXT = "fastText"


def load(name: str, part: str) -> tuple[list[str], list[str]]:
    """Texts and labels; `trec_fine` is `trec` with its fine labels, `clinc150` is without what is out of scope."""
    folder, column = ("trec", "fine_label") if name == "trec_fine" else (name, "label")
    table = pq.read_table(data_folder() / folder / f"{part}.parquet", columns=["text", column])
    texts, labels = table["text"].to_pylist(), table[column].to_pylist()
    if name == "clinc150":
        rows = [i for i, label in enumerate(labels) if label != "oos"]
        return [texts[i] for i in rows], [labels[i] for i in rows]
    return texts, labels


def ours(name: str, recipe: str) -> dict[str, Any]:
    """Train and predict with Linnaeus; seconds from texts in memory to a trained model."""
    from linnaeus.evaluation import Outcome, evaluate, lookup
    from linnaeus.recipes.cookbook import recipe as named

    texts, labels = load(name, "train")
    began = time.perf_counter()
    model = named(recipe).fit(list(zip(texts, labels, strict=True)))
    seconds = time.perf_counter() - began
    texts, truth = load(name, "test")
    P = model.probabilities(texts)
    found = model.predict(texts)
    names = model.classes.tolist()
    outcome = Outcome(lookup(truth, names), lookup(found, names), names, P)
    metrics = evaluate(outcome, rounds=0).metrics
    held = model.evaluation.metrics if model.evaluation is not None else {}
    once = getattr(model.evaluation, "once", None)  # libraries before it do not have it
    right = np.asarray(found) == np.asarray(truth)
    return {
        "right": right,
        "seconds": seconds,
        "ece": metrics["ece"],
        "log_loss": metrics["log_loss"],
        "held_out": held.get("accuracy"),
        "held_out_once": None if once is None else once.metrics.get("accuracy"),
        "held_out_ece": held.get("ece"),
        "held_out_log_loss": held.get("log_loss"),
        "strength": model.facts.get("strength"),
        "new": on_new_texts(right, load(name, "train")[0], texts),
    }


def on_new_texts(right: np.ndarray, trained: list[str], tested: list[str]) -> dict[str, float]:
    """The accuracy on test rows whose text is not in the train part, in percent, with its Wilson interval."""
    known = set(map(plain, trained))
    new = right[np.array([plain(text) not in known for text in tested], bool)]
    n, p, z = len(new), float(new.mean()) if len(new) else 0.0, 1.959964
    middle = (p + z * z / (2 * n)) / (1 + z * z / n) if n else 0.5
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n) if n else 0.5
    return {"rows": n, "accuracy": 100 * p, "low": 100 * float(middle - half), "high": 100 * float(middle + half)}


def plain(text: str) -> str:
    """The text without differences of letter case and white space."""
    return " ".join(text.lower().split())


def peer(name: str, who: str, arguments: argparse.Namespace) -> dict[str, Any] | None:
    """The answers of a peer, trained in its own process, or kept from an earlier run."""
    kept = Path(arguments.cache) / f"{name}-{who.replace(' ', '_')}.json"
    if not kept.exists():
        command = [arguments.peer_python, str(Path(__file__).parent / "race" / "texts.py"), name, who, str(kept)]
        try:
            subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            say(what="missing", set=name, who=who, note=str(getattr(error, "stderr", error)).strip().splitlines()[-1:])
            return None
    found: dict[str, Any] = json.loads(kept.read_text())
    return {"right": np.array(found["right"], bool), "seconds": found["seconds"]}


def interval(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """The difference of two accuracies in points, with its paired 95 % interval (normal approximation)."""
    d = 100.0 * (a.astype(float) - b.astype(float))
    half = 1.96 * d.std(ddof=1) / np.sqrt(len(d)) if len(d) > 1 else 0.0
    return float(d.mean()), float(d.mean() - half), float(d.mean() + half)


def compare(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """One set: everybody's accuracy, and ours against the best peer."""
    mine = ours(name, arguments.recipe)
    line: dict[str, Any] = {"what": "accuracy", "set": name, "rows": len(mine["right"])}
    line |= {key: value for key, value in mine.items() if key != "right"}
    line["linnaeus"] = 100.0 * mine["right"].mean()
    everybody = {who: found for who in PEERS if (found := peer(name, who, arguments)) is not None}
    line["peers"] = {who: 100.0 * found["right"].mean() for who, found in everybody.items()}
    line["peer_seconds"] = {who: found["seconds"] for who, found in everybody.items()}
    if everybody:
        best = max(line["peers"], key=line["peers"].get)
        line["best"] = best
        line["difference"] = interval(mine["right"], everybody[best]["right"])
    say(**line)
    return line


def summarize(lines: list[dict[str, Any]]) -> None:
    """The table, and the three figures that matter: the mean lead, the sets ahead, the worst interval."""
    families = {who: who.split()[0] if who.startswith(FASTTEXT) else who for who in PEERS}
    for line in lines:
        shown = {
            family: max(v for w, v in line["peers"].items() if families[w] == family)
            for family in {families[w] for w in line["peers"]}
        }
        line["families"] = shown
        row = "  ".join(f"{family} {value:.2f}" for family, value in sorted(shown.items()))
        lead = "" if "difference" not in line else "{:+.2f} [{:+.2f}, {:+.2f}]".format(*line["difference"])
        sys.stderr.write(f"{line['set']:16s} {line['linnaeus']:.2f}  {lead:24s} {row}  ece {line['ece']:.3f}\n")
    for family in sorted({f for line in lines for f in line["families"]}):
        both = [(line["linnaeus"], line["families"][family]) for line in lines if family in line["families"]]
        ahead = int(sum(a > b for a, b in both))
        say(what="against", who=family, sets=len(both), lead=float(np.mean([a - b for a, b in both])), ahead=ahead)


def main() -> int:
    """Run the sets that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--cache", default=str(Path.home() / ".cache" / "linnaeus" / "accuracy"))
    arguments = parser.parse_args()
    Path(arguments.cache).mkdir(parents=True, exist_ok=True)
    say_machine()
    summarize([compare(name, arguments) for name in arguments.sets.split(",")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
