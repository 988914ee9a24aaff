// Problem: S = X W, for X (n, d) by columns and weights W (d, k); S (n, k) in float64.
//
// The large table W is walked over once, in order, and only the small one S is jumped about in. The columns are cut
// into `pieces` of about as many stored values each, whatever the number of threads: a piece has scores of its own,
// summed in the order of its columns, and these are added in the order of the pieces.
#include "blocks.hpp"
#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 512;
constexpr size_t kCheckedLines = 64;  // whose rows are checked in one go, few enough to stay in the cache

template <class X, class W>
struct Work {
  Lines<X> columns;
  const W* weights;
  size_t n, k;
};

// The scores that the columns first .. last give. False where a row is outside the result.
template <class X, class W>
LINNAEUS_CLONES bool add_columns(const Work<X, W>& work, size_t first, size_t last, double* out) {
  const Lines<X>& columns = work.columns;
  const size_t k = work.k;
  std::fill(out, out + work.n * k, 0.0);
  bool fits = true;
  auto walk = [&](auto add) LINNAEUS_LAMBDA {
    for (size_t j = first; j < last; ++j) {
      if ((j - first) % kCheckedLines == 0) fits = columns.fit(j, std::min(last, j + kCheckedLines), work.n);
      if (!fits) return;
      int64_t begin = columns.offsets[j];
      add(Stretch<X>{columns.indices + begin, columns.values + begin, size_t(columns.offsets[j + 1] - begin),
                     size_t(columns.offsets[last] - begin)},
          work.weights + j * k);
    }
  };
  if (k > kWide) {
    walk([&](const Stretch<X>& line, const W* w) LINNAEUS_LAMBDA { add_outer_wide(line, w, out, k); });
  } else {
    with_shape(k, [&](auto s) LINNAEUS_LAMBDA {
      walk([&](const Stretch<X>& line, const W* w) LINNAEUS_LAMBDA { add_outer<decltype(s)>(line, w, out, k); });
    });
  }
  return fits;
}

LINNAEUS_CLONES void add_all(double* __restrict to, const double* __restrict from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] += from[i];
}

// Given: X by columns (d), W, into how many pieces the columns are cut.  Changed: out (n, k).
template <class X, class W>
void columns_dot(Sparse<X> arrays, Table<W> weights, TableOut<double> out, size_t pieces, int threads) {
  Lines<X> columns(arrays, "columns_dot");
  size_t n = out.shape(0), k = out.shape(1);
  if (weights.shape(0) != columns.count || weights.shape(1) != k)
    throw std::invalid_argument("columns_dot: the result does not fit the columns and the weights");
  if (pieces < 1 || pieces > 1024) throw std::invalid_argument("columns_dot: not 1 to 1024 pieces");
  if (!k) return;
  Work<X, W> work{columns, weights.data(), n, k};
  nb::gil_scoped_release release;
  int workers = worth(threads, columns.size() * k);
  const int64_t* offsets = columns.offsets;
  std::vector<size_t> cuts{0};
  for (size_t p = 1; p < pieces; ++p) {
    int64_t wanted = columns.count ? offsets[0] + int64_t(columns.size() / pieces * p) : 0;
    cuts.push_back(size_t(std::lower_bound(offsets, offsets + columns.count, wanted) - offsets));
  }
  cuts.push_back(columns.count);
  Buffer<double> rest((pieces - 1) * n * k);
  auto part = [&](size_t p) { return p ? rest.get() + (p - 1) * n * k : out.data(); };
  for_each_piece(pieces, workers, [&](size_t p, int) {
    if (!add_columns(work, cuts[p], cuts[p + 1], part(p)))
      throw std::invalid_argument("columns_dot: a row is outside the result");
  });
  for_each_piece((n + kRowsPerPiece - 1) / kRowsPerPiece, worth(threads, n * k * pieces), [&](size_t piece, int) {
    size_t first = piece * kRowsPerPiece * k, size = std::min(n * k - first, kRowsPerPiece * k);
    for (size_t p = 1; p < pieces; ++p) add_all(out.data() + first, part(p) + first, size);
  });
}

template <class X, class W>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def("columns_dot", &columns_dot<X, W>, "columns"_a.noconvert(), "weights"_a.noconvert(), "out"_a.noconvert(),
        "pieces"_a, "threads"_a);
}

}  // namespace

void bind_columns_dot(nb::module_& m) {
  bind<float, float>(m);
  bind<float, double>(m);
  bind<double, float>(m);
  bind<double, double>(m);
}

}  // namespace linnaeus
