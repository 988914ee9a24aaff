// Which of many keys stand in more than one text, roughly and in little memory: two bits for each hash.
//
// A key of a single text is nearly always told apart, however often it comes there; one of several is never missed. So
// most of the pairs of words need no place in a table. Collisions cost a place, never a result.
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
  // A text is looked at twice: what has been seen before it comes often, and then it has been seen itself.
  void compare(uint64_t hash) {
    Word& w = words_[place(hash)];
    w.often |= w.once & bit_of(hash);
  }
  void note(uint64_t hash) { words_[place(hash)].once |= bit_of(hash); }
  bool has(uint64_t hash) const { return words_[place(hash)].often & bit_of(hash); }

  // What another one of the same size has seen too.
  void join(const Often& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      Word &a = words_[i], b = other.words_[i];
      a.often |= b.often | (a.once & b.once);
      a.once |= b.once;
    }
  }

  // How many hashes stand in more than one text.
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

  LargeVector<Word> words_;
};

}  // namespace linnaeus
