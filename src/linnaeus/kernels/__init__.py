"""The only door to compiled code: array routines, arrays in and arrays out.

Each kernel stands twice: in `native/` (C++20, nanobind), and in `reference/` as a plain Python twin, which defines its
meaning and runs where no compiler was. The two give the same bits; `tests/kernels/` compares them.

To add a kernel: a `.cpp` file in `native/` and its registration in `module.cpp`, a twin in `reference/` and its name in
the `__all__` there, its signature in `_native.pyi`, its import below, a property test against the twin.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from linnaeus.kernels.plan import CASES, TOKENIZERS, UNITS, Plan
from linnaeus.kernels.threads import thread_count, threads

if TYPE_CHECKING:
    from linnaeus.kernels import reference as reference
    from linnaeus.kernels._native import BlockGuard as BlockGuard
    from linnaeus.kernels._native import Nearest as Nearest
    from linnaeus.kernels._native import Scorer as Scorer
    from linnaeus.kernels._native import TermCounter as TermCounter
    from linnaeus.kernels._native import add_multiple as add_multiple
    from linnaeus.kernels._native import align_tokens as align_tokens
    from linnaeus.kernels._native import blend as blend
    from linnaeus.kernels._native import block_digests as block_digests
    from linnaeus.kernels._native import census as census
    from linnaeus.kernels._native import chain_best as chain_best
    from linnaeus.kernels._native import chain_greedy as chain_greedy
    from linnaeus.kernels._native import chain_learn as chain_learn
    from linnaeus.kernels._native import chain_settle as chain_settle
    from linnaeus.kernels._native import chain_soft as chain_soft
    from linnaeus.kernels._native import column_order as column_order
    from linnaeus.kernels._native import columns_dot as columns_dot
    from linnaeus.kernels._native import combine as combine
    from linnaeus.kernels._native import correlate as correlate
    from linnaeus.kernels._native import correlate_block as correlate_block
    from linnaeus.kernels._native import crammer_epoch as crammer_epoch
    from linnaeus.kernels._native import crammer_leap as crammer_leap
    from linnaeus.kernels._native import crammer_sums as crammer_sums
    from linnaeus.kernels._native import dense_dot as dense_dot
    from linnaeus.kernels._native import dense_tdot as dense_tdot
    from linnaeus.kernels._native import descend as descend
    from linnaeus.kernels._native import draw_rows as draw_rows
    from linnaeus.kernels._native import dual_epoch_hinge as dual_epoch_hinge
    from linnaeus.kernels._native import dual_epoch_logistic as dual_epoch_logistic
    from linnaeus.kernels._native import dual_epoch_squared_hinge as dual_epoch_squared_hinge
    from linnaeus.kernels._native import dual_gap_hinge as dual_gap_hinge
    from linnaeus.kernels._native import dual_gap_logistic as dual_gap_logistic
    from linnaeus.kernels._native import dual_gap_squared_hinge as dual_gap_squared_hinge
    from linnaeus.kernels._native import fingerprint as fingerprint
    from linnaeus.kernels._native import fingerprint_folded as fingerprint_folded
    from linnaeus.kernels._native import first_unfinite as first_unfinite
    from linnaeus.kernels._native import flag_texts as flag_texts
    from linnaeus.kernels._native import form_ids as form_ids
    from linnaeus.kernels._native import form_keys as form_keys
    from linnaeus.kernels._native import form_texts as form_texts
    from linnaeus.kernels._native import gather_rows as gather_rows
    from linnaeus.kernels._native import graph_grow_dot as graph_grow_dot
    from linnaeus.kernels._native import graph_grow_squared as graph_grow_squared
    from linnaeus.kernels._native import graph_near_dot as graph_near_dot
    from linnaeus.kernels._native import graph_near_squared as graph_near_squared
    from linnaeus.kernels._native import hash_bytes as hash_bytes
    from linnaeus.kernels._native import hash_terms as hash_terms
    from linnaeus.kernels._native import index_terms as index_terms
    from linnaeus.kernels._native import inner as inner
    from linnaeus.kernels._native import is_sound as is_sound
    from linnaeus.kernels._native import learn_adagrad as learn_adagrad
    from linnaeus.kernels._native import learn_aggressive as learn_aggressive
    from linnaeus.kernels._native import learn_ftrl as learn_ftrl
    from linnaeus.kernels._native import learn_sgd as learn_sgd
    from linnaeus.kernels._native import meet_tokens as meet_tokens
    from linnaeus.kernels._native import minhash as minhash
    from linnaeus.kernels._native import pack_texts as pack_texts
    from linnaeus.kernels._native import probe_pairs as probe_pairs
    from linnaeus.kernels._native import probe_tokens as probe_tokens
    from linnaeus.kernels._native import row_squares as row_squares
    from linnaeus.kernels._native import rows_dot as rows_dot
    from linnaeus.kernels._native import rows_tdot as rows_tdot
    from linnaeus.kernels._native import settle_adagrad as settle_adagrad
    from linnaeus.kernels._native import settle_sgd as settle_sgd
    from linnaeus.kernels._native import soft_rows as soft_rows
    from linnaeus.kernels._native import softmax_epoch as softmax_epoch
    from linnaeus.kernels._native import softmax_sums as softmax_sums
    from linnaeus.kernels._native import subsequences as subsequences
    from linnaeus.kernels._native import team_epoch_hinge as team_epoch_hinge
    from linnaeus.kernels._native import team_epoch_squared_hinge as team_epoch_squared_hinge
    from linnaeus.kernels._native import team_gap_hinge as team_gap_hinge
    from linnaeus.kernels._native import team_gap_squared_hinge as team_gap_squared_hinge
    from linnaeus.kernels._native import token_keys as token_keys
    from linnaeus.kernels._native import token_rows as token_rows
    from linnaeus.kernels._native import token_scores as token_scores
    from linnaeus.kernels._native import tokens as tokens
    from linnaeus.kernels._native import transpose as transpose
    from linnaeus.kernels._native import walk_trees as walk_trees
    from linnaeus.kernels._native import weigh as weigh

_kernels: ModuleType
try:
    _kernels = import_module("linnaeus.kernels._native")
except ImportError:
    _kernels = import_module("linnaeus.kernels.reference")
NATIVE = _kernels.__name__.endswith("_native")

for _name in getattr(_kernels, "__all__", [name for name in vars(_kernels) if not name.startswith("_")]):
    globals()[_name] = getattr(_kernels, _name)


def __getattr__(name: str) -> Any:
    """The twins, loaded when they are asked for: where the kernels are compiled, few programs need them."""
    if name == "reference":
        return import_module("linnaeus.kernels.reference")
    raise AttributeError(f"module 'linnaeus.kernels' has no attribute {name!r}")


__all__ = ["CASES", "NATIVE", "TOKENIZERS", "UNITS", "Plan", "reference", "thread_count", "threads"]
