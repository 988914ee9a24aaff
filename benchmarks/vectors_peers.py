"""The child of benchmarks/vectors.py: one training by gensim or fastText. It needs nothing of Linnaeus.

    python vectors_peers.py gensim|gensim-file|gensim-cbow|fasttext TEXT OUT THREADS SEED

Prints one line of JSON: seconds of training and of counting words. OUT gets word2vec's text format.
"""

from __future__ import annotations

import json
import sys
import time


def gensim(entry: str, text: str, out: str, threads: int, seed: int) -> dict[str, float]:
    """Skip-gram or CBOW; the text in memory as lists of words, or read from the file."""
    from gensim.models import Word2Vec

    sizes = {"vector_size": 100, "window": 5, "negative": 5, "min_count": 5, "sample": 1e-3, "epochs": 5}
    model = Word2Vec(**sizes, sg=int(entry != "gensim-cbow"), workers=threads, seed=seed)
    if entry == "gensim-file":
        source = {"corpus_file": text}
    else:
        with open(text, encoding="utf-8") as file:  # noqa: PTH123 - the child stays small
            source = {"corpus_iterable": [line.split() for line in file]}
    began = time.perf_counter()
    model.build_vocab(**source)
    counted, cpu = time.perf_counter(), time.process_time()
    facts = {"total_examples": model.corpus_count, "total_words": model.corpus_total_words, "epochs": 5}
    model.train(**source, **facts)
    done = {"train_s": time.perf_counter() - counted, "cpu_s": time.process_time() - cpu, "count_s": counted - began}
    model.wv.save_word2vec_format(out)
    return done


def fasttext(text: str, out: str, threads: int, _seed: int) -> dict[str, float]:
    """Skip-gram with subwords of 3 to 6 characters; counting is part of its one call, and it takes no seed."""
    import fasttext

    began, cpu = time.perf_counter(), time.process_time()
    sizes = {"dim": 100, "ws": 5, "neg": 5, "minCount": 5, "t": 1e-3, "epoch": 5, "minn": 3, "maxn": 6}
    model = fasttext.train_unsupervised(text, "skipgram", **sizes, thread=threads, verbose=0)
    done = {"train_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu, "count_s": 0.0}
    words = [word for word in model.get_words() if word != "</s>"]
    with open(out, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(f"{len(words)} 100\n")
        for word in words:
            file.write(" ".join([word, *map(str, model.get_word_vector(word))]) + "\n")
    return done


if __name__ == "__main__":
    entry, text, out, threads, seed = sys.argv[1:]
    rest = (text, out, int(threads), int(seed))
    print(json.dumps(fasttext(*rest) if entry == "fasttext" else gensim(entry, *rest)))
