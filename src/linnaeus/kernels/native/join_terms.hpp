// What several threads have counted, joined and put in order by the bytes of the tokens.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "counted.hpp"

namespace linnaeus {

using Ranks = std::vector<LargeVector<uint32_t>>;  // for each thread: its number -> the joint number, or ABSENT
using AllCounted = std::vector<std::unique_ptr<Counted>>;

// An n-gram: its parent and its last token in one key.
struct Gram {
  uint64_t key;
  uint32_t documents, count, thread, node;
};

using Grams = LargeVector<Gram>;

struct JoinedTokens {
  std::vector<uint8_t> bytes;
  std::vector<int64_t> offsets{0}, documents, counts;
};

// How many bits of a key are used, and how many of them are the token's.
struct GramKeys {
  int bits, token_bits;
};

// In how many documents a term must stand, and how often those that do not occur.
struct Frequent {
  int64_t least, left_out = 0;
};

// The distinct frequent tokens of all threads in the order of their bytes; `ranks` says where each went. The largest of
// the threads' tables takes up the others.
JoinedTokens join_tokens(const AllCounted& counted, Ranks& ranks, Frequent& frequent);

// The n-grams of `size` tokens of all threads, ordered by (parent, token), where key = parent << token_bits | token.
// `nodes` maps the threads' (n-1)-grams before; after, their n-grams, or to ABSENT: those that are
// not frequent are left out. The threads' tables are emptied.
Grams join_grams(const AllCounted& counted, int size, const Ranks& ranks, Ranks& nodes, GramKeys keys,
                 Frequent& frequent, int threads);

}  // namespace linnaeus
