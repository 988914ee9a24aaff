// One row of a sparse matrix from the keys of its terms: distinct columns in order, each with its count.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace linnaeus {

// The rows of one piece of work. `size` values are valid; the vectors are larger.
struct RowBlock {
  std::vector<uint32_t> lengths;
  std::vector<int32_t> columns;
  std::vector<float> values;
  size_t size = 0;

  void clear() { size = 0, lengths.clear(); }
  void reserve(size_t more) {
    if (columns.size() >= size + more) return;
    columns.resize(2 * (size + more));
    values.resize(columns.size());
  }
  void finish_row(size_t count) {
    size += count;
    lengths.push_back(uint32_t(count));
  }
};

class Counter {
 public:
  // Appends the row of keys[0..n), each below 2^bits: a key is a column, which counts one.
  void add_counts(const uint32_t* keys, size_t n, int bits, RowBlock& block);
  // A key is column * 2 + (1 for minus one); columns whose signs cancel are left out.
  void add_signed(const uint32_t* keys, size_t n, int bits, RowBlock& block);

 private:
  const uint32_t* sort(const uint32_t* keys, size_t n, int bits);

  std::vector<uint32_t> sorted_, spare_;
  uint16_t buckets_[4096];
};

}  // namespace linnaeus
