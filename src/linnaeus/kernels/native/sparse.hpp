// A compressed sparse matrix as kernels get it, checked once so that no loop can be led out of its arrays. A line is a
// row of CSR, or a column of the transposed matrix.
#pragma once
#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "targets.hpp"

namespace linnaeus {

template <class T>
using Sparse = std::tuple<In<int64_t>, In<int32_t>, In<T>>;

template <class T>
struct Lines {
  const int64_t* offsets;
  const int32_t* indices;
  const T* values;
  size_t count;
  int64_t stored;

  // Lines that a kernel has laid out itself.
  Lines(const int64_t* from, const int32_t* columns, const T* data, size_t lines)
      : offsets(from), indices(columns), values(data), count(lines), stored(from[lines]) {}

  Lines(const Sparse<T>& arrays, const char* kernel)
      : offsets(std::get<0>(arrays).data()),
        indices(std::get<1>(arrays).data()),
        values(std::get<2>(arrays).data()),
        count(std::get<0>(arrays).size() ? std::get<0>(arrays).size() - 1 : 0),
        stored(int64_t(std::min(std::get<1>(arrays).size(), std::get<2>(arrays).size()))) {
    for (size_t i = 0; i < std::get<0>(arrays).size(); ++i)
      if (offsets[i] < (i ? offsets[i - 1] : 0) || offsets[i] > stored)
        throw std::invalid_argument(std::string(kernel) + ": the offsets do not fit the values");
  }

  // How many values the lines hold.
  size_t size() const { return count ? size_t(offsets[count] - offsets[0]) : 0; }

  // No index of this line reaches `width`.
  LINNAEUS_INLINE bool fits(size_t line, size_t width) const { return fit(line, line + 1, width); }

  // No index of the lines first .. last reaches `width`; one loop without a branch, for the processor of its caller.
  LINNAEUS_INLINE bool fit(size_t first, size_t last, size_t width) const {
    uint32_t highest = 0;
    for (int64_t i = offsets[first]; i < offsets[last]; ++i) highest = std::max(highest, uint32_t(indices[i]));
    return offsets[first] == offsets[last] || highest < width;
  }

  // Every picked line exists, and no index in it reaches `width`.
  void check_picked(const int32_t* picked, size_t n, size_t width, const char* kernel) const {
    for (size_t p = 0; p < n; ++p) {
      if (size_t(uint32_t(picked[p])) >= count)
        throw std::invalid_argument(std::string(kernel) + ": a picked column is not in the matrix");
      if (!fits(size_t(picked[p]), width)) throw std::invalid_argument(std::string(kernel) + ": an index has no row");
    }
  }
};

}  // namespace linnaeus
