"""Short texts from a Parquet file, their answers into another: `linnaeus predict MODEL in.parquet -o out.parquet`.

    python benchmarks/throughput.py [--data banking77] [--recipes svm default] [--texts 500000] [--runs 3]

The whole process is timed, its start included; rows are those of the data set's test part, again and again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from measure import clock, data_folder, say, say_machine
from trained import model_file

COMMAND = str(Path(sys.executable).parent / "linnaeus")


def main() -> None:
    """Each recipe on one and on two threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="banking77")
    parser.add_argument("--recipes", nargs="+", default=["svm", "default"])
    parser.add_argument("--texts", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    say_machine(pyarrow=pa.__version__)
    some = pq.read_table(data_folder() / given.data / "test.parquet", columns=["text"])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        many = pa.concat_tables([some] * (given.texts // len(some) + 1))[: given.texts]
        pq.write_table(many, source)
        for recipe in given.recipes:
            for threads in ("1", "2"):
                command = [COMMAND, "predict", str(model_file(given.data, recipe)), str(source), "-o", str(target)]
                command += ["--force", "--quiet", "--threads", threads]
                taken = clock(lambda: subprocess.run(command, check=True), given.runs)  # noqa: B023
                rate = given.texts / taken["seconds"]
                say(what="Parquet to Parquet", recipe=recipe, threads=threads, texts=given.texts, per_s=rate, **taken)


if __name__ == "__main__":
    main()
