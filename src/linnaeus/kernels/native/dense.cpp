// Problem: S = X W and G = X^T D, for dense rows X (n, d), W (d, k) and D (n, k); results in float64, or S in float32.
//
// The sums run in the order of the columns, or of the rows, one after the other, as those of rows_dot and rows_tdot: a
// matrix gives the same bits dense and sparse, on any number of threads (a BLAS gives others for each number of
// threads, and would copy a float32 matrix). Several rows at a time share what was loaded; 32 classes at a time stay in
// registers.
//
// In float32 every number of S is summed in float32, in the order of the columns as well; so a row has the same bits
// beside any others, which a BLAS does not promise. Blocks of 4 rows and 32 classes stay in registers.
#include <stdexcept>

#include "blocks.hpp"
#include "lines.hpp"
#include "parallel.hpp"

namespace linnaeus {
namespace {

constexpr size_t kRowsPerPiece = 64;
constexpr size_t kColumnsPerPiece = 64;
constexpr size_t kTogether = 4;  // rows that are worked on together

// X times a block of k classes, or its transpose.
template <class X, class B, class S = double>
struct Work {
  const X* rows;
  size_t n, d;
  const B* block;
  size_t k;
  S* out;
};

template <class S, size_t R, class X, class W>
LINNAEUS_INLINE void dot_some(const Work<X, W>& work, size_t first, size_t c, size_t classes) {
  double sums[R][S::Q][S::B] = {};
  const X* rows = work.rows + first * work.d;
  for (size_t j = 0; j < work.d; ++j) {
    const W* w = work.block + j * work.k + c;
    for (size_t r = 0; r < R; ++r) {
      double value = double(rows[r * work.d + j]);
      for (size_t q = 0; q < S::Q; ++q) add_times(sums[r][q], value, w + S::at(q, classes));
    }
  }
  for (size_t r = 0; r < R; ++r)
    for (size_t q = 0; q < S::Q; ++q) store(sums[r][q], work.out + (first + r) * work.k + c + S::at(q, classes));
}

template <class X, class W>
LINNAEUS_CLONES void dot_rows(const Work<X, W>& work, size_t first, size_t last) {
  for (size_t c = 0; c < work.k; c += kWide) {
    size_t classes = std::min(kWide, work.k - c);
    with_shape(classes, [&](auto s) LINNAEUS_LAMBDA {
      size_t r = first;
      for (; r + kTogether <= last; r += kTogether) dot_some<decltype(s), kTogether>(work, r, c, classes);
      for (; r < last; ++r) dot_some<decltype(s), 1>(work, r, c, classes);
    });
  }
}

using Products = Work<float, float, float>;

// R rows and L lines of classes.
template <size_t R, size_t L>
LINNAEUS_INLINE void dot_lines(const Products& work, size_t first, size_t c) {
  using namespace lines;
  Line sums[R][L] = {}, w[L];
  const float* rows = work.rows + first * work.d;
  for (size_t j = 0; j < work.d; ++j) {
    for (size_t l = 0; l < L; ++l) load(w[l], work.block + j * work.k + c + l * kLanes);
    for (size_t r = 0; r < R; ++r)
      for (size_t l = 0; l < L; ++l) sums[r][l] += rows[r * work.d + j] * w[l];
  }
  for (size_t r = 0; r < R; ++r)
    for (size_t l = 0; l < L; ++l) store(sums[r][l], work.out + (first + r) * work.k + c + l * kLanes);
}

// Fewer classes than a line has.
template <size_t R>
LINNAEUS_INLINE void dot_few(const Products& work, size_t first) {
  float sums[R][lines::kLanes] = {};
  for (size_t j = 0; j < work.d; ++j)
    for (size_t r = 0; r < R; ++r)
      for (size_t c = 0; c < work.k; ++c)
        sums[r][c] += work.rows[(first + r) * work.d + j] * work.block[j * work.k + c];
  for (size_t r = 0; r < R; ++r) std::copy_n(sums[r], work.k, work.out + (first + r) * work.k);
}

// The last line ends with the last class, and may overlap the one before: what is computed twice has the same bits.
template <size_t R>
LINNAEUS_INLINE void dot_block(const Products& work, size_t first) {
  using lines::kLanes;
  if (work.k < kLanes) return dot_few<R>(work, first);
  size_t c = 0;
  for (; c + 2 * kLanes <= work.k; c += 2 * kLanes) dot_lines<R, 2>(work, first, c);
  for (; c < work.k; c += kLanes) dot_lines<R, 1>(work, first, std::min(c, work.k - kLanes));
}

LINNAEUS_CLONES void dot_rows(const Products& work, size_t first, size_t last) {
  for (; first + kTogether <= last; first += kTogether) dot_block<kTogether>(work, first);
  for (; first < last; ++first) dot_block<1>(work, first);
}

template <class S, size_t R, class X, class D>
LINNAEUS_INLINE void add_some(const Work<X, D>& work, size_t row, std::pair<size_t, size_t> columns, size_t c,
                              size_t classes) {
  const X* __restrict rows = work.rows + row * work.d;
  double d[R][S::Q][S::B];
  for (size_t r = 0; r < R; ++r)
    for (size_t q = 0; q < S::Q; ++q)
      for (size_t b = 0; b < S::B; ++b) d[r][q][b] = double(work.block[(row + r) * work.k + c + S::at(q, classes) + b]);
  for (size_t j = columns.first; j < columns.second; ++j) {
    double* __restrict g = work.out + j * work.k + c;
    double sums[S::Q][S::B];
    for (size_t q = 0; q < S::Q; ++q) load(sums[q], g + S::at(q, classes));
    for (size_t r = 0; r < R; ++r) {
      double value = double(rows[r * work.d + j]);
      for (size_t q = 0; q < S::Q; ++q) add_times(sums[q], value, d[r][q]);
    }
    for (size_t q = 0; q < S::Q; ++q) store(sums[q], g + S::at(q, classes));
  }
}

template <class X, class D>
LINNAEUS_CLONES void add_columns(const Work<X, D>& work, std::pair<size_t, size_t> columns) {
  std::fill(work.out + columns.first * work.k, work.out + columns.second * work.k, 0.0);
  for (size_t c = 0; c < work.k; c += kWide) {
    size_t classes = std::min(kWide, work.k - c);
    with_shape(classes, [&](auto s) LINNAEUS_LAMBDA {
      size_t r = 0;
      for (; r + kTogether <= work.n; r += kTogether) add_some<decltype(s), kTogether>(work, r, columns, c, classes);
      for (; r < work.n; ++r) add_some<decltype(s), 1>(work, r, columns, c, classes);
    });
  }
}

template <class X, class W, class S>
void dense_dot(Table<X> rows, Table<W> weights, TableOut<S> out, int threads) {
  Work<X, W, S> work{rows.data(), rows.shape(0), rows.shape(1), weights.data(), weights.shape(1), out.data()};
  if (weights.shape(0) != work.d || out.shape(0) != work.n || out.shape(1) != work.k)
    throw std::invalid_argument("dense_dot: the result does not fit the rows and the weights");
  nb::gil_scoped_release release;
  for_each_piece((work.n + kRowsPerPiece - 1) / kRowsPerPiece, worth(threads, work.n * work.d * work.k),
                 [&](size_t piece, int) {
                   size_t first = piece * kRowsPerPiece;
                   dot_rows(work, first, std::min(work.n, first + kRowsPerPiece));
                 });
}

template <class X, class D>
void dense_tdot(Table<X> rows, Table<D> factors, TableOut<double> out, int threads) {
  Work<X, D> work{rows.data(), rows.shape(0), rows.shape(1), factors.data(), factors.shape(1), out.data()};
  if (factors.shape(0) != work.n || out.shape(0) != work.d || out.shape(1) != work.k)
    throw std::invalid_argument("dense_tdot: the result does not fit the rows and the factors");
  nb::gil_scoped_release release;
  for_each_piece((work.d + kColumnsPerPiece - 1) / kColumnsPerPiece, worth(threads, work.n * work.d * work.k),
                 [&](size_t piece, int) {
                   size_t first = piece * kColumnsPerPiece;
                   add_columns(work, std::pair{first, std::min(work.d, first + kColumnsPerPiece)});
                 });
}

template <class X, class W, class S>
void bind_dot(nb::module_& m) {
  using namespace nb::literals;
  m.def("dense_dot", &dense_dot<X, W, S>, "rows"_a.noconvert(), "weights"_a.noconvert(), "out"_a.noconvert(),
        "threads"_a);
}

template <class X, class B>
void bind(nb::module_& m) {
  using namespace nb::literals;
  bind_dot<X, B, double>(m);
  m.def("dense_tdot", &dense_tdot<X, B>, "rows"_a.noconvert(), "factors"_a.noconvert(), "out"_a.noconvert(),
        "threads"_a);
}

}  // namespace

void bind_dense(nb::module_& m) {
  bind_dot<float, float, float>(m);
  bind<float, float>(m);
  bind<float, double>(m);
  bind<double, float>(m);
  bind<double, double>(m);
}

}  // namespace linnaeus
