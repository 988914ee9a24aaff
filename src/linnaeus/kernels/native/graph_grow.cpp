// Problem: a graph of near rows, one batch of rows after the other, the same for any number of threads.
//
// Given: vectors (n, d), scales (n), a graph of the rows before `first`, and the batch first .. last. Each row of the
// batch walks through the graph as it was before the batch, and links itself to near rows that are not nearer to each
// other than to it; then every row that was linked to takes the links back, all of a batch at once, and keeps those
// that this rule keeps. Rows of a batch do not see each other: batches are to be small beside the graph (Manohar et
// al., ParlayANN: Scalable and deterministic parallel graph-based approximate nearest neighbor search algorithms,
// 2024).
#include <nanobind/stl/pair.h>

#include "graph.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {
using namespace graph;

constexpr size_t kRowsPerPiece = 8;
constexpr size_t kListsPerPiece = 16;

// Of points in their order, those that no kept one is nearer to than the target is; at most `most`. In place.
template <class Gap>
LINNAEUS_INLINE void keep_apart(const View& view, std::vector<Point>& points, size_t most) {
  size_t kept = 0;
  for (size_t i = 0; i < points.size() && kept < most; ++i) {
    size_t row = size_t(points[i].row);
    bool apart = true;
    for (size_t j = 0; j < kept && apart; ++j) {
      size_t other = size_t(points[j].row);
      apart = !(gap_of<Gap>(view.point(row), view.point(other), view.d) < points[i].gap);
    }
    if (apart) points[kept++] = points[i];
  }
  points.resize(kept);
}

void write(int32_t* list, const std::vector<Point>& points) {
  list[0] = int32_t(points.size());
  for (size_t i = 0; i < points.size(); ++i) list[1 + i] = points[i].row;
}

// One new row: its lists in all its layers. Half of a list of layer 0 is left for those who link back.
template <class Gap>
LINNAEUS_CLONES void link_row(const View& view, size_t row, size_t ef, Walker& walker) {
  Target target = view.point(row);
  size_t top = size_t(view.levels[view.entry]);
  size_t layer = std::min(top, size_t(view.levels[row]));
  descend<Gap>(view, target, layer, walker);
  std::vector<Point> chosen;
  for (size_t l = layer + 1; l-- > 0;) {
    restart(view, walker);
    walk_layer<Gap>(view, target, l, ef, walker);
    chosen = walker.beam;
    keep_apart<Gap>(view, chosen, view.width / 2);
    if (int32_t* list = view.list(row, l)) write(list, chosen);
  }
}

// A link back: row `target` was linked to by `source` in a layer.
struct Back {
  int32_t layer, target, source;
  bool operator<(const Back& o) const {
    if (layer != o.layer) return layer < o.layer;
    return target != o.target ? target < o.target : source < o.source;
  }
};

// All links back to one row in one layer.
template <class Gap>
LINNAEUS_CLONES void link_back(const View& view, const Back* first, const Back* last, std::vector<Point>& points) {
  size_t layer = size_t(first->layer), row = size_t(first->target), most = view.most(layer);
  int32_t* list = view.list(row, layer);
  if (!list) return;
  size_t count = std::min(size_t(std::max(list[0], 0)), most);
  if (count + size_t(last - first) <= most) {
    for (const Back* b = first; b < last; ++b) list[1 + count++] = b->source;
    list[0] = int32_t(count);
    return;
  }
  points.clear();
  auto add = [&](int32_t other) LINNAEUS_LAMBDA {
    if (size_t(uint32_t(other)) >= view.n) return;
    size_t o = size_t(other);
    float gap = gap_of<Gap>(view.point(row), view.point(o), view.d);
    points.push_back({gap, other});
  };
  for (size_t i = 1; i <= count; ++i) add(list[i]);
  for (const Back* b = first; b < last; ++b) add(b->source);
  std::sort(points.begin(), points.end());
  keep_apart<Gap>(view, points, most);
  write(list, points);
}

std::vector<Back> links_back(const View& view, size_t first, size_t last) {
  std::vector<Back> backs;
  for (size_t row = first; row < last; ++row)
    for (size_t l = 0; l <= size_t(view.levels[row]); ++l) {
      const int32_t* list = view.list(row, l);
      if (!list) continue;
      for (int32_t i = 1; i <= list[0] && size_t(i) <= view.most(l); ++i)
        if (size_t(uint32_t(list[i])) < first) backs.push_back({int32_t(l), list[i], int32_t(row)});
    }
  std::sort(backs.begin(), backs.end());
  return backs;
}

template <class Gap>
void grow(Grid<const float> vectors, In<float> scales, Layers<int32_t> layers, std::pair<int64_t, int64_t> batch,
          int64_t ef, int threads) {
  View view = view_of(vectors, scales, layers);
  auto [first, last] = batch;
  if (first < 1 || last < first || size_t(last) > view.n || ef < 1)
    throw std::invalid_argument("graph: the batch does not fit the rows");
  nb::gil_scoped_release release;
  size_t from = size_t(first), count = size_t(last - first);
  view.begin(from);
  std::vector<Walker> walkers(size_t(std::max(threads, 1)));
  for_each_piece((count + kRowsPerPiece - 1) / kRowsPerPiece, threads, [&](size_t piece, int worker) {
    size_t stop = std::min(count, (piece + 1) * kRowsPerPiece);
    for (size_t i = piece * kRowsPerPiece; i < stop; ++i)
      link_row<Gap>(view, from + i, size_t(ef), walkers[size_t(worker)]);
  });
  std::vector<Back> backs = links_back(view, from, size_t(last));
  std::vector<size_t> cuts;
  for (size_t i = 0; i < backs.size(); ++i)
    if (!i || backs[i].target != backs[i - 1].target || backs[i].layer != backs[i - 1].layer) cuts.push_back(i);
  size_t lists = cuts.size();
  cuts.push_back(backs.size());
  std::vector<std::vector<Point>> scratch(size_t(std::max(threads, 1)));
  for_each_piece((lists + kListsPerPiece - 1) / kListsPerPiece, threads, [&](size_t piece, int worker) {
    size_t stop = std::min(lists, (piece + 1) * kListsPerPiece);
    for (size_t i = piece * kListsPerPiece; i < stop; ++i)
      link_back<Gap>(view, backs.data() + cuts[i], backs.data() + cuts[i + 1], scratch[size_t(worker)]);
  });
}

}  // namespace

void bind_graph_grow(nb::module_& m) {
  using namespace nb::literals;
  m.def("graph_grow_squared", &grow<Squared>, "vectors"_a.noconvert(), "scales"_a.noconvert(), "layers"_a, "batch"_a,
        "ef"_a, "threads"_a);
  m.def("graph_grow_dot", &grow<Dot>, "vectors"_a.noconvert(), "scales"_a.noconvert(), "layers"_a, "batch"_a, "ef"_a,
        "threads"_a);
}

}  // namespace linnaeus
