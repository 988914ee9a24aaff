// Problem: S = X W, for sparse rows X (n, d) and weights W (d, k); S (n, k) in float64.
//
// Each sum runs over the columns of a row, in order, one after the other: so a class has the same bits alone or among
// others, and pieces, which are ranges of rows, change nothing. Rows of W that come next are asked for early, because W
// is larger than the caches. The twin of this order by columns is rows_tdot of the transposed matrix: the same bits.
#include "parallel.hpp"
#include "row_dot.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 128;
constexpr size_t kCheckedRows = 16;  // whose columns are checked in one go, few enough to stay in the cache

template <class X, class W>
struct Work {
  Lines<X> rows;
  const W* weights;
  size_t width, k;
  double* out;
};

// False where a column is outside the weights. (An exception may not leave a function that is compiled several times.)
template <class X, class W>
LINNAEUS_CLONES bool dot_rows(const Work<X, W>& work, size_t first, size_t last) {
  const Lines<X>& rows = work.rows;
  bool fits = true;
  auto walk = [&](auto sum) LINNAEUS_LAMBDA {
    for (size_t r = first; r < last; ++r) {
      if ((r - first) % kCheckedRows == 0) fits = rows.fit(r, std::min(last, r + kCheckedRows), work.width);
      if (!fits) return;
      int64_t begin = rows.offsets[r];
      Stretch<X> row{rows.indices + begin, rows.values + begin, size_t(rows.offsets[r + 1] - begin),
                     size_t(rows.offsets[rows.count] - begin)};
      sum(row, work.out + r * work.k);
    }
  };
  if (work.k > kWide) {
    walk([&](const Stretch<X>& row, double* out) LINNAEUS_LAMBDA { dot_wide(row, work.weights, work.k, out); });
  } else {
    with_shape(work.k, [&](auto s) LINNAEUS_LAMBDA {
      walk([&](const Stretch<X>& row, double* out)
               LINNAEUS_LAMBDA { dot_row<decltype(s)>(row, work.weights, work.k, out); });
    });
  }
  return fits;
}

template <class X, class W>
void rows_dot(Sparse<X> rows, Table<W> weights, TableOut<double> out, int threads) {
  Lines<X> matrix(rows, "rows_dot");
  if (out.shape(0) != matrix.count || out.shape(1) != weights.shape(1))
    throw std::invalid_argument("rows_dot: the result does not fit the rows and the weights");
  Work<X, W> work{matrix, weights.data(), weights.shape(0), weights.shape(1), out.data()};
  if (!work.k) return;
  nb::gil_scoped_release release;
  for_each_piece((matrix.count + kRowsPerPiece - 1) / kRowsPerPiece, worth(threads, matrix.size() * work.k),
                 [&](size_t piece, int) {
                   size_t first = piece * kRowsPerPiece;
                   size_t last = std::min(matrix.count, first + kRowsPerPiece);
                   if (!dot_rows(work, first, last))
                     throw std::invalid_argument("rows_dot: a column is outside the weights");
                 });
}

template <class X, class W>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def("rows_dot", &rows_dot<X, W>, "rows"_a.noconvert(), "weights"_a.noconvert(), "out"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_rows_dot(nb::module_& m) {
  bind<float, float>(m);
  bind<float, double>(m);
  bind<double, float>(m);
  bind<double, double>(m);
}

}  // namespace linnaeus
