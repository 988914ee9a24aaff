// One pass over what a sparse matrix stores: squared lengths of rows, the first value that is no finite number, and
// whether columns fit and ascend.
#include <atomic>
#include <bit>
#include <limits>

#include "sparse.hpp"
#include "parallel.hpp"
#include "targets.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 1024;
constexpr size_t kValuesPerPiece = size_t(1) << 18;
constexpr size_t kValuesPerLook = size_t(1) << 12;

// Problem: ||x_i||^2 of each row, summed in float64 in the order of the columns. Returned: (n).
template <class X>
auto row_squares(Sparse<X> rows, int threads) {
  Lines<X> matrix(rows, "row_squares");
  Buffer<double> squares(matrix.count);
  {
    nb::gil_scoped_release release;
    auto add = [&](size_t piece, int) {
      size_t last = std::min(matrix.count, (piece + 1) * kRowsPerPiece);
      for (size_t r = piece * kRowsPerPiece; r < last; ++r) {
        double sum = 0;
        for (int64_t i = matrix.offsets[r]; i < matrix.offsets[r + 1]; ++i)
          sum += double(matrix.values[i]) * double(matrix.values[i]);
        squares[r] = sum;
      }
    };
    for_each_piece((matrix.count + kRowsPerPiece - 1) / kRowsPerPiece, worth(threads, matrix.size()), add);
  }
  return to_numpy(std::move(squares));
}

// NaN and infinities have all bits of the exponent set: compared as whole numbers, sixteen at a time.
template <class X>
LINNAEUS_CLONES bool all_finite(const X* values, size_t n) {
  using Word = std::conditional_t<sizeof(X) == 4, uint32_t, uint64_t>;
  constexpr Word exponent = std::bit_cast<Word>(std::numeric_limits<X>::infinity());
  Word bad = 0;
  for (size_t i = 0; i < n; ++i) bad |= Word((std::bit_cast<Word>(values[i]) & exponent) == exponent);
  return !bad;
}

template <class X>
size_t first_in(const X* values, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i += kValuesPerLook) {
    size_t stop = std::min(end, i + kValuesPerLook);
    if (all_finite(values + i, stop - i)) continue;
    while (all_finite(values + i, 1)) ++i;
    return i;
  }
  return end;
}

// Problem: where the first NaN or infinity stands; -1 where there is none.
template <class X>
int64_t first_unfinite(In<X> values, int threads) {
  size_t n = values.size();
  const X* data = values.data();
  std::atomic<size_t> first{n};
  nb::gil_scoped_release release;
  for_each_piece((n + kValuesPerPiece - 1) / kValuesPerPiece, worth(threads, n / 4), [&](size_t piece, int) {
    size_t begin = piece * kValuesPerPiece, end = std::min(n, begin + kValuesPerPiece);
    size_t found = begin < first ? first_in(data, begin, end) : end, known = first;
    while (found < end && found < known && !first.compare_exchange_weak(known, found)) {
    }
  });
  return first < n ? int64_t(first) : -1;
}

enum Standing { kDamaged, kMixed, kAscending };

// How the n columns of one row stand. A negative column is a large one without its sign.
LINNAEUS_CLONES Standing standing(const int32_t* columns, int64_t n, uint32_t width) {
  uint32_t highest = 0;
  bool back = false;
  for (int64_t i = 0; i < n; ++i) highest = std::max(highest, uint32_t(columns[i]));
  for (int64_t i = 1; i < n; ++i) back |= columns[i] <= columns[i - 1];
  return n > 0 && highest >= width ? kDamaged : back ? kMixed : kAscending;
}

// Problem: whether a sparse matrix is what it says. Returned: 0 where offsets or columns do not fit, 1 where columns of
// a row are out of order or named twice, 2 where they ascend in every row.
int column_order(In<int64_t> indptr, In<int32_t> indices, int64_t width, int threads) {
  const int64_t* offsets = indptr.data();
  size_t n = indptr.size();
  bool fits = n > 0 && offsets[0] == 0 && width >= 0 && width <= std::numeric_limits<int32_t>::max();
  for (size_t i = 1; i < n; ++i) fits = fits && offsets[i] >= offsets[i - 1];
  if (!fits || uint64_t(offsets[n - 1]) > indices.size()) return kDamaged;
  std::atomic<int> least{kAscending};
  nb::gil_scoped_release release;
  size_t pieces = (n - 1 + kRowsPerPiece - 1) / kRowsPerPiece;
  for_each_piece(pieces, worth(threads, size_t(offsets[n - 1]) / 4), [&](size_t piece, int) {
    int found = kAscending;
    for (size_t r = piece * kRowsPerPiece; r < std::min(n - 1, (piece + 1) * kRowsPerPiece); ++r)
      found = std::min<int>(found, standing(indices.data() + offsets[r], offsets[r + 1] - offsets[r], uint32_t(width)));
    int known = least;
    while (found < known && !least.compare_exchange_weak(known, found)) {
    }
  });
  return least;
}

template <class X>
void bind(nb::module_& m) {
  using namespace nb::literals;
  m.def("row_squares", &row_squares<X>, "rows"_a.noconvert(), "threads"_a);
  m.def("first_unfinite", &first_unfinite<X>, "values"_a.noconvert(), "threads"_a);
}

}  // namespace

void bind_scan(nb::module_& m) {
  using namespace nb::literals;
  bind<float>(m);
  bind<double>(m);
  m.def("column_order", &column_order, "indptr"_a.noconvert(), "indices"_a.noconvert(), "width"_a, "threads"_a);
}

}  // namespace linnaeus
