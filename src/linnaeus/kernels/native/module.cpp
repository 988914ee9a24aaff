// The compiled module: one row for each family of kernels, which binds them in its own file.
#include <nanobind/nanobind.h>

// clang-format off
#define FAMILIES \
  BIND(arc_learn) \
  BIND(arcs) \
  BIND(bag) \
  BIND(census) \
  BIND(chain) \
  BIND(chain_learn) \
  BIND(columns_dot) \
  BIND(cooccur) \
  BIND(correlate) \
  BIND(count_terms) \
  BIND(dense) \
  BIND(dependency) \
  BIND(descend) \
  BIND(digests) \
  BIND(dual_crammer) \
  BIND(dual_epoch) \
  BIND(dual_gap) \
  BIND(dual_softmax) \
  BIND(fold_columns) \
  BIND(forms) \
  BIND(gather) \
  BIND(graph_grow) \
  BIND(graph_near) \
  BIND(hash_terms) \
  BIND(index_terms) \
  BIND(label_learn) \
  BIND(label_order) \
  BIND(label_search) \
  BIND(minhash) \
  BIND(nearest) \
  BIND(online) \
  BIND(pack) \
  BIND(pairs) \
  BIND(redraw) \
  BIND(rows_dot) \
  BIND(rows_tdot) \
  BIND(scan) \
  BIND(score) \
  BIND(soft) \
  BIND(sound) \
  BIND(subsequences) \
  BIND(subwords) \
  BIND(team_epoch) \
  BIND(team_gap) \
  BIND(tokens) \
  BIND(transpose) \
  BIND(trees) \
  BIND(vectors) \
  BIND(weigh) \
  BIND(windows) \
  BIND(word_rounds)
// clang-format on

namespace linnaeus {
#define BIND(family) void bind_##family(nanobind::module_& m);
FAMILIES
#undef BIND
}  // namespace linnaeus

NB_MODULE(_native, m) {
#define BIND(family) linnaeus::bind_##family(m);
  FAMILIES
#undef BIND
}
