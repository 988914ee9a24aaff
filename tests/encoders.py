"""A tiny encoder in a folder, in the Hugging Face form; tests that want one are skipped without the libraries."""

import json
from pathlib import Path
from string import ascii_lowercase

import pytest

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *ascii_lowercase, *(f"##{c}" for c in ascii_lowercase))
PLACES = 64


def tiny_encoder(folder: Path, seed: int = 0) -> Path:
    """Write a BERT of two layers that reads letters and two words; returns its folder."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    folder.mkdir()
    words = (*WORDS, "good", "weather")
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": PLACES}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=PLACES, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        transformers.BertModel(config).save_pretrained(folder)
    return folder
