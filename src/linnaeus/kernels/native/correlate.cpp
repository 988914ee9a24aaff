// Products with a sparse matrix that is given by columns.
//
// `correlate`: the inner product of each column with one vector; the gradient of a sum over rows from the slope of each
// row. `combine`: a sum of some columns, each times a number; scores from weights of which few are not zero.
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
  m.def("combine", &combine<float>, "columns"_a, "picked"_a, "times"_a, "total"_a);
  m.def("combine", &combine<double>, "columns"_a, "picked"_a, "times"_a, "total"_a);
}

}  // namespace linnaeus
