// Some rows of several sparse matrices, side by side: what folds of data and unions of features are made of.
//
// Problem: the rows `chosen` of X_1, X_2 ..., each as one row [X_1 | X_2 | ...]. The offsets are known from the lengths
// alone; then pieces of rows are copied, each to its place, so the result does not depend on the threads.
#include <nanobind/stl/vector.h>

#include <cstring>

#include "parallel.hpp"
#include "sparse.hpp"

namespace linnaeus {
namespace {

constexpr size_t kPiece = 256;

template <class T>
struct Gathering {
  std::vector<Lines<T>> blocks;
  const int64_t* chosen;
  const int64_t* shifts;
  size_t count;

  Gathering(const std::vector<Sparse<T>>& given, const In<int64_t>& chosen, const In<int64_t>& shifts)
      : chosen(chosen.data()), shifts(shifts.data()), count(chosen.size()) {
    if (shifts.size() != given.size()) throw std::invalid_argument("gather_rows: give a shift for each block");
    for (const auto& arrays : given) blocks.emplace_back(arrays, "gather_rows");
    for (size_t r = 0; r < count; ++r)
      for (const auto& block : blocks)
        if (uint64_t(this->chosen[r]) >= block.count) throw std::invalid_argument("gather_rows: a row is not there");
    for (size_t b = 0; b < given.size(); ++b)
      if (this->shifts[b] < 0 || this->shifts[b] > INT32_MAX)
        throw std::invalid_argument("gather_rows: a shift is out of range");
  }

  void lay_out(int64_t* offsets) const {
    offsets[0] = 0;
    for (size_t r = 0; r < count; ++r) {
      int64_t row = chosen[r], length = 0;
      for (const auto& block : blocks) length += block.offsets[row + 1] - block.offsets[row];
      offsets[r + 1] = offsets[r] + length;
    }
  }

  void copy(size_t first, size_t last, const int64_t* offsets, int32_t* indices, T* values) const {
    for (size_t r = first; r < last; ++r) {
      int64_t at = offsets[r];
      for (size_t b = 0; b < blocks.size(); ++b) {
        const Lines<T>& block = blocks[b];
        int64_t begin = block.offsets[chosen[r]], size = block.offsets[chosen[r] + 1] - begin;
        uint32_t shift = uint32_t(shifts[b]);
        for (int64_t i = 0; i < size; ++i) indices[at + i] = int32_t(uint32_t(block.indices[begin + i]) + shift);
        if (size) std::memcpy(values + at, block.values + begin, size_t(size) * sizeof(T));
        at += size;
      }
    }
  }
};

// Given: matrices with the same number of rows, the numbers of rows that are wanted (m), and what is added to the
// columns of each matrix.  Returned: the rows (m), one matrix.
template <class T>
auto gather_rows(std::vector<Sparse<T>> blocks, In<int64_t> chosen, In<int64_t> shifts, int threads) {
  Gathering<T> work(blocks, chosen, shifts);
  Buffer<int64_t> offsets(work.count + 1);
  work.lay_out(offsets.get());
  const auto stored = static_cast<size_t>(offsets[work.count]);
  Buffer<int32_t> indices(stored);
  Buffer<T> values(stored);
  {
    nb::gil_scoped_release release;
    for_each_piece((work.count + kPiece - 1) / kPiece, worth(threads, stored), [&](size_t piece, int) {
      work.copy(piece * kPiece, std::min(work.count, (piece + 1) * kPiece), offsets.get(), indices.get(), values.get());
    });
  }
  return std::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(indices)), to_numpy(std::move(values)));
}

}  // namespace

void bind_gather(nb::module_& m) {
  using namespace nb::literals;
  m.def("gather_rows", &gather_rows<float>, "blocks"_a, "chosen"_a, "shifts"_a, "threads"_a);
  m.def("gather_rows", &gather_rows<double>, "blocks"_a, "chosen"_a, "shifts"_a, "threads"_a);
}

}  // namespace linnaeus
