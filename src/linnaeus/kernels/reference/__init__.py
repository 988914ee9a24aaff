"""Plain Python twins of the kernels: they define what each kernel means and run where no compiler was.

An import below binds a kernel: its twin is the meaning, the types, and what `native/` has to be equal to. Most are
equal to the bit; `TOLERANCES` says which are not, and how near they are. `tests/kernels/` reads it.
"""

from __future__ import annotations

from linnaeus.kernels.reference.chain import chain_best as chain_best
from linnaeus.kernels.reference.chain import chain_greedy as chain_greedy
from linnaeus.kernels.reference.chain import chain_learn as chain_learn
from linnaeus.kernels.reference.chain import chain_settle as chain_settle
from linnaeus.kernels.reference.chain import chain_soft as chain_soft
from linnaeus.kernels.reference.descend import descend as descend
from linnaeus.kernels.reference.digests import BlockGuard as BlockGuard
from linnaeus.kernels.reference.digests import block_digests as block_digests
from linnaeus.kernels.reference.digests import fingerprint as fingerprint
from linnaeus.kernels.reference.digests import fingerprint_folded as fingerprint_folded
from linnaeus.kernels.reference.digests import minhash as minhash
from linnaeus.kernels.reference.dual import dual_epoch_hinge as dual_epoch_hinge
from linnaeus.kernels.reference.dual import dual_epoch_logistic as dual_epoch_logistic
from linnaeus.kernels.reference.dual import dual_epoch_squared_hinge as dual_epoch_squared_hinge
from linnaeus.kernels.reference.dual import dual_gap_hinge as dual_gap_hinge
from linnaeus.kernels.reference.dual import dual_gap_logistic as dual_gap_logistic
from linnaeus.kernels.reference.dual import dual_gap_squared_hinge as dual_gap_squared_hinge
from linnaeus.kernels.reference.joint import crammer_epoch as crammer_epoch
from linnaeus.kernels.reference.joint import crammer_leap as crammer_leap
from linnaeus.kernels.reference.joint import crammer_sums as crammer_sums
from linnaeus.kernels.reference.joint import softmax_epoch as softmax_epoch
from linnaeus.kernels.reference.joint import softmax_sums as softmax_sums
from linnaeus.kernels.reference.lookup import index_terms as index_terms
from linnaeus.kernels.reference.lookup import is_sound as is_sound
from linnaeus.kernels.reference.lookup import probe_pairs as probe_pairs
from linnaeus.kernels.reference.lookup import probe_tokens as probe_tokens
from linnaeus.kernels.reference.matrices import add_multiple as add_multiple
from linnaeus.kernels.reference.matrices import blend as blend
from linnaeus.kernels.reference.matrices import column_order as column_order
from linnaeus.kernels.reference.matrices import columns_dot as columns_dot
from linnaeus.kernels.reference.matrices import combine as combine
from linnaeus.kernels.reference.matrices import correlate as correlate
from linnaeus.kernels.reference.matrices import correlate_block as correlate_block
from linnaeus.kernels.reference.matrices import dense_dot as dense_dot
from linnaeus.kernels.reference.matrices import dense_tdot as dense_tdot
from linnaeus.kernels.reference.matrices import first_unfinite as first_unfinite
from linnaeus.kernels.reference.matrices import gather_rows as gather_rows
from linnaeus.kernels.reference.matrices import inner as inner
from linnaeus.kernels.reference.matrices import row_squares as row_squares
from linnaeus.kernels.reference.matrices import rows_dot as rows_dot
from linnaeus.kernels.reference.matrices import rows_tdot as rows_tdot
from linnaeus.kernels.reference.matrices import soft_rows as soft_rows
from linnaeus.kernels.reference.matrices import transpose as transpose
from linnaeus.kernels.reference.nearest import Nearest as Nearest
from linnaeus.kernels.reference.nearest import graph_grow_dot as graph_grow_dot
from linnaeus.kernels.reference.nearest import graph_grow_squared as graph_grow_squared
from linnaeus.kernels.reference.nearest import graph_near_dot as graph_near_dot
from linnaeus.kernels.reference.nearest import graph_near_squared as graph_near_squared
from linnaeus.kernels.reference.online import learn_adagrad as learn_adagrad
from linnaeus.kernels.reference.online import learn_aggressive as learn_aggressive
from linnaeus.kernels.reference.online import learn_ftrl as learn_ftrl
from linnaeus.kernels.reference.online import learn_sgd as learn_sgd
from linnaeus.kernels.reference.online import settle_adagrad as settle_adagrad
from linnaeus.kernels.reference.online import settle_sgd as settle_sgd
from linnaeus.kernels.reference.pairs import align_tokens as align_tokens
from linnaeus.kernels.reference.pairs import meet_tokens as meet_tokens
from linnaeus.kernels.reference.pairs import subsequences as subsequences
from linnaeus.kernels.reference.pairs import token_keys as token_keys
from linnaeus.kernels.reference.redraw import draw_rows as draw_rows
from linnaeus.kernels.reference.score import Scorer as Scorer
from linnaeus.kernels.reference.score import weigh as weigh
from linnaeus.kernels.reference.team import team_epoch_hinge as team_epoch_hinge
from linnaeus.kernels.reference.team import team_epoch_squared_hinge as team_epoch_squared_hinge
from linnaeus.kernels.reference.team import team_gap_hinge as team_gap_hinge
from linnaeus.kernels.reference.team import team_gap_squared_hinge as team_gap_squared_hinge
from linnaeus.kernels.reference.terms import TermCounter as TermCounter
from linnaeus.kernels.reference.terms import hash_bytes as hash_bytes
from linnaeus.kernels.reference.terms import hash_terms as hash_terms
from linnaeus.kernels.reference.token_features import form_ids as form_ids
from linnaeus.kernels.reference.token_features import form_keys as form_keys
from linnaeus.kernels.reference.token_features import form_texts as form_texts
from linnaeus.kernels.reference.token_features import token_rows as token_rows
from linnaeus.kernels.reference.token_features import token_scores as token_scores
from linnaeus.kernels.reference.tokens import census as census
from linnaeus.kernels.reference.tokens import flag_texts as flag_texts
from linnaeus.kernels.reference.tokens import pack_texts as pack_texts
from linnaeus.kernels.reference.tokens import tokens as tokens
from linnaeus.kernels.reference.tolerances import TOLERANCES as TOLERANCES
from linnaeus.kernels.reference.trees import walk_trees as walk_trees
