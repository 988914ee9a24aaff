// The columns of the terms of one text under a frozen vocabulary: tokens and pairs looked up in its probe tables.
#pragma once
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "grams.hpp"
#include "tables.hpp"

namespace linnaeus {

struct Vocabulary {
  TokenView tokens;
  PairView pairs;
  const int32_t* columns;
  int32_t unknown;
  uint32_t width;
  bool plain;  // the column of every token is its number, as where no term is longer: nothing has to be looked up

  int32_t column(uint32_t token) const { return plain ? int32_t(token) : columns[token]; }

  // No column outside the matrix reaches a row, whatever a table says.
  bool has(int32_t column) const { return uint32_t(column) < width; }
};

// What is looked up on the way; `keys` are the columns found, one for each occurrence.
struct Lookup {
  std::vector<TokenKey> token_keys;
  LargeVector<uint32_t> ids, nodes, keys;
  std::vector<uint64_t> pair_keys;
};

// The keys of the n-grams of words, or of words with a gap between them. They are appended.
void word_keys(Lookup& w, const Plan& plan, const Vocabulary& v, const uint8_t* data, Spans spans);
void skip_keys(Lookup& w, const Plan& plan, const Vocabulary& v, const uint8_t* data, Spans spans);

// What a WordCache asks for the n-grams of characters.
struct KnownTerms {
  const Vocabulary& v;
  void fetch(const TokenKey& key) const { prefetch(v.tokens.slots + (key.hash & v.tokens.mask)); }
  uint32_t find(const TokenKey& key, const uint8_t* p, size_t n) const {
    uint32_t id = v.tokens.find(key, p, n);
    if (id == ABSENT) return uint32_t(v.unknown);
    int32_t column = v.column(id);
    return v.has(column) ? uint32_t(column) : uint32_t(v.unknown);
  }
};

// Token bytes, token offsets, token slots, columns of the tokens, pair slots.
using VocabularyArrays = std::tuple<In<uint8_t>, In<int64_t>, In<uint64_t>, In<int32_t>, In<uint64_t>>;

inline Vocabulary view(const VocabularyArrays& arrays, int32_t width, int32_t unknown) {
  const auto& [bytes, offsets, token_slots, columns, pair_slots] = arrays;
  auto table = [](const In<uint64_t>& slots) { return slots.size() % 2 == 0 && std::has_single_bit(slots.size() / 2); };
  // What lies in the tables was looked at when they were made or loaded; here only that they can be probed.
  if (!table(token_slots) || !table(pair_slots) || offsets.size() != columns.size() + 1 ||
      offsets.data()[columns.size()] > int64_t(bytes.size()))
    throw std::invalid_argument("the arrays of the vocabulary do not fit each other");
  const int32_t* column = columns.data();
  size_t count = 0;
  while (count < columns.size() && column[count] == int32_t(count)) ++count;
  return {{reinterpret_cast<const TokenSlot*>(token_slots.data()), token_slots.size() / 2 - 1, bytes.data(),
           offsets.data()},
          {reinterpret_cast<const PairSlot*>(pair_slots.data()), pair_slots.size() / 2 - 1},
          columns.data(),
          unknown,
          uint32_t(width),
          count == columns.size()};
}

}  // namespace linnaeus
