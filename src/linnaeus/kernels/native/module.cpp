// The compiled module: every kernel family registers itself here.
#include <nanobind/nanobind.h>

namespace linnaeus {
void bind_census(nanobind::module_& m);
void bind_chain(nanobind::module_& m);
void bind_chain_learn(nanobind::module_& m);
void bind_columns_dot(nanobind::module_& m);
void bind_correlate(nanobind::module_& m);
void bind_count_terms(nanobind::module_& m);
void bind_dense(nanobind::module_& m);
void bind_digests(nanobind::module_& m);
void bind_descend(nanobind::module_& m);
void bind_dual_epoch(nanobind::module_& m);
void bind_dual_gap(nanobind::module_& m);
void bind_dual_crammer(nanobind::module_& m);
void bind_dual_softmax(nanobind::module_& m);
void bind_forms(nanobind::module_& m);
void bind_graph_grow(nanobind::module_& m);
void bind_graph_near(nanobind::module_& m);
void bind_hash_terms(nanobind::module_& m);
void bind_index_terms(nanobind::module_& m);
void bind_minhash(nanobind::module_& m);
void bind_nearest(nanobind::module_& m);
void bind_online(nanobind::module_& m);
void bind_pack(nanobind::module_& m);
void bind_redraw(nanobind::module_& m);
void bind_rows_dot(nanobind::module_& m);
void bind_rows_tdot(nanobind::module_& m);
void bind_scan(nanobind::module_& m);
void bind_score(nanobind::module_& m);
void bind_soft(nanobind::module_& m);
void bind_sound(nanobind::module_& m);
void bind_subsequences(nanobind::module_& m);
void bind_team_epoch(nanobind::module_& m);
void bind_team_gap(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_tokens(nanobind::module_& m);
void bind_gather(nanobind::module_& m);
void bind_transpose(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_vectors(nanobind::module_& m);
void bind_weigh(nanobind::module_& m);
void bind_windows(nanobind::module_& m);
}  // namespace linnaeus

NB_MODULE(_native, m) {
  linnaeus::bind_census(m);
  linnaeus::bind_chain(m);
  linnaeus::bind_chain_learn(m);
  linnaeus::bind_columns_dot(m);
  linnaeus::bind_correlate(m);
  linnaeus::bind_count_terms(m);
  linnaeus::bind_dense(m);
  linnaeus::bind_digests(m);
  linnaeus::bind_descend(m);
  linnaeus::bind_dual_epoch(m);
  linnaeus::bind_dual_gap(m);
  linnaeus::bind_dual_crammer(m);
  linnaeus::bind_dual_softmax(m);
  linnaeus::bind_forms(m);
  linnaeus::bind_graph_grow(m);
  linnaeus::bind_graph_near(m);
  linnaeus::bind_hash_terms(m);
  linnaeus::bind_index_terms(m);
  linnaeus::bind_minhash(m);
  linnaeus::bind_nearest(m);
  linnaeus::bind_online(m);
  linnaeus::bind_pack(m);
  linnaeus::bind_redraw(m);
  linnaeus::bind_rows_dot(m);
  linnaeus::bind_rows_tdot(m);
  linnaeus::bind_scan(m);
  linnaeus::bind_score(m);
  linnaeus::bind_soft(m);
  linnaeus::bind_sound(m);
  linnaeus::bind_subsequences(m);
  linnaeus::bind_team_epoch(m);
  linnaeus::bind_team_gap(m);
  linnaeus::bind_pairs(m);
  linnaeus::bind_tokens(m);
  linnaeus::bind_gather(m);
  linnaeus::bind_transpose(m);
  linnaeus::bind_trees(m);
  linnaeus::bind_vectors(m);
  linnaeus::bind_weigh(m);
  linnaeus::bind_windows(m);
}
