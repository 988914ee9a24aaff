// One row of a sparse matrix from the keys of its terms: distinct columns in order, each with its count.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace linnaeus {

// The rows of one piece of work, in memory of their own or lent by whoever joins them.
class RowBlock {
 public:
  void clear() { size_ = 0, lengths_.clear(); }

  // From now on rows are written there, where they are to stay, as long as there is room.
  void lend(int32_t* columns, float* values, size_t room) {
    columns_ = columns, values_ = values, capacity_ = room, lent_ = true;
  }

  void reserve(size_t more) {
    if (capacity_ >= size_ + more) return;
    capacity_ = 2 * (size_ + more);
    own_columns_.resize(capacity_);
    own_values_.resize(capacity_);
    if (lent_) std::copy_n(columns_, size_, own_columns_.data()), std::copy_n(values_, size_, own_values_.data());
    columns_ = own_columns_.data();
    values_ = own_values_.data();
    lent_ = false;
  }
  std::pair<int32_t*, float*> room() { return {columns_ + size_, values_ + size_}; }
  void finish_row(size_t count) {
    size_ += count;
    lengths_.push_back(uint32_t(count));
  }

  size_t size() const { return size_; }
  bool lent() const { return lent_; }
  const std::vector<uint32_t>& lengths() const { return lengths_; }
  const int32_t* columns() const { return columns_; }
  const float* values() const { return values_; }

 private:
  std::vector<uint32_t> lengths_;
  std::vector<int32_t> own_columns_;
  std::vector<float> own_values_;
  int32_t* columns_ = nullptr;
  float* values_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
  bool lent_ = false;
};

class Counter {
 public:
  // Appends the row of keys[0..n), each below 2^bits: a key is a column, which counts one.
  void add_counts(const uint32_t* keys, size_t n, int bits, RowBlock& block);
  // A key is column * 2 + (1 for minus one); columns whose signs cancel are left out.
  void add_signed(const uint32_t* keys, size_t n, int bits, RowBlock& block);

 private:
  void add_many(const uint32_t* keys, size_t n, int bits, RowBlock& block);
  const uint32_t* sort(const uint32_t* keys, size_t n, int bits);
  int32_t* ends(size_t n) {
    if (ends_.size() < n) ends_.resize(n + n / 2);
    return ends_.data();
  }

  std::vector<uint32_t> sorted_, spare_;
  std::vector<int32_t> ends_;
  LargeVector<uint32_t> counts_;  // of each column in a row of many keys; zero between two rows
  uint16_t buckets_[4096];
};

}  // namespace linnaeus
