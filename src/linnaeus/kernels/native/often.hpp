// Which of many keys come more than once, roughly and in little memory: two bits for each hash.
//
// A key that comes once is nearly always told apart; one that comes more often is never missed. So most of the pairs of
// words, which stand in a single text, need no place in a table. Collisions cost a place, never a result.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory.hpp"
#include "tables.hpp"

namespace linnaeus {

class Often {
 public:
  // For about so many distinct keys: four bits for each, of which half are looked at together.
  explicit Often(size_t keys) : words_(std::bit_ceil(std::max<size_t>(keys, 1024)) / 32, Word{0, 0}) {}

  void fetch(uint64_t hash) const { prefetch(&words_[place(hash)]); }
  void note(uint64_t hash) {
    Word& w = words_[place(hash)];
    uint64_t bit = bit_of(hash);
    w.often |= w.once & bit;
    w.once |= bit;
  }
  bool has(uint64_t hash) const { return words_[place(hash)].often & bit_of(hash); }

  // What another one of the same size has seen too.
  void join(const Often& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      Word &a = words_[i], b = other.words_[i];
      a.often |= b.often | (a.once & b.once);
      a.once |= b.once;
    }
  }

  // How many hashes came more than once.
  size_t count() const {
    size_t sum = 0;
    for (const Word& w : words_) sum += size_t(std::popcount(w.often));
    return sum;
  }

 private:
  struct Word {
    uint64_t once, often;
  };
  // Tables take their places from the lowest bits of a hash: here it is the highest.
  size_t place(uint64_t hash) const { return (hash >> 38) & (words_.size() - 1); }
  static uint64_t bit_of(uint64_t hash) { return 1ull << (hash >> 32 & 63); }

  std::vector<Word, LargeAllocator<Word>> words_;
};

}  // namespace linnaeus
