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

// For more classes.
template <class X, class W>
LINNAEUS_INLINE void dot_wide(const Stretch<X>& row, const W* weights, size_t k, double* __restrict out) {
  std::fill(out, out + k, 0.0);
  for (size_t i = 0; i < row.size; ++i) {
    const W* w = weights + size_t(row.indices[i]) * k;
    double value = double(row.values[i]);
    for (size_t c = 0; c < k; ++c) out[c] += value * double(w[c]);
  }
}

}  // namespace linnaeus
