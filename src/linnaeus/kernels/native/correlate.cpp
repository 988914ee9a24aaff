// Products with a sparse matrix that is given by columns.
//
// `correlate`: the inner product of each column with one vector; the gradient of a sum over rows from the slope of each
// row. `correlate_block`: with several vectors at once, so that the matrix is read once for all. `combine`: a sum of
// some columns, each times a number; scores from weights of which few are not zero.
//
// For an inner product each column is summed in four lanes, value i in lane i mod 4: the processor need not wait for
// one sum after the other, and the bits do not depend on how columns were shared out to threads.
#include "lanes.hpp"
#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kColumnsPerPiece = 2048;

// Given: columns (d) and a vector (n).  Returned: the d inner products.
template <class T>
auto correlate(Sparse<T> arrays, In<double> vector, int threads) {
  Lines<T> columns(arrays, "correlate");
  Buffer<double> products(columns.count);
  {
    nb::gil_scoped_release release;
    size_t pieces = (columns.count + kColumnsPerPiece - 1) / kColumnsPerPiece;
    for_each_piece(pieces, threads, [&](size_t piece, int) {
      size_t stop = std::min(columns.count, (piece + 1) * kColumnsPerPiece);
      for (size_t j = piece * kColumnsPerPiece; j < stop; ++j) {
        if (!columns.fits(j, vector.size())) throw std::invalid_argument("correlate: an index is not in the vector");
        products[j] = dot_line(columns, j, vector.data());
      }
    });
  }
  return to_numpy(std::move(products));
}

// Given: columns (d) and m vectors, row by row (n m).  Returned: the inner products, vector by vector (m d). Each is
// summed in the order of its column, so its bits do not depend on the vectors beside it.
template <class T>
auto correlate_block(Sparse<T> arrays, In<double> vectors, int64_t m, int threads) {
  Lines<T> columns(arrays, "correlate_block");
  if (m < 1 || vectors.size() % size_t(m)) throw std::invalid_argument("correlate_block: not m vectors of one length");
  size_t d = columns.count, width = size_t(m), n = vectors.size() / width;
  Buffer<double> products(d * width);
  {
    nb::gil_scoped_release release;
    auto workers = make_workers<std::vector<double>>(threads, width);
    for_each_piece((d + kColumnsPerPiece - 1) / kColumnsPerPiece, threads, [&](size_t piece, int worker) {
      double* sums = workers[size_t(worker)].data();
      for (size_t j = piece * kColumnsPerPiece; j < std::min(d, (piece + 1) * kColumnsPerPiece); ++j) {
        if (!columns.fits(j, n)) throw std::invalid_argument("correlate_block: an index is not in the vectors");
        std::fill_n(sums, width, 0.0);
        for (int64_t i = columns.offsets[j]; i < columns.offsets[j + 1]; ++i) {
          const double* row = vectors.data() + size_t(columns.indices[i]) * width;
          double value = double(columns.values[i]);
          for (size_t v = 0; v < width; ++v) sums[v] += value * row[v];
        }
        for (size_t v = 0; v < width; ++v) products[v * d + j] = sums[v];
      }
    });
  }
  return to_numpy(std::move(products));
}

// Given: columns (d), which are picked, a number for each of them.  Changed: `total` (n) becomes their combination.
template <class T>
void combine(Sparse<T> arrays, In<int32_t> picked, In<double> times, InOut<double> total) {
  Lines<T> columns(arrays, "combine");
  columns.check_picked(picked.data(), picked.size(), total.size(), "combine");
  if (times.size() != picked.size()) throw std::invalid_argument("combine: not one number for each picked column");
  nb::gil_scoped_release release;
  std::fill_n(total.data(), total.size(), 0.0);
  for (size_t p = 0; p < picked.size(); ++p) add_line(columns, size_t(picked.data()[p]), times.data()[p], total.data());
}

}  // namespace

void bind_correlate(nb::module_& m) {
  using namespace nb::literals;
  m.def("correlate", &correlate<float>, "columns"_a, "vector"_a, "threads"_a);
  m.def("correlate", &correlate<double>, "columns"_a, "vector"_a, "threads"_a);
  m.def("correlate_block", &correlate_block<float>, "columns"_a, "vectors"_a, "m"_a, "threads"_a);
  m.def("correlate_block", &correlate_block<double>, "columns"_a, "vectors"_a, "m"_a, "threads"_a);
  m.def("combine", &combine<float>, "columns"_a, "picked"_a, "times"_a, "total"_a);
  m.def("combine", &combine<double>, "columns"_a, "picked"_a, "times"_a, "total"_a);
}

}  // namespace linnaeus
