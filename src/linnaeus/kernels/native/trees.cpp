// Problem: S += the values of the leaves that sparse rows X (n, d) come to, in T decision trees.
//
// The nodes of all trees lie one after the other; those of tree t are starts[t] .. starts[t+1], its root the first. At
// an inner node a row goes left where x[feature] <= threshold, both float32, else right; a child has a larger number
// than its parent, so that every walk ends. A leaf has the feature -1, and in `left` its row of the values (m, q),
// which are added to the columns slots[t] .. slots[t] + q of S. Each sum runs over the trees in order, in float64;
// pieces are ranges of rows. (Breiman, Friedman, Olshen and Stone, "Classification and regression trees", 1984.)
//
// A row is laid out in a block of d zeros, taken through all trees, and wiped out again. Nothing is checked twice: a
// child or a feature that leads out of the arrays is noticed when a row comes to it.
#include "blocks.hpp"
#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 32;

using Forest = std::tuple<In<int64_t>, In<int32_t>, In<int32_t>, In<float>, In<int32_t>, In<int32_t>>;

struct Trees {
  const int64_t* starts;
  const int32_t *slots, *feature, *left, *right;
  const float *threshold, *values;
  size_t count, leaves, q, width;

  Trees(const Forest& arrays, const Table<float>& table, size_t d, size_t k)
      : starts(std::get<0>(arrays).data()),
        slots(std::get<1>(arrays).data()),
        feature(std::get<2>(arrays).data()),
        left(std::get<4>(arrays).data()),
        right(std::get<5>(arrays).data()),
        threshold(std::get<3>(arrays).data()),
        values(table.data()),
        count(std::get<1>(arrays).size()),
        leaves(table.shape(0)),
        q(table.shape(1)),
        width(d) {
    size_t nodes = std::get<2>(arrays).size();
    bool fits = std::get<0>(arrays).size() == count + 1 && starts[0] == 0 && uint64_t(starts[count]) == nodes;
    for (size_t t = 0; fits && t < count; ++t)
      fits = starts[t] < starts[t + 1] && slots[t] >= 0 && size_t(slots[t]) + q <= k;
    fits = fits && std::get<3>(arrays).size() == nodes && std::get<4>(arrays).size() == nodes;
    if (!fits || std::get<5>(arrays).size() != nodes)
      throw std::invalid_argument("walk_trees: the trees do not fit together");
  }

  // The values of the leaf that the row x comes to in tree t. One comparison tells inner nodes from all others, and one
  // whether a child is behind its parent and within the tree.
  const float* leaf(size_t t, const float* x) const {
    uint64_t at = uint64_t(starts[t]), last = uint64_t(starts[t + 1]) - 1;
    for (uint32_t j; (j = uint32_t(feature[at])) < width;) {
      uint64_t next = uint64_t(int64_t(left[at]));
      if (!(x[j] <= threshold[at])) [[unlikely]]
        next = uint64_t(int64_t(right[at]));
      if (next - at - 1 >= last - at) throw std::invalid_argument("walk_trees: a child is not behind its parent");
      at = next;
    }
    if (feature[at] != -1) throw std::invalid_argument("walk_trees: a feature is outside the rows");
    if (size_t(uint32_t(left[at])) >= leaves) throw std::invalid_argument("walk_trees: a leaf has no values");
    return values + size_t(left[at]) * q;
  }

  void add(const float* x, double* out) const {
    for (size_t t = 0; t < count; ++t) {
      const float* found = leaf(t, x);
      for (size_t c = 0; c < q; ++c) out[size_t(slots[t]) + c] += double(found[c]);
    }
  }
};

// Given: rows of `width` columns, trees (starts, slots, features, thresholds, left, right) and the values of leaves.
// Changed: out (n, k), to which the values are added.
template <class X>
void walk_trees(Sparse<X> rows, Forest trees, Table<float> values, int64_t width, TableOut<double> out, int threads) {
  Lines<X> matrix(rows, "walk_trees");
  if (width < 0 || width > int64_t(1) << 31 || out.shape(0) != matrix.count)
    throw std::invalid_argument("walk_trees: the result does not fit the rows");
  size_t k = out.shape(1);
  Trees forest(trees, values, size_t(width), k);
  threads = worth(threads, matrix.count * forest.count * 4);
  nb::gil_scoped_release release;
  auto workers = make_workers<std::vector<float>>(threads, size_t(width), 0.0f);
  for_each_piece((matrix.count + kRowsPerPiece - 1) / kRowsPerPiece, threads, [&](size_t piece, int worker) {
    float* x = workers[size_t(worker)].data();
    size_t last = std::min(matrix.count, (piece + 1) * kRowsPerPiece);
    for (size_t r = piece * kRowsPerPiece; r < last; ++r) {
      if (!matrix.fits(r, size_t(width))) throw std::invalid_argument("walk_trees: a column is outside the rows");
      for (int64_t i = matrix.offsets[r]; i < matrix.offsets[r + 1]; ++i)
        x[matrix.indices[i]] = float(matrix.values[i]);
      forest.add(x, out.data() + r * k);
      for (int64_t i = matrix.offsets[r]; i < matrix.offsets[r + 1]; ++i) x[matrix.indices[i]] = 0.0f;
    }
  });
}

template <class X>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def("walk_trees", &walk_trees<X>, "rows"_a.noconvert(), "trees"_a.noconvert(), "values"_a.noconvert(), "width"_a,
        "out"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_trees(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}

}  // namespace linnaeus
