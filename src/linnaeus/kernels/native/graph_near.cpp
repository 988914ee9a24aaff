// Problem: rows near to each query, found by a walk through a graph of near rows (see graph.hpp).
//
// Given: vectors (n, d), scales (n), the graph, queries (m, d) and their scales, how many rows are wanted and the width
// ef of the walk. Returned: rows (m * count) and their gaps (the squared distance, or minus the scaled product),
// nearest first; -1 and 0 where fewer were found. Every number of the graph is checked before it is followed.
#include <nanobind/stl/pair.h>

#include "graph.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {
using namespace graph;

constexpr size_t kQueriesPerPiece = 8;

template <class Gap>
LINNAEUS_CLONES void find(const View& view, Target target, size_t ef, Walker& walker) {
  descend<Gap>(view, target, 0, walker);
  restart(view, walker);
  walk_layer<Gap>(view, target, 0, ef, walker);
}

using Asked = std::tuple<Grid<const float>, In<float>>;

template <class Gap>
auto near(Grid<const float> vectors, In<float> scales, Layers<const int32_t> layers, Asked asked,
          std::pair<int64_t, int64_t> wanted, int threads) {
  View view = view_of(vectors, scales, layers);
  auto& [queries, factors] = asked;
  auto [count, ef] = wanted;
  size_t m = queries.shape(0);
  if (queries.shape(1) != view.d || factors.size() != m || !view.n)
    throw std::invalid_argument("graph: the queries do not fit the rows");
  if (count < 1 || ef < count || ef > INT32_MAX) throw std::invalid_argument("graph: not so many rows");
  size_t k = size_t(count);
  view.begin(view.n);
  Buffer<int32_t> rows(m * k);
  Buffer<float> gaps(m * k);
  {
    nb::gil_scoped_release release;
    std::vector<Walker> walkers(size_t(std::max(threads, 1)));
    for_each_piece((m + kQueriesPerPiece - 1) / kQueriesPerPiece, threads, [&](size_t piece, int worker) {
      Walker& walker = walkers[size_t(worker)];
      size_t stop = std::min(m, (piece + 1) * kQueriesPerPiece);
      for (size_t i = piece * kQueriesPerPiece; i < stop; ++i) {
        find<Gap>(view, {queries.data() + i * view.d, factors.data()[i]}, size_t(ef), walker);
        for (size_t j = 0; j < k; ++j) {
          bool there = j < walker.beam.size();
          rows[i * k + j] = there ? walker.beam[j].row : -1;
          gaps[i * k + j] = there ? walker.beam[j].gap : 0.0f;
        }
      }
    });
  }
  return std::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(gaps)));
}

}  // namespace

void bind_graph_near(nb::module_& m) {
  using namespace nb::literals;
  m.def("graph_near_squared", &near<Squared>, "vectors"_a.noconvert(), "scales"_a.noconvert(), "layers"_a, "queries"_a,
        "wanted"_a, "threads"_a);
  m.def("graph_near_dot", &near<Dot>, "vectors"_a.noconvert(), "scales"_a.noconvert(), "layers"_a, "queries"_a,
        "wanted"_a, "threads"_a);
}

}  // namespace linnaeus
