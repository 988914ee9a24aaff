"""Plain Python twins of the kernels: they define what each kernel means and run where no compiler was."""

from linnaeus.kernels.reference.census import census
from linnaeus.kernels.reference.chain import chain_best, chain_greedy, chain_soft
from linnaeus.kernels.reference.chain_learn import chain_learn, chain_settle
from linnaeus.kernels.reference.columns import combine, correlate, correlate_block, gather_rows, transpose
from linnaeus.kernels.reference.dense import dense_dot, dense_tdot
from linnaeus.kernels.reference.descend import descend
from linnaeus.kernels.reference.digests import BlockGuard, block_digests
from linnaeus.kernels.reference.dual import (
    dual_epoch_hinge,
    dual_epoch_logistic,
    dual_epoch_squared_hinge,
    dual_gap_hinge,
    dual_gap_logistic,
    dual_gap_squared_hinge,
)
from linnaeus.kernels.reference.forms import form_ids, form_keys, form_texts
from linnaeus.kernels.reference.graph import graph_grow_dot, graph_grow_squared, graph_near_dot, graph_near_squared
from linnaeus.kernels.reference.hashing import hash_bytes
from linnaeus.kernels.reference.joint import crammer_epoch, crammer_leap, crammer_sums, softmax_epoch, softmax_sums
from linnaeus.kernels.reference.lookup import index_terms, probe_pairs, probe_tokens
from linnaeus.kernels.reference.minhash import fingerprint, fingerprint_folded, minhash
from linnaeus.kernels.reference.nearest import Nearest
from linnaeus.kernels.reference.online import (
    learn_adagrad,
    learn_aggressive,
    learn_ftrl,
    learn_sgd,
    settle_adagrad,
    settle_sgd,
)
from linnaeus.kernels.reference.pairs import align_tokens, meet_tokens, token_keys
from linnaeus.kernels.reference.products import columns_dot, rows_dot, rows_tdot
from linnaeus.kernels.reference.redraw import draw_rows
from linnaeus.kernels.reference.scan import column_order, first_unfinite, row_squares
from linnaeus.kernels.reference.score import Scorer
from linnaeus.kernels.reference.soft import soft_rows
from linnaeus.kernels.reference.sound import is_sound
from linnaeus.kernels.reference.subsequences import subsequences
from linnaeus.kernels.reference.team import (
    team_epoch_hinge,
    team_epoch_squared_hinge,
    team_gap_hinge,
    team_gap_squared_hinge,
)
from linnaeus.kernels.reference.terms import TermCounter, hash_terms
from linnaeus.kernels.reference.tokens import flag_texts, pack_texts, tokens
from linnaeus.kernels.reference.trees import walk_trees
from linnaeus.kernels.reference.vectors import add_multiple, blend, inner
from linnaeus.kernels.reference.weigh import weigh
from linnaeus.kernels.reference.windows import token_rows, token_scores

__all__ = [
    "BlockGuard",
    "Nearest",
    "Scorer",
    "TermCounter",
    "add_multiple",
    "align_tokens",
    "blend",
    "block_digests",
    "census",
    "chain_best",
    "chain_greedy",
    "chain_learn",
    "chain_settle",
    "chain_soft",
    "column_order",
    "columns_dot",
    "combine",
    "correlate",
    "correlate_block",
    "crammer_epoch",
    "crammer_leap",
    "crammer_sums",
    "dense_dot",
    "dense_tdot",
    "descend",
    "draw_rows",
    "dual_epoch_hinge",
    "dual_epoch_logistic",
    "dual_epoch_squared_hinge",
    "dual_gap_hinge",
    "dual_gap_logistic",
    "dual_gap_squared_hinge",
    "fingerprint",
    "fingerprint_folded",
    "first_unfinite",
    "flag_texts",
    "form_ids",
    "form_keys",
    "form_texts",
    "gather_rows",
    "graph_grow_dot",
    "graph_grow_squared",
    "graph_near_dot",
    "graph_near_squared",
    "hash_bytes",
    "hash_terms",
    "index_terms",
    "inner",
    "is_sound",
    "learn_adagrad",
    "learn_aggressive",
    "learn_ftrl",
    "learn_sgd",
    "meet_tokens",
    "minhash",
    "pack_texts",
    "probe_pairs",
    "probe_tokens",
    "row_squares",
    "rows_dot",
    "rows_tdot",
    "settle_adagrad",
    "settle_sgd",
    "soft_rows",
    "softmax_epoch",
    "softmax_sums",
    "subsequences",
    "team_epoch_hinge",
    "team_epoch_squared_hinge",
    "team_gap_hinge",
    "team_gap_squared_hinge",
    "token_keys",
    "token_rows",
    "token_scores",
    "tokens",
    "transpose",
    "walk_trees",
    "weigh",
]
