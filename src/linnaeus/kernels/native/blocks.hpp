// Loops over the classes of a row of weights, cut so that the classes stay in registers.
//
// Up to 32 classes are Q blocks of B, sizes the compiler knows: the first ones side by side, the last one so that it
// ends with the last class, where it may overlap the one before. What overlaps is computed twice, with the same result.
// Q B is the least of 1, 2, 4, 8, 16, 24, 32 that holds all. More classes than that are walked through in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "arrays.hpp"
#include "targets.hpp"

namespace linnaeus {

// Tables of weights and results, a row for each feature or example and a column for each class.
template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using TableOut = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr size_t kWide = 32;
constexpr size_t kAhead = 16;  // how many stored values before its use a row of weights is asked for

template <size_t Blocks, size_t Size>
struct Shape {
  static constexpr size_t Q = Blocks, B = Size;
  static LINNAEUS_INLINE size_t at(size_t q, size_t k) { return q + 1 < Q ? q * B : k - B; }
};

// Calls work(Shape) for k <= kWide classes.
template <class Work>
LINNAEUS_INLINE void with_shape(size_t k, Work&& work) {
  if (k == 1) return work(Shape<1, 1>{});
  if (k <= 3) return k == 2 ? work(Shape<1, 2>{}) : work(Shape<2, 2>{});
  if (k <= 7) return k == 4 ? work(Shape<1, 4>{}) : work(Shape<2, 4>{});
  if (k <= 16) return k == 8 ? work(Shape<1, 8>{}) : work(Shape<2, 8>{});
  return k <= 24 ? work(Shape<3, 8>{}) : work(Shape<4, 8>{});
}

// Loops of a size the compiler knows, over memory that lies side by side: they become vectors in registers.
template <size_t B, class T>
LINNAEUS_INLINE void load(double (&to)[B], const T* from) {
  for (size_t b = 0; b < B; ++b) to[b] = double(from[b]);
}

template <size_t B>
LINNAEUS_INLINE void store(const double (&from)[B], double* to) {
  for (size_t b = 0; b < B; ++b) to[b] = from[b];
}

template <size_t B, class T>
LINNAEUS_INLINE void add_times(double (&sums)[B], double value, const T* factors) {
  for (size_t b = 0; b < B; ++b) sums[b] += value * double(factors[b]);
}

// Asks for row `column` of a table of k classes. One class is read as fast as it is asked for.
template <class W>
LINNAEUS_INLINE void prefetch_row(const W* table, int32_t column, size_t k) {
  size_t size = k == 1 ? 0 : k * sizeof(W);
  for (size_t byte = 0; byte < size; byte += 64) prefetch(table, size_t(uint32_t(column)) * size + byte);
}

// Stored values that lie side by side in one line of a sparse matrix, and how many indices may be read from the first
// one on, those of later lines included.
template <class X>
struct Stretch {
  const int32_t* indices;
  const X* values;
  size_t size, readable;
};

// out[index] += value * factors, for each stored value and a table of up to kWide classes.
template <class S, class X, class F>
LINNAEUS_INLINE void add_outer(const Stretch<X>& line, const F* factors, double* out, size_t classes) {
  const size_t k = S::Q * S::B == 1 ? 1 : classes;
  double f[S::Q][S::B], sums[S::Q][S::B];
  for (size_t q = 0; q < S::Q; ++q) load(f[q], factors + S::at(q, k));
  for (size_t i = 0; i < line.size; ++i) {
    if (i + kAhead < line.readable) prefetch_row(out, line.indices[i + kAhead], k);
    double* to = out + size_t(line.indices[i]) * k;
    double value = double(line.values[i]);
    for (size_t q = 0; q < S::Q; ++q) load(sums[q], to + S::at(q, k));
    for (size_t q = 0; q < S::Q; ++q) add_times(sums[q], value, f[q]);
    for (size_t q = 0; q < S::Q; ++q) store(sums[q], to + S::at(q, k));
  }
}

// The same for more classes.
template <class X, class F>
LINNAEUS_INLINE void add_outer_wide(const Stretch<X>& line, const F* __restrict factors, double* out, size_t k) {
  for (size_t i = 0; i < line.size; ++i) {
    double* __restrict to = out + size_t(line.indices[i]) * k;
    double value = double(line.values[i]);
    for (size_t c = 0; c < k; ++c) to[c] += value * double(factors[c]);
  }
}

}  // namespace linnaeus
