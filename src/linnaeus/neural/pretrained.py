"""Encoders from local folders in the Hugging Face form: the tokens of texts, and the vectors that they are given.

Nothing is downloaded, no code of a folder is run, and weights are read from safetensors files only. PyTorch rounds the
vectors of a text differently in a batch than alone, and may do so on several threads. So each text goes through the
encoder by itself, on one thread, and as many texts run at once as there are threads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from linnaeus import kernels
from linnaeus.errors import DataError, ModelFileError, UsageError, said
from linnaeus.neural import library
from linnaeus.types import Doubles

WHY = "An encoder from a folder"
READ = (".json", ".txt", ".model", ".codes", ".tiktoken", ".safetensors")
"""Endings of the files that the digest of a folder covers: settings, vocabulary and weights."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")
HELD = 2
"""Encoders that stay in memory."""
REASON = 300
"""Characters of another library's message in one of ours."""

_held: dict[str, Encoder] = {}
_alone = Lock()


def read_encoder(folder: str) -> tuple[str, Encoder]:
    """The digest of a folder, and the encoder in it."""
    check_folder(folder)
    digest = digest_of(folder)
    with _alone:
        return digest, _encoder(folder, digest)


def same_encoder(folder: str, digest: str) -> Encoder:
    """The encoder of this digest; unless it is in memory, it is read from the folder, which must have it."""
    with _alone:
        if digest not in _held:
            check_folder(folder)
            if digest_of(folder) != digest:
                raise ModelFileError(
                    f"The folder {folder!r} has another encoder than the one that the model was trained with; put that "
                    "one there, or train the model again."
                )
        return _encoder(folder, digest)


def forget() -> None:
    """Drop the encoders that are in memory."""
    with _alone:
        _held.clear()


def _encoder(folder: str, digest: str) -> Encoder:
    if digest not in _held:
        found = Encoder(folder)
        while len(_held) >= HELD:
            del _held[next(iter(_held))]
        _held[digest] = found
    return _held[digest]


def check_folder(folder: str) -> None:
    """Refuse a folder that lacks the parts of an encoder."""
    home = Path(folder)
    if not home.is_dir():
        raise DataError(
            f"There is no folder {folder!r} with an encoder; put it there: nothing is downloaded, and a model file "
            "holds only its name."
        )
    if not (home / "config.json").is_file():
        raise DataError(f"The folder {folder!r} has no config.json; save the encoder there with save_pretrained.")
    if not any((home / name).is_file() for name in TOKENIZERS):
        raise DataError(f"The folder {folder!r} has no tokenizer; save it there with its save_pretrained.")
    if any((home / name).is_file() for name in WEIGHTS):
        return
    if any(path for pattern in PICKLED for path in home.glob(pattern)):
        raise DataError(
            f"The weights in the folder {folder!r} are pickled, and opening such a file may run code; convert them to "
            "model.safetensors."
        )
    raise DataError(f"The folder {folder!r} has no model.safetensors; save the encoder there with save_pretrained.")


def digest_of(folder: str) -> str:
    """The digest of the settings, vocabulary and weights in a folder."""
    whole = hashlib.sha256()
    try:
        for path in sorted(Path(folder).iterdir(), key=lambda path: path.name):
            if path.suffix in READ and path.is_file():
                with path.open("rb") as file:
                    part = hashlib.file_digest(file, "sha256").hexdigest()
                whole.update(f"{path.name}\0{part}\n".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise DataError(f"The folder {folder!r} cannot be read: {said(error)}.") from error
    return whole.hexdigest()


@contextmanager
def _silent(transformers: Any) -> Iterator[None]:
    """No progress bars and no messages of the library; its settings are restored."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


class Encoder:
    """A tokenizer and a network from a folder."""

    def __init__(self, folder: str) -> None:
        self._torch = library("torch", WHY)
        self._library = library("transformers", WHY)
        self._folder, self._tokenizing = folder, Lock()
        local = {"local_files_only": True, "trust_remote_code": False}
        try:
            with _silent(self._library), self._torch.random.fork_rng(devices=[]):
                self._tokenizer = self._library.AutoTokenizer.from_pretrained(folder, **local)
                network, told = self._library.AutoModel.from_pretrained(
                    folder, use_safetensors=True, output_loading_info=True, **local
                )
        except Exception as error:  # the classes of its errors are those of all the libraries below it
            raise DataError(f"The encoder in {folder!r} cannot be read: {said(error)[:REASON]}") from error
        lost = sorted(name for name in told["missing_keys"] if "pooler" not in name)
        if lost:
            raise DataError(f"The weights in {folder!r} lack {lost[0]!r}; save the whole encoder there.")
        if getattr(network.config, "is_encoder_decoder", False):
            network = network.get_encoder()
        self._network = network.to("cpu").float().eval().requires_grad_(False)

    def room(self, length: int) -> int:
        """How many tokens of a text are read: at most `length`, and what the encoder can take."""
        places = getattr(self._network.config, "max_position_embeddings", None)
        most = min(length, self._tokenizer.model_max_length, places if isinstance(places, int) else length)
        own = self._tokenizer.num_special_tokens_to_add()
        if most <= own:
            raise UsageError(f"length={length} leaves no room for a text: the encoder adds {own} tokens; raise length.")
        return int(most)

    def tokens(self, texts: Sequence[str], length: int | None = None) -> list[list[int]]:
        """The numbers of each text's tokens, all of them or the first `length`."""
        if not texts:
            return []
        with self._tokenizing, _silent(self._library):
            found = self._tokenizer(list(texts), truncation=length is not None, max_length=length, padding=False)
        return list(found["input_ids"])

    def pooled(self, texts: Sequence[str], pool: str, length: int) -> list[Doubles]:
        """The pooled vectors of each text's tokens; an empty row for a text without a token."""
        rows, count = self.tokens(texts, length), kernels.thread_count()
        with _alone, _one_thread(self._torch):
            if len(rows) < 2 or count < 2:
                return [self._row(row, pool) for row in rows]
            with ThreadPoolExecutor(count, initializer=self._torch.set_num_threads, initargs=(1,)) as workers:
                return list(workers.map(lambda row: self._row(row, pool), rows))

    def _row(self, tokens: list[int], pool: str) -> Doubles:
        if not tokens:
            return np.zeros(0)
        torch = self._torch
        try:
            with torch.inference_mode():
                numbers = torch.tensor([tokens], device="cpu")
                found = self._network(input_ids=numbers, attention_mask=torch.ones_like(numbers)).last_hidden_state
        except Exception as error:  # whatever a network of any kind may raise
            raise DataError(
                f"The encoder in {self._folder!r} fails for a text of {len(tokens)} tokens: {said(error)[:REASON]}"
            ) from error
        vectors = found[0].numpy().astype(np.float64)
        if pool == "first":
            return vectors[0]
        return vectors.max(axis=0) if pool == "max" else vectors.mean(axis=0)


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """One thread for each product; the number before is restored."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
