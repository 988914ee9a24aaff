// Open-addressing tables of byte strings and of pairs, probed one slot after the other.
//
// Strings of up to eight bytes lie in the slot itself, so that most look-ups touch one cache line and are exact; longer
// ones are compared with the bytes behind their number. An n-gram is the pair (node of its first n-1 tokens, number of
// its last token): exact without storing or comparing any text.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hash.hpp"
#include "memory.hpp"

namespace linnaeus {

inline constexpr uint32_t ABSENT = ~0u;

#if defined(__GNUC__)
#define LINNAEUS_NOINLINE __attribute__((noinline))
#else
#define LINNAEUS_NOINLINE
#endif

inline void prefetch(const void* p) {
#if defined(__GNUC__)
  __builtin_prefetch(p);
#else
  (void)p;
#endif
}

// ---------------------------------------------------------------------------------------------------------- strings

struct TokenSlot {
  uint64_t key;  // the bytes of a short string, the hash of a long one
  uint32_t id;
  uint32_t tag;  // 0: empty; else the length, with the top bit set for a long string
};

// What a string looks like in the table. Eight bytes may be read from p.
struct TokenKey {
  uint64_t key, hash;
  uint32_t tag;

  TokenKey() = default;
  TokenKey(const uint8_t* p, size_t n) {
    if (n <= 8) {
      key = load_short(p, n);
      hash = hash_short(key, n);
      tag = uint32_t(n);
    } else {
      key = hash = hash_long(p, n);
      tag = uint32_t(n) | 0x80000000u;
    }
  }
};

inline uint64_t slot_hash(const TokenSlot& s) { return s.tag & 0x80000000u ? s.key : hash_short(s.key, s.tag); }

// A table somebody else owns: slots, and the bytes of all strings in the order of their numbers.
struct TokenView {
  const TokenSlot* slots;
  uint64_t mask;
  const uint8_t* bytes;
  const int64_t* offsets;

  uint32_t find(const TokenKey& k, const uint8_t* p, size_t n) const {
    for (uint64_t i = k.hash & mask;; i = (i + 1) & mask) {
      const TokenSlot& s = slots[i];
      if (s.tag == 0) return ABSENT;
      if (s.key == k.key && s.tag == k.tag && (n <= 8 || std::memcmp(bytes + offsets[s.id], p, n) == 0)) return s.id;
    }
  }
};

// A table that grows: strings are numbered in the order they come.
class TokenTable {
  using Slots = LargeVector<TokenSlot>;

 public:
  TokenTable() { clear(); }

  void clear() {
    slots_.assign(1024, TokenSlot{0, 0, 0});
    bytes_.clear();
    offsets_.assign(1, 0);
  }
  size_t size() const { return offsets_.size() - 1; }
  size_t memory() const { return slots_.size() * sizeof(TokenSlot) + bytes_.size() + 8 * offsets_.size(); }
  const uint8_t* bytes(uint32_t id) const { return bytes_.data() + offsets_[id]; }
  size_t length(uint32_t id) const { return size_t(offsets_[id + 1] - offsets_[id]); }

  uint32_t add(const uint8_t* p, size_t n) { return add(TokenKey(p, n), p, n); }
  // Most tokens are short, known, and where they are looked for first: these take no call.
  uint32_t add(const TokenKey& k, const uint8_t* p, size_t n) {
    const TokenSlot& s = slots_[k.hash & (slots_.size() - 1)];
    return n <= 8 && s.key == k.key && s.tag == k.tag ? s.id : add_slowly(k, p, n);
  }
  void prefetch_slot(const TokenKey& k) const { prefetch(&slots_[k.hash & (slots_.size() - 1)]); }
  void prefetch_place(uint32_t id) const { prefetch(&offsets_[id]); }

 private:
  LINNAEUS_NOINLINE uint32_t add_slowly(const TokenKey& k, const uint8_t* p, size_t n) {
    uint64_t mask = slots_.size() - 1;
    for (uint64_t i = k.hash & mask;; i = (i + 1) & mask) {
      TokenSlot& s = slots_[i];
      if (s.tag == 0) {
        uint32_t id = uint32_t(size());
        s = {k.key, id, k.tag};
        bytes_.insert(bytes_.end(), p, p + n);
        offsets_.push_back(int64_t(bytes_.size()));
        if (size() * 10 > slots_.size() * 7) grow();
        return id;
      }
      if (s.key == k.key && s.tag == k.tag && (n <= 8 || same_bytes(bytes(s.id), p, n))) return s.id;
    }
  }

  // Of more than eight bytes; most have at most sixteen, which two comparisons cover.
  static bool same_bytes(const uint8_t* a, const uint8_t* b, size_t n) {
    if (n > 16) return std::memcmp(a, b, n) == 0;
    return load8(a) == load8(b) && load8(a + n - 8) == load8(b + n - 8);
  }

  void grow() {
    Slots old(2 * slots_.size(), TokenSlot{0, 0, 0});
    old.swap(slots_);
    uint64_t mask = slots_.size() - 1;
    for (const TokenSlot& s : old) {
      if (s.tag == 0) continue;
      uint64_t i = slot_hash(s) & mask;
      while (slots_[i].tag) i = (i + 1) & mask;
      slots_[i] = s;
    }
  }

  Slots slots_;
  LargeVector<uint8_t> bytes_;
  LargeVector<int64_t> offsets_;
};

// ------------------------------------------------------------------------------------------------------------ pairs

inline uint64_t pair_key(uint32_t parent, uint32_t token) { return uint64_t(parent) << 32 | token; }
inline uint64_t pair_hash(uint64_t key) { return fold(key ^ K0, K1); }
inline constexpr uint64_t NO_PAIR = ~0ull;

struct PairSlot {
  uint64_t key;
  uint32_t node;
  int32_t column;  // -1: no term by itself, only the beginning of longer ones
};

struct PairView {
  const PairSlot* slots;
  uint64_t mask;

  const PairSlot* start(uint64_t key) const { return slots + (pair_hash(key) & mask); }
  const PairSlot* find(uint64_t key) const {
    for (uint64_t i = pair_hash(key) & mask;; i = (i + 1) & mask) {
      if (slots[i].key == key) return slots + i;
      if (slots[i].key == NO_PAIR) return nullptr;
    }
  }
};

struct CountSlot {
  uint64_t key;
  uint32_t node, last, documents, count;
};

// A table that grows and counts: how often a pair came, and in how many documents.
class PairTable {
  using Slots = LargeVector<CountSlot>;

 public:
  PairTable() : slots_(1024, EMPTY) {}

  size_t size() const { return size_; }
  const Slots& slots() const { return slots_; }
  void prefetch_slot(uint64_t hash) const { prefetch(&slots_[hash & (slots_.size() - 1)]); }
  void release() {
    slots_ = Slots();
    size_ = 0;
  }
  // Room for so many pairs in an empty table: growing costs as much again.
  void reserve(size_t pairs) { slots_.assign(std::bit_ceil(std::max<size_t>(1024, pairs + pairs / 2)), EMPTY); }

  // Counts one more of this pair in this document and returns its node.
  uint32_t count(uint64_t key, uint64_t hash, uint32_t document) {
    uint64_t mask = slots_.size() - 1;
    uint64_t i = hash & mask;
    while (slots_[i].key != key && slots_[i].key != NO_PAIR) i = (i + 1) & mask;
    CountSlot& s = slots_[i];
    bool fresh = s.key == NO_PAIR;
    if (fresh) s = {key, uint32_t(size_++), document, 1, 1};
    else {
      s.documents += s.last != document;
      s.last = document;
      ++s.count;
    }
    uint32_t node = s.node;
    if (fresh && size_ * 10 > slots_.size() * 7) grow();
    return node;
  }

 private:
  static constexpr CountSlot EMPTY{NO_PAIR, 0, 0, 0, 0};

  void grow() {
    Slots old(2 * slots_.size(), EMPTY);
    old.swap(slots_);
    uint64_t mask = slots_.size() - 1;
    for (const CountSlot& s : old) {
      if (s.key == NO_PAIR) continue;
      uint64_t i = pair_hash(s.key) & mask;
      while (slots_[i].key != NO_PAIR) i = (i + 1) & mask;
      slots_[i] = s;
    }
  }

  Slots slots_;
  size_t size_ = 0;
};

}  // namespace linnaeus
