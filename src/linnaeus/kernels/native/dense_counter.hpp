// One row of a sparse matrix when it has many values: a count for every column, and bits that say which are not zero.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "counter.hpp"
#include "memory.hpp"

namespace linnaeus {

class DenseCounter {
 public:
  explicit DenseCounter(size_t width) : counts_(width), used_(width / 64 + 1), words_(width / 4096 + 1) {}

  void add(uint32_t column, uint32_t times) {
    counts_[column] += times;
    used_[column / 64] |= 1ull << (column % 64);
    words_[column / 4096] |= 1ull << (column / 64 % 64);
    ++added_;
  }

  // Appends the row in the order of its columns and forgets it.
  void finish_row(RowBlock& block) {
    block.reserve(std::min(added_, counts_.size()) + 1);
    auto [columns, values] = block.room();
    size_t at = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t words = words_[i]; words; words &= words - 1) {
        size_t word = 64 * i + size_t(std::countr_zero(words));
        for (uint64_t bits = used_[word]; bits; bits &= bits - 1) {
          size_t column = 64 * word + size_t(std::countr_zero(bits));
          columns[at] = int32_t(column);
          values[at++] = float(counts_[column]);
          counts_[column] = 0;
        }
        used_[word] = 0;
      }
      words_[i] = 0;
    }
    added_ = 0;
    block.finish_row(at);
  }

 private:
  LargeVector<uint32_t> counts_;
  std::vector<uint64_t> used_, words_;
  size_t added_ = 0;
};

}  // namespace linnaeus
