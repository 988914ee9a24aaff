// A graph of near rows in layers, and the walk through it: what building and searching share.
//
// Every row is a point of layer 0, some of layer 1 too, fewer of layer 2, as `levels` (n) says. `links` (n, 1 + w) has
// the neighbors in layer 0: how many, then their rows. `uppers` has the lists of the layers above, (1 + w / 2) numbers
// each, those of a row one after the other from number `offsets[row]` on. The way in is the first row of the highest
// layer among the first `size` rows.
//
// Malkov and Yashunin: Efficient and robust approximate nearest neighbor search using hierarchical navigable small
// world graphs, 2018.
#pragma once
#include <cstring>
#include <stdexcept>

#include "blocks.hpp"
#include "lines.hpp"
#include "nearest.hpp"
#include "sparse.hpp"

namespace linnaeus::graph {

using lines::kLanes;
using lines::Line;
using lines::load;

constexpr size_t kLine = 64;       // bytes
constexpr uint32_t kHighest = 64;  // layers above layer 0

// How far rows are from each other in the graph: the less, the nearer. Terms are summed in 16 lanes, value i in lane
// i mod 16, which are then added in halves.
struct Squared {
  static LINNAEUS_INLINE void add(Line& sum, const Line& x, const Line& y) { sum = sum + (x - y) * (x - y); }
  static LINNAEUS_INLINE float finish(float sum, float, float) { return sum; }
};
struct Dot {
  static LINNAEUS_INLINE void add(Line& sum, const Line& x, const Line& y) { sum = sum + x * y; }
  static LINNAEUS_INLINE float finish(float sum, float s, float t) { return -(sum * s * t); }
};

struct Target {
  const float* vector;
  float scale;
};

template <class Gap>
LINNAEUS_INLINE float gap_of(Target a, Target b, size_t d) {
  Line sum = {}, x, y;
  size_t j = 0;
  for (; j + kLanes <= d; j += kLanes) {
    load(x, a.vector + j);
    load(y, b.vector + j);
    Gap::add(sum, x, y);
  }
  if (j < d) {
    float rest[2][kLanes] = {};
    std::memcpy(rest[0], a.vector + j, (d - j) * sizeof(float));
    std::memcpy(rest[1], b.vector + j, (d - j) * sizeof(float));
    load(x, rest[0]);
    load(y, rest[1]);
    Gap::add(sum, x, y);
  }
  float s[kLanes];
  std::memcpy(s, &sum, sizeof s);
  for (size_t half = kLanes / 2; half; half /= 2)
    for (size_t i = 0; i < half; ++i) s[i] += s[i + half];
  return Gap::finish(s[0], a.scale, b.scale);
}

struct Point {
  float gap;
  int32_t row;
  bool done = false;  // its neighbors have been looked at

  bool operator<(const Point& other) const { return gap < other.gap || (gap == other.gap && row < other.row); }
};

// The arrays, of which nothing is believed: whoever follows a number checks it first.
struct View {
  const float* vectors;
  const float* scales;  // what products with each row are multiplied by (n)
  const int32_t* levels;
  const int64_t* offsets;
  int32_t* links;
  int32_t* uppers;
  size_t n, d, width, stored;  // width: of a list of layer 0
  size_t size = 0, entry = 0;

  size_t most(size_t layer) const { return layer ? width / 2 : width; }
  Target point(size_t row) const { return {vectors + row * d, scales[row]}; }

  // The list of a row in a layer; none where it would lie outside.
  int32_t* list(size_t row, size_t layer) const {
    if (!layer) return links + row * (1 + width);
    size_t each = 1 + width / 2;
    if (layer > size_t(levels[row]) || offsets[row] < 0) return nullptr;
    size_t at = size_t(offsets[row]) + (layer - 1) * each;
    return at + each <= stored ? uppers + at : nullptr;
  }

  // The graph of the first rows alone; the way in is the first of the highest layer.
  void begin(size_t rows) { size = rows, entry = size_t(std::max_element(levels, levels + rows) - levels); }
};

// One walk at a time: where it has been, and the nearest points it knows, nearest first.
struct Walker {
  std::vector<uint16_t> seen;
  uint16_t mark = 0;
  std::vector<Point> beam;
  std::vector<int32_t> fresh;

  void begin(size_t n) {
    if (seen.size() < n) seen.assign(n, 0), mark = 0;
    if (++mark == 0) std::fill(seen.begin(), seen.end(), uint16_t(0)), mark = 1;
  }

  // Puts a point in its place among the `ef` best; where that is.
  size_t put(Point point, size_t ef) {
    if (beam.size() == ef) {
      if (!(point < beam.back())) return ef;
      beam.pop_back();
    }
    auto place = std::upper_bound(beam.begin(), beam.end(), point);
    size_t at = size_t(place - beam.begin());
    beam.insert(place, point);
    return at;
  }
};

LINNAEUS_INLINE void prefetch_vector(const View& view, int32_t row) {
  size_t bytes = view.d * sizeof(float);
  for (size_t b = 0; b < bytes; b += kLine) prefetch(view.vectors, size_t(row) * bytes + b);
}

// The neighbors of a point that the walk has not seen yet.
LINNAEUS_INLINE void look_around(const View& view, const int32_t* list, size_t layer, Walker& walker) {
  walker.fresh.clear();
  if (!list) return;
  size_t count = std::min(size_t(std::max(list[0], 0)), view.most(layer));
  for (size_t i = 1; i <= count; ++i) {
    int32_t row = list[i];
    if (size_t(uint32_t(row)) >= view.size || walker.seen[size_t(row)] == walker.mark) continue;
    walker.seen[size_t(row)] = walker.mark;
    walker.fresh.push_back(row);
    if (walker.fresh.size() <= 4) prefetch_vector(view, row);
  }
}

// From the points in the beam on, the `ef` nearest to the target in a layer that a greedy walk finds.
template <class Gap>
LINNAEUS_INLINE void walk_layer(const View& view, Target target, size_t layer, size_t ef, Walker& walker) {
  for (size_t next = 0; next < walker.beam.size();) {
    Point& point = walker.beam[next];
    if (point.done) {
      ++next;
      continue;
    }
    point.done = true;
    look_around(view, view.list(size_t(point.row), layer), layer, walker);
    size_t lowest = next + 1;
    for (size_t i = 0; i < walker.fresh.size(); ++i) {
      if (i + 4 < walker.fresh.size()) prefetch_vector(view, walker.fresh[i + 4]);
      size_t row = size_t(walker.fresh[i]);
      float gap = gap_of<Gap>(target, view.point(row), view.d);
      lowest = std::min(lowest, walker.put({gap, int32_t(row)}, ef));
    }
    next = std::min(next, lowest);
  }
}

// Down from the way in to `layer`, one nearest point at a time; the beam holds where it ends.
template <class Gap>
LINNAEUS_INLINE void descend(const View& view, Target target, size_t layer, Walker& walker) {
  size_t row = view.entry, top = size_t(view.levels[row]);
  walker.beam.clear();
  float gap = gap_of<Gap>(target, view.point(row), view.d);
  walker.beam.push_back({gap, int32_t(row)});
  for (size_t l = top; l > layer; --l) {
    walker.begin(view.n);
    walker.seen[size_t(walker.beam[0].row)] = walker.mark;
    walker.beam[0].done = false;
    walk_layer<Gap>(view, target, l, 1, walker);
  }
}

// The beam as where the walk through the next layer starts.
inline void restart(const View& view, Walker& walker) {
  walker.begin(view.n);
  for (Point& point : walker.beam) point.done = false, walker.seen[size_t(point.row)] = walker.mark;
}

template <class T>
using Grid = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Layers =
    std::tuple<In<int32_t>, In<int64_t>, Grid<T>, nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

// The arrays checked against each other; T is int32_t where lists are written.
template <class T>
View view_of(const Grid<const float>& vectors, const In<float>& scales, const Layers<T>& layers) {
  auto& [levels, offsets, links, uppers] = layers;
  size_t n = vectors.shape(0);
  if (scales.size() != n || levels.size() != n || offsets.size() != n || links.shape(0) != n || links.shape(1) < 3)
    throw std::invalid_argument("graph: the arrays do not fit each other");
  if (n > size_t(INT32_MAX)) throw std::invalid_argument("graph: too many rows for int32");
  uint32_t highest = 0;  // a level below zero is a large one
  for (size_t i = 0; i < n; ++i) highest = std::max(highest, uint32_t(levels.data()[i]));
  if (highest > kHighest) throw std::invalid_argument("graph: a level is out of range");
  return {vectors.data(),
          scales.data(),
          levels.data(),
          offsets.data(),
          const_cast<int32_t*>(links.data()),
          const_cast<int32_t*>(uppers.data()),
          n,
          vectors.shape(1),
          links.shape(1) - 1,
          uppers.size()};
}

}  // namespace linnaeus::graph
