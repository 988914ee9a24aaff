// The columns that the terms of one text are hashed to.
#pragma once
#include <cstdint>
#include <vector>

#include "grams.hpp"
#include "hash.hpp"

namespace linnaeus {

// The column of a hash; with signs, column * 2 + (1 for minus one).
struct HashColumns {
  int bits;
  bool is_signed;
  uint32_t operator()(uint64_t hash) const {
    uint32_t column = uint32_t(hash & ((1ull << bits) - 1));
    return is_signed ? column << 1 | uint32_t(hash >> 63) : column;
  }
};

class HashedKeys {
 public:
  // The keys of all terms of the text that `reader` has cut into `spans`, one for each occurrence.
  void find(Reader& reader, const Plan& plan, Spans spans, HashColumns column);
  const uint32_t* data() const { return keys_.data(); }
  size_t size() const { return count_; }

 private:
  void words(const Plan& plan, HashColumns column);
  void skips(const Plan& plan, HashColumns column);
  void add(uint32_t key) {
    if (count_ == keys_.size()) keys_.resize(2 * count_ + 64);
    keys_[count_++] = key;
  }

  std::vector<uint64_t> tokens_, grams_;
  std::vector<uint32_t> keys_;  // only grows: the first `count_` are valid
  size_t count_ = 0;
};

}  // namespace linnaeus
