// The scores of one sparse row: value times row of weights, summed in the order of the columns.
#pragma once
#include <algorithm>

#include "blocks.hpp"

namespace linnaeus {

// For up to kWide classes, which stay in registers.
template <class S, class X, class W>
LINNAEUS_INLINE void dot_row(const Stretch<X>& row, const W* weights, size_t classes, double* out) {
  const size_t k = S::Q * S::B == 1 ? 1 : classes;
  double sums[S::Q][S::B] = {};
  for (size_t i = 0; i < row.size; ++i) {
    if (i + kAhead < row.readable) prefetch_row(weights, row.indices[i + kAhead], k);
    const W* w = weights + size_t(row.indices[i]) * k;
    double value = double(row.values[i]);
    for (size_t q = 0; q < S::Q; ++q) add_times(sums[q], value, w + S::at(q, k));
  }
  for (size_t q = 0; q < S::Q; ++q) store(sums[q], out + S::at(q, k));
}

// kWide of k classes, from class `c` on.
template <class X, class W>
LINNAEUS_INLINE void dot_strip(const Stretch<X>& row, const W* weights, size_t k, size_t c, double* out) {
  using S = Shape<4, kWide / 4>;
  double sums[S::Q][S::B] = {};
  for (size_t i = 0; i < row.size; ++i) {
    if (i + kAhead < row.readable) {
      const W* next = weights + size_t(uint32_t(row.indices[i + kAhead])) * k + c;
      for (size_t byte = 0; byte <= kWide * sizeof(W); byte += 64) prefetch(next, byte);
    }
    const W* w = weights + size_t(row.indices[i]) * k + c;
    double value = double(row.values[i]);
    for (size_t q = 0; q < S::Q; ++q) add_times(sums[q], value, w + q * S::B);
  }
  for (size_t q = 0; q < S::Q; ++q) store(sums[q], out + c + q * S::B);
}

// For more classes: strips of them, of which the last ends with the last class and may overlap the one before.
template <class X, class W>
LINNAEUS_INLINE void dot_wide(const Stretch<X>& row, const W* weights, size_t k, double* out) {
  for (size_t c = 0; c < k; c += kWide) dot_strip(row, weights, k, std::min(c, k - kWide), out);
}

}  // namespace linnaeus
