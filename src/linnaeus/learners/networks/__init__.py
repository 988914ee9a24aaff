"""Neural networks: hidden layers between the words and the linear classifier, which is any output space and loss.

    learner.py        `Network` on any rows, and `SequenceNetwork` on words in their order
    encoders.py       what a network makes of a text: pooled tables, convolutions; deep_convolution.py, recurrent.py and
                      attention.py have further ones
    lookup.py         tables of word vectors: random, given, both
    pooling.py        from the places of a text to one row: maximum, mean, sum, attention
    architecture.py   a whole network: its weights and its forward pass
    operations.py     what forward passes are written in, by NumPy
    batches.py        the inputs of some rows
    fitted.py         a trained network, whose scores need no PyTorch
    by_hand.py        the smallest network with its gradient, in plain NumPy: the reference for all others
    structures.py     `TagNetwork` on tokens of sentences, `RankNetwork` on candidates
    tokens.py         the form of a network that tags
    fitted_tagger.py  a trained network that tags

Training is in `linnaeus.neural`, the only room with PyTorch. To add an encoder: see `encoders.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.learners.networks import by_hand as by_hand
    from linnaeus.learners.networks.architecture import Architecture as Architecture
    from linnaeus.learners.networks.attention import Attention as Attention
    from linnaeus.learners.networks.deep_convolution import DeepConvolution as DeepConvolution
    from linnaeus.learners.networks.encoders import Convolution as Convolution
    from linnaeus.learners.networks.encoders import Pooled as Pooled
    from linnaeus.learners.networks.fitted import FittedNetwork as FittedNetwork
    from linnaeus.learners.networks.learner import Network as Network
    from linnaeus.learners.networks.learner import SequenceNetwork as SequenceNetwork
    from linnaeus.learners.networks.recurrent import Recurrent as Recurrent
    from linnaeus.learners.networks.structures import RankNetwork as RankNetwork
    from linnaeus.learners.networks.structures import TagNetwork as TagNetwork


ENCODERS = Table(
    __name__,
    {
        "pooled": "encoders.Pooled",
        "convolution": "encoders.Convolution",
        "deep_convolution": "deep_convolution.DeepConvolution",
        "recurrent": "recurrent.Recurrent",
        "attention": "attention.Attention",
    },
)
"""Every encoder by name."""

STRUCTURED = Table(__name__, {"tag_network": "structures.TagNetwork", "rank_network": "structures.RankNetwork"})
"""Networks whose examples have several rows of scores: sentences, examples with candidates."""


__getattr__, __dir__ = room(__name__)
